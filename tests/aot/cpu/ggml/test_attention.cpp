// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flash attention, softmax(q k^T * scale + mask) v: the kernels for many queries (simdgroup_matrix tiles) and for few
// (vectors, partial results of several threadgroups reduced by a second kernel), with the kernels that prepare the
// tail.
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace smelt::test {
namespace {

struct Attention {
  int64_t queries;
  int64_t entries;  ///< of keys and values
  Type type;        ///< of keys and values
  int64_t key = 64;
  int64_t value = 64;
  bool mask = false;
  bool sinks = false;
  double max_bias = 0;
  double soft_cap = 0;
};

constexpr int64_t kHeads = 4;
constexpr int64_t kKeyHeads = 2;  // each serves two heads of queries

uint32_t padded(int64_t value, int64_t unit) {
  return static_cast<uint32_t>((value + unit - 1) / unit * unit);
}

class AttentionCase {
 public:
  explicit AttentionCase(const Attention& kind)
      : kind_(kind),
        q_(Type::f32, {kind.key, kind.queries, kHeads, 1}),
        k_(kind.type, {kind.key, kind.entries, kKeyHeads, 1}),
        v_(kind.type, {kind.value, kind.entries, kKeyHeads, 1}),
        mask_(Type::f16, {kind.entries, kind.queries, 1, 1}),
        sinks_(Type::f32, {kHeads, 1, 1, 1}),
        out_(Type::f32, {kind.value, kHeads, kind.queries, 1}) {
    q_.fill(91, 2);
    k_.fill(92, 2);
    v_.fill(93, 1);
    sinks_.fill(94, 2);
    // As a causal mask has it: what lies ahead is -inf. Whole blocks of it too.
    mask_.fill_with([&](int64_t entry, int64_t query, int64_t, int64_t) {
      return entry > kind.entries - kind.queries + query ? -INFINITY : 0.5 * noise(entry + 1000 * query, 95);
    });
  }

  void run() {
    const bool vectors = kind_.queries < 20;
    const std::string name = (vectors ? "kernel_flash_attn_ext_vec_" : "kernel_flash_attn_ext_") + suffix();
    if (!wanted(name, false)) {
      MESSAGE("sampled: ", name, " takes half a minute to compile; SMELT_FULL=1 does it");
      return;
    }
    const int64_t unit = vectors ? 32 : 64;
    const bool tail = kind_.entries % unit != 0;
    if (tail) make_tail(unit);
    if (vectors)
      run_vectors(tail);
    else
      run_tiles(tail);
  }

 private:
  void make_tail(int64_t unit) {
    tail_.assign(unit * (k_.nb()[1] + v_.nb()[1]) * kKeyHeads + 2 * unit * kind_.queries, std::byte{0xfb});
    Tensor bytes(Type::f16, {static_cast<int64_t>(tail_.size() / 2), 1, 1, 1});
    Call call("kernel_flash_attn_ext_pad");
    describe_keys(call);
    call.constant("FC_flash_attn_ext_pad_has_mask", kind_.mask).constant("FC_flash_attn_ext_pad_ncpsg", unit);
    call.in(1, k_).in(2, v_).out(4, bytes.poison());
    bind_mask(call, 3, 1);
    call.groups({static_cast<uint32_t>(unit), kKeyHeads, 1}, {32, 1, 1}).run();
    tail_ = call.result(4).bytes();
  }

  void describe_keys(Call& call) {
    call.set("ne11", static_cast<double>(kind_.entries)).set("ne_12_2", kKeyHeads).set("ne_12_3", 1);
    call.set("ne31", static_cast<double>(mask_.ne()[1])).set("ne32", 1).set("ne33", 1);
    for (const std::string d : {"1", "2", "3"}) {
      const size_t i = static_cast<size_t>(d[0] - '0');
      call.set("nb1" + d, static_cast<double>(k_.nb()[i])).set("nb2" + d, static_cast<double>(v_.nb()[i]));
      call.set("nb3" + d, static_cast<double>(mask_.nb()[i]));
    }
  }

  void bind_mask(Call& call, uint32_t slot, uint32_t otherwise) {
    if (kind_.mask)
      call.in(slot, mask_);
    else
      call.same(slot, otherwise);
  }

  /// Elements of a row, or blocks of it.
  double row_items(const Tensor& tensor) const { return static_cast<double>(tensor.nb()[1] / tensor.nb()[0]); }

  void describe(Call& call, const std::string& prefix, bool tail) {
    describe_keys(call);
    call.set("ne01", static_cast<double>(kind_.queries)).set("ne02", kHeads).set("ne03", 1);
    for (const std::string d : {"1", "2", "3"}) call.set("nb0" + d, static_cast<double>(q_.nb()[d[0] - '0']));
    call.set("ns10", row_items(k_)).set("ns20", row_items(v_));
    call.set("ne1", kHeads).set("ne2", static_cast<double>(kind_.queries)).set("ne3", 1);
    call.set("scale", kind_.soft_cap != 0 ? scale() / kind_.soft_cap : scale());
    call.set("max_bias", kind_.max_bias).set("n_head_log2", kHeads).set("logit_softcap", kind_.soft_cap);
    call.set("m0", slope_base(1)).set("m1", slope_base(0.5));
    call.constant(prefix + "has_mask", kind_.mask).constant(prefix + "has_sinks", kind_.sinks);
    call.constant(prefix + "has_bias", kind_.max_bias != 0).constant(prefix + "has_scap", kind_.soft_cap != 0);
    call.constant(prefix + "has_kvpad", tail);
    call.constant(prefix + "ns10", static_cast<int64_t>(row_items(k_)));
    call.constant(prefix + "ns20", static_cast<int64_t>(row_items(v_)));
    call.in(1, q_).in(2, k_).in(3, v_);
    bind_mask(call, 4, 1);
    if (kind_.sinks)
      call.in(5, sinks_);
    else
      call.same(5, 1);
    if (tail) {
      Tensor bytes(Type::f16, {static_cast<int64_t>(tail_.size() / 2), 1, 1, 1});
      bytes.bytes() = tail_;
      call.in(6, bytes);
    } else {
      call.same(6, 1);
    }
  }

  void run_tiles(bool tail) {
    constexpr int64_t kSimdgroups = 4;
    Call call("kernel_flash_attn_ext_" + suffix());
    describe(call, "FC_flash_attn_ext_", tail);
    call.constant("FC_flash_attn_ext_bc_mask", kind_.mask && kind_.queries % 8 != 0);
    call.constant("FC_flash_attn_ext_nsg", kSimdgroups);
    if (kind_.mask) {
      // Which blocks of the mask are nothing but -inf, so that they are left out.
      Tensor blocks(Type::f16, {padded(kind_.entries, 64) / 64 * padded(kind_.queries, 8) / 8, 1, 1, 1});
      Call classify("kernel_flash_attn_ext_blk");
      classify.set("ne01", static_cast<double>(kind_.queries)).describe("3", mask_);
      classify.constant("FC_flash_attn_ext_blk_nqptg", 8).constant("FC_flash_attn_ext_blk_ncpsg", 64);
      classify.in(1, mask_).out(2, blocks.poison());
      classify.groups({padded(kind_.entries, 64) / 64, padded(kind_.queries, 8) / 8, 1}, {32, 1, 1}).run();
      call.in(7, classify.result(2));
    } else {
      call.same(7, 1);
    }
    const int64_t dequantised = traits(kind_.type).quantized() ? 16 * 32 * kSimdgroups : 0;
    call.threadgroup(0, padded((8 * (kind_.key + 2 * padded(kind_.value, 64) + 4 * 64) + dequantised) * 2, 16));
    call.out(8, Tensor(out_).poison());
    call.groups({padded(kind_.queries, 8) / 8, kHeads, 1}, {32, kSimdgroups, 1}).run();
    call.expect(8, want(), {4e-3, 4e-3});
  }

  void run_vectors(bool tail) {
    constexpr int64_t kGroups = 32;  // threadgroups that share a row's entries
    constexpr int64_t kSimdgroups = 1;
    Tensor partial(Type::f32, {kind_.value + 2, kGroups, kHeads * kind_.queries, 1});
    Call call("kernel_flash_attn_ext_vec_" + suffix());
    describe(call, "FC_flash_attn_ext_vec_", tail);
    call.constant("FC_flash_attn_ext_vec_nsg", kSimdgroups).constant("FC_flash_attn_ext_vec_nwg", kGroups);
    const int64_t halves = padded(kind_.key, 128) + 4 * 32 * kSimdgroups + 2 * padded(kind_.value, 128) * kSimdgroups;
    call.threadgroup(0, padded(halves * 2, 16)).out(7, partial.poison());
    call.groups({static_cast<uint32_t>(kind_.queries), kHeads, kGroups}, {32, kSimdgroups, 1}).run();
    Call reduce("kernel_flash_attn_ext_vec_reduce");
    reduce.set("nrows", static_cast<double>(kHeads * kind_.queries));
    reduce.constant("FC_flash_attn_ext_vec_reduce_DV", kind_.value)
        .constant("FC_flash_attn_ext_vec_reduce_NWG", kGroups);
    reduce.in(1, call.result(7)).out(2, Tensor(out_).poison());
    reduce.groups({static_cast<uint32_t>(kHeads * kind_.queries), 1, 1}, {32 * kGroups, 1, 1}).run();
    reduce.expect(2, want(), {4e-3, 4e-3});
    compared_kernels().insert("kernel_flash_attn_ext_vec_" + suffix());
  }

  std::string suffix() const {
    return std::string(traits(kind_.type).name) + "_dk" + std::to_string(kind_.key) + "_dv" +
           std::to_string(kind_.value);
  }
  double scale() const { return 1 / std::sqrt(static_cast<double>(kind_.key)); }
  double slope_base(double part) const { return std::exp2(-kind_.max_bias * part / kHeads); }

  std::function<double(int64_t, int64_t, int64_t, int64_t)> want() const {
    return [this, cached = std::map<std::pair<int64_t, int64_t>, std::vector<double>>()](
               int64_t i0, int64_t head, int64_t query, int64_t) mutable {
      std::vector<double>& row = cached[{head, query}];
      if (row.empty()) row = attend(head, query);
      return row[static_cast<size_t>(i0)];
    };
  }

  std::vector<double> attend(int64_t head, int64_t query) const {
    const int64_t source = head * kKeyHeads / kHeads;
    const double slope = kind_.max_bias == 0 ? 1 : std::pow(slope_base(1), static_cast<double>(head + 1));
    std::vector<double> weights;
    double largest = kind_.sinks ? sinks_.at(head) : -INFINITY;
    for (int64_t entry = 0; entry < kind_.entries; ++entry) {
      double dot = 0;
      for (int64_t i = 0; i < kind_.key; ++i) dot += q_.at(i, query, head) * k_.at(i, entry, source);
      dot *= scale();
      if (kind_.soft_cap != 0) dot = kind_.soft_cap * std::tanh(dot / kind_.soft_cap);
      if (kind_.mask) dot += slope * mask_.at(entry, query);
      weights.push_back(dot);
      largest = std::max(largest, dot);
    }
    double sum = kind_.sinks ? std::exp(sinks_.at(head) - largest) : 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    std::vector<double> result(static_cast<size_t>(kind_.value));
    for (int64_t entry = 0; entry < kind_.entries; ++entry)
      for (int64_t i = 0; i < kind_.value; ++i) result[i] += weights[entry] / sum * v_.at(i, entry, source);
    return result;
  }

  Attention kind_;
  Tensor q_;
  Tensor k_;
  Tensor v_;
  Tensor mask_;
  Tensor sinks_;
  Tensor out_;
  std::vector<std::byte> tail_;
};

TEST_CASE("flash attention for many queries") {
  if (!have_ggml()) return;
  AttentionCase({.queries = 24, .entries = 128, .type = Type::f16}).run();
  AttentionCase(
      {.queries = 21, .entries = 200, .type = Type::f16, .mask = true, .sinks = true, .max_bias = 8, .soft_cap = 10})
      .run();
  AttentionCase({.queries = 20, .entries = 100, .type = Type::q8_0, .mask = true}).run();
}

TEST_CASE("flash attention for few queries") {
  if (!have_ggml()) return;
  AttentionCase({.queries = 3, .entries = 64, .type = Type::f16}).run();
  AttentionCase(
      {.queries = 5, .entries = 150, .type = Type::f16, .mask = true, .sinks = true, .max_bias = 8, .soft_cap = 10})
      .run();
  AttentionCase({.queries = 2, .entries = 100, .type = Type::q4_0, .key = 128, .value = 128, .mask = true}).run();
}

}  // namespace
}  // namespace smelt::test
