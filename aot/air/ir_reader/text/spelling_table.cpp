// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules by name. One row, one sentence, one test (tests/aot/ir/test_spelling.cpp has an example for each that
// LLVM 19 refuses before and reads after).
#include "ir_reader/text/respeller.hpp"

namespace smelt::aot::input {
namespace {

constexpr SpellingRule kRules[] = {
    {"captures(none)", 20, Effect::mapped, "nocapture"},
    {"captures(...)", 20, Effect::hint, "a weaker promise than nocapture, which 19 cannot say"},
    {"dead_on_return", 22, Effect::hint, "the callee's memory is dead after return"},
    {"coro_elide_safe", 20, Effect::hint, "coroutine allocation may be elided"},
    {"nocreateundeforpoison", 22, Effect::hint, "the result is as defined as the arguments"},
    {"nodivergencesource", 20, Effect::hint, "the call is not a source of divergence"},
    {"noext", 20, Effect::hint, "no extension of a small integer argument: what AIR does anyway"},
    {"sanitize_*", 20, Effect::hint, "asks for instrumentation (alloc_token, realtime, realtime_blocking, type)"},
    {"memory(errnomem|target_mem)", 21, Effect::mapped, "errno counts as other memory, target memory as inaccessible"},
    {"icmp samesign", 20, Effect::hint, "both operands have the same sign"},
    {"fptrunc/fpext fast flags", 20, Effect::hint, "fast-math flags of a conversion"},
    {"inrange index", 3, Effect::hint, "the older keyword form (LLVM 3 to 18) of a promise on a constant address"},
    {"/* */", 20, Effect::mapped, "a block comment"},
    {"ptrtoaddr", 22, Effect::mapped, "ptrtoint: addresses and pointers are the same bits here"},
    {"atomicrmw usub_cond|usub_sat|fmaximum|fminimum", 20, Effect::mapped, "a compare-exchange loop in a helper"},
    {"llvm.lifetime without size", 22, Effect::mapped, "size -1: the whole object"},
    {"llvm.masked without alignment operand", 22, Effect::mapped, "the alignment attribute becomes the operand"},
    {"renamed intrinsic", 20, Effect::mapped, "the name that 19 knows"},
    {"llvm.amdgcn.*", 19, Effect::mapped, "a plain function amdgcn.*: signatures move between releases"},
    {"debug field", 20, Effect::debug, "a field of debug metadata that 19 does not have"},
    {"debug node", 21, Effect::debug, "a kind of debug metadata that 19 does not have: an unnamed basic type"},
    {"debug word", 20, Effect::debug, "a DWARF constant or flag that 19 does not have: the nearest that it has"},
    {"#dbg_declare_value", 22, Effect::debug, "#dbg_value"},
    {"calling convention", 20, Effect::refused, "belongs to a machine that AIR cannot be"},
    {"vscale", 11, Effect::refused, "vectors of unknown length"},
};
static_assert(std::size(kRules) == static_cast<size_t>(Rule::count_));

}  // namespace

std::span<const SpellingRule> spelling_rules() {
  return kRules;
}

}  // namespace smelt::aot::input
