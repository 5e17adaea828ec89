// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and operands: docs/formats/air.md 3.14. All threads of a product come together before and after it, as it reads
// and writes what others do: within a SIMD-group here, as far as a product of one alone asks for it; a kernel whose
// SIMD-groups depend on each other has barriers of its own.

#include "cpu/lower/tensors.hpp"

#include "cpu/lower/collectives.hpp"
#include "cpu/runtime/runtime.hpp"
#include "kernel_ir/tensor_names.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <vector>

namespace smelt::aot::cpu {
namespace {

using kernel_ir::tensor_element;
using kernel_ir::TensorElement;
using llvm::CallInst;
using llvm::StringRef;
using llvm::Value;

/// Of a Tensor in runtime/tensor.c.
constexpr uint64_t kTensorBytes = 80;
constexpr uint64_t kMostRank = 8;
/// Operand of a product: left, right, destination.
constexpr uint64_t kDestination = 2;
/// A tensor that a kernel made.
constexpr uint64_t kInline = 2;
/// The seven numbers of a descriptor follow the number of the operand.
constexpr unsigned kBehindDescriptor = 8;

constexpr StringRef kCooperative = "__tensorops_impl_matmul2d_op_cooperative_tensor_";

bool is_tensor_name(StringRef name) {
  return kernel_ir::is_tensor_operation(name) || (name.starts_with("air.") && name.contains("_tensor"));
}

class TensorLowering {
 public:
  explicit TensorLowering(llvm::Module& module) : module_(module) {}

  Result<void> lower() {
    // Code reads them from where it lies itself.
    for (llvm::GlobalVariable& global : module_.globals())
      if (kernel_ir::is_matmul_descriptor(global)) {
        global.setLinkage(llvm::GlobalValue::InternalLinkage);
        global.setDSOLocal(true);
      }
    SMELT_TRY_VOID(give_sizes());
    std::vector<CallInst*> calls;
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (auto* call = llvm::dyn_cast<CallInst>(&instruction); call != nullptr &&
                                                                 call->getCalledFunction() != nullptr &&
                                                                 is_tensor_name(call->getCalledFunction()->getName()))
          calls.push_back(call);
    for (CallInst* call : calls) {
      llvm::IRBuilder<> builder(call);
      SMELT_TRY(Value * result, lower_call(builder, *call, call->getCalledFunction()->getName()));
      if (result != nullptr) call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
    return {};
  }

 private:
  template <class... Args>
  static tl::unexpected<Error> refuse(const CallInst& call, fmt::format_string<Args...> why, Args&&... args) {
    return fail(Errc::unsupported, "{}: {} (function '{}')", call.getCalledFunction()->getName().str(),
                fmt::format(why, std::forward<Args>(args)...), call.getFunction()->getName().str());
  }

  // ---- Numbers that follow from the code alone

  /// `depth`: of operations and calls around it; code that never ends has no bound of its own.
  std::optional<uint64_t> evaluate(const Value* value, unsigned depth = 0) const {
    constexpr unsigned kMostDepth = 8;
    if (depth > kMostDepth) return std::nullopt;
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) return constant->getZExtValue();
    if (const auto* cast = llvm::dyn_cast<llvm::ZExtInst>(value)) return evaluate(cast->getOperand(0), depth + 1);
    if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
      const auto a = evaluate(operation->getOperand(0), depth + 1), b = evaluate(operation->getOperand(1), depth + 1);
      if (!a || !b) return std::nullopt;
      if (operation->getOpcode() == llvm::Instruction::Shl && *b < 32) return uint32_t(*a << *b);
      if (operation->getOpcode() == llvm::Instruction::Mul) return uint32_t(*a * *b);
      return std::nullopt;
    }
    const auto* call = llvm::dyn_cast<CallInst>(value);
    const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    if (callee == nullptr) return std::nullopt;
    if (callee->getName().starts_with("air.get_simdgroup_size.")) return kSimdWidth;
    if (callee->getName() == "air.get_descriptor_size_tensor") return kTensorBytes;
    if (callee->getName() == (kCooperative + "data_size").str()) return bytes_of_cooperative(*call, depth + 1);
    if (callee->isDeclaration() || callee->size() != 1) return std::nullopt;
    const auto* back = llvm::dyn_cast<llvm::ReturnInst>(callee->getEntryBlock().getTerminator());
    return back != nullptr && back->getReturnValue() != nullptr ? evaluate(back->getReturnValue(), depth + 1)
                                                                : std::nullopt;
  }

  std::optional<uint64_t> operand(const CallInst& call, unsigned index, unsigned depth = 0) const {
    return index < call.arg_size() ? evaluate(call.getArgOperand(index), depth) : std::nullopt;
  }

  /// Elements of a thread: as in runtime/tensor.c.
  static uint64_t capacity(uint64_t m, uint64_t n, uint64_t threads) {
    if (threads < kSimdWidth) return m * n;
    const uint64_t groups = threads / kSimdWidth, blocks = (m + 15) / 16 * ((n + 15) / 16);
    return (blocks + groups - 1) / groups * 8;
  }
  /// data_size(operand, descriptor, types, threads) of a destination.
  std::optional<uint64_t> bytes_of_cooperative(const CallInst& call, unsigned depth = 0) const {
    const auto m = operand(call, 1, depth), n = operand(call, 2, depth),
               type = operand(call, kBehindDescriptor + 2, depth),
               threads = operand(call, kBehindDescriptor + 3, depth);
    if (!m || !n || !type || !threads || *m > 4096 || *n > 4096) return std::nullopt;
    const TensorElement* const element = tensor_element(*type);
    if (element == nullptr) return std::nullopt;
    return capacity(*m, *n, *threads) * element->bytes;
  }

  Result<void> give_sizes() {
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
        auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        if (memory == nullptr || llvm::isa<llvm::ConstantInt>(memory->getArraySize())) continue;
        const auto bytes = evaluate(memory->getArraySize());
        if (!bytes || !memory->getAllocatedType()->isIntegerTy(8) || *bytes > (1u << 20))
          return fail(Errc::unsupported, "function '{}': thread memory of a size that varies is not on the CPU",
                      function.getName().str());
        llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
        llvm::AllocaInst* fixed =
            builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), std::max<uint64_t>(*bytes, 1)));
        fixed->setAlignment(std::max(memory->getAlign(), llvm::Align(8)));
        memory->replaceAllUsesWith(fixed);
        memory->eraseFromParent();
      }
    return {};
  }

  // ---- Calls

  Result<Value*> run(llvm::IRBuilder<>& builder, std::string_view function, llvm::ArrayRef<Value*> operands) {
    llvm::Function* callee = declare_runtime(module_, function);
    if (callee == nullptr || callee->arg_size() != operands.size())
      return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt has no '{}'", function);
    return builder.CreateCall(callee, operands);
  }
  static Value* flat(llvm::IRBuilder<>& builder, Value* pointer) {
    return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
  }
  static Value* whole(llvm::IRBuilder<>& builder, Value* number) {
    return builder.CreateZExtOrTrunc(number, builder.getInt32Ty());
  }
  Value* thread(llvm::IRBuilder<>& builder) {
    return builder.CreateCall(module_.getOrInsertFunction(kTensorThread, builder.getInt32Ty()));
  }
  void meet(llvm::IRBuilder<>& builder, uint64_t threads) {
    if (threads < kSimdWidth) return;
    auto* const type =
        llvm::FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty(), builder.getInt32Ty()}, false);
    llvm::FunctionCallee barrier = module_.getOrInsertFunction("air.simdgroup.barrier", type);
    auto* const callee = llvm::cast<llvm::Function>(barrier.getCallee());
    callee->setConvergent();
    callee->addFnAttr(llvm::Attribute::NoMerge);
    constexpr unsigned kDeviceAndThreadgroup = 3, kSimdgroupScope = 4;
    CallInst* made =
        builder.CreateCall(barrier, {builder.getInt32(kDeviceAndThreadgroup), builder.getInt32(kSimdgroupScope)});
    made->setConvergent();
  }

  Result<Value*> lower_call(llvm::IRBuilder<>& builder, CallInst& call, StringRef name) {
    if (name == "air.get_descriptor_size_tensor") return llvm::ConstantInt::get(call.getType(), kTensorBytes);
    if (name.starts_with("air.init_strided_private_tensor.i32.")) {
      const auto rank = operand(call, 1);
      if (!rank || *rank > kMostRank)
        return refuse(call, "tensors of more than {} dimensions are not on the CPU", kMostRank);
      SMELT_TRY_VOID(
          run(builder, "tensor_init",
              {call.getArgOperand(0), whole(builder, call.getArgOperand(1)), flat(builder, call.getArgOperand(2)),
               call.getArgOperand(3), call.getArgOperand(4), whole(builder, call.getArgOperand(5))}));
      return nullptr;
    }
    if (name == "air.get_extent_private_tensor.i32")
      return run(builder, "tensor_extent", {call.getArgOperand(0), whole(builder, call.getArgOperand(2))});
    if (name == "air.slice_private_tensor_private_tensor.s.i32") {
      SMELT_TRY_VOID(run(builder, "tensor_slice",
                         {call.getArgOperand(0), call.getArgOperand(1), whole(builder, call.getArgOperand(2)),
                          call.getArgOperand(3), call.getArgOperand(4)}));
      return nullptr;
    }
    if (StringRef rest = name; rest.consume_front(kernel_ir::kTensorRun)) return lower_run(builder, call, rest);
    if (StringRef rest = name; rest.consume_front(kCooperative)) return lower_cooperative(builder, call, rest);
    return refuse(call, "this operation on tensors is not on the CPU");
  }

  /// run_<left>_<right>_<destination>(descriptor, left, kind, right, kind, destination, kind, threads), or
  /// run_cooperative_<left>_<right>_<type>(descriptor, left, kind, right, kind, elements, threads).
  Result<Value*> lower_run(llvm::IRBuilder<>& builder, CallInst& call, StringRef types) {
    const bool is_cooperative = types.consume_front("cooperative_");
    llvm::SmallVector<StringRef, 6> parts;
    types.split(parts, '_');
    if (parts.size() != (is_cooperative ? 5 : 6) || call.arg_size() != (is_cooperative ? 7 : 8))
      return refuse(call, "this form of a product is not on the CPU");
    const TensorElement *const left = tensor_element(parts[1]), *const right = tensor_element(parts[3]),
                               *const to = tensor_element(parts.back());
    // Whole numbers are added up in i32.
    if (left == nullptr || right == nullptr || to == nullptr || left->is_float != to->is_float ||
        right->is_float != to->is_float || (!to->is_float && to->bytes != 4))
      return refuse(call, "a product of these elements is not on the CPU");
    for (const unsigned kind : {2u, 4u, 6u}) {
      if (kind == 6 && is_cooperative) continue;
      if (operand(call, kind) != kInline)
        return refuse(call, "tensors that Metal's interface binds are not on the CPU");
    }
    const unsigned last = call.arg_size() - 1;
    const auto threads = operand(call, last);
    if (!threads) return refuse(call, "a product of a number of threads that varies is not on the CPU");
    meet(builder, *threads);
    Value* const descriptor = call.getArgOperand(0);
    Value* const count = builder.getInt32(static_cast<uint32_t>(*threads));
    Value* const self = thread(builder);
    if (is_cooperative) {
      SMELT_TRY_VOID(run(builder, "tensor_multiply_own",
                         {descriptor, call.getArgOperand(1), call.getArgOperand(3), call.getArgOperand(5),
                          builder.getInt32(to->number), self, count}));
    } else {
      SMELT_TRY_VOID(
          run(builder, "tensor_multiply",
              {descriptor, call.getArgOperand(1), call.getArgOperand(3), call.getArgOperand(5), self, count}));
    }
    meet(builder, *threads);
    return nullptr;
  }

  /// <what>(operand, descriptor, memory, ..., types, threads).
  Result<Value*> lower_cooperative(llvm::IRBuilder<>& builder, CallInst& call, StringRef what) {
    if (operand(call, 0) != kDestination) return refuse(call, "cooperative inputs of a product are not on the CPU");
    if (what == "data_size") {
      const auto bytes = bytes_of_cooperative(call);
      if (!bytes) return refuse(call, "this cooperative tensor is not on the CPU");
      return builder.getInt64(*bytes);
    }
    const auto m = operand(call, 1), n = operand(call, 2);
    if (!m || !n) return refuse(call, "a product of a shape that varies is not on the CPU");
    Value* const rows = builder.getInt32(static_cast<uint32_t>(*m));
    Value* const columns = builder.getInt32(static_cast<uint32_t>(*n));
    Value* const memory = call.getArgOperand(kBehindDescriptor);
    const auto has = [&](unsigned operands) { return call.arg_size() == kBehindDescriptor + operands; };
    if (what == "get_element_pointer" && has(5)) {
      const auto type = operand(call, call.arg_size() - 1);
      const TensorElement* const element = type ? tensor_element(*type) : nullptr;
      if (element == nullptr) return refuse(call, "a cooperative tensor of these elements is not on the CPU");
      Value* const index = call.getArgOperand(kBehindDescriptor + 1);
      if (const auto known = evaluate(index); known && *known == 0xffff) return memory;
      Value* const at =
          builder.CreateMul(builder.CreateZExt(index, builder.getInt64Ty()), builder.getInt64(element->bytes));
      return builder.CreateGEP(builder.getInt8Ty(), memory, at);
    }
    const auto threads = operand(call, call.arg_size() - 1);
    if (!threads) return refuse(call, "a product of a number of threads that varies is not on the CPU");
    Value* const count = builder.getInt32(static_cast<uint32_t>(*threads));
    if (what == "init" && has(5)) {
      const auto type = operand(call, kBehindDescriptor + 3);
      const TensorElement* const element = type ? tensor_element(*type) : nullptr;
      if (element == nullptr) return refuse(call, "a cooperative tensor of these elements is not on the CPU");
      const uint64_t bytes = capacity(*m, *n, *threads) * element->bytes;
      SMELT_TRY_VOID(run(builder, "tensor_clear", {memory, builder.getInt32(static_cast<uint32_t>(bytes))}));
      return nullptr;
    }
    if (what == "num_elements" && has(4)) return llvm::ConstantInt::get(call.getType(), capacity(*m, *n, *threads));
    if (what == "is_valid_element" && has(6)) {
      SMELT_TRY(Value * valid, run(builder, "tensor_is_valid",
                                   {rows, columns, count, thread(builder),
                                    whole(builder, call.getArgOperand(kBehindDescriptor + 1))}));
      return builder.CreateIsNotNull(valid);
    }
    if (what == "get_multidimensional_index" && has(7)) {
      SMELT_TRY_VOID(
          run(builder, "tensor_coordinates",
              {rows, columns, count, thread(builder), whole(builder, call.getArgOperand(kBehindDescriptor + 1)),
               call.getArgOperand(kBehindDescriptor + 2)}));
      return nullptr;
    }
    if (what.starts_with("store_") && has(7)) return store(builder, call, what, rows, columns, count);
    return refuse(call, "this operation on cooperative tensors is not on the CPU");
  }

  /// store_<tensor>(operand, descriptor, memory, tensor, kind, types, threads).
  Result<Value*> store(llvm::IRBuilder<>& builder, CallInst& call, StringRef what, Value* rows, Value* columns,
                       Value* threads) {
    const auto type = operand(call, kBehindDescriptor + 5);
    const TensorElement* const element = type ? tensor_element(*type) : nullptr;
    if (element == nullptr || element != tensor_element(what.rsplit('_').second))
      return refuse(call, "a store that converts elements is not on the CPU");
    if (operand(call, kBehindDescriptor + 2) != kInline)
      return refuse(call, "tensors that Metal's interface binds are not on the CPU");
    SMELT_TRY_VOID(run(builder, "tensor_store",
                       {rows, columns, call.getArgOperand(kBehindDescriptor), call.getArgOperand(kBehindDescriptor + 1),
                        thread(builder), threads}));
    meet(builder, llvm::cast<llvm::ConstantInt>(threads)->getZExtValue());
    return nullptr;
  }

  llvm::Module& module_;
};

}  // namespace

bool has_tensors(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return function.isDeclaration() && is_tensor_name(function.getName());
  });
}

Result<void> lower_tensors(llvm::Module& module) {
  return TensorLowering(module).lower();
}

}  // namespace smelt::aot::cpu
