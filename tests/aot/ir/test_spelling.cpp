// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule of the spelling table, on text that LLVM 19 refuses as it is and reads after. The examples were accepted
// by LLVM 22 (or, for older spellings, by the LLVM that printed them).
#include "ir_reader/parse.hpp"
#include "ir_reader/text/spelling.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::aot::input;

namespace {

struct Example {
  std::string_view rule;
  std::string_view text;
  std::string_view becomes;  ///< in the text given to LLVM 19; for refused rules, in the message
};

const Example kExamples[] = {
    {"captures(none)", "define void @f(ptr captures(none) %p) { ret void }", "ptr nocapture %p"},
    {"captures(...)", "define void @f(ptr captures(ret: address, provenance) %p) { ret void }", "(ptr  %p)"},
    {"dead_on_return", "define void @f(ptr dead_on_return %p) { ret void }", "(ptr  %p)"},
    {"coro_elide_safe", "define void @f() coro_elide_safe { ret void }", "@f()  {"},
    {"nocreateundeforpoison", "define void @f() nocreateundeforpoison { ret void }", "@f()  {"},
    {"nodivergencesource", "declare i32 @g() nodivergencesource", "@g() "},
    {"noext", "define void @f(i8 noext %p) { ret void }", "(i8  %p)"},
    {"sanitize_*", "define void @f() sanitize_realtime sanitize_type { ret void }", "@f()   {"},
    {"memory(errnomem|target_mem)", "declare float @sinf(float) memory(argmem: read, errnomem: write)",
     "memory(write, argmem: read, inaccessiblemem: none)"},
    {"icmp samesign", "define i1 @f(i32 %a) {\n  %c = icmp samesign ult i32 %a, 3\n  ret i1 %c\n}", "icmp  ult"},
    {"fptrunc/fpext fast flags",
     "define float @f(double %x) {\n  %r = fptrunc nnan contract double %x to float\n  ret float %r\n}",
     "fptrunc   double"},
    {"inrange index",
     "@v = constant { [2 x ptr] } zeroinitializer\n"
     "@p = global ptr getelementptr inbounds ({ [2 x ptr] }, ptr @v, i32 0, inrange i32 0, i32 1)",
     "i32 0,  i32 0, i32 1"},
    {"/* */", "/* two\n   lines */ define void @f() { ret void } /**/", "\n"},
    {"ptrtoaddr",
     "@h = global i32 0\n@g = global i64 ptrtoaddr (ptr @h to i64)\n"
     "define i64 @f(ptr %p) {\n  %r = ptrtoaddr ptr %p to i64\n  ret i64 %r\n}",
     "ptrtoint ptr %p"},
    {"atomicrmw usub_cond|usub_sat|fmaximum|fminimum",
     "define i32 @f(ptr addrspace(1) %p, i32 %x) {\n"
     "  %r = atomicrmw usub_cond ptr addrspace(1) %p, i32 %x syncscope(\"agent\") monotonic, align 4, !m !0\n"
     "  %s = atomicrmw volatile usub_sat ptr addrspace(1) %p, i32 %r acq_rel\n"
     "  ret i32 %s\n}\n"
     "define half @g(ptr addrspace(3) %p, half %x) {\n"
     "  %r = atomicrmw fmaximum ptr addrspace(3) %p, half %x seq_cst\n"
     "  %s = atomicrmw fminimum ptr addrspace(3) %p, half %x seq_cst\n"
     "  %t = atomicrmw fminimum ptr addrspace(3) %p, half 1.0 seq_cst\n  ret half %t\n}\n!0 = !{}",
     "call i32 @smelt.atomicrmw.usub_cond.0(ptr addrspace(1) %p, i32 %x), !m !0"},
    {"llvm.lifetime without size",
     "define void @f() {\n  %p = alloca i32, addrspace(5)\n"
     "  call void @llvm.lifetime.start.p5(ptr addrspace(5) nonnull %p)\n"
     "  call void @llvm.lifetime.end.p5(ptr addrspace(5) %p)\n  ret void\n}\n"
     "declare void @llvm.lifetime.start.p5(ptr addrspace(5) captures(none))\n"
     "declare void @llvm.lifetime.end.p5(ptr addrspace(5))",
     "(i64 -1, ptr addrspace(5) nonnull %p)"},
    {"llvm.masked without alignment operand",
     "define <4 x float> @f(ptr %p, <4 x ptr> %ps, <4 x i1> %m, <4 x float> %o) {\n"
     "  %r = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 16 %p, <4 x i1> %m, <4 x float> %o)\n"
     "  call void @llvm.masked.store.v4f32.p0(<4 x float> %r, ptr %p, <4 x i1> %m)\n"
     "  %g = call <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr> align 4 %ps, <4 x i1> %m, <4 x float> %r)\n"
     "  call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %g, <4 x ptr> align 4 %ps, <4 x i1> %m)\n"
     "  ret <4 x float> %g\n}\n"
     "declare <4 x float> @llvm.masked.load.v4f32.p0(ptr captures(none), <4 x i1>, <4 x float>)\n"
     "declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr captures(none), <4 x i1>)\n"
     "declare <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr>, <4 x i1>, <4 x float>)\n"
     "declare void @llvm.masked.scatter.v4f32.v4p0(<4 x float>, <4 x ptr>, <4 x i1>)",
     "%p, i32 16, <4 x i1> %m"},
    {"renamed intrinsic",
     "define <4 x i32> @f() {\n  %x = call <4 x i32> @llvm.stepvector.v4i32()\n  ret <4 x i32> %x\n}",
     "@llvm.experimental.stepvector.v4i32"},
    {"llvm.amdgcn.*",
     "define void @f(ptr addrspace(1) %p) {\n"
     "  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 64, i32 7)\n"
     "  ret void\n}\n"
     "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) readnone, i16, i64, i32 immarg)",
     "@amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) readnone, i16, i64, i32 )"},
    {"debug field",
     "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n"
     "!0 = distinct !DICompileUnit(sourceLanguageName: DW_LNAME_C_plus_plus, sourceLanguageVersion: 201703, file: !1, "
     "emissionKind: FullDebug)\n"
     "!1 = !DIFile(filename: \"a.c\", directory: \"\")\n!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
     "!x = !{!3, !4, !5}\n!3 = !DILocation(atomGroup: 1, line: 2, atomRank: 2, scope: !6)\n"
     "!4 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed, dataSize: 31)\n"
     "!5 = !DICompositeType(tag: DW_TAG_enumeration_type, name: \"E\", size: !7, enumKind: DW_APPLE_ENUM_KIND_Open)\n"
     "!6 = distinct !DISubprogram(name: \"f\", file: !1, line: 1, unit: !0, spFlags: DISPFlagDefinition, "
     "keyInstructions: true)\n!7 = !DIExpression(DW_OP_constu, 32)",
     "!DILocation( line: 2, scope: !6)"},
    {"debug node", "!x = !{!4}\n!4 = !DISubrangeType(name: \"s\", size: 32, lowerBound: 1, upperBound: 5)",
     "!DIBasicType()"},
    {"debug word",
     "!x = !{!2, !3, !4, !5}\n!2 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !6)\n"
     "!3 = !DIExpression(DW_OP_GNU_implicit_pointer, 3, 4)\n"
     "!4 = !DIBasicType(name: \"b\", size: 8, encoding: DW_ATE_signed, flags: DIFlagNameIsSimplified)\n"
     "!5 = distinct !DICompileUnit(language: DW_LANG_Metal, file: !7, emissionKind: FullDebug)\n"
     "!6 = !{null}\n!7 = !DIFile(filename: \"a.c\", directory: \"\")\n!llvm.dbg.cu = !{!5}",
     "cc: DW_CC_LLVM_OpenCLKernel"},
    {"#dbg_declare_value",
     "define void @f(i32 %a) !dbg !3 {\n    #dbg_declare_value(i32 %a, !6, !DIExpression(), !7)\n  ret void, !dbg "
     "!7\n}\n"
     "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n"
     "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)\n"
     "!1 = !DIFile(filename: \"a.c\", directory: \"\")\n!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
     "!3 = distinct !DISubprogram(name: \"f\", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)\n"
     "!4 = !DISubroutineType(types: !5)\n!5 = !{null}\n"
     "!6 = !DILocalVariable(name: \"a\", arg: 1, scope: !3, file: !1, line: 1, type: !8)\n"
     "!7 = !DILocation(line: 2, column: 3, scope: !3)\n!8 = !DIBasicType(name: \"int\", size: 32)",
     "#dbg_value(i32 %a"},
    {"calling convention", "define riscv_vls_cc(128) void @f() { ret void }",
     "line 1: calling convention 'riscv_vls_cc'"},
    {"vscale", "define void @f() {\n  %x = alloca <vscale x 4 x i32>\n  ret void\n}", "line 2: 'vscale'"},
};

bool llvm19_reads(std::string_view text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(std::string(text), diagnostic, context);
  bool broken_debug_info = false;  // as in the reader: dropped
  return module && !llvm::verifyModule(*module, nullptr, &broken_debug_info);
}

/// The tokens with blanks between, so that two spellings of one text compare equal.
std::string squeezed(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  return result;
}

}  // namespace

TEST_CASE("every rule has an example, and every example's rule is what changed it") {
  for (const SpellingRule& rule : spelling_rules()) {
    CAPTURE(rule.name);
    const auto example = std::find_if(std::begin(kExamples), std::end(kExamples),
                                      [&](const Example& candidate) { return candidate.rule == rule.name; });
    REQUIRE(example != std::end(kExamples));
    const auto tokens = tokenize(example->text);
    REQUIRE(tokens);
    const auto respelled = respell(*tokens);
    if (rule.effect == Effect::refused) {
      REQUIRE_FALSE(respelled);
      CHECK(respelled.error().message.find(example->becomes) != std::string::npos);
      continue;
    }
    CHECK_FALSE(llvm19_reads(example->text));
    REQUIRE(respelled);
    CAPTURE(respelled->text());
    CHECK(std::find(respelled->used().begin(), respelled->used().end(), rule.name) != respelled->used().end());
    CHECK(squeezed(respelled->text()).find(squeezed(example->becomes)) != std::string::npos);
    CHECK(llvm19_reads(respelled->text()));
    const auto module = parse_module(as_bytes(example->text), "example.ll");
    if (!module) FAIL_CHECK(module.error().message);
  }
}

TEST_CASE("text that LLVM 19 reads stays as it is") {
  const std::string_view text =
      "; captures(none) in a comment\n"
      "@s = constant [16 x i8] c\"captures(none)\\00\\00\"\n"
      "@\"llvm.lifetime.start(\" = global i32 0\n"
      "define void @captures(ptr nocapture %samesign) memory(read, argmem: readwrite) {\n"
      "noext:\n  %ptrtoaddr = icmp ult i32 1, 3\n  br label %vscale\n"
      "vscale:\n  call void @llvm.lifetime.start.p0(i64 4, ptr %samesign)\n  ret void, !captures !0\n}\n"
      "declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture)\n"
      "!0 = !{!\"icmp samesign\"}\n";
  REQUIRE(llvm19_reads(text));
  const auto tokens = tokenize(text);
  REQUIRE(tokens);
  const auto respelled = respell(*tokens);
  REQUIRE(respelled);
  CHECK(respelled->text() == text);
  CHECK(respelled->used().empty());
}

TEST_CASE("lines stay in place, and what is unknown is named by its line") {
  const std::string_view text =
      "define void @f(ptr captures(\n  none) %p,\n  ptr captures(address) %q) {\n"
      "  %a = icmp samesign\n   ult i32 1, 2\n  ret void\n}\n"
      "define void @g(ptr captures(none) %p, i32 brand_new_promise(3) %q) {\n  ret void\n}\n";
  const auto tokens = tokenize(text);
  REQUIRE(tokens);
  const auto respelled = respell(*tokens);
  REQUIRE(respelled);
  CHECK(std::count(text.begin(), text.end(), '\n') ==
        std::count(respelled->text().begin(), respelled->text().end(), '\n'));
  const auto module = parse_module(as_bytes(text), "kernel.ll");
  REQUIRE_FALSE(module);
  CHECK(module.error().code == Errc::compile_failed);
  CHECK(module.error().message.starts_with("kernel.ll: line 8: "));
  CHECK(module.error().message.find("'brand_new_promise'") != std::string::npos);
}

TEST_CASE("memory locations keep every promise weak enough") {
  const std::map<std::string_view, std::string_view> cases = {
      {"errnomem: write", "memory(write, argmem: none, inaccessiblemem: none)"},
      {"read, errnomem: none", "memory(read, argmem: read, inaccessiblemem: read)"},
      {"read, errnomem: write", "memory(readwrite, argmem: read, inaccessiblemem: read)"},
      {"target_mem0: readwrite", "memory(none, argmem: none, inaccessiblemem: readwrite)"},
      {"write, inaccessiblemem: none, target_mem1: read", "memory(write, argmem: write, inaccessiblemem: readwrite)"},
  };
  for (const auto& [newer, older] : cases) {
    CAPTURE(newer);
    const std::string text = fmt::format("declare void @f(ptr) memory({})", newer);
    const auto tokens = tokenize(text);
    REQUIRE(tokens);
    const auto respelled = respell(*tokens);
    REQUIRE(respelled);
    CHECK(respelled->text() == fmt::format("declare void @f(ptr) {}", older));
    CHECK(llvm19_reads(respelled->text()));
  }
}

TEST_CASE("text that would exhaust LLVM is refused by line") {
  const auto message = [](std::string_view text) {
    const auto module = parse_module(as_bytes(text), "x.ll");
    REQUIRE_FALSE(module);
    return module.error().message;
  };
  std::string deep = "@x = global i32 0\n@g = global ";
  for (int i = 0; i < 100000; ++i) deep += "[1 x ";
  CHECK(message(deep).find("line 2: brackets are nested more than") != std::string::npos);
  CHECK(message("@g = global <4000000000 x i32> zeroinitializer").find("4000000000") != std::string::npos);
  CHECK(message("@g = global i32 0\n@h = global [3 x i8] c\"ab").find("line 2") != std::string::npos);
  CHECK(message("define void @f() {\n  ret void\n").find("line 1") != std::string::npos);
  CHECK(message("@g = global i32 0\n~").find("line 2: '~' starts nothing") != std::string::npos);
}
