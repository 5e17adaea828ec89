// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug info: kept when asked for, gone without a trace when not.
#include "bitcode/writer.hpp"
#include "canonical.hpp"
#include "files.hpp"
#include "oracle.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::test;
using aot::bitcode::write_bitcode;
using aot::bitcode::WriteOptions;

namespace {

std::string sample() {
  return std::string(as_text(must_read(std::string(SMELT_SOURCE_DIR) + "/tests/aot/air/bitcode/debug_info.ll")));
}

Bytes written(llvm::Module& module, bool keep, bool reverse = false) {
  WriteOptions options;
  options.wrap = false;
  options.keep_debug = keep;
  options.reverse_blocks = reverse;
  auto bytes = write_bitcode(module, options);
  REQUIRE_MESSAGE(bytes.has_value(), bytes.error().message);
  return std::move(*bytes);
}

}  // namespace

TEST_CASE("kept debug info is the same to LLVM 19 and valid to LLVM 14") {
  for (const bool reverse : {false, true}) {
    llvm::LLVMContext context, fresh;
    const auto module = parse_19(sample(), context);
    REQUIRE(module);
    const Bytes bytes = written(*module, true, reverse);
    const auto after = read_19(bytes, fresh);
    REQUIRE(after);
    Canonical how;
    how.keep_debug = true;
    const std::string wanted = canonical_text(*module, how);
    how.turn_blocks = reverse;
    CHECK(first_difference(wanted, canonical_text(*after, how)) == "");
    CHECK(wanted.find("#dbg_value(!DIArgList(") != std::string::npos);  // the sample has them
    if (!have_llvm_14()) continue;
    const Verdict verdict = judge_14(bytes);
    CHECK_MESSAGE(verdict.accepted, verdict.error);
    CHECK(verdict.error == "");  // no "ignoring invalid debug info"
    for (const char* part : {"call void @llvm.dbg.declare(metadata float* %",
                             "call void @llvm.dbg.value(metadata i32 %1, metadata !",
                             "call void @llvm.dbg.value(metadata !DIArgList(i32 %",
                             "call void @llvm.dbg.value(metadata i32 7, ",
                             "call void @llvm.dbg.label(metadata !",
                             ", !dbg !",
                             "!DILocation(line: 12, column: 3, scope: !",
                             "inlinedAt: !",
                             "!DILexicalBlock(scope: !",
                             "!DIDerivedType(tag: DW_TAG_pointer_type",
                             "dwarfAddressSpace: 1",
                             "!DICompositeType(tag: DW_TAG_structure_type",
                             "!DIEnumerator(name: \"big\"",
                             "!DITemplateTypeParameter(",
                             "!DIGlobalVariableExpression(",
                             "!DIImportedEntity(",
                             "!DIModule(",
                             "\"Debug Info Version\", i32 3",
                             "\"Dwarf Version\", i32 4",
                             "checksumkind: CSK_MD5"})
      CHECK_MESSAGE(verdict.text.find(part) != std::string::npos, std::string(part));
  }
}

TEST_CASE("without debug info nothing of it is left") {
  llvm::LLVMContext context, fresh;
  const auto module = parse_19(sample(), context);
  REQUIRE(module);
  const Bytes bytes = written(*module, false);
  const auto after = read_19(bytes, fresh);
  REQUIRE(after);
  CHECK(first_difference(canonical_text(*module), canonical_text(*after)) == "");
  if (!have_llvm_14()) return;
  const Verdict verdict = judge_14(bytes);
  CHECK_MESSAGE(verdict.accepted, verdict.error);
  for (const char* part : {"!dbg", "llvm.dbg", "!DI", "Debug Info Version", "Dwarf Version", "sample.metal"})
    CHECK_MESSAGE(verdict.text.find(part) == std::string::npos, std::string(part));
  CHECK(verdict.text.find("!llvm.loop") != std::string::npos);  // its locations go, its hints stay
  CHECK(verdict.text.find("llvm.loop.unroll.disable") != std::string::npos);
}

TEST_CASE("what LLVM 14's expressions cannot say is left out") {
  llvm::LLVMContext context;
  const auto module = parse_19(R"(
    define void @f(i32 %x) !dbg !4 {
        #dbg_value(i32 %x, !6, !DIExpression(DW_OP_LLVM_extract_bits_zext, 0, 8), !7)
        #dbg_value(i32 %x, !6, !DIExpression(), !7)
      ret void, !dbg !7
    }
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!2}
    !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
    !1 = !DIFile(filename: "a", directory: "b")
    !2 = !{i32 2, !"Debug Info Version", i32 3}
    !3 = !DISubroutineType(types: !5)
    !4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
    !5 = !{null}
    !6 = !DILocalVariable(name: "x", scope: !4, file: !1)
    !7 = !DILocation(line: 1, scope: !4))",
                               context);
  REQUIRE(module);
  const Bytes bytes = written(*module, true);
  if (!have_llvm_14()) return;
  const Verdict verdict = judge_14(bytes);
  CHECK_MESSAGE(verdict.accepted, verdict.error);
  CHECK(verdict.error == "");
  const size_t first = verdict.text.find("call void @llvm.dbg.value");
  CHECK(first != std::string::npos);
  CHECK(verdict.text.find("call void @llvm.dbg.value", first + 1) == std::string::npos);
}
