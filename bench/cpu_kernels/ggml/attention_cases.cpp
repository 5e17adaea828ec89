// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flash attention: of a prompt (simdgroup matrices, after a kernel that looks at the mask) and of one token (parts of
// the keys to many threadgroups, and a kernel that joins their results).
#include "cases.hpp"
#include "ggml-metal-impl.h"

#include <cmath>

namespace smelt::bench {
namespace {

constexpr int64_t kWidth = 128, kHeads = 32;

struct Attention {
  GgmlCase made;
  lm_ggml_tensor* q = nullptr;
  lm_ggml_tensor* k = nullptr;
  lm_ggml_tensor* v = nullptr;
  lm_ggml_tensor* mask = nullptr;
};

/// A causal mask: what lies behind the last query's own key is hidden from earlier ones.
Attention attention(int64_t queries, int64_t keys) {
  Attention at;
  GgmlCase& made = at.made;
  made.context = new_context(160);
  at.q = filled(made.context, LM_GGML_TYPE_F32, {kWidth, queries, kHeads}, 7);
  at.k = filled(made.context, LM_GGML_TYPE_F16, {kWidth, keys, kHeads}, 8);
  at.v = filled(made.context, LM_GGML_TYPE_F16, {kWidth, keys, kHeads}, 9);
  at.mask = lm_ggml_new_tensor_2d(made.context, LM_GGML_TYPE_F16, keys, queries);
  auto* mask = static_cast<lm_ggml_fp16_t*>(at.mask->data);
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key)
      mask[query * keys + key] = lm_ggml_fp32_to_fp16(key > keys - queries + query ? -INFINITY : 0.0f);
  made.result = lm_ggml_flash_attn_ext(made.context, at.q, at.k, at.v, at.mask, 1 / std::sqrt(float{kWidth}), 0, 0);
  made.ours.resize(static_cast<size_t>(kWidth * kHeads * queries));
  made.bound = 1e-4;  // ours keeps products of 16-bit floats in tiles of them, as the kernel says
  return at;
}

/// The two argument structs have the same fields in the same order.
template <class Arguments>
Arguments arguments_of(const Attention& at) {
  Arguments a{};
  a.ne01 = static_cast<int32_t>(at.q->ne[1]), a.ne02 = kHeads, a.ne03 = 1;
  a.nb01 = at.q->nb[1], a.nb02 = at.q->nb[2], a.nb03 = at.q->nb[3];
  a.ne11 = static_cast<int32_t>(at.k->ne[1]), a.ne_12_2 = kHeads, a.ne_12_3 = 1;
  a.ns10 = a.ns20 = kWidth;
  a.nb11 = at.k->nb[1], a.nb12 = at.k->nb[2], a.nb13 = at.k->nb[3];
  a.nb21 = at.v->nb[1], a.nb22 = at.v->nb[2], a.nb23 = at.v->nb[3];
  a.ne31 = static_cast<int32_t>(at.mask->ne[1]), a.ne32 = a.ne33 = 1;
  a.nb31 = at.mask->nb[1], a.nb32 = at.mask->nb[2], a.nb33 = at.mask->nb[3];
  a.ne1 = kHeads, a.ne2 = a.ne01, a.ne3 = 1;
  a.scale = 1 / std::sqrt(float{kWidth});
  a.m0 = a.m1 = 1;
  a.n_head_log2 = kHeads;
  return a;
}

Binding memory(GgmlCase& made, uint32_t slot, size_t bytes) {
  std::vector<std::byte>& block = made.memory.emplace_back(bytes);
  return {slot, block.data(), bytes};
}

loader::ConstantValues constants(uint32_t first) {
  loader::ConstantValues values;
  values.lenient().set(first, true);  // a mask; no sinks, no bias, no cap, no tail
  for (uint32_t i : {1u, 2u, 3u, 4u, 10u}) values.set(first + i, false);
  return values.set(first + 20, int64_t{kWidth}).set(first + 21, int64_t{kWidth});
}

}  // namespace

GgmlCase attention_of_prompt() {
  constexpr int64_t kQueries = 128, kKeys = 512, kSimdgroups = 4;
  constexpr int64_t kQueriesEach = OP_FLASH_ATTN_EXT_NQPTG, kKeysEach = OP_FLASH_ATTN_EXT_NCPSG;
  Attention at = attention(kQueries, kKeys);
  GgmlCase& made = at.made;
  made.name = "flash_attn_ext_f16";
  made.shape = "32 heads of 128, 128 queries, 512 keys";
  const lm_ggml_metal_kargs_flash_attn_ext_blk looks = {kQueries, kKeys,          kQueries,       1,
                                                        1,        at.mask->nb[1], at.mask->nb[2], at.mask->nb[3]};
  const Binding blocks = memory(made, 2, (kQueries / kQueriesEach) * (kKeys / kKeysEach));
  KernelLaunch look;
  look.kernel = "kernel_flash_attn_ext_blk";
  look.arguments = bytes_of(looks);
  look.constants.lenient().set(FC_FLASH_ATTN_EXT_BLK + 24, kQueriesEach).set(FC_FLASH_ATTN_EXT_BLK + 25, kKeysEach);
  look.buffers = {bind(1, at.mask), blocks};
  look.groups = {kKeys / kKeysEach, kQueries / kQueriesEach, 1};
  look.threads = {32, 1, 1};
  made.launches.push_back(std::move(look));

  KernelLaunch launch;
  launch.kernel = "kernel_flash_attn_ext_f16_dk128_dv128";
  launch.arguments = bytes_of(arguments_of<lm_ggml_metal_kargs_flash_attn_ext>(at));
  launch.constants = constants(FC_FLASH_ATTN_EXT).set(FC_FLASH_ATTN_EXT + 22, kSimdgroups);
  launch.buffers = {bind(1, at.q),
                    bind(2, at.k),
                    bind(3, at.v),
                    bind(4, at.mask),
                    bind(5, at.q),
                    bind(6, at.q),
                    {7, blocks.data, blocks.bytes},
                    bind(8, made.ours)};
  launch.threadgroup_bytes = kQueriesEach * (kWidth + 2 * kWidth + 2 * 2 * kKeysEach) * 2;
  launch.groups = {kQueries / kQueriesEach, kHeads, 1};
  launch.threads = {32, kSimdgroups, 1};
  made.launches.push_back(std::move(launch));
  return std::move(at.made);
}

GgmlCase attention_of_token() {
  constexpr int64_t kKeys = 4096, kSimdgroups = 2, kGroups = 32, kKeysEach = OP_FLASH_ATTN_EXT_VEC_NCPSG;
  Attention at = attention(1, kKeys);
  GgmlCase& made = at.made;
  made.name = "flash_attn_ext_vec_f16";
  made.shape = "32 heads of 128, 1 query, 4096 keys";
  const Binding parts = memory(made, 7, (kWidth + 2) * kGroups * kHeads * sizeof(float));
  KernelLaunch launch;
  launch.kernel = "kernel_flash_attn_ext_vec_f16_dk128_dv128";
  launch.arguments = bytes_of(arguments_of<lm_ggml_metal_kargs_flash_attn_ext_vec>(at));
  launch.constants = constants(FC_FLASH_ATTN_EXT_VEC)
                         .set(FC_FLASH_ATTN_EXT_VEC + 22, kSimdgroups)
                         .set(FC_FLASH_ATTN_EXT_VEC + 23, kGroups);
  launch.buffers = {bind(1, at.q), bind(2, at.k), bind(3, at.v), bind(4, at.mask), bind(5, at.q), bind(6, at.q), parts};
  launch.threadgroup_bytes = (kWidth + 4 * kKeysEach * kSimdgroups + 2 * kWidth * kSimdgroups) * 2;
  launch.groups = {1, kHeads, kGroups};
  launch.threads = {32, kSimdgroups, 1};
  made.launches.push_back(std::move(launch));

  KernelLaunch join;
  join.kernel = "kernel_flash_attn_ext_vec_reduce";
  join.arguments = bytes_of(lm_ggml_metal_kargs_flash_attn_ext_vec_reduce{kHeads});
  join.constants.lenient()
      .set(FC_FLASH_ATTN_EXT_VEC_REDUCE, int64_t{kWidth})
      .set(FC_FLASH_ATTN_EXT_VEC_REDUCE + 1, kGroups);
  join.buffers = {{1, parts.data, parts.bytes}, bind(2, made.ours)};
  join.groups = {kHeads, 1, 1};
  join.threads = {32 * kGroups, 1, 1};
  made.launches.push_back(std::move(join));
  return std::move(at.made);
}

}  // namespace smelt::bench
