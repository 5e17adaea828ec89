// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU's column of ops/ops.def, and how a call's name finds its row: by what stands in front of the types, so that a
// lowering may know more types than AIR has.
#include "lower/lowerings.hpp"
#include "lower/refusals.hpp"
#include "lower/tensors.hpp"
#include "ops/intrinsics_table.hpp"

#include "llvm/ADT/StringMap.h"

namespace smelt::aot::cpu {
namespace {

using llvm::StringRef;
using AnswerKind = CpuAnswer::Kind;

#define SMELT_CPU_LOWERED(function) {.kind = AnswerKind::lowered, .lower = lowering::function}
#define SMELT_CPU_EXACT(function) {.kind = AnswerKind::lowered, .lower = lowering::function, .is_exact = true}
#define SMELT_CPU_COLLECTIVE(what) {.kind = AnswerKind::collective, .collective = CollectiveKind::what}
#define SMELT_CPU_AHEAD(pass) {.kind = (static_cast<void>(&pass), AnswerKind::ahead)}
#define SMELT_CPU_PIPELINE {.kind = AnswerKind::pipeline}
#define SMELT_CPU_REFUSED(what) {.kind = AnswerKind::refused, .words = refusal::what}
#define SMELT_OPERATION(name, suffix, signature, effect, evidence, variants, versions, stages, cpu) SMELT_CPU_##cpu,
constexpr CpuAnswer kAnswers[] = {
#include "ops/ops.def"
};
#undef SMELT_CPU_LOWERED
#undef SMELT_CPU_EXACT
#undef SMELT_CPU_COLLECTIVE
#undef SMELT_CPU_AHEAD
#undef SMELT_CPU_PIPELINE
#undef SMELT_CPU_REFUSED

bool is_of_integers(air::Suffix suffix) {
  using enum air::Suffix;
  return suffix == integer || suffix == signed_integer || suffix == sign_integer || suffix == sign_i32;
}

/// "T(T,T)": operands and result of one type.
Shape shape_of_row(const air::Row& row, const CpuAnswer& answer) {
  StringRef rest = row.signature;
  if (!rest.consume_front("T(T") || !rest.consume_back(")")) return Shape::free;
  while (rest.consume_front(",T")) {
  }
  if (!rest.empty()) return Shape::free;
  if (is_of_integers(row.suffix)) return Shape::integers;
  if (row.suffix != air::Suffix::real) return Shape::free;
  return answer.is_exact ? Shape::exact_floats : Shape::floats;
}

Operation operation_of(const air::Row& row, const CpuAnswer& answer) {
  const Shape shape = shape_of_row(row, answer);
  const auto operands = shape == Shape::free ? 0 : StringRef(row.signature).count('T') - 1;
  return {shape, static_cast<uint8_t>(operands), answer.lower};
}

/// What a name begins with that this answer is for. Who lowers reads what is behind the first word by himself; else it
/// is the row's whole name without types.
StringRef key_of(const air::Row& row, const CpuAnswer& answer) {
  StringRef key = row.name;
  if (answer.kind == AnswerKind::lowered) return key.split('.').first;
  for (auto [front, back] = key.rsplit('.'); parse_operand_type({}, back); std::tie(front, back) = key.rsplit('.'))
    key = front;
  return key;
}

using Answers = llvm::StringMap<NameAnswers>;

void add_answer(Answers& all, StringRef key, const air::Row& row, const CpuAnswer& answer) {
  NameAnswers& name = all[key];
  if (name.answer == nullptr) name.answer = &answer;
  if (answer.kind != AnswerKind::lowered) return;
  std::optional<Operation>& operation = is_of_integers(row.suffix) ? name.of_integers : name.of_others;
  if (!operation) operation = operation_of(row, answer);
}

const Answers& answers() {
  // Threads may read it while statics go.
  static const auto& all = *new Answers([] {
    Answers made;
    for (size_t i = 0; i < std::size(kAnswers); ++i) {
      const air::Row& row = air::table()[i];
      const StringRef key = key_of(row, kAnswers[i]);
      add_answer(made, key, row, kAnswers[i]);
      if ((row.variants & air::kQuad) != 0)
        add_answer(made, ("quad_" + key.drop_front(StringRef("simd_").size())).str(), row, kAnswers[i]);
    }
    return made;
  }());
  return all;
}

}  // namespace

std::span<const CpuAnswer> cpu_answers() {
  return kAnswers;
}

const NameAnswers* find_answers(const AirName& name) {
  // The parts stand one behind the other in the function's name.
  const StringRef last = name.parts.empty() ? name.operation : name.parts.back();
  for (StringRef key(name.operation.data(), last.end() - name.operation.data()); key.size() >= name.operation.size();
       key = key.rsplit('.').first) {
    if (const auto found = answers().find(key); found != answers().end()) return &found->second;
    if (key.size() == name.operation.size()) break;
  }
  return nullptr;
}

const Operation* find_operation(const AirName& name) {
  const NameAnswers* const found = find_answers(name);
  if (found == nullptr) return nullptr;
  const auto type = parse_trailing_type(name);
  const bool wants_integers = found->of_integers && (!found->of_others || (type && !type->element.is_float()));
  const std::optional<Operation>& operation = wants_integers ? found->of_integers : found->of_others;
  return operation ? &*operation : nullptr;
}

}  // namespace smelt::aot::cpu
