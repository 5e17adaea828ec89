// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only AIR becomes machine code: everything that Apple's compiler wrote passes, and of what LLVM knows besides,
// nothing.
#include "smelt/aot/cpu.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/metallib/reader.hpp"

#include "allow_list/allow_list.hpp"
#include "allow_list/lists.hpp"
#include "allow_list/machine_code.hpp"
#include "codegen/target.hpp"
#include "files.hpp"
#include "ir_reader/parse.hpp"
#include "skips.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace smelt;
using namespace smelt::aot;

namespace {

constexpr std::string_view kHead = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"int", !"air.arg_name", !"a"}
)";

std::unique_ptr<llvm::Module> parse(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module) FAIL(problem.getMessage().str(), "\n", text);
  return module;
}

/// A kernel with this body (before its `ret void`), and these lines outside of it.
std::string kernel(const std::string& body, const std::string& outside = "", const std::string& attributes = "") {
  return fmt::format("{}{}\ndefine void @k(ptr addrspace(1) %a) {} {{\n{}\n  ret void\n}}\n", kHead, outside,
                     attributes, body);
}

std::string first_breach(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = parse(text, context);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) FAIL(stream.str(), "\n", text);
  const auto found = allow_list::find_breaches(*module, 1);
  return found.empty() ? "" : found[0].place + ": " + found[0].message;
}

/// What code generation says: empty when it made code.
std::string refusal(const std::string& text) {
  llvm::LLVMContext context;
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*parse(text, context), stream);
  const AirModuleView view{"k", as_bytes(bitcode)};
  for (const bool checked : {false, true}) {
    CpuOptions options;
    options.checked = checked;
    const auto compiled = compile_cpu(std::span(&view, 1), options);
    REQUIRE(compiled);
    if (!compiled->missing.empty()) return compiled->missing[0].reason;
  }
  return {};
}

void refuses(std::string_view part, const std::string& text) {
  CAPTURE(text);
  const std::string found = first_breach(text);
  if (found.find(part) == std::string::npos) FAIL_CHECK("want '", std::string(part), "', found '", found, "'");
  CHECK(refusal(text).find("nothing is compiled from this module") != std::string::npos);
}

}  // namespace

TEST_CASE("everything that Apple's compiler wrote passes") {
  size_t modules = 0;
  for (const auto& folder : {test::shared("data/metallibs"), test::corpus("")}) {
    if (!folder) continue;
    for (const auto& path : test::files_below(*folder, ".metallib")) {
      const Bytes file = test::must_read(path);
      const auto library = metallib::read(file);
      REQUIRE(library);
      // Libraries of one file for the simulator and the device hold much the same: every seventh module of the large
      // ones.
      const size_t step = library->functions.size() > 50 ? 7 : 1;
      for (size_t i = 0; i < library->functions.size(); i += step) {
        auto read =
            input::parse_module(library->module_of(library->functions[i]).bitcode(), library->functions[i].name);
        REQUIRE(read);
        ++modules;
        for (const allow_list::Breach& breach : allow_list::find_breaches(*read->module, 3))
          FAIL_CHECK(path.string(), ", ", std::string(library->functions[i].name), ": ", breach.place, ": ",
                     breach.message);
      }
    }
  }
  MESSAGE(modules, " modules");
  if (modules == 0) smelt::test::skipped("neither tests/data/metallibs nor the fetched corpus is there");
}

TEST_CASE("a sound kernel passes and becomes code") {
  const std::string text = kernel("  %v = load i32, ptr addrspace(1) %a\n  store i32 %v, ptr addrspace(1) %a");
  CHECK(first_breach(text).empty());
  CHECK(refusal(text).empty());
}

TEST_CASE("operations for the CPU alone, where the module is marked so, as they are declared") {
  const std::string body =
      "  %v = load i64, ptr addrspace(1) %a\n  %w = call i64 @smelt.cpu.f64.sqrt(i64 %v)\n"
      "  %o = call i64 @smelt.cpu.atomic.fadd.1(ptr addrspace(1) %a, i64 %w)";
  const std::string declared =
      "declare i64 @smelt.cpu.f64.sqrt(i64)\ndeclare i64 @smelt.cpu.atomic.fadd.1(ptr addrspace(1), i64)\n";
  const std::string mark = "!smelt.cpu_only = !{!9}\n!9 = !{!\"no Apple GPU\"}\n";
  CHECK(first_breach(kernel(body, declared + mark)).empty());
  CHECK(refusal(kernel(body, declared + mark)).empty());
  refuses("neither an air.* operation", kernel(body, declared));
  refuses("neither an air.* operation",
          kernel("  %w = call i64 @smelt.cpu.f64.system(i64 1)", "declare i64 @smelt.cpu.f64.system(i64)\n" + mark));
  refuses("neither an air.* operation",
          kernel("  %w = call i32 @smelt.cpu.f64.sqrt(i64 1)", "declare i32 @smelt.cpu.f64.sqrt(i64)\n" + mark));
  refuses("neither an air.* operation", kernel("  call void @smelt.cpu.atomic.fadd.1(ptr addrspace(2) null)",
                                               "declare void @smelt.cpu.atomic.fadd.1(ptr addrspace(2))\n" + mark));
  // What is no operation of atomics, and a mask that is no constant, are no code.
  CHECK(refusal(kernel("  %o = call i64 @smelt.cpu.atomic.launch.1(ptr addrspace(1) %a, i64 1)",
                       "declare i64 @smelt.cpu.atomic.launch.1(ptr addrspace(1), i64)\n" + mark))
            .find("not an operation") != std::string::npos);
  CHECK(refusal(kernel("  %v = load i32, ptr addrspace(1) %a\n  %c = call i1 @smelt.cpu.f64.class(i64 0, i32 %v)",
                       "declare i1 @smelt.cpu.f64.class(i64, i32)\n" + mark))
            .find("not an operation") != std::string::npos);
}

TEST_CASE("atomics become code for AArch64 too") {
  std::string body =
      "  %e = alloca i32\n  store i32 1, ptr %e\n  %s = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) "
      "%a, ptr %e, i32 7, i32 0, i32 0, i32 2, i1 true)\n  store i32 %s, ptr addrspace(1) %a\n"
      "  %o = call i64 @smelt.cpu.atomic.cmpxchg.1(ptr addrspace(1) %a, i64 1, i64 2)\n"
      "  %l = call i64 @smelt.cpu.atomic.load.1(ptr addrspace(1) %a)\n"
      "  call void @smelt.cpu.atomic.store.1(ptr addrspace(1) %a, i64 %l)\n";
  std::string outside =
      "declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1), ptr, i32, i32, i32, i32, i1)\n"
      "declare i64 @smelt.cpu.atomic.cmpxchg.1(ptr addrspace(1), i64, i64)\n"
      "declare i64 @smelt.cpu.atomic.load.1(ptr addrspace(1))\n"
      "declare void @smelt.cpu.atomic.store.1(ptr addrspace(1), i64)\n!smelt.cpu_only = !{!9}\n!9 = !{}\n";
  for (const char* name : {"add", "sub", "and", "or", "xor", "max", "min", "umax", "umin", "xchg", "fadd", "fmax"}) {
    body += fmt::format("  %{0}.old = call i64 @smelt.cpu.atomic.{0}.1(ptr addrspace(1) %a, i64 3)\n", name);
    outside += fmt::format("declare i64 @smelt.cpu.atomic.{}.1(ptr addrspace(1), i64)\n", name);
  }
  llvm::LLVMContext context;
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*parse(kernel(body, outside), context), stream);
  const AirModuleView view{"k", as_bytes(bitcode)};
  for (const CpuLevel level : {CpuLevel::aarch64, CpuLevel::x86_64_v3}) {
    const auto compiled = compile_cpu(std::span(&view, 1), {.level = level, .verify_ir = true});
    REQUIRE(compiled);
    if (!compiled->missing.empty()) FAIL_CHECK(compiled->missing[0].reason);
  }
}

TEST_CASE("of the intrinsics that LLVM knows, only the listed ones") {
  llvm::LLVMContext context;
  size_t refused = 0, passed = 0;
  for (unsigned id = 1; id < llvm::Intrinsic::num_intrinsics; ++id) {
    if (llvm::Intrinsic::isOverloaded(id)) continue;
    llvm::Module module("m", context);
    llvm::Intrinsic::getDeclaration(&module, id);
    const bool breach = !allow_list::find_breaches(module, 1).empty();
    CHECK(breach != allow_list::has_intrinsic(id));
    (breach ? refused : passed)++;
  }
  CHECK(refused > 5000);
  CHECK(passed < 30);
}

TEST_CASE("instructions and calls that reach outside") {
  refuses("not AIR's", kernel("  call void @llvm.x86.int(i8 -128)", "declare void @llvm.x86.int(i8 immarg)"));
  refuses("not AIR's", kernel("  %p = call ptr @llvm.addressofreturnaddress.p0()\n  store i64 1, ptr %p",
                              "declare ptr @llvm.addressofreturnaddress.p0()"));
  refuses("not AIR's", kernel("  call void @llvm.write_register.i64(metadata !9, i64 1)",
                              "declare void @llvm.write_register.i64(metadata, i64)\n!9 = !{!\"rsp\"}"));
  refuses("not AIR's", kernel("  %r = call i64 @llvm.read_register.i64(metadata !9)",
                              "declare i64 @llvm.read_register.i64(metadata)\n!9 = !{!\"rsp\"}"));
  refuses("not AIR's", kernel("  %t = call ptr @llvm.thread.pointer()", "declare ptr @llvm.thread.pointer()"));
  refuses("not AIR's", kernel("  call void @llvm.trap()", "declare void @llvm.trap()"));
  refuses(
      "not AIR's",
      kernel("  call void @llvm.masked.store.v4i32.p1(<4 x i32> zeroinitializer, ptr addrspace(1) %a, i32 4, <4 x i1> "
             "zeroinitializer)",
             "declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), i32, <4 x i1>)"));
  refuses("inline assembly", kernel("  call void asm sideeffect \"syscall\", \"\"()"));
  refuses("inline assembly", kernel("", "module asm \".globl x\""));
  refuses("neither an air.*", kernel("  call void @exit(i32 1)", "declare void @exit(i32)"));
  refuses("a call through a pointer",
          kernel("  %i = ptrtoint ptr addrspace(1) %a to i64\n  %f = inttoptr i64 %i to ptr\n"
                 "  call void %f()"));
  refuses("the address of a function", kernel("  store ptr @k, ptr addrspace(1) %a"));
  refuses("indirectbr", kernel("  indirectbr ptr %p, [label %x]\nx:", "", "")
                            .replace(kernel("  indirectbr ptr %p, [label %x]\nx:").find("%p"), 2, "null"));
  refuses("constant that only code generators know",
          kernel("  store ptr blockaddress(@k, %x), ptr addrspace(1) %a\n  br label %x\nx:"));
  refuses("instruction fence", kernel("  fence seq_cst"));
  refuses("instruction atomicrmw", kernel("  %x = atomicrmw add ptr addrspace(1) %a, i32 1 monotonic"));
  refuses("an atomic access", kernel("  %x = load atomic i32, ptr addrspace(1) %a monotonic, align 4"));
  refuses("instruction va_arg", kernel("  %x = va_arg ptr null, i32"));
  refuses("variable arguments", kernel("", "define internal void @v(...) {\n  ret void\n}"));
  refuses("an operand bundle",
          kernel("  call void @f() [ \"deopt\"() ]", "define internal void @f() {\n  ret void\n}"));
  refuses("a personality",
          kernel("  invoke void @f() to label %ok unwind label %bad\nbad:\n  %l = landingpad { ptr, i32 } cleanup\n  "
                 "br label %ok\nok:",
                 "define internal void @f() {\n  ret void\n}\ndeclare i32 @air.p()", "personality ptr @air.p"));
}

TEST_CASE("types and memory that AIR has not") {
  refuses("address space 257",
          kernel("  %f = inttoptr i64 0 to ptr addrspace(257)\n  %v = load i64, ptr addrspace(257) %f"));
  refuses("address space 4", kernel("  %f = addrspacecast ptr addrspace(1) %a to ptr addrspace(4)"));
  refuses("address space 256", kernel("  %v = load i64, ptr addrspace(256) null"));
  for (const char* type : {"i80", "i128", "i7", "double", "fp128", "x86_fp80", "ppc_fp128"})
    refuses(std::string("type ") + type, kernel(fmt::format("  %v = load {}, ptr addrspace(1) %a", type)));
  refuses("a vector of 65", kernel("  %v = load <65 x i32>, ptr addrspace(1) %a"));
  refuses("a vector of 4194304", kernel("  %v = load <4194304 x i32>, ptr addrspace(1) %a"));
  refuses("type <vscale x 4 x i32>", kernel("  %v = load <vscale x 4 x i32>, ptr addrspace(1) %a"));
  refuses("more than 64 MiB", kernel("  %v = alloca [20000000 x i32]"));
  refuses("of a size that varies", kernel("  %n = load i32, ptr addrspace(1) %a\n  %v = alloca i32, i32 %n"));
  refuses("thread-local", kernel("", "@t = internal thread_local addrspace(3) global i32 undef"));
  refuses("in address space 0", kernel("", "@t = internal global i32 0"));
  refuses("section '.init_array'", kernel("", "@t = internal addrspace(2) constant i32 0, section \".init_array\""));
  refuses("alias", kernel("", "@f = alias void (ptr addrspace(1)), ptr @k"));
  refuses("ifunc", kernel("", "@f = ifunc void (), ptr @r\ndefine internal ptr @r() {\n  ret ptr null\n}"));
  refuses("a comdat", kernel("", "$c = comdat any\n@t = linkonce_odr addrspace(2) constant i32 0, comdat($c)"));
  refuses("linkage", kernel("", "@t = extern_weak addrspace(2) global i32"));
}

TEST_CASE("attributes and conventions that AIR has not") {
  for (const char* attribute : {"naked noinline", "sspstrong", "sanitize_address", "uwtable", "returns_twice",
                                "shadowcallstack", "presplitcoroutine", "strictfp"})
    refuses("attribute", kernel("", "", attribute));
  refuses("attribute swiftself", kernel("", "define internal void @f(ptr swiftself %p) {\n  ret void\n}"));
  refuses("calling convention", kernel("", "define internal x86_stdcallcc void @f() {\n  ret void\n}"));
  refuses("another calling convention",
          kernel("  call fastcc void @f()", "define internal void @f() {\n  ret void\n}"));
  refuses("a garbage collector", kernel("", "", "gc \"shadow-stack\""));
  // Text attributes are every compiler's own: they are taken off.
  const std::string probing = kernel("  %m = alloca [20000 x i32]\n  store volatile i32 1, ptr %m", "",
                                     "\"probe-stack\"=\"evil\" \"patchable-function\"=\"prologue-short-redirect\" "
                                     "\"target-features\"=\"+x87\" \"instrument-function-entry-inlined\"=\"evil\"");
  CHECK(first_breach(probing).empty());
  CHECK(refusal(probing).empty());
}

TEST_CASE("hostile libraries are findings, and never code") {
  const auto folder = test::shared("data/hostile");
  if (!folder) {
    smelt::test::skipped("no tests/data/hostile");
    return;
  }
  for (const char* name : {"int80", "clean_int80", "retaddr_write", "maskedstore_oob", "vec_huge"}) {
    CAPTURE(name);
    const Bytes file = test::must_read(*folder / fmt::format("{}.metallib", name));
    size_t foreign = 0;
    for (const Finding& finding : verify_metallib(file)) foreign += finding.check == aot::Check::foreign;
    CHECK(foreign > 0);
    const auto library = metallib::read(file);
    REQUIRE(library);
    const AirModuleView view{"saxpy", library->module_of(library->functions[0]).bitcode()};
    for (const bool checked : {false, true}) {
      CpuOptions options;
      options.checked = checked;
      const auto compiled = compile_cpu(std::span(&view, 1), options);
      REQUIRE(compiled);
      CHECK(compiled->kernels.empty());
      REQUIRE(compiled->missing.size() == 1);
      CHECK(compiled->missing[0].reason.find("nothing is compiled from this module") != std::string::npos);
    }
  }
}

TEST_CASE("the last look at machine code") {
  llvm::LLVMContext context;
  const auto code_of = [&](const std::string& body, const std::string& outside = "") -> Result<void> {
    // Not through the allow-list: as if it had a hole.
    const auto module = parse(outside + "define void @f(ptr %p, i64 %i) {\n" + body + "\n  ret void\n}\n", context);
    auto target = cpu::make_target_machine(CpuLevel::x86_64_v3);
    REQUIRE(target);
    module->setDataLayout((*target)->createDataLayout());
    module->setTargetTriple((*target)->getTargetTriple().str());
    const auto object = cpu::emit_object(*module, **target);
    REQUIRE(object);
    return allow_list::check_machine_code(*object, **target, {});
  };
  const auto expect = [&](std::string_view part, const Result<void>& result) {
    if (result) FAIL_CHECK("nothing found, want ", std::string(part));
    if (!result) CHECK_MESSAGE(result.error().message.find(part) != std::string::npos, result.error().message);
  };
  CHECK(code_of("  store i64 %i, ptr %p"));
  expect("INT", code_of("  call void @llvm.x86.int(i8 -128)", "declare void @llvm.x86.int(i8 immarg)\n"));
  expect("segment", code_of("  %q = inttoptr i64 %i to ptr addrspace(257)\n  store i64 1, ptr addrspace(257) %q"));
  expect("a trap, which would end the process", code_of("  call void @llvm.trap()", "declare void @llvm.trap()\n"));
  expect("a trap, which would end the process", code_of("  store i64 %i, ptr %p\n  unreachable\nafter:"));
  expect("through a register", code_of("  call void %p()"));
  expect("jump that cannot be followed", code_of("  indirectbr ptr %p, [label %x]\nx:"));
  expect("reaches outside",
         code_of("  call void @llvm.x86.flags.write.u64(i64 %i)", "declare void @llvm.x86.flags.write.u64(i64)\n"));
  expect("reaches outside",
         code_of("  %t = call i64 @llvm.readcyclecounter()", "declare i64 @llvm.readcyclecounter()\n"));
}
