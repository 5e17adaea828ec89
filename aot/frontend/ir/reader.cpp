// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/reader.hpp"

#include "ir/dialect.hpp"
#include "ir_reader/parse.hpp"
#include "ir_reader/text/ir_lexer.hpp"
#include "llvm_support/deep_stack.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input {
namespace {

Result<void> read_dialect(KernelModule& input, const Origin& origin, const InputOptions& options) {
  // "air.simd_sum" in a module for AMD would be odd, but its triple says what the rest means.
  if (is_amdgcn(*input.module)) return read_amdgcn(input, origin, options);
  if (is_air(*input.module)) return read_air(input, origin, options);
  return read_gpu(input, origin, options);
}

}  // namespace

std::string Origin::line_of(std::string_view global) const {
  if (text.empty()) return {};
  const uint32_t line = line_of_global(text, global);
  return line == 0 ? std::string() : fmt::format("line {}: ", line);
}

Result<KernelModule> read_input(ByteView bytes, std::string_view name, const InputOptions& options) {
  SMELT_TRY(KernelModule input, parse_module(bytes, name));
  const Origin origin{name, detect_kind(bytes) == Kind::text_ir ? as_text(bytes) : std::string_view()};
  Result<void> done;
  run_deep([&] { done = read_dialect(input, origin, options); });
  if (!done) return tl::unexpected(std::move(done).error().in(name));
  return input;
}

}  // namespace smelt::aot::input
