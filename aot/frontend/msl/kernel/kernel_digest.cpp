// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes two kernels the same: their code and every fact about them. Records are taken apart by name, so that one
// more member does not compile until it is counted here.
#include "msl/frontend.hpp"

namespace smelt::aot::msl {
namespace {

void add(Hasher& hasher, const std::optional<unsigned>& value) {
  hasher.field(uint64_t{value.has_value()});
  hasher.field(uint64_t{value.value_or(0)});
}

void add(Hasher& hasher, const kernel_ir::StructField& fact) {
  const auto& [offset, size, count, type_name, name, id, space, is_const, target_size, target_align, handle, depth] =
      fact;
  for (const uint64_t number :
       {offset, size, count, id, uint64_t{space}, uint64_t{is_const}, target_size, target_align, uint64_t{depth}})
    hasher.field(number);
  for (const std::string& text : {type_name, name}) hasher.field(text);
  if (!handle.empty()) hasher.field(handle);
}

void add(Hasher& hasher, const ConstantFact& fact) {
  const auto& [name, symbol, type_name, index] = fact;
  for (const std::string& text : {name, symbol, type_name}) hasher.field(text);
  hasher.field(uint64_t{index});
}

void add(Hasher& hasher, const ValueShape& shape) {
  const auto& [lanes, bits, is_float, count, is_interpolant, space, is_wrapped] = shape;
  for (const uint64_t number : {uint64_t{lanes}, uint64_t{bits}, uint64_t{is_float}, uint64_t{count}})
    hasher.field(number);
  if (is_interpolant) hasher.field(uint64_t{is_interpolant});
  if (!space) return;
  hasher.field(uint64_t{*space});
  hasher.field(uint64_t{is_wrapped});
}

void add(Hasher& hasher, const ParameterFact& fact);
void add(Hasher& hasher, const ResultFact& fact);

template <class Fact>
void add(Hasher& hasher, const std::vector<Fact>& facts) {
  hasher.field(uint64_t{facts.size()});
  for (const Fact& fact : facts) add(hasher, fact);
}

void add(Hasher& hasher, const ParameterFact& fact) {
  const auto& [binding, name, type_name, space, is_reference, is_const, size, align, slot, condition, fields,
               is_argument_buffer, builtin, value, access, handles, source, offset, words, raster_order_group, members,
               vertices, primitives, planes] = fact;
  for (const uint64_t number :
       {binding ? static_cast<uint64_t>(*binding) : kBindingClasses, uint64_t{space}, uint64_t{is_reference},
        uint64_t{is_const}, size, align, uint64_t{is_argument_buffer}, uint64_t{value.lanes}, uint64_t{value.bits}})
    hasher.field(number);
  for (const std::string& text : {name, type_name, condition, builtin}) hasher.field(text);
  if (access != Access::none) hasher.field(static_cast<uint64_t>(access));
  if (handles != 0) hasher.field(uint64_t{handles});
  add(hasher, slot);
  add(hasher, fields);
  // Those of kernels stay what they were: a kernel has none of this, and its parameters are in order.
  if (words.empty() && !raster_order_group) return;
  add(hasher, value);
  for (const uint64_t number : {uint64_t{source}, offset.value_or(~uint64_t{0})}) hasher.field(number);
  for (const std::string& word : words) hasher.field(word);
  add(hasher, raster_order_group);
  for (const auto* values : {&members, &vertices, &primitives, &planes}) add(hasher, *values);
}

void add(Hasher& hasher, const ResultFact& fact) {
  const auto& [words, name, type_name, condition, value, offset] = fact;
  for (const std::string& word : words) hasher.field(word);
  for (const std::string& text : {name, type_name, condition}) hasher.field(text);
  add(hasher, value);
  hasher.field(offset.value_or(~uint64_t{0}));
}

void add(Hasher& hasher, const KernelFact& fact) {
  const auto& [name, symbol, max_threads, source_parameters, parameters, stage, results, early_fragment_tests, extra,
               stitching, is_external] = fact;
  hasher.field(uint64_t{is_external});
  for (const std::string& text : {name, symbol}) hasher.field(text);
  add(hasher, max_threads);
  add(hasher, parameters);
  // A kernel has as many as it has parameters.
  if (stage == Stage::kernel) return;
  hasher.field(uint64_t{source_parameters});
  hasher.field(static_cast<uint64_t>(stage));
  hasher.field(uint64_t{early_fragment_tests});
  add(hasher, results);
  hasher.field(kernel_ir::words_to_text(extra));
  hasher.field(kernel_ir::to_text(stitching));
}

}  // namespace

Digest digest_of(const MslKernel& kernel) {
  const auto& [fact, constants, bitcode] = kernel;
  Hasher hasher;
  hasher.field("metal kernel");
  add(hasher, fact);
  add(hasher, constants);
  hasher.field(ByteView(bitcode));
  return hasher.finish();
}

}  // namespace smelt::aot::msl
