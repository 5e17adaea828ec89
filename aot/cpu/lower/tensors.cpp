// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and operands: docs/formats/air.md 3.14. A product is a collective of a SIMD-group: all its lanes have come to
// it before, and it computes the elements that they hold. A kernel whose SIMD-groups depend on each other has barriers
// of its own.

#include "lower/tensors.hpp"

#include "kernel_ir/tensor_names.hpp"
#include "lower/collectives.hpp"
#include "runtime/runtime.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <array>
#include <optional>
#include <set>
#include <vector>

namespace smelt::aot::cpu {
namespace {

using kernel_ir::tensor_element;
using kernel_ir::TensorElement;
using llvm::CallInst;
using llvm::StringRef;
using llvm::Value;

/// Of a Tensor in runtime/tensor.c.
constexpr uint64_t kTensorBytes = 112;
constexpr uint64_t kMostRank = 8;
/// Operands of a product.
enum : uint64_t { kLeft = 0, kRight = 1, kDestination = 2 };
/// Bits of a product's form, as in runtime/tensor.c: float in full precision; operands that threads hold; wide vectors.
enum : uint32_t { kFullFloat = 1, kOwnLeft = 2, kWideVectors = 16, kTypesFrom = 8 };
/// Tensors that the API binds, parts of those, and tensors that a kernel made.
enum : uint64_t { kHandle = 0, kPart = 1, kInline = 2 };
/// The seven numbers of a descriptor follow the number of the operand.
constexpr unsigned kBehindDescriptor = 8;

constexpr StringRef kCooperative = "__tensorops_impl_matmul2d_op_cooperative_tensor_";

bool is_tensor_name(StringRef name) {
  return kernel_ir::is_tensor_operation(name) || (name.starts_with("air.") && name.contains("_tensor"));
}

class TensorLowering {
 public:
  TensorLowering(llvm::Module& module, bool wide_vectors, bool checked)
      : module_(module), wide_vectors_(wide_vectors), checked_(checked) {}

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

  /// An operand as its tensor has it: rows by dimension 1, columns by dimension 0.
  struct Shape {
    uint64_t rows, columns;
  };
  /// Of (operand, descriptor, ...).
  std::optional<Shape> shape_of(const CallInst& call, unsigned depth = 0) const {
    constexpr uint64_t kMost = 4096;
    std::array<uint64_t, 6> numbers{};  // operand, m, n, k, is left transposed, is right transposed
    for (unsigned i = 0; i < numbers.size(); ++i) {
      const auto number = operand(call, i, depth);
      if (!number) return std::nullopt;
      numbers[i] = *number;
    }
    const auto [which, m, n, k, turn_left, turn_right] = numbers;
    const Shape shape = which == kDestination ? Shape{m, n}
                        : which == kLeft      ? (turn_left != 0 ? Shape{k, m} : Shape{m, k})
                                              : (turn_right != 0 ? Shape{n, k} : Shape{k, n});
    if (which > kDestination || shape.rows > kMost || shape.columns > kMost) return std::nullopt;
    return shape;
  }

  /// Elements of a thread: as in runtime/tensor.c.
  static uint64_t capacity(const Shape& shape, uint64_t threads) {
    if (threads < kSimdWidth) return shape.rows * shape.columns;
    const uint64_t groups = threads / kSimdWidth, blocks = (shape.rows + 15) / 16 * ((shape.columns + 15) / 16);
    return (blocks + groups - 1) / groups * 8;
  }
  /// The type of the call's operand, of three types from `first` on.
  const TensorElement* element_of(const CallInst& call, unsigned first, unsigned depth = 0) const {
    const auto which = operand(call, 0, depth);
    const auto code =
        which && *which <= kDestination ? operand(call, first + static_cast<unsigned>(*which), depth) : std::nullopt;
    return code ? tensor_element(*code) : nullptr;
  }
  /// data_size(operand, descriptor, types, threads).
  std::optional<uint64_t> bytes_of_cooperative(const CallInst& call, unsigned depth = 0) const {
    const auto shape = shape_of(call, depth);
    const auto threads = operand(call, kBehindDescriptor + 3, depth);
    const TensorElement* const element = element_of(call, kBehindDescriptor, depth);
    if (!shape || !threads || element == nullptr) return std::nullopt;
    return capacity(*shape, *threads) * element->bytes;
  }

  Result<void> give_sizes() {
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
        auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        if (memory == nullptr || llvm::isa<llvm::ConstantInt>(memory->getArraySize())) continue;
        const auto bytes = evaluate(memory->getArraySize());
        if (!bytes || !memory->getAllocatedType()->isIntegerTy(8) || *bytes > (1u << 20))
          return fail(Errc::unsupported,
                      "function '{}': thread memory of a size that varies is not supported on the CPU",
                      function.getName().str());
        llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
        llvm::AllocaInst* fixed =
            builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), std::max<uint64_t>(*bytes, 1)));
        fixed->setAlignment(std::max(memory->getAlign(), llvm::Align(8)));
        empty_if_checked(builder, *fixed);
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
  Value* layout(llvm::IRBuilder<>& builder) {
    return builder.CreateCall(module_.getOrInsertFunction(kTensorLayout, builder.getInt32Ty()));
  }
  static Value* constant(llvm::IRBuilder<>& builder, uint64_t number) {
    return builder.getInt32(static_cast<uint32_t>(number));
  }
  /// By all lanes of a SIMD-group at once.
  void together(llvm::IRBuilder<>& builder, CollectiveKind kind, llvm::ArrayRef<Value*> operands) {
    llvm::SmallVector<llvm::Type*, 10> types;
    for (const Value* one : operands) types.push_back(one->getType());
    const std::string name = "smelt." + std::string(*tensor_function(kind));
    llvm::FunctionCallee callee =
        module_.getOrInsertFunction(name, llvm::FunctionType::get(builder.getVoidTy(), types, false));
    auto* const function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setConvergent();
    function->addFnAttr(llvm::Attribute::NoMerge);
    builder.CreateCall(callee, operands)->setConvergent();
  }
  void meet(llvm::IRBuilder<>& builder, uint64_t threads) {
    if (threads < kSimdWidth) return;
    constexpr StringRef kName = "air.simdgroup.barrier";
    constexpr unsigned kDeviceAndThreadgroup = 3, kSeqCst = 5, kSimdgroupScope = 4;
    llvm::Function* callee = module_.getFunction(kName);  // with an order from AIR 2.9 on
    if (callee == nullptr)
      callee = llvm::Function::Create(
          llvm::FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty(), builder.getInt32Ty()}, false),
          llvm::GlobalValue::ExternalLinkage, kName, module_);
    callee->setConvergent();
    callee->addFnAttr(llvm::Attribute::NoMerge);
    llvm::SmallVector<Value*, 3> operands = {builder.getInt32(kDeviceAndThreadgroup)};
    if (callee->arg_size() == 3) operands.push_back(builder.getInt32(kSeqCst));
    operands.push_back(builder.getInt32(kSimdgroupScope));
    builder.CreateCall(callee, operands)->setConvergent();
  }

  Result<Value*> lower_call(llvm::IRBuilder<>& builder, CallInst& call, StringRef name) {
    if (name == "air.get_descriptor_size_tensor") return llvm::ConstantInt::get(call.getType(), kTensorBytes);
    if (name.starts_with("air.init_strided_private_tensor.i32.")) {
      const auto rank = operand(call, 1);
      if (!rank || *rank > kMostRank)
        return refuse(call, "tensors of more than {} dimensions are not supported on the CPU", kMostRank);
      SMELT_TRY_VOID(
          run(builder, kTensorInit,
              {call.getArgOperand(0), whole(builder, call.getArgOperand(1)), flat(builder, call.getArgOperand(2)),
               call.getArgOperand(3), call.getArgOperand(4), whole(builder, call.getArgOperand(5)), builder.getInt64(0),
               builder.getInt64(INT64_MAX), builder.getInt32(0)}));
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
    return refuse(call, "this operation on tensors is not supported on the CPU");
  }

  /// run_<left>_<right>_<destination>(descriptor, left, kind, right, kind, destination, kind, threads); where threads
  /// hold an operand, run_cooperative_..., and that operand has a type without a space, and no kind.
  Result<Value*> lower_run(llvm::IRBuilder<>& builder, CallInst& call, StringRef types) {
    const bool is_cooperative = types.consume_front("cooperative_");
    llvm::SmallVector<StringRef, 6> parts;
    types.split(parts, '_');
    std::array<const TensorElement*, 3> elements{};
    std::array<Value*, 3> objects{};
    uint32_t form = wide_vectors_ ? kWideVectors : 0;
    unsigned at = 1;
    size_t part = 0;
    for (unsigned i = 0; i < 3; ++i) {
      const bool is_placed = part < parts.size() && (parts[part] == "dv" || parts[part] == "tg");
      if (is_placed) ++part;
      if (part >= parts.size() || at >= call.arg_size() || (!is_placed && !is_cooperative))
        return refuse(call, "this form of a product is not supported on the CPU");
      elements[i] = tensor_element(parts[part++]);
      if (elements[i] == nullptr) return refuse(call, "a product of these elements is not supported on the CPU");
      objects[i] = call.getArgOperand(at++);
      form |= elements[i]->number << (kTypesFrom + 4 * i);
      if (!is_placed) {
        form |= kOwnLeft << i;
      } else {
        SMELT_TRY(objects[i], tensor_of(builder, call, objects[i], at++));
      }
    }
    if (part != parts.size() || at + 1 != call.arg_size())
      return refuse(call, "this form of a product is not supported on the CPU");
    // Whole numbers are added up in i32.
    const auto [left, right, to] = elements;
    if (left->is_float != to->is_float || right->is_float != to->is_float || (!to->is_float && to->bytes != 4))
      return refuse(call, "a product of these elements is not supported on the CPU");
    const auto threads = operand(call, at);
    if (!threads) return refuse(call, "a product of a number of threads that varies is not supported on the CPU");
    if (checked_)
      for (unsigned i = 0; i < 3; ++i)
        if ((form & (kOwnLeft << i)) == 0) SMELT_TRY_VOID(bound_operand(builder, call, i, objects[i]));
    llvm::SmallVector<Value*, 8> operands{call.getArgOperand(0), objects[0], objects[1], objects[2],
                                          builder.getInt32(form)};
    if (*threads < kSimdWidth) {
      operands.push_back(layout(builder));
      SMELT_TRY_VOID(run(builder, "tensor_product_alone", operands));
      return nullptr;
    }
    operands.append({thread(builder), constant(builder, *threads), layout(builder)});
    together(builder, CollectiveKind::tensor_product, operands);
    return nullptr;
  }

  /// Numbers of the origin of every part of a bound tensor in a type: {i32 origin[n], handle}.
  void collect_origins(llvm::Type* type, std::set<uint64_t>& counts) const {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return collect_origins(array->getElementType(), counts);
    auto* const record = llvm::dyn_cast<llvm::StructType>(type);
    if (record == nullptr || record->isOpaque()) return;
    uint64_t count = 0;
    for (llvm::Type* field : record->elements()) {
      if (field->isPointerTy() && field->getPointerAddressSpace() == 1 && count > 0 && count <= kMostRank)
        counts.insert(count);
      const uint64_t numbers = field->isPointerTy() ? 0 : integers_in(field);
      if (numbers == 0) collect_origins(field, counts);
      count = numbers == 0 ? 0 : count + numbers;
    }
  }
  /// How many i32 the type is; 0: or something else.
  static uint64_t integers_in(llvm::Type* type) {
    if (type->isIntegerTy(32)) return 1;
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return array->getNumElements() <= kMostRank ? array->getNumElements() * integers_in(array->getElementType()) : 0;
    auto* const record = llvm::dyn_cast<llvm::StructType>(type);
    return record != nullptr && record->getNumElements() == 1 ? integers_in(record->getElementType(0)) : 0;
  }
  /// Of the part at that address. Nothing where the variable's type does not say it: the handle follows the origin, so
  /// a wrong number would read another handle.
  std::optional<uint64_t> origin_of(Value* part) const {
    const auto* place = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(part));
    if (place == nullptr) return std::nullopt;
    std::set<uint64_t> counts;
    collect_origins(place->getAllocatedType(), counts);
    return counts.size() == 1 ? std::optional(*counts.begin()) : std::nullopt;
  }

  /// A tensor without elements, until something is put there.
  void empty_if_checked(llvm::IRBuilder<>& entry, llvm::AllocaInst& memory) const {
    if (!checked_) return;
    const uint64_t bytes = memory.getAllocationSize(module_.getDataLayout())->getFixedValue();
    entry.CreateMemSet(&memory, entry.getInt8(0), bytes, memory.getAlign());
  }

  /// A Tensor, whatever kind the operand is of: its kind is the call's operand `kind`.
  Result<Value*> tensor_of(llvm::IRBuilder<>& builder, CallInst& call, Value* object, unsigned kind) {
    const auto known = operand(call, kind);
    if (known == kInline) return object;
    // The address of {handle}, or of {i32 origin[rank], handle}; it may be part of a larger variable.
    const auto numbers = known == kHandle ? std::optional<uint64_t>(0)
                         : known == kPart ? origin_of(object)
                                          : std::nullopt;
    if (!numbers) return refuse(call, "a tensor of this form is not supported on the CPU");
    constexpr uint64_t kHandleBytes = 8;
    const uint64_t at = llvm::alignTo(*numbers * sizeof(int32_t), kHandleBytes);
    llvm::IRBuilder<> entry(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* made = entry.CreateAlloca(llvm::ArrayType::get(entry.getInt8Ty(), kTensorBytes));
    made->setAlignment(llvm::Align(8));
    empty_if_checked(entry, *made);
    Value* const handle = builder.CreateLoad(llvm::PointerType::get(module_.getContext(), 1),
                                             builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, at));
    SMELT_TRY_VOID(run(builder, kTensorBound, {made, flat(builder, handle), object, constant(builder, *numbers)}));
    return made;
  }

  /// For checked code: what a product touches of a tensor, by what its descriptor says.
  Result<void> bound_operand(llvm::IRBuilder<>& builder, CallInst& call, unsigned which, Value* tensor) {
    const auto field = [&](unsigned at, llvm::Type* type) {
      return builder.CreateLoad(type,
                                builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), call.getArgOperand(0), at));
    };
    llvm::Type* const i32 = builder.getInt32Ty();
    Value *const m = field(0, i32), *const n = field(4, i32), *const k = field(8, i32);
    const auto is_turned = [&](unsigned at) { return builder.CreateIsNotNull(field(at, builder.getInt8Ty())); };
    Value *rows = m, *columns = n, *deep = builder.getInt32(0);
    if (which != kDestination) {
      Value* const is_static = builder.CreateICmpSGE(k, builder.getInt32(0));
      Value* const depth = builder.CreateSelect(is_static, k, builder.getInt32(INT32_MAX));
      Value* const turned = is_turned(which == kLeft ? 12 : 13);
      Value* const along = which == kLeft ? turned : builder.CreateNot(turned);  // depth runs along rows
      Value* const across = which == kLeft ? m : n;
      rows = builder.CreateSelect(along, depth, across);
      columns = builder.CreateSelect(along, across, depth);
      deep =
          builder.CreateSelect(is_static, builder.CreateSelect(along, builder.getInt32(1), builder.getInt32(2)), deep);
    }
    SMELT_TRY_VOID(
        run(builder, kTensorLeaves, {tensor, rows, columns, deep, builder.getInt32(which == kDestination ? 1 : 0)}));
    return {};
  }

  /// <what>(operand, descriptor, memory, ..., types, threads).
  Result<Value*> lower_cooperative(llvm::IRBuilder<>& builder, CallInst& call, StringRef what) {
    if (what == "data_size") {
      const auto bytes = bytes_of_cooperative(call);
      if (!bytes) return refuse(call, "this cooperative tensor is not supported on the CPU");
      return builder.getInt64(*bytes);
    }
    const auto shape = shape_of(call);
    if (!shape) return refuse(call, "a cooperative tensor of a shape that varies is not supported on the CPU");
    Value* const memory = call.getArgOperand(kBehindDescriptor);
    const auto has = [&](unsigned operands) { return call.arg_size() == kBehindDescriptor + operands; };
    if (what == "get_element_pointer" && has(5)) {
      const TensorElement* const element = element_of(call, kBehindDescriptor + 2);
      if (element == nullptr) return refuse(call, "a cooperative tensor of these elements is not supported on the CPU");
      Value* const index = call.getArgOperand(kBehindDescriptor + 1);
      if (const auto known = evaluate(index); known && *known == 0xffff) return memory;
      Value* const at =
          builder.CreateMul(builder.CreateZExt(index, builder.getInt64Ty()), builder.getInt64(element->bytes));
      return builder.CreateGEP(builder.getInt8Ty(), memory, at);
    }
    const auto threads = operand(call, call.arg_size() - 1);
    if (!threads) return refuse(call, "a product of a number of threads that varies is not supported on the CPU");
    if (what == "init" && has(5)) {
      const TensorElement* const element = element_of(call, kBehindDescriptor + 1);
      if (element == nullptr) return refuse(call, "a cooperative tensor of these elements is not supported on the CPU");
      SMELT_TRY_VOID(
          run(builder, "tensor_clear", {memory, constant(builder, capacity(*shape, *threads) * element->bytes)}));
      return nullptr;
    }
    if (what == "num_elements" && has(4)) return llvm::ConstantInt::get(call.getType(), capacity(*shape, *threads));
    if (what == "is_valid_element" && has(6)) {
      llvm::SmallVector<Value*, 9> operands = places(builder, call, *shape, *threads, kBehindDescriptor + 2);
      operands.push_back(whole(builder, call.getArgOperand(kBehindDescriptor + 1)));
      SMELT_TRY(Value * valid, run(builder, "tensor_is_valid", operands));
      return builder.CreateIsNotNull(valid);
    }
    if (what == "get_multidimensional_index" && has(7)) {
      llvm::SmallVector<Value*, 9> operands = places(builder, call, *shape, *threads, kBehindDescriptor + 3);
      operands.append(
          {whole(builder, call.getArgOperand(kBehindDescriptor + 1)), call.getArgOperand(kBehindDescriptor + 2)});
      SMELT_TRY_VOID(run(builder, "tensor_coordinates", operands));
      return nullptr;
    }
    for (const StringRef move : {StringRef("store"), StringRef("load")})
      if (what.consume_front((move + "_").str()) && has(7))
        return move_elements(builder, call, move, what, *shape, *threads);
    return refuse(call, "this operation on cooperative tensors is not supported on the CPU");
  }

  /// What the runtime asks of where elements are: operand, rows, columns, threads, form, layout, thread. `types`: where
  /// the call names three.
  llvm::SmallVector<Value*, 9> places(llvm::IRBuilder<>& builder, const CallInst& call, const Shape& shape,
                                      uint64_t threads, unsigned types) {
    constexpr unsigned kRelaxed = 6;
    const auto is_float = [&](unsigned i) {
      const auto code = operand(call, types + i);
      return code && tensor_element(*code) == &kernel_ir::kTensorElements[0];
    };
    const bool full = operand(call, kRelaxed) == 0 && (is_float(0) || is_float(1));
    return {whole(builder, call.getArgOperand(0)),
            constant(builder, shape.rows),
            constant(builder, shape.columns),
            constant(builder, threads),
            builder.getInt32(full ? kFullFloat : 0),
            layout(builder),
            thread(builder)};
  }

  /// {store, load}_<tensor>(operand, descriptor, memory, tensor, kind, types, threads).
  Result<Value*> move_elements(llvm::IRBuilder<>& builder, CallInst& call, StringRef what, StringRef tensor,
                               const Shape& shape, uint64_t threads) {
    const TensorElement* const element = element_of(call, kBehindDescriptor + 3);
    if (element == nullptr || element != tensor_element(tensor.rsplit('_').second))
      return refuse(call, "a {} that converts elements is not supported on the CPU", what.str());
    SMELT_TRY(Value * object,
              tensor_of(builder, call, call.getArgOperand(kBehindDescriptor + 1), kBehindDescriptor + 2));
    llvm::SmallVector<Value*, 9> operands = places(builder, call, shape, threads, kBehindDescriptor + 3);
    operands.append({call.getArgOperand(kBehindDescriptor), object});
    if (checked_)
      SMELT_TRY_VOID(run(builder, kTensorLeaves,
                         {object, constant(builder, shape.rows), constant(builder, shape.columns), builder.getInt32(0),
                          builder.getInt32(what == "store" ? 1 : 0)}));
    SMELT_TRY_VOID(run(builder, "tensor_" + what.str(), operands));
    if (what == "store") meet(builder, threads);
    return nullptr;
  }

  llvm::Module& module_;
  const bool wide_vectors_, checked_;
};

}  // namespace

bool has_tensors(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return function.isDeclaration() && is_tensor_name(function.getName());
  });
}

Result<void> lower_tensors(llvm::Module& module, bool wide_vectors, bool checked) {
  return TensorLowering(module, wide_vectors, checked).lower();
}

}  // namespace smelt::aot::cpu
