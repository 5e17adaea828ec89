// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's own libraries have no errors: that is the test that the checks are not wrong. And each check finds the fault
// that was planted for it.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "bitcode/writer.hpp"
#include "files.hpp"
#include "skips.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <stdexcept>

using namespace smelt;
using namespace smelt::aot;

namespace {

std::string errors_in(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings)
    if (finding.severity == Finding::Severity::error) text += finding.to_line() + "\n";
  return text;
}

void check_folder(const std::filesystem::path& folder, size_t& files, std::map<std::string, size_t>& notes) {
  for (const auto& path : test::files_below(folder, ".metallib")) {
    const std::vector<Finding> findings = verify_metallib(test::must_read(path));
    const std::string errors = errors_in(findings);
    if (!errors.empty()) FAIL_CHECK(path.string(), ": ", errors.substr(0, 2000));
    for (const Finding& finding : findings)
      if (finding.severity == Finding::Severity::note)
        ++notes[fmt::format("{}: {}", to_string(finding.check), finding.message)];
    ++files;
  }
}

// A kernel as Apple's compiler would write it, with places to plant faults.
struct Plant {
  std::string triple = "air64-apple-macosx14.0.0";
  std::string layout{air_data_layout()};
  std::string globals, attributes;
  std::string parameters = "ptr addrspace(1) %a, ptr addrspace(2) %b, <3 x i32> %c";
  std::string body, declarations;
  std::string result = "void";
  std::string air = "i32 2, i32 6, i32 0", language = "i32 3, i32 1, i32 0";
  std::string list = "air.kernel";
  std::string inputs = "!10, !11, !12";
  std::string a =
      R"(i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"a")";
  std::string b =
      R"(i32 1, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"b")";
  std::string c = R"(i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint3", !"air.arg_name", !"c")";
  std::string extra;

  std::string text() const {
    std::string ir = fmt::format("target datalayout = \"{}\"\ntarget triple = \"{}\"\n{}\n", layout, triple, globals);
    ir += fmt::format("define {} @k({}) {} {{\n{}\n  ret {}\n}}\n{}\n", result, parameters, attributes, body,
                      result == "void" ? "void" : result + " zeroinitializer", declarations);
    if (!air.empty()) ir += fmt::format("!air.version = !{{!0}}\n!0 = !{{{}}}\n", air);
    if (!language.empty()) ir += fmt::format("!air.language_version = !{{!1}}\n!1 = !{{!\"Metal\", {}}}\n", language);
    if (!list.empty())
      ir += fmt::format("!{} = !{{!2}}\n!2 = !{{ptr @k, !3, !4{}}}\n", list, extra.empty() ? "" : ", !20");
    ir += fmt::format("!3 = !{{}}\n!4 = !{{{}}}\n!10 = !{{{}}}\n!11 = !{{{}}}\n!12 = !{{{}}}\n", inputs, a, b, c);
    if (!extra.empty()) ir += fmt::format("!20 = !{{{}}}\n", extra);
    ir += "!llvm.ident = !{!30}\n!30 = !{!\"test\"}\n!air.compile_options = !{!30}\n";
    return ir;
  }
};

std::unique_ptr<llvm::Module> parse(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module) throw std::runtime_error(problem.getMessage().str() + "\n" + text);
  return module;
}

/// By our writer: typed pointers, LLVM 14 records.
Bytes typed(const Plant& plant, Version version = {2, 7}) {
  llvm::LLVMContext context;
  auto written = bitcode::write_bitcode(*parse(plant.text(), context), {.air = version});
  if (!written) throw std::runtime_error(written.error().message);
  return std::move(*written);
}

/// By LLVM 19's own: opaque pointers, newest records.
Bytes untyped(const Plant& plant) {
  llvm::LLVMContext context;
  const auto module = parse(plant.text(), context);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::WriteBitcodeToFile(*module, stream);
  return to_bytes(as_bytes(text));
}

bool finds(const std::vector<Finding>& findings, Check check, std::string_view part) {
  for (const Finding& finding : findings)
    if (finding.check == check && finding.to_line().find(part) != std::string::npos) return true;
  return false;
}

/// The fault is found, by the right check, and nothing else is wrong.
void expect_error(const std::vector<Finding>& findings, Check check, std::string_view part) {
  size_t errors = 0;
  for (const Finding& finding : findings) errors += finding.severity == Finding::Severity::error;
  std::string all;
  for (const Finding& finding : findings) all += finding.to_line() + "\n";
  if (!finds(findings, check, part)) FAIL_CHECK("not found: ", std::string(part), "\nbut\n", all);
  if (errors != 1) FAIL_CHECK(errors, " errors, one was planted (", std::string(part), ")\n", all);
}

}  // namespace

TEST_CASE("Apple's own libraries verify without an error") {
  size_t files = 0;
  std::map<std::string, size_t> notes;
  for (const auto& folder : {test::shared("data/metallibs"), test::corpus("")})
    if (folder) check_folder(*folder, files, notes);
  if (files == 0) smelt::test::skipped("neither tests/data/metallibs nor the fetched corpus is there");
  if (files == 0) return;
  std::string text;
  for (const auto& [note, count] : notes) text += fmt::format("  {} x {}\n", count, note);
  MESSAGE(files, " libraries; notes:\n", text);
}

TEST_CASE("a sound kernel has no findings") {
  CHECK(errors_in(verify_module(typed({}))) == "");
  const std::vector<Finding> findings = verify_module(typed({}), {.function = "k",
                                                                  .stage = "kernel",
                                                                  .air = Version{2, 6},
                                                                  .language = Version{3, 1},
                                                                  .platform = Platform::macos,
                                                                  .os = Version{14, 0}});
  CHECK(errors_in(findings) == "");
}

TEST_CASE("what older compilers write is no fault") {
  Plant old;
  old.air = "i32 1, i32 11, i32 0";
  old.language = "i32 1, i32 2, i32 0";
  old.triple = "air64-apple-ios10.0.0";
  old.layout = std::string(air_data_layout().substr(0, air_data_layout().rfind("-n8"))) + "-f80:128:128-n8:16:32";
  // Debug builds keep functions that nobody calls; a texture's handle had another type.
  old.globals = "@llvm.compiler.used = appending global [1 x ptr] [ptr @k], section \"llvm.metadata\"";
  const auto drop = [](std::string& node, std::string_view part) { node.erase(node.find(part), part.size()); };
  drop(old.a, "!\"air.address_space\", i32 1, ");
  drop(old.b, "!\"air.address_space\", i32 2, ");
  old.declarations =
      "declare <4 x float> @air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>)";
  const std::vector<Finding> findings = verify_module(typed(old, {2, 4}));
  CHECK(errors_in(findings) == "");
  CHECK(finds(findings, Check::operation, "operations of AIR 1.11 are not judged"));
  // From AIR 2.3 on the same declaration is judged, and a float of 80 bits is no part of the layout from 2.2 on.
  old.air = "i32 2, i32 4, i32 0";
  const std::vector<Finding> newer = verify_module(typed(old, {2, 4}));
  CHECK(finds(newer, Check::operation, "air.sample_texture_2d.v4f32"));
  CHECK(finds(newer, Check::versions, "is not AIR's"));
  CHECK_FALSE(finds(newer, Check::foreign, "llvm.compiler.used"));
}

TEST_CASE("a global in another section of the compiler's stays a fault") {
  Plant plant;
  plant.globals = "@g = internal addrspace(2) constant i32 1, section \"llvm.metadata\"";
  expect_error(verify_module(typed(plant)), Check::foreign, "section 'llvm.metadata'");
}

TEST_CASE("the space of meshes belongs to mesh functions") {
  Plant plant;
  plant.parameters = "ptr addrspace(7) %m, ptr addrspace(2) %b, <3 x i32> %c";
  plant.a = R"(i32 0, !"air.mesh", !"air.mesh_type_info", !3, !"air.arg_type_name", !"mesh", !"air.arg_name", !"m")";
  plant.list = "air.mesh";
  CHECK(errors_in(verify_module(typed(plant))) == "");
  plant.list = "air.kernel";
  CHECK(finds(verify_module(typed(plant)), Check::foreign, "address space 7"));
}

TEST_CASE("each check finds its fault: bitcode") {
  Bytes cut = typed({});
  cut.resize(cut.size() / 2);
  expect_error(verify_module(cut), Check::bitcode, "");
  expect_error(verify_module(as_bytes("not bitcode at all")), Check::bitcode, "");
  expect_error(verify_module({}), Check::bitcode, "");
}

TEST_CASE("each check finds its fault: records") {
  CHECK(finds(verify_module(untyped({})), Check::record, "an opaque pointer type"));
  CHECK(finds(verify_module(untyped({.attributes = "memory(none)"})), Check::record, "attribute kind"));
  CHECK(finds(verify_module(untyped({.body = "%g = getelementptr nuw i8, ptr addrspace(1) %a, i64 4"})), Check::record,
              "flags that LLVM 14 has no bits for"));
  const std::string load = "  %x = load volatile float, ptr addrspace(1) %a\n";
  Plant old{.triple = "air64-apple-macosx13.0.0", .air = "i32 2, i32 5, i32 0", .language = "i32 3, i32 0, i32 0"};
  old.body = load + "  %y = fneg float %x\n  store float %y, ptr addrspace(1) %a";
  expect_error(verify_module(typed(old)), Check::record, "a UNOP (fneg) record (1 times) in AIR 2.5");
  old.body = load + "  %y = freeze float %x\n  store float %y, ptr addrspace(1) %a";
  expect_error(verify_module(typed(old)), Check::record, "a FREEZE record");
  old.body = "  store float poison, ptr addrspace(1) %a";
  expect_error(verify_module(typed(old)), Check::record, "a POISON constant");
  old.body = "";
  old.attributes = "mustprogress";
  expect_error(verify_module(typed(old)), Check::record, "attribute mustprogress in AIR 2.5");
  expect_error(verify_module(typed({.body = "  fence seq_cst"})), Check::record, "a plain fence");
  CHECK(finds(verify_module(typed({.body = "  %x = atomicrmw add ptr addrspace(1) %a, i32 1 monotonic"})),
              Check::record, "air.atomic.* stands for it"));
}

TEST_CASE("each check finds its fault: stamps") {
  expect_error(verify_module(typed({.triple = "air64_v27-apple-macosx14.0.0"})), Check::versions,
               "says AIR 2.7, !air.version says 2.6");
  expect_error(verify_module(typed({.triple = "someisa-apple-macosx14.0.0"})), Check::versions, "is not an AIR triple");
  expect_error(verify_module(typed({.air = ""})), Check::versions, "no !air.version");
  expect_error(verify_module(typed({.language = ""})), Check::versions, "no !air.language_version");
  expect_error(verify_module(typed({.language = "i32 3, i32 2, i32 0"})), Check::versions, "Metal 3.2 needs AIR 2.7");
  expect_error(verify_module(typed({.layout = "e-p:64:64"})), Check::versions, "data layout");
  expect_error(verify_module(typed({}), {.air = Version{2, 7}}), Check::versions,
               "VERS says AIR 2.7, its module says 2.6");
  expect_error(verify_module(typed({}), {.language = Version{3, 0}}), Check::versions,
               "VERS says Metal 3.0, its module says 3.1");
  expect_error(verify_module(typed({}), {.platform = Platform::ios}), Check::versions,
               "is for macOS, the container is for iOS");
  expect_error(verify_module(typed({}), {.os = Version{15, 0}}), Check::versions, "deployment target is 15.0");
}

TEST_CASE("each check finds its fault: entries") {
  expect_error(verify_module(typed({.list = ""})), Check::entry, "no entry point");
  expect_error(verify_module(typed({.result = "i32"})), Check::entry, "returns a value");
  expect_error(verify_module(typed({}), {.function = "other"}), Check::entry,
               "no entry point of the function's name, but 'k'");
  expect_error(verify_module(typed({}), {.function = "k", .stage = "vertex"}), Check::entry,
               "the container says vertex");
}

TEST_CASE("each check finds its fault: arguments") {
  const auto with = [](std::string Plant::* member, std::string_view from, std::string_view to) {
    Plant plant;
    std::string& text = plant.*member;
    text.replace(text.find(from), from.size(), to);
    return verify_module(typed(plant));
  };
  expect_error(with(&Plant::inputs, ", !12", ""), Check::argument, "2 argument nodes for 3 parameters");
  expect_error(with(&Plant::a, "i32 0, !\"air.buffer\"", "i32 5, !\"air.buffer\""), Check::argument,
               "the node says index 5");
  expect_error(with(&Plant::a, "i32 1, !\"air.arg_type_size\"", "i32 2, !\"air.arg_type_size\""), Check::argument,
               "air.address_space 2, but the parameter points to space 1");
  expect_error(with(&Plant::b, "location_index\", i32 1", "location_index\", i32 0"), Check::argument,
               "is taken by argument 0");
  expect_error(with(&Plant::a, "!\"air.read_write\", ", ""), Check::argument, "no access");
  expect_error(with(&Plant::a, "align_size\", i32 4", "align_size\", i32 3"), Check::argument, "not a power of two");
  expect_error(with(&Plant::b, "buffer_size\", i32 4", "buffer_size\", i32 2"), Check::argument,
               "air.buffer_size 2 is less");
  expect_error(with(&Plant::b, "air.read\"", "air.read_write\""), Check::argument, "constant memory is read only");
  expect_error(with(&Plant::c, "uint3", "uint2"), Check::argument, "is called 'uint2', but the parameter is uint3");
  for (const Finding& finding : with(&Plant::c, "!\"air.arg_type_name\", !\"uint3\", ", ""))
    CHECK(finding.severity != Finding::Severity::error);  // called nothing, which is not wrong
  expect_error(with(&Plant::c, "thread_position_in_grid", "thread_colour"), Check::argument,
               "is not an argument of a kernel");
  expect_error(with(&Plant::a, "!\"air.address_space\", i32 1, ", ""), Check::argument, "no air.address_space");
  expect_error(with(&Plant::parameters, "<3 x i32> %c", "float %c"), Check::argument, "is of 16 or 32 bits");
}

TEST_CASE("each check finds its fault: operations") {
  expect_error(verify_module(typed({.body = "  %x = call float @air.sine.f32(float 1.0)",
                                    .declarations = "declare float @air.sine.f32(float)"})),
               Check::operation, "no such AIR operation");
  expect_error(verify_module(typed({.body = "  call void @air.wg.barrier(i32 2)",
                                    .declarations = "declare void @air.wg.barrier(i32)"})),
               Check::operation, "declared as void (i32); AIR 2.6 has void (i32, i32)");
  expect_error(verify_module(typed({.body = "  call void @air.atomic.fence(i32 1, i32 5, i32 2)",
                                    .declarations = "declare void @air.atomic.fence(i32, i32, i32)"})),
               Check::operation, "not in AIR 2.6; targets that have it: macos15");
  expect_error(verify_module(typed({.body = "  call void @printf()", .declarations = "declare void @printf()"})),
               Check::operation, "would not link");
}

TEST_CASE("each check finds its fault: limits") {
  const auto slot = [](std::string_view number) {
    Plant plant;
    const std::string_view from = "location_index\", i32 0";
    plant.a.replace(plant.a.find(from), from.size(), fmt::format("location_index\", i32 {}", number));
    return verify_module(typed(plant));
  };
  expect_error(slot("31"), Check::limit, "buffer slot 31; there are 31 (0 to 30)");
  expect_error(verify_module(typed({.extra = "!\"air.max_work_group_size\", i32 2048"})), Check::limit,
               "air.max_work_group_size 2048; there are 1 to 1024");
  const std::string touch = "  store i8 1, ptr addrspace(3) @t";
  // Apple's compiler writes it; the pipeline is refused.
  const auto much =
      verify_module(typed({.globals = "@t = internal addrspace(3) global [40000 x i8] undef", .body = touch}));
  CHECK(std::any_of(much.begin(), much.end(), [](const Finding& one) {
    return one.severity == Finding::Severity::note && one.check == Check::limit &&
           one.message.find("40000 bytes of threadgroup memory; there are 32768") != std::string::npos;
  }));
  CHECK(std::none_of(much.begin(), much.end(),
                     [](const Finding& one) { return one.severity == Finding::Severity::error; }));
  expect_error(verify_module(typed({.globals = "@t = internal addrspace(3) global i8 0", .body = touch})), Check::limit,
               "an initial value");
  expect_error(verify_module(typed({.globals = "@t = internal global i8 0", .body = "  store i8 1, ptr @t"})),
               Check::limit, "a global in address space 0");
}

TEST_CASE("each check finds its fault: the container") {
  const auto folder = test::shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is not there");
    return;
  }
  const Bytes whole = test::must_read(*folder / "kernels.14.metallib");
  REQUIRE(errors_in(verify_metallib(whole)) == "");
  const auto library = metallib::read(whole);
  REQUIRE(library);

  Bytes short_one(whole.begin(), whole.end() - 1);
  CHECK(finds(verify_metallib(short_one), Check::container, ""));
  CHECK(finds(verify_metallib(as_bytes("MTLB")), Check::container, ""));
  CHECK(finds(verify_metallib({}), Check::container, ""));

  Bytes flipped = whole;  // a bit in the first module: the hash shows it
  const auto blob = library->modules[0].blob;
  flipped[static_cast<size_t>(blob.data() - whole.data()) + blob.size() / 2] ^= std::byte{1};
  CHECK(finds(verify_metallib(flipped), Check::container, "HASH is"));

  metallib::Library empty = *library;
  empty.functions.clear();
  empty.public_metadata.clear();
  empty.private_metadata.clear();
  empty.modules.clear();
  const auto nothing = metallib::write(empty);
  REQUIRE(nothing);
  CHECK(finds(verify_metallib(*nothing), Check::container, "empty library"));
  CHECK(errors_in(verify_metallib(*nothing)) == "");

  metallib::Library restamped = *library;
  restamped.functions[0].versions.air_minor = 7;
  const auto written = metallib::write(restamped);
  REQUIRE(written);
  CHECK(finds(verify_metallib(*written), Check::versions, "VERS says AIR 2.7"));

  metallib::Library renamed = *library;
  renamed.functions[0].name = "another";
  const auto other = metallib::write(renamed);
  REQUIRE(other);
  CHECK(finds(verify_metallib(*other), Check::entry, "no entry point of the function's name"));
}

TEST_CASE("no prefix of a module and no single changed byte makes trouble") {
  const Bytes whole = typed(
      {.body = "  call void @air.wg.barrier(i32 2, i32 1)", .declarations = "declare void @air.wg.barrier(i32, i32)"});
  for (size_t n = 0; n < whole.size(); n += 1) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
    const auto findings = verify_module(part);
    if (errors_in(findings).empty() && n + 16 < whole.size()) FAIL_CHECK("prefix of ", n, " bytes has no finding");
  }
  for (size_t n = 0; n < whole.size(); n += 3) {
    Bytes changed = whole;
    changed[n] ^= std::byte{0x10};
    (void)verify_module(changed);
  }
}

/// What `work` has LLVM write on stderr.
template <class Work>
std::string said_on_stderr(Work work) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int kept = ::dup(2);
  ::dup2(::fileno(file), 2);
  work();
  ::dup2(kept, 2);
  ::close(kept);
  std::string words(static_cast<size_t>(::lseek(::fileno(file), 0, SEEK_END)), ' ');
  if (::pread(::fileno(file), words.data(), words.size(), 0) != static_cast<ssize_t>(words.size())) words = "?";
  std::fclose(file);
  return words;
}

// LLVM's last step of reading verifies debug info once more, and prints what it does not like: a compile unit that only
// other metadata reaches is still there when debug info was dropped.
TEST_CASE("debug info that is broken is no reason for LLVM to write on stderr") {
  llvm::LLVMContext context;
  const auto module = parse(Plant{}.text() +
                                "!other = !{!40}\n!40 = distinct !DICompileUnit(language: DW_LANG_C99, file: !41, "
                                "emissionKind: FullDebug)\n!41 = !DIFile(filename: \"a.c\", directory: \"/\")\n",
                            context);
  module->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::WriteBitcodeToFile(*module, stream);
  std::vector<Finding> findings;
  Result<std::string> shown;
  CHECK(said_on_stderr([&] {
          findings = verify_module(as_bytes(text));
          shown = disassemble(as_bytes(text), "broken.bc");
        }) == "");
  for (const Finding& finding : findings) CHECK(finding.check != Check::bitcode);
  REQUIRE(shown.has_value());
  CHECK(shown->find("!\"Debug Info Version\", i32 3}") != std::string::npos);  // all else is as it was
}
