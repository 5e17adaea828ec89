// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the legaliser's passes make of LLVM's operations, held to LLVM's own constant folding: a kernel computes from
// values in memory, and LLVM folds the same instructions on the same values. Integers of any width, vectors of any
// length, floats.
#include "smelt/aot/compile.hpp"

#include "launch.hpp"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/NoFolder.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <cstring>
#include <functional>
#include <random>

namespace smelt::test {
namespace {

using Builder = llvm::IRBuilder<llvm::NoFolder>;
using Values = std::array<llvm::Value*, 3>;

struct Operation {
  std::string name;
  std::function<llvm::Value*(Builder&, const Values&)> make;
};

constexpr size_t kTuples = 64;

constexpr const char* kMetadata = R"(
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"gid"}
)";

/// Its kernel's finished AIR.
Bytes compiled_text(const std::string& text) {
  const aot::Source source{"folded.ll", as_bytes(text)};
  aot::CompileOptions options;
  options.targets = {aot::parse_target("macos14").value()};
  auto made = aot::compile(std::span(&source, 1), options);
  if (!made) FAIL(made.error().message, "\n", text);
  return made->targets[0].functions[0].bitcode;
}

unsigned stored_bits(unsigned bits) {
  return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : (bits + 63) / 64 * 64;
}
unsigned lanes_of(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr ? vector->getNumElements() : 1;
}
unsigned lane_bytes(const llvm::Type* type) {
  return stored_bits(type->getScalarSizeInBits()) / 8;
}
unsigned value_bytes(const llvm::Type* type) {
  return lanes_of(type) * lane_bytes(type);
}

/// The bytes of one lane; nothing for poison, which may be any.
std::optional<llvm::APInt> bits_of(const llvm::Constant* constant, unsigned lane) {
  if (llvm::isa<llvm::VectorType>(constant->getType())) constant = constant->getAggregateElement(lane);
  if (constant == nullptr || llvm::isa<llvm::UndefValue>(constant)) return std::nullopt;
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(constant)) return number->getValueAPF().bitcastToAPInt();
  return llvm::cast<llvm::ConstantInt>(constant)->getValue();
}

/// One kernel that does all operations, each of its threads on other operands.
class Folded {
 public:
  Folded(llvm::LLVMContext& context, llvm::Type* type, std::vector<Operation> operations)
      : context_(context), type_(type), operations_(std::move(operations)), module_("folded.ll", context) {}

  void add_operands(std::array<llvm::Constant*, 3> operands) { tuples_.push_back(operands); }

  void check(aot::CpuMethod method) {
    const Bytes bitcode = compiled();
    aot::CpuOptions options;
    options.level = runnable_levels().front();
    options.method = method;
    const LoadedSlice slice = compile_one("k", bitcode, options);
    std::vector<unsigned char> in(tuples_.size() * in_bytes_), out(tuples_.size() * out_bytes_, 0xcd);
    for (size_t t = 0; t < tuples_.size(); ++t)
      for (size_t i = 0; i < 3; ++i) write(tuples_[t][i], in.data() + t * in_bytes_ + i * value_bytes(type_));
    Launch launch;
    launch.grid = {static_cast<uint32_t>(tuples_.size()), 1, 1};
    launch.group = {32, 1, 1};
    launch.bind(0, in).bind(1, out);
    slice.run("k", launch);
    for (size_t t = 0; t < tuples_.size(); ++t)
      for (size_t i = 0; i < operations_.size(); ++i) compare(t, i, out.data() + t * out_bytes_ + places_[i]);
    CHECK(compared_ > operations_.size() * tuples_.size() / 2);
  }

 private:
  static void write(const llvm::Constant* constant, unsigned char* to) {
    const unsigned bytes = lane_bytes(constant->getType());
    for (unsigned lane = 0; lane < lanes_of(constant->getType()); ++lane) {
      const llvm::APInt bits = bits_of(constant, lane)->zext(std::max(bytes * 8, 64u));
      std::memcpy(to + size_t{lane} * bytes, bits.getRawData(), bytes);
    }
  }

  Bytes compiled() {
    auto* pointer = llvm::PointerType::get(context_, 1);
    auto* i32 = llvm::Type::getInt32Ty(context_);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), {pointer, pointer, i32}, false);
    auto* kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "k", module_);
    Builder builder(llvm::BasicBlock::Create(context_, "", kernel));
    in_bytes_ = 3 * value_bytes(type_);
    llvm::Value* const thread = builder.CreateZExt(kernel->getArg(2), builder.getInt64Ty());
    const auto at = [&](unsigned argument, uint64_t stride) {
      return builder.CreateGEP(builder.getInt8Ty(), kernel->getArg(argument),
                               builder.CreateMul(thread, builder.getInt64(stride)));
    };
    llvm::Value* const from = at(0, in_bytes_);
    Values operands{};
    for (unsigned i = 0; i < 3; ++i) operands[i] = load(builder, from, i * value_bytes(type_));
    std::vector<llvm::Value*> results;
    for (const Operation& operation : operations_) {
      results.push_back(operation.make(builder, operands));
      places_.push_back(out_bytes_);
      out_bytes_ += value_bytes(results.back()->getType());
    }
    llvm::Value* const to = at(1, out_bytes_);
    for (size_t i = 0; i < results.size(); ++i) store(builder, results[i], to, places_[i]);
    builder.CreateRetVoid();
    std::string text(kAirHeader);
    llvm::raw_string_ostream stream(text);
    kernel->print(stream);
    for (const llvm::Function& function : module_)
      if (function.isDeclaration()) function.print(stream);
    text += kMetadata;
    // Attributes of intrinsics are LLVM's own, and their groups are not printed with a function.
    for (size_t hash = text.find(" #"); hash != text.npos; hash = text.find(" #", hash)) {
      size_t end = hash + 2;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      text.erase(hash, end - hash);
    }
    return compiled_text(text);
  }

  /// Memory holds lanes of a size that AIR has.
  llvm::Value* load(Builder& builder, llvm::Value* from, uint64_t offset) {
    llvm::Type* const scalar = type_->getScalarType();
    llvm::Type* const held = scalar->isIntegerTy() ? builder.getIntNTy(lane_bytes(type_) * 8) : scalar;
    llvm::Value* whole = lanes_of(type_) > 1 ? llvm::PoisonValue::get(type_) : nullptr;
    for (unsigned lane = 0; lane < lanes_of(type_); ++lane) {
      llvm::Value* const place =
          builder.CreateGEP(builder.getInt8Ty(), from, builder.getInt64(offset + lane * lane_bytes(type_)));
      llvm::Value* value = builder.CreateAlignedLoad(held, place, llvm::Align(1));
      if (held != scalar) value = builder.CreateTrunc(value, scalar);
      if (whole == nullptr) return value;
      whole = builder.CreateInsertElement(whole, value, uint64_t{lane});
    }
    return whole;
  }
  static void store(Builder& builder, llvm::Value* value, llvm::Value* to, uint64_t offset) {
    const llvm::Type* const type = value->getType();
    llvm::Type* const scalar = type->getScalarType();
    llvm::Type* const held = scalar->isIntegerTy() ? builder.getIntNTy(lane_bytes(type) * 8) : scalar;
    for (unsigned lane = 0; lane < lanes_of(type); ++lane) {
      llvm::Value* one = type->isVectorTy() ? builder.CreateExtractElement(value, uint64_t{lane}) : value;
      if (held != scalar) one = builder.CreateZExt(one, held);
      builder.CreateAlignedStore(
          one, builder.CreateGEP(builder.getInt8Ty(), to, builder.getInt64(offset + lane * lane_bytes(type))),
          llvm::Align(1));
    }
  }

  const llvm::Constant* fold(size_t tuple, size_t index) {
    auto* nothing = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false);
    auto* scratch = llvm::Function::Create(nothing, llvm::GlobalValue::InternalLinkage, "scratch", module_);
    auto* block = llvm::BasicBlock::Create(context_, "", scratch);
    Builder builder(block);
    llvm::Value* result = operations_[index].make(builder, {tuples_[tuple][0], tuples_[tuple][1], tuples_[tuple][2]});
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      llvm::Constant* const known = llvm::ConstantFoldInstruction(&instruction, module_.getDataLayout());
      if (known == nullptr) FAIL("LLVM does not fold ", operations_[index].name);
      if (result == &instruction) result = known;
      instruction.replaceAllUsesWith(known);
      instruction.eraseFromParent();
    }
    scratch->eraseFromParent();
    return llvm::cast<llvm::Constant>(result);
  }

  void compare(size_t tuple, size_t index, const unsigned char* found) {
    const llvm::Constant* const wanted = fold(tuple, index);
    const unsigned bytes = lane_bytes(wanted->getType());
    for (unsigned lane = 0; lane < lanes_of(wanted->getType()); ++lane) {
      const auto bits = bits_of(wanted, lane);
      if (!bits) continue;
      ++compared_;
      std::vector<uint64_t> words((bytes + 7) / 8);
      std::memcpy(words.data(), found + size_t{lane} * bytes, bytes);
      const llvm::APInt is(std::max(bytes * 8, 64u), words);
      if (is == bits->zext(is.getBitWidth())) continue;
      const llvm::Type* const scalar = wanted->getType()->getScalarType();
      if (scalar->isFloatingPointTy()) {
        const llvm::APFloat a(scalar->getFltSemantics(), is.trunc(bytes * 8)), b(scalar->getFltSemantics(), *bits);
        if (a.isNaN() && b.isNaN()) continue;
      }
      std::string text;
      llvm::raw_string_ostream stream(text);
      stream << operations_[index].name << " of " << *type_;
      for (const llvm::Constant* operand : tuples_[tuple]) stream << ", " << *operand;
      stream << ": lane " << lane << " is " << is << ", want " << *bits;
      FAIL_CHECK(text);
      return;
    }
  }

  llvm::LLVMContext& context_;
  llvm::Type* type_;
  std::vector<Operation> operations_;
  llvm::Module module_;
  std::vector<std::array<llvm::Constant*, 3>> tuples_;
  std::vector<uint64_t> places_;
  uint64_t in_bytes_ = 0, out_bytes_ = 0;
  size_t compared_ = 0;
};

using Id = llvm::Intrinsic::ID;

Operation unary(const char* name, Id id, bool has_flag = false) {
  return {name, [=](Builder& b, const Values& v) -> llvm::Value* {
            if (!has_flag) return b.CreateUnaryIntrinsic(id, v[0]);
            return b.CreateBinaryIntrinsic(id, v[0], b.getFalse());
          }};
}
Operation binary(const char* name, Id id) {
  return {name, [=](Builder& b, const Values& v) { return b.CreateBinaryIntrinsic(id, v[0], v[1]); }};
}
Operation both_of(const char* name, Id id, unsigned part) {
  return {name, [=](Builder& b, const Values& v) {
            return b.CreateExtractValue(b.CreateBinaryIntrinsic(id, v[0], v[1]), part);
          }};
}
Operation instruction(const char* name, llvm::Instruction::BinaryOps code) {
  const bool shifts =
      code == llvm::Instruction::Shl || code == llvm::Instruction::LShr || code == llvm::Instruction::AShr;
  const bool divides = code == llvm::Instruction::UDiv || code == llvm::Instruction::URem ||
                       code == llvm::Instruction::SDiv || code == llvm::Instruction::SRem;
  return {name, [=](Builder& b, const Values& v) {
            llvm::Value* second = v[1];
            llvm::Type* const type = second->getType();
            const unsigned bits = type->getScalarSizeInBits();
            if (shifts && bits <= 64) second = b.CreateURem(second, llvm::ConstantInt::get(type, bits));
            if (shifts && bits > 64)  // which AIR does not divide
              second = b.CreateAnd(second, llvm::ConstantInt::get(type, std::bit_floor(bits) - 1));
            if (divides && bits > 1)  // neither 0 nor -1
              second =
                  b.CreateOr(b.CreateLShr(second, llvm::ConstantInt::get(type, 1)), llvm::ConstantInt::get(type, 1));
            return b.CreateBinOp(code, v[0], second);
          }};
}
Operation comparison(llvm::CmpInst::Predicate predicate) {
  return {llvm::CmpInst::getPredicateName(predicate).str(),
          [=](Builder& b, const Values& v) { return b.CreateCmp(predicate, v[0], v[1]); }};
}

/// The same bits as another number of lanes, and as one integer.
void add_bitcasts(std::vector<Operation>& all, const llvm::Type* type) {
  const unsigned bits = lanes_of(type) * type->getScalarSizeInBits();
  for (const unsigned lane : {8u, 16u, 32u, 64u, bits}) {
    const bool is_same = lane == type->getScalarSizeInBits() && type->isIntOrIntVectorTy();
    const bool is_refused = lane == bits && (bits % 8 != 0 || (bits > 128 && bits % 64 != 0));
    if (bits % lane != 0 || is_same || bits / lane > 32 || is_refused) continue;
    all.push_back({fmt::format("bitcast to {} of i{}", bits / lane, lane), [=](Builder& b, const Values& v) {
                     llvm::Type* const to = b.getIntNTy(lane);
                     return b.CreateBitCast(v[0], lane == bits ? to : llvm::FixedVectorType::get(to, bits / lane));
                   }});
  }
}

std::vector<Operation> of_integers(const llvm::Type* type) {
  using llvm::Instruction;
  using namespace llvm::Intrinsic;
  const unsigned bits = type->getScalarSizeInBits();
  std::vector<Operation> all{instruction("add", Instruction::Add), instruction("sub", Instruction::Sub),
                             instruction("and", Instruction::And), instruction("or", Instruction::Or),
                             instruction("xor", Instruction::Xor)};
  for (unsigned i = llvm::CmpInst::FIRST_ICMP_PREDICATE; i <= llvm::CmpInst::LAST_ICMP_PREDICATE; ++i)
    all.push_back(comparison(static_cast<llvm::CmpInst::Predicate>(i)));
  all.push_back(
      {"select", [](Builder& b, const Values& v) { return b.CreateSelect(b.CreateICmpSLT(v[0], v[1]), v[2], v[0]); }});
  if (bits % 8 == 0) add_bitcasts(all, type);
  if (bits <= 128) all.push_back(instruction("mul", Instruction::Mul));
  if (bits == 1 || bits > 128) return all;
  for (const auto& [name, code] :
       {std::pair("shl", Instruction::Shl), std::pair("lshr", Instruction::LShr), std::pair("ashr", Instruction::AShr)})
    all.push_back(instruction(name, code));
  if (bits <= 64)
    for (const auto& [name, code] : {std::pair("udiv", Instruction::UDiv), std::pair("urem", Instruction::URem),
                                     std::pair("sdiv", Instruction::SDiv), std::pair("srem", Instruction::SRem)})
      all.push_back(instruction(name, code));
  for (const unsigned to : {1u, 5u, 8u, 16u, 24u, 32u, 64u, 96u, 128u, 192u}) {
    const auto of_width = [to](Builder& b, llvm::Type* from) {
      llvm::Type* const scalar = b.getIntNTy(to);
      return from->isVectorTy() ? llvm::FixedVectorType::get(scalar, lanes_of(from)) : scalar;
    };
    if (type->isVectorTy() && (to == 5 || to == 24 || to > 64)) continue;
    if (to < bits)
      all.push_back({fmt::format("trunc to i{}", to),
                     [=](Builder& b, const Values& v) { return b.CreateTrunc(v[0], of_width(b, v[0]->getType())); }});
    if (to > bits) {
      all.push_back({fmt::format("zext to i{}", to),
                     [=](Builder& b, const Values& v) { return b.CreateZExt(v[0], of_width(b, v[0]->getType())); }});
      all.push_back({fmt::format("sext to i{}", to),
                     [=](Builder& b, const Values& v) { return b.CreateSExt(v[0], of_width(b, v[0]->getType())); }});
    }
  }
  // Intrinsics of other widths are refused by name.
  const bool has_intrinsics = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (!has_intrinsics) return all;
  for (const auto& [name, id] :
       {std::pair("smax", smax), std::pair("smin", smin), std::pair("umax", umax), std::pair("umin", umin),
        std::pair("sadd.sat", sadd_sat), std::pair("uadd.sat", uadd_sat), std::pair("ssub.sat", ssub_sat),
        std::pair("usub.sat", usub_sat)})
    all.push_back(binary(name, id));
  all.push_back(unary("ctpop", ctpop));
  all.push_back(unary("bitreverse", bitreverse));
  all.push_back(unary("ctlz", ctlz, true));
  all.push_back(unary("cttz", cttz, true));
  all.push_back(unary("abs", llvm::Intrinsic::abs, true));
  if (bits % 16 == 0) all.push_back(unary("bswap", bswap));
  for (const auto& [name, id] : {std::pair("fshl", fshl), std::pair("fshr", fshr)})
    all.push_back({name, [=, which = id](Builder& b, const Values& v) {
                     return b.CreateIntrinsic(which, {v[0]->getType()}, {v[0], v[1], v[2]});
                   }});
  if (!type->isVectorTy())
    for (const auto& [name, id] :
         {std::pair("sadd.with.overflow", sadd_with_overflow), std::pair("uadd.with.overflow", uadd_with_overflow),
          std::pair("ssub.with.overflow", ssub_with_overflow), std::pair("usub.with.overflow", usub_with_overflow),
          std::pair("smul.with.overflow", smul_with_overflow), std::pair("umul.with.overflow", umul_with_overflow)})
      for (const unsigned part : {0u, 1u}) all.push_back(both_of(name, id, part));
  if (const unsigned lanes = lanes_of(type); lanes > 1) {
    for (const auto& [name, id] :
         {std::pair("reduce.add", vector_reduce_add), std::pair("reduce.mul", vector_reduce_mul),
          std::pair("reduce.and", vector_reduce_and), std::pair("reduce.or", vector_reduce_or),
          std::pair("reduce.xor", vector_reduce_xor), std::pair("reduce.smax", vector_reduce_smax),
          std::pair("reduce.smin", vector_reduce_smin), std::pair("reduce.umax", vector_reduce_umax),
          std::pair("reduce.umin", vector_reduce_umin)})
      all.push_back(unary(name, id));
    std::vector<int> mask;
    for (unsigned i = 0; i < lanes; ++i) mask.push_back(static_cast<int>((i * 7 + 3) % (2 * lanes)));
    all.push_back(
        {"shufflevector", [=](Builder& b, const Values& v) { return b.CreateShuffleVector(v[0], v[1], mask); }});
    all.push_back({"insertelement", [=](Builder& b, const Values& v) {
                     return b.CreateInsertElement(v[0], b.CreateExtractElement(v[1], uint64_t{0}), uint64_t{lanes - 1});
                   }});
  }
  return all;
}

llvm::Constant* integer(llvm::Type* type, std::mt19937_64& random) {
  const auto one = [&]() -> llvm::Constant* {
    const unsigned bits = type->getScalarSizeInBits();
    llvm::APInt value(bits, 0);
    switch (random() % 8) {
      case 0:
        value = llvm::APInt(bits, random() % 3);
        break;
      case 1:
        value = llvm::APInt::getAllOnes(bits);
        break;
      case 2:
        value = llvm::APInt::getSignedMinValue(bits);
        break;
      case 3:
        value = llvm::APInt::getSignedMaxValue(bits);
        break;
      case 4:
        value = llvm::APInt::getOneBitSet(bits, random() % bits);
        break;
      default:
        for (unsigned i = 0; i < (bits + 63) / 64; ++i)
          value = (value.shl(bits > 64 ? 64 : 0)) | llvm::APInt(64, random()).zextOrTrunc(bits);
    }
    return llvm::ConstantInt::get(type->getScalarType(), value);
  };
  if (!type->isVectorTy()) return one();
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < lanes_of(type); ++i) lanes.push_back(one());
  return llvm::ConstantVector::get(lanes);
}

std::vector<Operation> of_floats(const llvm::Type* type) {
  using namespace llvm::Intrinsic;
  std::vector<Operation> all;
  for (unsigned i = llvm::CmpInst::FCMP_OEQ; i < llvm::CmpInst::FCMP_TRUE; ++i)
    all.push_back(comparison(static_cast<llvm::CmpInst::Predicate>(i)));
  for (const auto& [name, id] :
       {std::pair("minimum", minimum), std::pair("maximum", maximum), std::pair("copysign", llvm::Intrinsic::copysign)})
    all.push_back(binary(name, id));
  for (const auto& [name, id] : {std::pair("fabs", llvm::Intrinsic::fabs), std::pair("floor", llvm::Intrinsic::floor),
                                 std::pair("ceil", llvm::Intrinsic::ceil), std::pair("trunc", llvm::Intrinsic::trunc),
                                 std::pair("rint", llvm::Intrinsic::rint), std::pair("round", llvm::Intrinsic::round)})
    all.push_back(unary(name, id));
  add_bitcasts(all, type);
  all.push_back({"fneg", [](Builder& b, const Values& v) { return b.CreateFNeg(v[0]); }});
  all.push_back(
      {"select", [](Builder& b, const Values& v) { return b.CreateSelect(b.CreateFCmpOLT(v[0], v[1]), v[2], v[0]); }});
  // Denormals may count as zero.
  for (const unsigned mask : {0x001u, 0x002u, 0x004u, 0x008u, 0x060u, 0x100u, 0x200u, 0x003u, 0x204u, 0x264u, 0x108u})
    all.push_back({fmt::format("is.fpclass({:#x})", mask), [=](Builder& b, const Values& v) {
                     return b.CreateIntrinsic(is_fpclass, {v[0]->getType()}, {v[0], b.getInt32(mask)});
                   }});
  for (const unsigned bits : {8u, 16u, 32u, 64u})
    for (const auto& [name, id] : {std::pair("fptosi.sat", fptosi_sat), std::pair("fptoui.sat", fptoui_sat)})
      all.push_back({fmt::format("{} to i{}", name, bits), [=, which = id](Builder& b, const Values& v) {
                       llvm::Type* to = b.getIntNTy(bits);
                       if (v[0]->getType()->isVectorTy())
                         to = llvm::FixedVectorType::get(to, lanes_of(v[0]->getType()));
                       return b.CreateIntrinsic(which, {to, v[0]->getType()}, {v[0]});
                     }});
  if (lanes_of(type) > 1)
    all.push_back({"shufflevector", [lanes = lanes_of(type)](Builder& b, const Values& v) {
                     std::vector<int> mask;
                     for (unsigned i = 0; i < lanes; ++i) mask.push_back(static_cast<int>(2 * lanes - 1 - i));
                     return b.CreateShuffleVector(v[0], v[1], mask);
                   }});
  return all;
}

llvm::Constant* real(llvm::Type* type, std::mt19937_64& random) {
  const auto one = [&]() -> llvm::Constant* {
    const llvm::fltSemantics& semantics = type->getScalarType()->getFltSemantics();
    const bool negative = random() % 2 == 0;
    llvm::APFloat value(semantics);
    switch (random() % 8) {
      case 0:
        value = llvm::APFloat::getZero(semantics, negative);
        break;
      case 1:
        value = llvm::APFloat::getInf(semantics, negative);
        break;
      case 2:
        value = llvm::APFloat::getQNaN(semantics, negative);
        break;
      case 3:
        value = llvm::APFloat::getLargest(semantics, negative);
        break;
      default: {
        const double numbers[] = {0.5, 1, 1.5, 2.5, 127.5, 255.75, 1e-3, 40000, 3, 0.4999};
        value = llvm::APFloat(numbers[random() % std::size(numbers)] * (negative ? -1 : 1));
        bool loses = false;
        value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
      }
    }
    return llvm::ConstantFP::get(type->getContext(), value);
  };
  if (!type->isVectorTy()) return one();
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < lanes_of(type); ++i) lanes.push_back(one());
  return llvm::ConstantVector::get(lanes);
}

void check(llvm::LLVMContext& context, llvm::Type* type, std::vector<Operation> operations,
           llvm::Constant* (*value)(llvm::Type*, std::mt19937_64&)) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << *type;
  CAPTURE(name);
  Folded folded(context, type, std::move(operations));
  std::mt19937_64 random(type->getScalarSizeInBits() * 100 + lanes_of(type));
  for (size_t i = 0; i < kTuples; ++i)
    folded.add_operands({value(type, random), value(type, random), value(type, random)});
  folded.check(aot::CpuMethod::automatic);
}

}  // namespace

TEST_CASE("folded_integers_of_any_width") {
  llvm::LLVMContext context;
  for (const unsigned bits : {1u, 5u, 8u, 16u, 24u, 32u, 40u, 64u, 65u, 96u, 128u, 192u}) {
    auto* const type = llvm::Type::getIntNTy(context, bits);
    check(context, type, of_integers(type), integer);
  }
}

TEST_CASE("folded_vectors_of_any_length") {
  llvm::LLVMContext context;
  for (const auto& [bits, lanes] : {std::pair(8u, 2u), std::pair(16u, 3u), std::pair(32u, 4u), std::pair(32u, 5u),
                                    std::pair(16u, 8u), std::pair(8u, 16u), std::pair(64u, 2u), std::pair(64u, 3u)}) {
    auto* const type = llvm::FixedVectorType::get(llvm::Type::getIntNTy(context, bits), lanes);
    check(context, type, of_integers(type), integer);
  }
}

TEST_CASE("folded_floats") {
  llvm::LLVMContext context;
  for (llvm::Type* const scalar : {llvm::Type::getFloatTy(context), llvm::Type::getHalfTy(context)})
    for (const unsigned lanes : {1u, 3u, 8u}) {
      llvm::Type* const type = lanes > 1 ? llvm::FixedVectorType::get(scalar, lanes) : scalar;
      check(context, type, of_floats(type), real);
    }
}

TEST_CASE("folded_integers_of_whole_bytes_keep_them_in_memory") {
  for (const unsigned bits : {24u, 40u, 48u, 56u, 72u, 96u, 120u}) {
    CAPTURE(bits);
    const unsigned bytes = bits / 8;
    const std::string text = std::string(kAirHeader) +
                             fmt::format(R"(
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %gid) {{
  %i = zext i32 %gid to i64
  %p = getelementptr [16 x i8], ptr addrspace(1) %in, i64 %i
  %q = getelementptr [16 x i8], ptr addrspace(1) %out, i64 %i
  %x = load i{0}, ptr addrspace(1) %p, align 1
  %y = add i{0} %x, 1
  store i{0} %y, ptr addrspace(1) %q, align 1
  ret void
}}
)",
                                         bits) +
                             kMetadata;
    const LoadedSlice slice = compile_one("k", compiled_text(text), {.level = runnable_levels().front()});
    constexpr size_t kThreads = 40;
    std::mt19937_64 random(bits);
    std::vector<unsigned char> in(16 * kThreads), out(16 * kThreads, 0xcd);
    for (unsigned char& byte : in) byte = random() % 3 == 0 ? 0xff : static_cast<unsigned char>(random());
    Launch launch;
    launch.grid = {kThreads, 1, 1};
    launch.group = {32, 1, 1};
    launch.bind(0, in).bind(1, out);
    slice.run("k", launch);
    for (size_t t = 0; t < kThreads; ++t) {
      std::array<unsigned char, 16> wanted;
      wanted.fill(0xcd);
      unsigned carry = 1;
      for (unsigned i = 0; i < bytes; ++i) {
        carry += in[16 * t + i];
        wanted[i] = static_cast<unsigned char>(carry);
        carry >>= 8;
      }
      CHECK(std::equal(wanted.begin(), wanted.end(), out.begin() + static_cast<ptrdiff_t>(16 * t)));
    }
  }
}

}  // namespace smelt::test
