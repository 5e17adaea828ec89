// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every file of Triton's: compiled for two targets, judged by smelt verify and stock LLVM 14; its interface is
// Python's.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/verify.hpp"

#include "files.hpp"
#include "oracle.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

using namespace smelt;
using namespace smelt::aot;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> triton_files() {
  std::vector<fs::path> files = test::files_below(fs::path(SMELT_SOURCE_DIR) / "tests/aot/ir/amdgcn", ".llir");
  if (const auto folder = test::shared("data/triton-3.6.0")) {
    const auto more = test::files_below(*folder, ".llir");
    CHECK(more.size() == 26);
    files.insert(files.end(), more.begin(), more.end());
  } else {
    smelt::test::skipped("the 26 files of tests/data/triton-3.6.0");
  }
  return files;
}

CompileOptions options_for(const fs::path& file, std::initializer_list<const char*> targets) {
  CompileOptions options;
  fs::path metadata = file;
  const Bytes json = test::must_read(metadata.replace_extension(".json"));
  options.metadata_json = std::string(as_text(json));
  for (const char* target : targets) options.targets.push_back(parse_target(target).value());
  return options;
}

/// Pointers and scalars before the two hidden pointers, from the line that defines the kernel.
size_t parameters_in_text(std::string_view text) {
  const size_t line = text.find("define amdgpu_kernel");
  const std::string_view head = text.substr(line, text.find('\n', line) - line);
  size_t count = 0;
  for (size_t at = head.find(" inreg"); at != std::string_view::npos; at = head.find(" inreg", at + 1)) ++count;
  return count - (text.find("@__ockl_printf_begin") == std::string_view::npos ? 2 : 1);  // one is printed through
}

}  // namespace

TEST_CASE("every kernel for macos14 and macos26") {
  const std::vector<fs::path> files = triton_files();
  CHECK(files.size() >= 37);
  std::vector<Bytes> modules;
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    const std::string name = file.parent_path().filename().string() + "/" + file.stem().string();
    CAPTURE(name);
    const Bytes text = test::must_read(file);
    const std::vector<Source> sources = {{name, text}};
    // A lock's orders exist from Metal 3.2 on.
    const bool has_lock = file.stem() == "spin_count";
    const auto compiled =
        compile(sources, options_for(file, has_lock ? std::initializer_list<const char*>{"macos26"}
                                                    : std::initializer_list<const char*>{"macos14", "macos26"}));
    if (!compiled) {
      FAIL_CHECK(compiled.error().message);
      continue;
    }
    CHECK(compiled->warnings.empty());
    for (const CompiledTarget& target : compiled->targets) {
      for (const Finding& finding : verify_metallib(target.metallib)) FAIL_CHECK(finding.to_line());
      REQUIRE(target.functions.size() == 1);
      const KernelInfo& info = target.functions[0].info;
      size_t bound = 0;
      for (const ArgumentInfo& argument : info.arguments) bound += argument.kind == ArgumentKind::buffer;
      CHECK(bound == parameters_in_text(as_text(text)));
      modules.push_back(target.functions[0].bitcode);
      names.push_back(name + " for " + target.target.name);
    }
  }
  if (!test::have_llvm_14()) {
    smelt::test::skipped("no LLVM 14");
    return;
  }
  const std::vector<ByteView> views(modules.begin(), modules.end());
  const auto verdicts = test::judge_14(views);
  for (size_t i = 0; i < verdicts.size(); ++i) CHECK_MESSAGE(verdicts[i].accepted, names[i], ": ", verdicts[i].error);
}

TEST_CASE("a lock is refused below Metal 3.2, by line and with a way out") {
  const fs::path file = fs::path(SMELT_SOURCE_DIR) / "tests/aot/ir/amdgcn/hip-gfx1100/spin_count.llir";
  const Bytes text = test::must_read(file);
  const std::vector<Source> sources = {{"spin_count.llir", text}};
  CompileOptions options = options_for(file, {"macos14"});
  const auto refused = compile(sources, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("--relaxed-atomics") != std::string::npos);
  options.relaxed_atomics = true;
  const auto relaxed = compile(sources, options);
  REQUIRE(relaxed);
  CHECK_FALSE(relaxed->warnings.empty());
}
