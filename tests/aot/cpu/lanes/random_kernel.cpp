// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_kernel.hpp"

#include "llvm_support/analyses.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Verifier.h"

#include <functional>
#include <random>

namespace smelt::test {
namespace {

constexpr unsigned kVariables = 4;
constexpr unsigned kArray = 4;

class Generator {
 public:
  Generator(llvm::LLVMContext& context, uint32_t seed, bool flat)
      : random_(seed), flat_(flat), module_(std::make_unique<llvm::Module>("random", context)), builder_(context) {}

  std::unique_ptr<llvm::Module> make();

 private:
  unsigned roll(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  bool chance(unsigned percent) { return roll(100) < percent; }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(builder_.getContext(), name, function_); }

  llvm::Value* number(uint64_t value) { return llvm::ConstantInt::get(type_, value); }
  llvm::Value* word(llvm::Value* value) { return builder_.CreateZExtOrTrunc(value, builder_.getInt32Ty()); }
  llvm::Value* typed(llvm::Value* value) { return builder_.CreateZExtOrTrunc(value, type_); }
  llvm::Value* variable() { return builder_.CreateLoad(type_, variables_[roll(kVariables)]); }
  llvm::Value* element(llvm::Value* index);
  llvm::Value* input(llvm::Value* index);
  llvm::Value* leaf();
  llvm::Value* expression(unsigned depth);
  llvm::Value* float_expression();
  llvm::Value* condition();

  void statements(bool in_loop);
  void statement(bool in_loop);
  void assign();
  void branch(bool in_loop);
  void loop();
  void choice();
  void jump_into_loop();
  void finish();
  /// Emits `body` in a new block that goes on to `after` unless it ended otherwise.
  void arm(llvm::BasicBlock* at, llvm::BasicBlock* after, const std::function<void()>& body);

  std::mt19937 random_;
  bool flat_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  llvm::IntegerType* type_ = nullptr;
  llvm::Value* variables_[kVariables] = {};
  llvm::Value* array_ = nullptr;
  llvm::Value* position_ = nullptr;  // i32, differs by thread
  llvm::Value* count_ = nullptr;     // i32, uniform
  llvm::Value* uniform_ = nullptr;   // i32
  llvm::BasicBlock* exit_ = nullptr;
  llvm::BasicBlock* break_ = nullptr;
  llvm::BasicBlock* continue_ = nullptr;
  unsigned depth_ = 0;
  unsigned loops_ = 0;
};

llvm::Value* Generator::element(llvm::Value* index) {
  llvm::Value* inside = builder_.CreateAnd(word(index), kArray - 1);
  return builder_.CreateInBoundsGEP(type_, array_, builder_.CreateZExt(inside, builder_.getInt64Ty()));
}

llvm::Value* Generator::input(llvm::Value* index) {
  llvm::Value* place = builder_.CreateGEP(builder_.getInt32Ty(), function_->getArg(0),
                                          builder_.CreateZExt(index, builder_.getInt64Ty()));
  return typed(builder_.CreateLoad(builder_.getInt32Ty(), place));
}

llvm::Value* Generator::leaf() {
  switch (roll(10)) {
    case 0:
      return typed(position_);
    case 1:
      return typed(uniform_);
    case 2:
      return number(1 + roll(40));
    case 3:
      return input(builder_.CreateURem(word(variable()), count_));
    case 4:
      return input(builder_.CreateURem(position_, count_));
    case 5:
      return builder_.CreateLoad(type_, element(variable()));
    case 6:
      return input(builder_.CreateURem(builder_.CreateAdd(position_, builder_.getInt32(roll(100))), count_));
    default:
      return variable();
  }
}

llvm::Value* Generator::expression(unsigned depth) {
  if (depth == 0 || chance(30)) return leaf();
  llvm::Value* a = expression(depth - 1);
  llvm::Value* b = expression(depth - 1);
  switch (roll(12)) {
    case 0:
    case 1:
      return builder_.CreateAdd(a, b);
    case 2:
    case 3:
      return builder_.CreateSub(a, b);
    case 4:
      return builder_.CreateMul(a, b);
    case 5:
      return builder_.CreateXor(a, b);
    case 6:
      return builder_.CreateAnd(a, b);
    case 7:
      return builder_.CreateOr(a, b);
    case 8:
      return builder_.CreateLShr(a, builder_.CreateAnd(b, number(3)));
    case 9:
      // A zero divisor is decided against by control flow that has gone by; here it never is one.
      return builder_.CreateUDiv(a, builder_.CreateAdd(builder_.CreateAnd(b, number(15)), number(1)));
    case 10:
      return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
    default:
      return float_expression();
  }
}

llvm::Value* Generator::float_expression() {
  llvm::Type* real = builder_.getFloatTy();
  const auto small = [&](llvm::Value* value) {
    return builder_.CreateUIToFP(builder_.CreateAnd(word(value), 0xff), real);
  };
  llvm::Value* sum =
      builder_.CreateFAdd(builder_.CreateFMul(small(leaf()), llvm::ConstantFP::get(real, 0.5)), small(leaf()));
  sum = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, sum);
  return typed(builder_.CreateFPToUI(sum, builder_.getInt32Ty()));
}

llvm::Value* Generator::condition() {
  if (chance(10)) return builder_.CreateICmpULT(position_, builder_.CreateMul(uniform_, builder_.getInt32(11)));
  if (chance(15)) {
    return builder_.CreateICmpNE(builder_.CreateAnd(uniform_, uint64_t{1} << roll(3)), builder_.getInt32(0));
  }
  const unsigned masks[] = {1, 3, 7};
  llvm::Value* value = builder_.CreateAnd(word(expression(1)), masks[roll(3)]);
  const llvm::CmpInst::Predicate tests[] = {llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_UGT,
                                            llvm::CmpInst::ICMP_NE};
  return builder_.CreateICmp(tests[roll(4)], value, builder_.getInt32(roll(5)));
}

void Generator::arm(llvm::BasicBlock* at, llvm::BasicBlock* after, const std::function<void()>& body) {
  builder_.SetInsertPoint(at);
  body();
  if (!builder_.GetInsertBlock()->getTerminator()) builder_.CreateBr(after);
}

void Generator::statements(bool in_loop) {
  for (unsigned i = 1 + roll(3); i > 0; --i) {
    statement(in_loop);
    // What follows a jump is not reached; it goes to a block of its own, which is cleaned away.
    if (builder_.GetInsertBlock()->getTerminator()) builder_.SetInsertPoint(block("dead"));
  }
}

void Generator::assign() {
  builder_.CreateStore(expression(2), variables_[roll(kVariables)]);
}

void Generator::branch(bool in_loop) {
  auto* yes = block("yes");
  auto* no = block("no");
  auto* join = block("join");
  const bool two_arms = chance(50);
  builder_.CreateCondBr(condition(), yes, two_arms ? no : join);
  arm(yes, join, [&] { statements(in_loop); });
  arm(no, join, [&] {
    if (two_arms) statements(in_loop);
  });
  builder_.SetInsertPoint(join);
}

void Generator::loop() {
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Value* bound = roll(3) == 0   ? builder_.getInt32(1 + roll(4))
                       : roll(2) == 0 ? builder_.CreateAnd(word(variable()), 7)
                                      : builder_.CreateAnd(uniform_, 3);
  // Half of the loops stride: from the thread's own position to a common end, by a common step.
  const bool strides = chance(50);
  if (strides)
    bound = builder_.CreateAdd(builder_.CreateMul(uniform_, builder_.getInt32(roll(24))), builder_.getInt32(40));
  llvm::Value* step = strides ? builder_.getInt32(32) : builder_.getInt32(1);
  llvm::IRBuilder<> top(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::Value* counter = top.CreateAlloca(i32);
  builder_.CreateStore(strides ? position_ : builder_.getInt32(0), counter);
  auto* head = block("head");
  auto* body = block("body");
  auto* next = block("next");
  auto* after = block("after");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  builder_.CreateCondBr(builder_.CreateICmpULT(builder_.CreateLoad(i32, counter), bound), body, after);
  std::swap(break_, after);
  std::swap(continue_, next);
  ++loops_;
  arm(body, continue_, [&] { statements(true); });
  --loops_;
  std::swap(break_, after);
  std::swap(continue_, next);
  builder_.SetInsertPoint(next);
  llvm::Value* done = builder_.CreateLoad(i32, counter);
  llvm::Value* place = variables_[roll(kVariables)];
  builder_.CreateStore(builder_.CreateAdd(builder_.CreateLoad(type_, place), typed(done)), place);
  if (strides) {
    llvm::Value* read = input(builder_.CreateURem(done, count_));
    builder_.CreateStore(builder_.CreateXor(builder_.CreateLoad(type_, place), read), place);
  }
  builder_.CreateStore(builder_.CreateAdd(done, step), counter);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
}

void Generator::choice() {
  auto* after = block("after");
  auto* otherwise = block("default");
  llvm::Value* value = builder_.CreateAnd(word(chance(20) ? uniform_ : leaf()), 3);
  auto* choice = builder_.CreateSwitch(value, otherwise, 3);
  llvm::BasicBlock* cases[3] = {block("case"), block("case"), block("case")};
  for (unsigned i = 0; i < 3; ++i) choice->addCase(builder_.getInt32(i), cases[i]);
  arm(cases[0], after, [&] { statements(false); });
  arm(cases[1], cases[2], [&] { statements(false); });  // falls through
  arm(cases[2], after, [&] { statements(false); });
  arm(otherwise, after, [&] { statements(false); });
  builder_.SetInsertPoint(after);
}

// Two entries to one loop: what `goto` makes. It ends by counting.
void Generator::jump_into_loop() {
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::IRBuilder<> top(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::Value* counter = top.CreateAlloca(i32);
  builder_.CreateStore(builder_.getInt32(0), counter);
  auto* first = block("first");
  auto* second = block("second");
  auto* more = block("more");
  auto* again = block("again");
  auto* after = block("after");
  builder_.CreateCondBr(condition(), first, second);
  const auto count = [&](unsigned limit, llvm::BasicBlock* next) {
    llvm::Value* value = builder_.CreateAdd(builder_.CreateLoad(i32, counter), builder_.getInt32(1));
    builder_.CreateStore(value, counter);
    builder_.CreateCondBr(builder_.CreateICmpUGT(value, builder_.getInt32(limit)), after, next);
  };
  builder_.SetInsertPoint(first);
  assign();
  count(4, more);
  builder_.SetInsertPoint(more);
  builder_.CreateCondBr(condition(), after, second);
  builder_.SetInsertPoint(second);
  assign();
  count(5, again);
  builder_.SetInsertPoint(again);
  builder_.CreateCondBr(condition(), first, after);
  builder_.SetInsertPoint(after);
}

void Generator::statement(bool in_loop) {
  const unsigned kind = roll(100);
  if (depth_ > 3 || kind < 35) return assign();
  if (kind < 41) {
    builder_.CreateStore(expression(1), element(leaf()));
    return;
  }
  if (kind < 45) {
    // A second result, of each thread's own.
    llvm::Value* place = builder_.CreateGEP(
        builder_.getInt64Ty(), function_->getArg(1),
        builder_.CreateZExt(
            builder_.CreateAdd(builder_.CreateMul(position_, builder_.getInt32(2)), builder_.getInt32(1)),
            builder_.getInt64Ty()));
    builder_.CreateStore(builder_.CreateZExt(expression(1), builder_.getInt64Ty()), place);
    return;
  }
  if (kind < 49) {
    // A division that only threads with a divisor reach.
    llvm::Value* by = builder_.CreateAnd(expression(1), number(7));
    auto* divide = block("divide");
    auto* after = block("after");
    builder_.CreateCondBr(builder_.CreateICmpNE(by, number(0)), divide, after);
    builder_.SetInsertPoint(divide);
    llvm::Value* value = expression(1);
    llvm::Value* result = chance(50) ? builder_.CreateUDiv(value, by) : builder_.CreateURem(value, by);
    builder_.CreateStore(result, variables_[roll(kVariables)]);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    return;
  }
  ++depth_;
  if (kind < 66) {
    branch(in_loop);
  } else if (kind < 83 && loops_ < 2) {
    loop();
  } else if (kind < 90) {
    choice();
  } else if (kind < 95 && in_loop) {
    auto* leave = block("leave");
    auto* stay = block("stay");
    builder_.CreateCondBr(condition(), leave, stay);
    builder_.SetInsertPoint(leave);
    builder_.CreateBr(chance(50) ? break_ : continue_);
    builder_.SetInsertPoint(stay);
  } else if (kind < 97) {
    auto* leave = block("return");
    auto* stay = block("stay");
    builder_.CreateCondBr(condition(), leave, stay);
    builder_.SetInsertPoint(leave);
    finish();
    builder_.SetInsertPoint(stay);
  } else if (loops_ == 0) {
    jump_into_loop();
  } else {
    assign();
  }
  --depth_;
}

// out[2 * position] = a mixture of all variables; return
void Generator::finish() {
  llvm::Value* sum = number(0);
  for (unsigned i = 0; i < kVariables; ++i) {
    sum = builder_.CreateAdd(sum, builder_.CreateMul(builder_.CreateLoad(type_, variables_[i]), number(2 * i + 1)));
  }
  sum = builder_.CreateAdd(sum, builder_.CreateLoad(type_, element(builder_.getInt32(0))));
  sum = builder_.CreateAdd(sum, builder_.CreateLoad(type_, element(builder_.getInt32(3))));
  llvm::Value* index = builder_.CreateMul(position_, builder_.getInt32(2));
  llvm::Value* place = builder_.CreateGEP(builder_.getInt64Ty(), function_->getArg(1),
                                          builder_.CreateZExt(index, builder_.getInt64Ty()));
  builder_.CreateStore(builder_.CreateZExt(sum, builder_.getInt64Ty()), place);
  builder_.CreateBr(exit_);
}

std::unique_ptr<llvm::Module> Generator::make() {
  llvm::LLVMContext& context = builder_.getContext();
  const unsigned widths[] = {32, 32, 32, 64, 16, 8};
  type_ = builder_.getIntNTy(widths[roll(6)]);
  llvm::Type* pointer = builder_.getPtrTy(1);
  llvm::SmallVector<llvm::Type*, 8> types(3, pointer);
  types.append(flat_ ? 1 : 5, builder_.getInt32Ty());
  function_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                                     llvm::GlobalValue::InternalLinkage, "kernel", *module_);
  const char* names[] = {"buffer0", "buffer1", "buffer2", "gid.x", "gid.y", "lid.x", "lid.y", "size.x"};
  for (unsigned i = 0; i < types.size(); ++i) function_->getArg(i)->setName(names[i]);
  builder_.SetInsertPoint(block("entry"));
  exit_ = block("exit");
  for (llvm::Value*& variable : variables_) variable = builder_.CreateAlloca(type_);
  array_ = builder_.CreateAlloca(llvm::ArrayType::get(type_, kArray));
  // Each entry gets its own block, so that loop counters can be put in front.
  llvm::Value* parameters = function_->getArg(2);
  count_ = builder_.CreateLoad(builder_.getInt32Ty(), parameters);
  uniform_ =
      builder_.CreateLoad(builder_.getInt32Ty(), builder_.CreateConstGEP1_32(builder_.getInt32Ty(), parameters, 1));
  position_ = function_->getArg(3);
  if (!flat_) {
    // Row after row of the threadgroup; the position in the grid only adds noise to values.
    position_ =
        builder_.CreateAdd(builder_.CreateMul(function_->getArg(6), function_->getArg(7)), function_->getArg(5));
  }
  const uint64_t starts[] = {0, 0, 3, 7};
  for (unsigned i = 0; i < kVariables; ++i) {
    llvm::Value* start = i == 0   ? input(builder_.CreateURem(position_, count_))
                         : i == 1 ? typed(flat_ ? position_ : function_->getArg(4))
                                  : number(starts[i]);
    builder_.CreateStore(start, variables_[i]);
  }
  for (unsigned i = 0; i < kArray; ++i) builder_.CreateStore(number(i + 1), element(builder_.getInt32(i)));
  for (unsigned i = 3 + roll(4); i > 0; --i) {
    statement(false);
    if (builder_.GetInsertBlock()->getTerminator()) builder_.SetInsertPoint(block("dead"));
  }
  finish();
  builder_.SetInsertPoint(exit_);
  builder_.CreateRetVoid();
  for (llvm::BasicBlock& one : *function_) {
    if (one.getTerminator()) continue;
    builder_.SetInsertPoint(&one);
    builder_.CreateBr(exit_);
  }

  // As kernels arrive: promoted and simplified, some more than others.
  const char* pipelines[] = {
      "sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg",
      "sroa,simplifycfg,loop-simplify,lcssa,loop-rotate,instcombine<no-verify-fixpoint>,simplifycfg,jump-threading",
      "simplifycfg,sroa"};
  aot::run_passes(*function_, pipelines[roll(3)]);
  (void)context;
  return std::move(module_);
}

}  // namespace

std::unique_ptr<llvm::Module> random_kernel(llvm::LLVMContext& context, uint32_t seed, bool flat) {
  return Generator(context, seed, flat).make();
}

}  // namespace smelt::test
