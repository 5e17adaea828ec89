// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AMD's IR as Triton writes it (docs/formats/triton-amdgcn.md). Text arrives with the intrinsics renamed to plain
// functions amdgcn.* (spelling.cpp); bitcode has llvm.amdgcn.*. The lowerings are in amdgcn/, one file a subject.
#include "ir/amdgcn/convergence.hpp"
#include "ir/amdgcn/site.hpp"
#include "ir/dialect.hpp"
#include "kernel_ir/attributes.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <array>

namespace smelt::aot::input {
namespace {

using namespace amdgcn;

/// "f32", "v8i32", "bf16", "p1": how LLVM's names end that work on several types.
bool is_type_suffix(llvm::StringRef part) {
  if (part.consume_front("v")) {
    uint64_t lanes = 0;
    if (part.consumeInteger(10, lanes)) return false;
  }
  if (!part.consume_front("bf") && !part.consume_front("f") && !part.consume_front("i") && !part.consume_front("p"))
    return false;
  return !part.empty() && part.find_first_not_of("0123456789") == llvm::StringRef::npos;
}

bool matches(llvm::StringRef name, std::string_view row) {
  if (!name.consume_front(llvm::StringRef(row))) return false;
  if (name.empty()) return true;
  if (!name.consume_front(".")) return false;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  name.split(parts, '.');
  return llvm::all_of(parts, is_type_suffix);
}

/// The row with the longest name: "fdot2.f32.bf16" is not "fdot2" of two types.
const Row* find_row(llvm::StringRef name) {
  const Row* best = nullptr;
  for (const auto rows : {id_rows(), lane_rows(), sync_rows(), math_rows(), dot_rows(), matrix_rows(), buffer_rows()})
    for (const Row& row : rows)
      if (matches(name, row.name) && (!best || row.name.size() > best->name.size())) best = &row;
  return best;
}

/// Made into nothing by the accesses that use it.
bool is_resource(llvm::StringRef name) {
  return name.starts_with("make.buffer.rsrc");
}

Result<Facts> facts_of(llvm::Function& kernel) {
  Facts facts;
  facts.barriers_order_device = barriers_order_device(kernel);
  const Convergence convergence(kernel);
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) continue;
    const llvm::StringRef name = amd_name(*call);
    if (name == "workitem.id.y" || name == "workitem.id.z") facts.one_dimension = false;
    if (!name.empty() && convergence.may_be_partial(call->getParent())) facts.maybe_partial.insert(call);
  }
  return facts;
}

Result<void> lower_function(llvm::Function& function, const Origin& origin) {
  SMELT_TRY(const Facts facts, facts_of(function));
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !amd_name(*call).empty())
      if (!is_resource(amd_name(*call))) calls.push_back(call);
  bool has_matrices = false;
  for (llvm::CallInst* call : calls) {
    const std::string name = amd_name(*call).str();
    has_matrices |= llvm::StringRef(name).starts_with("wmma.");
    Site site(*call, name, facts, origin);
    const Row* row = find_row(name);
    if (!row) return site.refuse("there is no translation of this operation of AMD's GPUs");
    SMELT_TRY(llvm::Value* const value, row->lower(site));
    if (!call->getType()->isVoidTy() && !value) return site.refuse("its result has no value here");
    site.finish(value);
  }
  // Matrix products of a tile share their fragments: each row is fetched and widened once.
  if (has_matrices) run_passes(function, "early-cse");
  return {};
}

/// Declarations that nobody calls any more; one that somebody still uses is an operation without a translation.
Result<void> drop_declarations(llvm::Module& module, const Origin& origin) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || amd_name(function).empty()) continue;
    const std::string name = amd_name(function).str();
    if (!function.use_empty())
      return fail(Errc::unsupported, "{}'llvm.amdgcn.{}': this use of an operation of AMD's GPUs has no translation",
                  origin.line_of("llvm.amdgcn." + name), name);
    function.eraseFromParent();
  }
  return {};
}

}  // namespace

bool is_amdgcn(const llvm::Module& module) {
  if (llvm::StringRef(module.getTargetTriple()).starts_with("amdgcn")) return true;
  for (const llvm::Function& function : module)
    if (function.getName().starts_with("amdgcn.") || function.getName().starts_with("llvm.amdgcn.")) return true;
  return false;
}

Result<void> read_amdgcn(KernelModule& input, const Origin& origin, const InputOptions& options) {
  llvm::Module& module = *input.module;
  SMELT_TRY_VOID(mark_kernels(module, origin, options));
  SMELT_TRY_VOID(lower_reports(module, origin, options));
  SMELT_TRY_VOID(lower_device_library(module, origin));
  SMELT_TRY_VOID(lower_hidden_arguments(module, origin));
  narrow_doubles(module);
  drop_waits(module);
  drop_barrier_fences(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      scale_subnormals(function);
      SMELT_TRY_VOID(lower_function(function, origin));
    }
  drop_buffer_resources(module);
  SMELT_TRY_VOID(drop_declarations(module, origin));
  std::vector<llvm::Function*> kernels;
  for (llvm::Function& function : module)
    if (kernel_ir::is_kernel(function)) kernels.push_back(&function);
  for (llvm::Function* kernel : kernels) SMELT_TRY_VOID(finish_kernel(*kernel, origin, options));
  // Constant memory is 4 or 6 there, thread memory 5.
  return remap_address_spaces(input, {{4, 2}, {5, 0}, {6, 2}});
}

}  // namespace smelt::aot::input
