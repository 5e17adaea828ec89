// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records that a reader of LLVM 14's age, or of this AIR version, does not know (docs/formats/air.md 4.1, 4.3).
#include "verify/checks.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::verify {
namespace {

namespace bitc = llvm::bitc;

constexpr Version kNever{0xFFFF, 0};
constexpr Version kModern{2, 6};
constexpr Version kStringTable{2, 2};
constexpr uint64_t kLastAttributeOfLlvm14 = 79;

/// A record that is wrong below an AIR version.
struct RecordRule {
  unsigned block, code;
  Version since;
  std::string_view name;
  std::string_view why;
};

constexpr RecordRule kRules[] = {
    {bitc::TYPE_BLOCK_ID_NEW, bitc::TYPE_CODE_OPAQUE_POINTER, kNever, "an opaque pointer type",
     "Apple's runtimes read typed pointers"},
    {bitc::TYPE_BLOCK_ID_NEW, bitc::TYPE_CODE_TARGET_TYPE, kNever, "a target extension type", "newer than LLVM 14"},
    {bitc::TYPE_BLOCK_ID_NEW, bitc::TYPE_CODE_X86_AMX, kNever, "a type of another processor", "no AIR type"},
    {bitc::TYPE_BLOCK_ID_NEW, bitc::TYPE_CODE_DOUBLE, kNever, "a double", "no Apple GPU computes in it"},
    {bitc::CONSTANTS_BLOCK_ID, bitc::CST_CODE_POISON, kModern, "a POISON constant", "undef stands for it"},
    {bitc::CONSTANTS_BLOCK_ID, bitc::CST_CODE_CE_GEP, kNever, "a constant GEP of LLVM 19", "newer than LLVM 14"},
    {bitc::CONSTANTS_BLOCK_ID, bitc::CST_CODE_CE_GEP_WITH_INRANGE, kNever, "a constant GEP of LLVM 19",
     "newer than LLVM 14"},
    {bitc::CONSTANTS_BLOCK_ID, bitc::CST_CODE_NO_CFI_VALUE, kNever, "a no_cfi constant", "newer than LLVM 14"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_FREEZE, kModern, "a FREEZE record", ""},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_UNOP, kModern, "a UNOP (fneg) record", "fsub -0.0 stands for it"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_FENCE, kNever, "a plain fence", "it aborts Apple's compiler"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_DEBUG_RECORD_VALUE, kNever, "a debug record", "newer than LLVM 14"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_DEBUG_RECORD_DECLARE, kNever, "a debug record", "newer than LLVM 14"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_DEBUG_RECORD_ASSIGN, kNever, "a debug record", "newer than LLVM 14"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_DEBUG_RECORD_VALUE_SIMPLE, kNever, "a debug record",
     "newer than LLVM 14"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_DEBUG_RECORD_LABEL, kNever, "a debug record", "newer than LLVM 14"},
    {bitc::METADATA_BLOCK_ID, bitc::METADATA_ASSIGN_ID, kNever, "an assignment id", "newer than LLVM 14"},
};

/// Native atomics: accepted by one measured system, written by none of Apple's compilers.
constexpr RecordRule kUnusual[] = {
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_ATOMICRMW, kNever, "an atomicrmw instruction",
     "air.atomic.* stands for it"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_ATOMICRMW_OLD, kNever, "an atomicrmw instruction",
     "air.atomic.* stands for it"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_CMPXCHG, kNever, "a cmpxchg instruction",
     "air.atomic.* stands for it"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_LOADATOMIC, kNever, "an atomic load", "air.atomic.* stands for it"},
    {bitc::FUNCTION_BLOCK_ID, bitc::FUNC_CODE_INST_STOREATOMIC, kNever, "an atomic store",
     "air.atomic.* stands for it"},
};

/// Attribute kinds that readers before AIR 2.6 have been seen to refuse.
constexpr std::pair<uint64_t, std::string_view> kModernAttributes[] = {
    {bitc::ATTR_KIND_MUSTPROGRESS, "mustprogress"},
    {bitc::ATTR_KIND_NOUNDEF, "noundef"},
    {bitc::ATTR_KIND_NO_CALLBACK, "nocallback"},
};

std::string because(std::string_view why) {
  return why.empty() ? std::string() : fmt::format("; {}", why);
}

}  // namespace

void check_records(const RawModule& raw, Version air, Findings& findings) {
  for (const RecordRule& rule : kRules) {
    const uint64_t count = raw.count(rule.block, rule.code);
    if (count == 0 || air >= rule.since) continue;
    if (rule.since == kNever)
      findings.error(Check::record, "", "{} ({} times){}", rule.name, count, because(rule.why));
    else
      findings.error(Check::record, "", "{} ({} times) in AIR {}.{}; it exists from AIR {}.{} on{}", rule.name, count,
                     air.major, air.minor, rule.since.major, rule.since.minor, because(rule.why));
  }
  for (const RecordRule& rule : kUnusual)
    if (const uint64_t count = raw.count(rule.block, rule.code))
      findings.note(Check::record, "", "{} ({} times){}", rule.name, count, because(rule.why));
  if (raw.flagged_geps != 0)
    findings.error(Check::record, "", "{} GEP records with flags that LLVM 14 has no bits for", raw.flagged_geps);
  for (const uint64_t kind : raw.attribute_kinds)
    if (kind > kLastAttributeOfLlvm14)
      findings.error(Check::record, "", "attribute kind {}, which is newer than LLVM 14 (kinds 1 to {})", kind,
                     kLastAttributeOfLlvm14);
  for (const uint64_t form : raw.attribute_forms)
    findings.error(Check::record, "", "an attribute of form {}, which is newer than LLVM 14", form);
  if (air < kModern)
    for (const auto& [kind, name] : kModernAttributes)
      if (raw.attribute_kinds.count(kind) != 0)
        findings.error(Check::record, "", "attribute {} in AIR {}.{}; readers before AIR {}.{} refuse it", name,
                       air.major, air.minor, kModern.major, kModern.minor);
  if (raw.epoch != 0) findings.error(Check::record, "", "bitcode epoch {}; want 0", raw.epoch);
  if (air >= kStringTable && raw.version < 2)
    findings.note(Check::record, "", "module version {}; Apple writes 2 from AIR {}.{} on", raw.version,
                  kStringTable.major, kStringTable.minor);
}

}  // namespace smelt::aot::verify
