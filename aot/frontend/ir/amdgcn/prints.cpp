// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tl.device_print as Triton writes it for AMD's GPUs where the library that would run it is not linked:
//
//   %m = call i64 @__ockl_printf_begin(i64 0)
//   %n = call i64 @__ockl_printf_append_string_n(i64 %m, ptr @printfFormat_3, i64 52, i32 0)
//   %o = call i64 @__ockl_printf_append_args(i64 %n, i32 5, i64 %x, ... seven of them, i32 1)
//
// The last operand says whether the message ends. Floats come widened to double, which no Apple GPU has; so their own
// bits are kept. The record is written by the thread that prints, as reports.hpp draws it.
#include "ir/amdgcn/packed.hpp"
#include "ir/amdgcn/reports.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

constexpr llvm::StringRef kPrintBegin = "__ockl_printf_begin";
constexpr llvm::StringRef kString = "__ockl_printf_append_string_n";
constexpr llvm::StringRef kArguments = "__ockl_printf_append_args";
constexpr llvm::StringRef kFormat = "printfFormat_";
constexpr unsigned kMostArguments = 32;  ///< bits of the second word
constexpr unsigned kAskedWord = 1, kThereWord = 2, kFirstWord = 3;
constexpr unsigned kIsRecord = 1U << 31;

struct Message {
  std::vector<llvm::CallInst*> calls;  ///< begin first
  unsigned format = 0;
  std::vector<Value*> arguments;
};

std::optional<uint64_t> constant(const Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number ? std::optional(number->getZExtValue()) : std::nullopt;
}

/// N of @printfFormat_N.
std::optional<unsigned> format_of(const Value* pointer) {
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer->stripPointerCasts());
  unsigned number = 0;
  llvm::StringRef name = global ? global->getName() : llvm::StringRef();
  if (!name.consume_front(kFormat) || name.getAsInteger(10, number) || number > 0xffff) return std::nullopt;
  return number;
}

/// Adds what one call appends. Nothing where it is none of the forms above; else whether the message ends with it.
std::optional<bool> append(Message& message, const llvm::CallInst& call) {
  const llvm::StringRef callee = callee_of(call);
  if (callee == kString && call.arg_size() == 4 && message.calls.size() == 1) {
    const auto format = format_of(call.getArgOperand(1));
    const auto last = constant(call.getArgOperand(3));
    if (!format || !last) return std::nullopt;
    message.format = *format;
    return *last != 0;
  }
  if (callee != kArguments || call.arg_size() < 4 || message.calls.size() < 2) return std::nullopt;
  const auto count = constant(call.getArgOperand(1));
  const auto last = constant(call.getArgOperand(call.arg_size() - 1));
  if (!count || !last || *count > call.arg_size() - 3) return std::nullopt;
  for (unsigned i = 0; i < *count; ++i) message.arguments.push_back(call.getArgOperand(2 + i));
  return *last != 0;
}

/// The calls from `begin` to the one that ends the message; each takes what the one before it returned.
std::optional<Message> message_of(llvm::Instruction& begin) {
  Message message;
  message.calls.push_back(llvm::cast<llvm::CallInst>(&begin));
  for (;;) {
    llvm::CallInst* const before = message.calls.back();
    if (!before->hasOneUse()) return std::nullopt;
    auto* const next = llvm::dyn_cast<llvm::CallInst>(before->user_back());
    const std::optional<bool> ends = next ? append(message, *next) : std::nullopt;
    if (!ends || message.arguments.size() > kMostArguments) return std::nullopt;
    message.calls.push_back(next);
    if (*ends) return message;
  }
}

/// The constant 64 bits of a double as a float, if that loses nothing.
Value* float_constant(llvm::IRBuilder<>& ir, const llvm::ConstantInt& bits) {
  llvm::APFloat number(llvm::APFloat::IEEEdouble(), bits.getValue());
  bool loses = false;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return loses && !number.isNaN() ? nullptr : llvm::ConstantFP::get(ir.getContext(), number);
}

/// The float that was widened to a double whose bits an argument is, if it is one; also where a select chose between
/// such a one and a constant.
Value* float_behind(llvm::IRBuilder<>& ir, Value* argument, unsigned depth = 0) {
  constexpr unsigned kMostSelects = 4;
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(argument); select && depth < kMostSelects) {
    Value* sides[] = {select->getTrueValue(), select->getFalseValue()};
    Value* floats[] = {float_behind(ir, sides[0], depth + 1), float_behind(ir, sides[1], depth + 1)};
    for (unsigned i = 0; i < 2; ++i)
      if (const auto* bits = llvm::dyn_cast<llvm::ConstantInt>(sides[i]); bits && floats[1 - i])
        floats[i] = float_constant(ir, *bits);
    return floats[0] && floats[1] ? ir.CreateSelect(select->getCondition(), floats[0], floats[1]) : nullptr;
  }
  const auto* bits = llvm::dyn_cast<llvm::BitCastInst>(argument);
  const auto* wide = bits ? llvm::dyn_cast<llvm::FPExtInst>(bits->getOperand(0)) : nullptr;
  if (!wide || !wide->getType()->isDoubleTy()) return nullptr;
  Value* const value = wide->getOperand(0);
  return value->getType()->isFloatTy() ? value : small_to_float(ir, value);
}

}  // namespace

std::vector<llvm::Instruction*> prints_of(llvm::Function& function) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (callee_of(instruction) == kPrintBegin) found.push_back(&instruction);
  return found;
}

Result<void> lower_print(llvm::Instruction& begin, llvm::Argument& report, const Origin& origin) {
  const std::optional<Message> message = message_of(begin);
  if (!message)
    return fail(Errc::unsupported, "{}'{}': a message that does not have the form of device_print's",
                origin.line_of(kPrintBegin.str()), kPrintBegin.str());
  llvm::Instruction* at = message->calls.back();
  llvm::IRBuilder<> ir(at);
  llvm::Type* const word = ir.getInt32Ty();
  const auto place = [&](Value* index) { return ir.CreateGEP(word, &report, ir.CreateZExt(index, ir.getInt64Ty())); };
  const auto agent = report.getContext().getOrInsertSyncScopeID("agent");
  const auto count = static_cast<unsigned>(2 + 2 * message->arguments.size());
  // Who finds it full asks for no more: the counter cannot come round.
  Value* const asked = place(ir.getInt32(kAskedWord));
  llvm::LoadInst* const before = ir.CreateAlignedLoad(word, asked, llvm::Align(4));
  before->setAtomic(llvm::AtomicOrdering::Monotonic, agent);
  Value* const there = ir.CreateAlignedLoad(word, place(ir.getInt32(kThereWord)), llvm::Align(4));
  at = llvm::SplitBlockAndInsertIfThen(ir.CreateICmpULT(before, there), at->getIterator(), false);
  ir.SetInsertPoint(at);
  Value* const first = ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, asked, ir.getInt32(count), llvm::MaybeAlign(4),
                                          llvm::AtomicOrdering::Monotonic, agent);
  Value* const end = ir.CreateAdd(ir.CreateZExt(first, ir.getInt64Ty()), ir.getInt64(count));
  Value* const fits = ir.CreateICmpULE(end, ir.CreateZExt(there, ir.getInt64Ty()));
  ir.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(fits, at->getIterator(), false));
  unsigned next = kFirstWord;
  const auto put = [&](Value* value) {
    ir.CreateAlignedStore(value, place(ir.CreateAdd(first, ir.getInt32(next++))), llvm::Align(4));
  };
  std::vector<Value*> words;
  unsigned floats = 0;
  for (size_t i = 0; i < message->arguments.size(); ++i) {
    Value* const argument = message->arguments[i];
    if (Value* const number = float_behind(ir, argument)) {
      floats |= 1U << i;
      words.insert(words.end(), {ir.CreateBitCast(number, word), ir.getInt32(0)});
    } else {
      words.insert(words.end(), {ir.CreateTrunc(argument, word), ir.CreateTrunc(ir.CreateLShr(argument, 32), word)});
    }
  }
  put(ir.getInt32(message->format | static_cast<unsigned>(message->arguments.size()) << 16 | kIsRecord));
  put(ir.getInt32(floats));
  for (Value* value : words) put(value);

  for (llvm::CallInst* call : llvm::reverse(message->calls)) {
    if (!call->use_empty()) call->replaceAllUsesWith(llvm::Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  for (Value* argument : message->arguments) llvm::RecursivelyDeleteTriviallyDeadInstructions(argument);
  return {};
}

}  // namespace smelt::aot::input::amdgcn
