// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.hpp"

#include "ggml-metal-impl.h"

#include <cmath>
#include <random>
#include <stdexcept>

namespace smelt::bench {

lm_ggml_context* new_context(size_t megabytes) {
  lm_ggml_context* const context = lm_ggml_init({megabytes << 20, nullptr, false});
  if (context == nullptr) throw std::runtime_error("ggml: no context");
  return context;
}

lm_ggml_tensor* filled(lm_ggml_context* context, lm_ggml_type type, std::vector<int64_t> shape, uint32_t seed) {
  lm_ggml_tensor* const tensor = lm_ggml_new_tensor(context, type, static_cast<int>(shape.size()), shape.data());
  std::minstd_rand random(seed);
  std::vector<float> values(static_cast<size_t>(lm_ggml_nelements(tensor)));
  for (float& value : values) value = static_cast<float>(random()) / 1073741824.0f - 1;
  const int64_t rows = lm_ggml_nrows(tensor);
  if (type == LM_GGML_TYPE_F32)
    std::copy(values.begin(), values.end(), static_cast<float*>(tensor->data));
  else
    lm_ggml_quantize_chunk(type, values.data(), tensor->data, 0, rows, tensor->ne[0], nullptr);
  return tensor;
}

GgmlCase mat_vec_q4_0() {
  constexpr int64_t kRows = 4096, kColumns = 4096;
  constexpr uint32_t kSimdgroups = N_SG_Q4_0, kRowsEach = N_R0_Q4_0;
  GgmlCase made;
  made.name = "mul_mv_q4_0_f32";
  made.shape = "4096 x 4096, one vector";
  made.context = new_context(64);
  lm_ggml_tensor* const a = filled(made.context, LM_GGML_TYPE_Q4_0, {kColumns, kRows}, 1);
  lm_ggml_tensor* const b = filled(made.context, LM_GGML_TYPE_F32, {kColumns}, 2);
  made.result = lm_ggml_mul_mat(made.context, a, b);
  made.ours.resize(kRows);
  made.bound = 5e-4;  // ggml's code for CPUs rounds the vector to 8 bits first
  lm_ggml_metal_kargs_mul_mv arguments{};
  arguments.ne00 = arguments.ne10 = kColumns;
  arguments.ne01 = arguments.ne0 = kRows;
  arguments.ne02 = arguments.ne11 = arguments.ne12 = arguments.ne1 = 1;
  arguments.nb00 = a->nb[0], arguments.nb01 = a->nb[1], arguments.nb02 = a->nb[2], arguments.nb03 = a->nb[3];
  arguments.nb10 = b->nb[0], arguments.nb11 = b->nb[1], arguments.nb12 = b->nb[2], arguments.nb13 = b->nb[3];
  arguments.nr0 = kRowsEach;
  arguments.r2 = arguments.r3 = 1;
  KernelLaunch launch;
  launch.kernel = "kernel_mul_mv_q4_0_f32";
  launch.arguments = bytes_of(arguments);
  launch.constants.lenient().set(FC_MUL_MV, int64_t{kSimdgroups});
  launch.buffers = {bind(1, a), bind(2, b), bind(3, made.ours)};
  launch.threadgroup_bytes = 32 * sizeof(float) * kRowsEach;
  launch.groups = {kRows / (kSimdgroups * kRowsEach), 1, 1};
  launch.threads = {32, kSimdgroups, 1};
  made.launches.push_back(std::move(launch));
  return made;
}

GgmlCase mat_mat_f16() {
  constexpr int64_t kRows = 4096, kColumns = 4096, kVectors = 128;
  GgmlCase made;
  made.name = "mul_mm_f16_f32";
  made.shape = "4096 x 4096, 128 vectors";
  made.context = new_context(64);
  lm_ggml_tensor* const a = filled(made.context, LM_GGML_TYPE_F16, {kColumns, kRows}, 3);
  lm_ggml_tensor* const b = filled(made.context, LM_GGML_TYPE_F32, {kColumns, kVectors}, 4);
  made.result = lm_ggml_mul_mat(made.context, a, b);
  made.ours.resize(kRows * kVectors);
  // There ggml's code for CPUs rounds the vectors to 16 bits and adds in 16 bits too (simd-mappings.h).
  if (__builtin_cpu_supports("avx512fp16")) made.bound = 1e-5;
  lm_ggml_metal_kargs_mul_mm arguments{};
  arguments.ne00 = kColumns;
  arguments.ne02 = arguments.ne12 = 1;
  arguments.nb01 = a->nb[1], arguments.nb02 = a->nb[2], arguments.nb03 = a->nb[3];
  arguments.nb10 = b->nb[0], arguments.nb11 = b->nb[1], arguments.nb12 = b->nb[2], arguments.nb13 = b->nb[3];
  arguments.ne0 = kRows;
  arguments.ne1 = kVectors;
  arguments.r2 = arguments.r3 = 1;
  KernelLaunch launch;
  launch.kernel = "kernel_mul_mm_f16_f32";
  launch.arguments = bytes_of(arguments);
  launch.constants.lenient().set(FC_MUL_MM, false).set(FC_MUL_MM + 1, false);
  launch.buffers = {bind(1, a), bind(2, b), bind(3, made.ours)};
  launch.threadgroup_bytes = 6144;
  launch.groups = {kVectors / 32, kRows / 64, 1};
  launch.threads = {128, 1, 1};
  made.launches.push_back(std::move(launch));
  made.product = {kVectors, kRows, kColumns, {}, {}, std::vector<float>(kRows * kVectors)};
  made.product.a.resize(kRows * kColumns);
  lm_ggml_fp16_to_fp32_row(static_cast<const lm_ggml_fp16_t*>(a->data), made.product.a.data(), kRows * kColumns);
  const auto* vectors = static_cast<const float*>(b->data);
  made.product.b.assign(vectors, vectors + kColumns * kVectors);
  return made;
}

GgmlCase soft_max() {
  constexpr int64_t kColumns = 4096, kQueries = 16, kHeads = 32;
  const float scale = 1 / std::sqrt(128.0f);
  GgmlCase made;
  made.name = "soft_max";
  made.shape = "rows of 4096, 512 of them";
  made.context = new_context(64);
  lm_ggml_tensor* const x = filled(made.context, LM_GGML_TYPE_F32, {kColumns, kQueries, kHeads}, 5);
  made.result = lm_ggml_soft_max_ext(made.context, x, nullptr, scale, 0);
  made.ours.resize(kColumns * kQueries * kHeads);
  lm_ggml_metal_kargs_soft_max arguments{};
  arguments.ne00 = kColumns, arguments.ne01 = kQueries, arguments.ne02 = kHeads;
  arguments.nb01 = arguments.nb1 = x->nb[1];
  arguments.nb02 = arguments.nb2 = x->nb[2];
  arguments.nb03 = arguments.nb3 = x->nb[3];
  arguments.scale = scale;
  arguments.m0 = arguments.m1 = 1;
  arguments.n_head_log2 = kHeads;
  KernelLaunch launch;
  launch.kernel = "kernel_soft_max_f32_4";
  launch.arguments = bytes_of(arguments);
  launch.buffers = {bind(1, x), bind(2, x), bind(3, x), bind(4, made.ours)};
  launch.threadgroup_bytes = 32 * sizeof(float);
  launch.groups = {kQueries, kHeads, 1};
  launch.threads = {32, 1, 1};
  made.launches.push_back(std::move(launch));
  return made;
}

GgmlCase rms_norm() {
  constexpr int64_t kColumns = 4096, kRows = 512;
  GgmlCase made;
  made.name = "rms_norm";
  made.shape = "rows of 4096, 512 of them";
  made.context = new_context(64);
  lm_ggml_tensor* const x = filled(made.context, LM_GGML_TYPE_F32, {kColumns, kRows}, 6);
  made.result = lm_ggml_rms_norm(made.context, x, 1e-5f);
  made.ours.resize(kColumns * kRows);
  lm_ggml_metal_kargs_norm arguments{};
  arguments.ne00 = kColumns;
  arguments.ne00_t = kColumns / 4;
  arguments.nb1 = arguments.nbf1[0] = x->nb[1];
  arguments.nb2 = arguments.nbf2[0] = x->nb[2];
  arguments.nb3 = arguments.nbf3[0] = x->nb[3];
  arguments.eps = 1e-5f;
  arguments.nef1[0] = kRows;
  arguments.nef2[0] = arguments.nef3[0] = 1;
  KernelLaunch launch;
  launch.kernel = "kernel_rms_norm_f32_4";
  launch.arguments = bytes_of(arguments);
  launch.buffers = {bind(1, x), bind(2, x), bind(3, x), bind(4, made.ours)};
  launch.threadgroup_bytes = 32 * sizeof(float);
  launch.groups = {kRows, 1, 1};
  launch.threads = {1024, 1, 1};
  made.launches.push_back(std::move(launch));
  return made;
}

}  // namespace smelt::bench
