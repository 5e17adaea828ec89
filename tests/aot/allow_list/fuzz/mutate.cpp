// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mutate.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <stdexcept>
#include <vector>

namespace smelt::test {
namespace {

// Loads, stores, a loop, a private array, threadgroup memory, a barrier, a reduction: each driver of CPU code has
// something to do.
constexpr const char* kSeed = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
@table = internal unnamed_addr addrspace(2) constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0]
@shared = internal unnamed_addr addrspace(3) global [32 x float] undef, align 4
declare void @air.wg.barrier(i32, i32) #1
declare float @air.simd_sum.f32(float) #1
define internal float @helper(float %x, ptr addrspace(1) %p) #0 {
  %y = fmul float %x, %x
  ret float %y
}
define void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %i, i32 %t) #0 {
entry:
  %own = alloca [4 x float], align 4
  %wide = zext i32 %i to i64
  %pa = getelementptr float, ptr addrspace(1) %a, i64 %wide
  %x = load float, ptr addrspace(1) %pa, align 4
  %lane = and i32 %t, 3
  %slot = getelementptr [4 x float], ptr %own, i32 0, i32 %lane
  store float %x, ptr %slot, align 4
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %at = getelementptr [4 x float], ptr addrspace(2) @table, i32 0, i32 %n
  %c = load float, ptr addrspace(2) %at, align 4
  %more = fadd float %sum, %c
  %next = add i32 %n, 1
  %go = icmp ult i32 %next, 4
  br i1 %go, label %loop, label %after
after:
  %own.x = load float, ptr %slot, align 4
  %h = call float @helper(float %own.x, ptr addrspace(1) %pa)
  %ps = getelementptr [32 x float], ptr addrspace(3) @shared, i32 0, i32 %lane
  store float %h, ptr addrspace(3) %ps, align 4
  call void @air.wg.barrier(i32 2, i32 1) #1
  %s = load float, ptr addrspace(3) %ps, align 4
  %all = call float @air.simd_sum.f32(float %s) #1
  %r = fadd float %all, %more
  %pb = getelementptr float, ptr addrspace(1) %b, i64 %wide
  store float %r, ptr addrspace(1) %pb, align 4
  ret void
}
attributes #0 = { convergent nounwind }
attributes #1 = { convergent nounwind willreturn }
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}
!5 = !{i32 2, !"air.thread_position_in_grid"}
!6 = !{i32 3, !"air.thread_index_in_threadgroup"}
)";

class Grower {
 public:
  Grower(uint64_t number, llvm::Module& module) : random_(number), module_(module), kernel_(*module.getFunction("k")) {}

  std::string grow() {
    for (unsigned left = 1 + below(3); left > 0; --left) one();
    return story_;
  }

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  void say(const llvm::Twine& what) { story_ += (story_.empty() ? "" : "; ") + what.str(); }

  llvm::Instruction& any_place() {
    std::vector<llvm::Instruction*> places;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_))
      if (!llvm::isa<llvm::PHINode>(instruction)) places.push_back(&instruction);
    return *places[below(places.size())];
  }

  llvm::Type* any_type() {
    llvm::LLVMContext& context = module_.getContext();
    switch (below(10)) {
      case 0:
        return llvm::IntegerType::get(context, 1 + static_cast<unsigned>(below(160)));
      case 1:
        return llvm::Type::getDoubleTy(context);
      case 2:
        return llvm::Type::getX86_FP80Ty(context);
      case 3:
        return llvm::Type::getFP128Ty(context);
      case 4:
        return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 1 + static_cast<unsigned>(below(130)));
      case 5:
        return llvm::PointerType::get(context, static_cast<unsigned>(below(300)));
      case 6:
        return llvm::ScalableVectorType::get(llvm::Type::getInt32Ty(context), 4);
      case 7:
        return llvm::Type::getHalfTy(context);
      case 8:
        return llvm::ArrayType::get(llvm::Type::getInt64Ty(context), below(40));
      default:
        return llvm::Type::getInt32Ty(context);
    }
  }

  /// A value of the type: something of the kernel's own, or a constant.
  llvm::Value* any_value(llvm::IRBuilder<>& builder, llvm::Type* type) {
    if (type->isPointerTy()) {
      llvm::Value* const own = kernel_.getArg(static_cast<unsigned>(below(2)));
      return type == own->getType() ? own : builder.CreateAddrSpaceCast(own, type);
    }
    if (type->isMetadataTy()) {
      const char* const words[] = {"rsp", "rbp", "fs", "round.tonearest", "fpexcept.strict", ""};
      return llvm::MetadataAsValue::get(
          module_.getContext(),
          llvm::MDNode::get(module_.getContext(), llvm::MDString::get(module_.getContext(), words[below(6)])));
    }
    if (type->isIntegerTy()) return llvm::ConstantInt::get(type, below(3) == 0 ? 0x80 : below(256));
    return llvm::Constant::getNullValue(type);
  }

  /// An intrinsic and its types. Those that take any type are given types that fit; LLVM does not check.
  std::pair<llvm::Intrinsic::ID, std::vector<llvm::Type*>> any_intrinsic() {
    namespace id = llvm::Intrinsic;
    llvm::LLVMContext& context = module_.getContext();
    if (below(3) != 0) {
      for (;;) {
        const auto one = static_cast<id::ID>(1 + below(id::num_intrinsics - 1));
        if (!id::isOverloaded(one)) return {one, {}};
      }
    }
    llvm::Type* const pointer = llvm::PointerType::get(context, static_cast<unsigned>(below(5)));
    llvm::Type* const own = llvm::PointerType::get(context, 0);
    llvm::Type* const wide = llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 4u << below(5));
    llvm::Type* const pointers =
        llvm::FixedVectorType::get(pointer, llvm::cast<llvm::FixedVectorType>(wide)->getNumElements());
    llvm::Type* const word = llvm::Type::getInt64Ty(context);
    llvm::Type* const any_int = llvm::IntegerType::get(context, 8u << below(5));
    llvm::Type* const any_float = below(2) == 0 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
    const std::pair<id::ID, std::vector<llvm::Type*>> rows[] = {
        {id::masked_load, {wide, pointer}},
        {id::masked_store, {wide, pointer}},
        {id::masked_gather, {wide, pointers}},
        {id::masked_scatter, {wide, pointers}},
        {id::masked_expandload, {wide}},
        {id::masked_compressstore, {wide}},
        {id::memcpy, {pointer, pointer, word}},
        {id::memcpy_inline, {pointer, pointer, word}},
        {id::memmove, {pointer, own, word}},
        {id::memset, {pointer, word}},
        {id::read_register, {word}},
        {id::read_volatile_register, {word}},
        {id::write_register, {word}},
        {id::prefetch, {pointer}},
        {id::stacksave, {own}},
        {id::stackrestore, {own}},
        {id::frameaddress, {own}},
        {id::addressofreturnaddress, {own}},
        {id::sponentry, {own}},
        {id::thread_pointer, {}},
        {id::threadlocal_address, {own}},
        {id::ptrmask, {pointer, word}},
        {id::objectsize, {word, pointer}},
        {id::vastart, {own}},
        {id::get_active_lane_mask, {llvm::FixedVectorType::get(llvm::Type::getInt1Ty(context), 8), word}},
        {id::vector_reverse, {wide}},
        {id::ctpop, {any_int}},
        {id::bswap, {llvm::IntegerType::get(context, 16u << below(4))}},
        {id::smul_fix, {any_int}},
        {id::umul_with_overflow, {any_int}},
        {id::sqrt, {any_float}},
        {id::sin, {any_float}},
        {id::pow, {any_float}},
        {id::powi, {any_float, llvm::Type::getInt32Ty(context)}},
        {id::frexp, {any_float, llvm::Type::getInt32Ty(context)}},
        {id::lrint, {word, any_float}},
        {id::fptosi_sat, {any_int, any_float}},
        {id::get_fpenv, {word}},
        {id::set_fpenv, {word}},
        {id::experimental_constrained_fadd, {any_float}},
        {id::is_fpclass, {any_float}},
        {id::vector_reduce_add, {wide}},
        {id::launder_invariant_group, {pointer}},
    };
    return rows[below(std::size(rows))];
  }

  void call_an_intrinsic() {
    const auto [id, types] = any_intrinsic();
    llvm::IRBuilder<> builder(&any_place());
    llvm::Function* callee = llvm::Intrinsic::getDeclaration(&module_, id, types);
    std::vector<llvm::Value*> operands;
    for (llvm::Type* type : callee->getFunctionType()->params()) {
      if (type->isTokenTy() || type->isX86_AMXTy() || type->isX86_MMXTy() || type->isTargetExtTy()) return;
      operands.push_back(any_value(builder, type));
    }
    builder.CreateCall(callee, operands);
    say("calls " + callee->getName());
  }

  void access_memory() {
    llvm::IRBuilder<> builder(&any_place());
    const unsigned space = below(3) == 0 ? 256 + static_cast<unsigned>(below(3)) : static_cast<unsigned>(below(12));
    llvm::Value* pointer = builder.CreateIntToPtr(builder.getInt64(below(1024)), builder.getPtrTy(space));
    llvm::Type* type = any_type();
    llvm::Value* value = builder.CreateLoad(type, pointer);
    builder.CreateStore(value, pointer);
    say("memory in address space " + llvm::Twine(space));
  }

  void add_an_attribute() {
    const auto kind = static_cast<llvm::Attribute::AttrKind>(1 + below(llvm::Attribute::EndAttrKinds - 1));
    if (llvm::Attribute::isTypeAttrKind(kind) || llvm::Attribute::isConstantRangeAttrKind(kind) ||
        llvm::Attribute::isConstantRangeListAttrKind(kind))
      return;
    const auto attribute =
        llvm::Attribute::get(module_.getContext(), kind, llvm::Attribute::isIntAttrKind(kind) ? 16 : 0);
    if (below(2) == 0) {
      kernel_.addFnAttr(attribute);
    } else if (below(2) == 0) {
      kernel_.getArg(0)->addAttr(attribute);
    } else {
      for (llvm::Instruction& instruction : llvm::instructions(kernel_))
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) call->addFnAttr(attribute);
    }
    say("attribute " + attribute.getAsString());
  }

  void add_a_text_attribute() {
    const char* const names[] = {"probe-stack",
                                 "patchable-function",
                                 "instrument-function-entry-inlined",
                                 "target-features",
                                 "target-cpu",
                                 "stack-probe-size",
                                 "split-stack",
                                 "thunk",
                                 "zero-call-used-regs",
                                 "fentry-call",
                                 "stackrealign",
                                 "frame-pointer",
                                 "no-jump-tables",
                                 "indirect-tls-seg-refs",
                                 "function-instrument",
                                 "xray-instruction-threshold",
                                 "warn-stack-size",
                                 "implicit-section-name"};
    const char* const values[] = {"", "true", "false", "always", "all", "prologue-short-redirect", "+x87,+sse4a", "1"};
    const char* name = names[below(std::size(names))];
    kernel_.addFnAttr(name, values[below(std::size(values))]);
    say(llvm::Twine("attribute ") + name);
  }

  void change_linkage() {
    llvm::GlobalVariable& global = *module_.getGlobalVariable("table", true);
    switch (below(6)) {
      case 0:
        global.setThreadLocalMode(llvm::GlobalValue::GeneralDynamicTLSModel);
        break;
      case 1:
        global.setSection(below(2) == 0 ? ".init_array" : ".text");
        break;
      case 2:
        global.setLinkage(static_cast<llvm::GlobalValue::LinkageTypes>(below(11)));
        break;
      case 3:
        global.setAlignment(llvm::Align(uint64_t{1} << below(16)));
        break;
      case 4:
        kernel_.setSection(".init");
        break;
      default:
        global.setComdat(module_.getOrInsertComdat("c"));
    }
    say("linkage");
  }

  void strange_instruction() {
    llvm::Instruction& place = any_place();
    llvm::IRBuilder<> builder(&place);
    llvm::Value* buffer = kernel_.getArg(0);
    switch (below(9)) {
      case 0:
        builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
        break;
      case 1:
        builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, buffer, builder.getInt32(1), llvm::MaybeAlign(4),
                                llvm::AtomicOrdering::Monotonic);
        break;
      case 2:
        builder.CreateCall(
            llvm::InlineAsm::get(llvm::FunctionType::get(builder.getVoidTy(), false), "syscall", "", true));
        break;
      case 3:
        builder.CreateVAArg(llvm::ConstantPointerNull::get(builder.getPtrTy()), builder.getInt32Ty());
        break;
      case 4:
        builder.CreateCall(llvm::FunctionType::get(builder.getVoidTy(), false),
                           builder.CreateIntToPtr(builder.getInt64(4096), builder.getPtrTy()));
        break;
      case 5:
        builder.CreateStore(&kernel_, buffer);
        break;
      case 6:
        builder.CreateAlloca(builder.getInt8Ty(), kernel_.getArg(2));
        break;
      case 7:
        builder.CreateStore(builder.getInt8(1),
                            builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), 1 << 20)), true);
        break;
      default: {
        // A switch that leaves no way but its cases.
        llvm::BasicBlock* rest = place.getParent()->splitBasicBlock(&place);
        rest->getSinglePredecessor()->getTerminator()->eraseFromParent();
        llvm::BasicBlock* never = llvm::BasicBlock::Create(module_.getContext(), "never", &kernel_);
        new llvm::UnreachableInst(module_.getContext(), never);
        llvm::IRBuilder<> end(rest->getPrevNode());
        llvm::SwitchInst* jump = end.CreateSwitch(kernel_.getArg(3), never, 16);
        for (uint32_t i = 0; i < 16; ++i) {
          llvm::BasicBlock* one = llvm::BasicBlock::Create(module_.getContext(), "case", &kernel_, rest);
          llvm::IRBuilder<> inside(one);
          inside.CreateStore(inside.getInt32(i * 77), buffer, true);
          inside.CreateBr(rest);
          jump->addCase(end.getInt32(i), one);
        }
      }
    }
    say("an instruction");
  }

  void change_convention() {
    const auto convention = static_cast<llvm::CallingConv::ID>(below(llvm::CallingConv::MaxID + 1));
    llvm::Function& helper = *module_.getFunction("helper");
    helper.setCallingConv(convention);
    for (llvm::User* user : helper.users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call != nullptr && below(4) != 0)
        call->setCallingConv(convention);
    say("calling convention " + llvm::Twine(convention));
  }

  void one() {
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return call_an_intrinsic();
      case 4:
        return access_memory();
      case 5:
        return add_an_attribute();
      case 6:
        return add_a_text_attribute();
      case 7:
        return change_linkage();
      case 8:
        return change_convention();
      default:
        return strange_instruction();
    }
  }

  std::mt19937_64 random_;
  llvm::Module& module_;
  llvm::Function& kernel_;
  std::string story_;
};

}  // namespace

std::unique_ptr<llvm::Module> hostile_module(uint64_t number, llvm::LLVMContext& context, std::string& story) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(kSeed, problem, context);
  if (!module) throw std::runtime_error(problem.getMessage().str());
  story = Grower(number, *module).grow();
  return llvm::verifyModule(*module) ? nullptr : std::move(module);
}

}  // namespace smelt::test
