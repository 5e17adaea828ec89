// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR as other makers write it before they know its forms: one kernel a file without a mark, hardware values asked for
// by calls, the barrier by another name. Each file of data/calls-*.ll is compiled, judged by LLVM 14, and run.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/verify.hpp"

#include "files.hpp"
#include "launch.hpp"
#include "oracle.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace smelt;
using namespace smelt::aot;

namespace {

Result<std::vector<CompiledTarget>> compile_text(ByteView text, std::string_view name) {
  const std::vector<Source> sources = {{std::string(name), text}};
  CompileOptions options;
  for (const char* target : {"macos14", "macos26"}) options.targets.push_back(parse_target(target).value());
  SMELT_TRY(Compiled compiled, compile(sources, options));
  return std::move(compiled.targets);
}

/// The kernel of a file of data, as code for this machine; judged on the way.
test::LoadedSlice load(const std::string& file, const std::string& kernel) {
  const Bytes text = test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/ir/data" / file);
  auto targets = compile_text(text, file);
  if (!targets) throw std::runtime_error(targets.error().message);
  for (const CompiledTarget& target : *targets) {
    for (const Finding& finding : verify_metallib(target.metallib))
      if (finding.severity == Finding::Severity::error) FAIL_CHECK(finding.to_line());
    REQUIRE(target.functions.size() == 1);
    if (!test::have_llvm_14()) continue;
    const std::vector<ByteView> modules = {target.functions[0].bitcode};
    const auto verdicts = test::judge_14(modules);
    CHECK_MESSAGE(verdicts[0].accepted, verdicts[0].error);
  }
  CpuOptions cpu;
  cpu.level = test::runnable_levels().front();
  return test::compile_one(kernel, (*targets)[0].functions[0].bitcode, cpu);
}

test::Launch launch(test::Size3 grid, test::Size3 group) {
  test::Launch made;
  made.grid = grid;
  made.group = group;
  return made;
}

}  // namespace

TEST_CASE("hardware values by calls: arrays, structures, vectors, numbers") {
  const test::LoadedSlice slice = load("calls-positions.ll", "positions");
  std::vector<uint32_t> out(256), scale = {7};
  auto run = launch({128, 2, 1}, {64, 1, 1});
  slice.run("positions", run.bind(0, out).bind(1, scale));
  for (uint32_t y = 0; y < 2; ++y)
    for (uint32_t x = 0; x < 128; ++x) {
      const uint32_t inside = x % 64;
      CHECK(out[y * 128 + x] == inside + x / 64 * 100 + 2 * 10'000 + 64 * 1'000'000 + inside % 32 * 7 + inside / 32);
    }
}

TEST_CASE("the barrier by MLIR's name, and a helper that is not the kernel") {
  const test::LoadedSlice slice = load("calls-barrier.ll", "reverse");
  std::vector<uint32_t> in(64), out(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = i * 3 + 1;
  auto run = launch({64, 1, 1}, {64, 1, 1});
  slice.run("reverse", run.bind(0, in).bind(1, out));
  for (uint32_t i = 0; i < 64; ++i) CHECK(out[i] == in[63 - i] + 1000 * in[63 - (i ^ 1)]);
}

TEST_CASE("matrices of a simdgroup at an offset in a wider tile") {
  const test::LoadedSlice slice = load("calls-matrix.ll", "product");
  std::vector<float> a(256), b(64), c(64);
  for (size_t i = 0; i < 256; ++i) a[i] = static_cast<float>(static_cast<int>(i * 37 % 23) - 11);
  for (size_t i = 0; i < 64; ++i) b[i] = static_cast<float>(static_cast<int>(i * 29 % 17) - 8);
  auto run = launch({32, 1, 1}, {32, 1, 1});
  slice.run("product", run.bind(0, a).bind(1, b).bind(2, c));
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 8; ++column) {
      float wanted = 0;
      for (size_t k = 0; k < 8; ++k) wanted += a[row * 16 + 8 + k] * b[k * 8 + column];
      CHECK(c[row * 8 + column] == wanted);
    }
}

TEST_CASE("atomics: a float in constant memory, exchange, compare-and-swap through an alloca") {
  const test::LoadedSlice slice = load("calls-atomics.ll", "atomics");
  std::vector<float> sum = {1}, step = {0.5f};
  std::vector<uint32_t> words(32);
  for (uint32_t i = 0; i < 32; ++i) words[i] = 100 + i;
  auto run = launch({32, 1, 1}, {32, 1, 1});
  slice.run("atomics", run.bind(0, sum).bind(1, words).bind(2, step));
  CHECK(sum[0] == 17);
  for (uint32_t i = 0; i < 32; ++i) CHECK(words[i] == (i == 5 ? 105 : i));  // 5 is what was expected there
}

TEST_CASE("an entry that says all itself, with an atomic instruction of LLVM") {
  const test::LoadedSlice slice = load("entry-atomicrmw.ll", "count");
  std::vector<uint32_t> counts(4);
  auto run = launch({103, 1, 1}, {32, 1, 1});
  slice.run("count", run.bind(0, counts));
  CHECK(counts == std::vector<uint32_t>{26, 26, 26, 25});
}

TEST_CASE("no mark is needed where there is no choice, and only there") {
  const auto says = [](std::string_view text) {
    const auto targets = compile_text(as_bytes(text), "x.ll");
    return targets ? std::string("kernel") : targets.error().message;
  };
  const std::string body = "(ptr addrspace(1) %p) {\n  store i32 1, ptr addrspace(1) %p\n  ret void\n}\n";
  CHECK(says("define void @one" + body) == "kernel");
  CHECK(says("define internal void @other" + body + "define void @one" + body) == "kernel");
  CHECK(says("define void @one" + body + "define void @two" + body).find("no kernel") != std::string::npos);
  CHECK(says("define i32 @one() {\n  ret i32 1\n}\n").find("no kernel") != std::string::npos);
  // Finished AIR: a helper for other objects.
  CHECK(says("define void @one" + body + "!air.version = !{!0}\n!0 = !{i32 2, i32 6, i32 0}\n").find("no kernel") !=
        std::string::npos);
}

TEST_CASE("calls that only look like hardware values are refused by name") {
  for (const char* declaration : {"i32 @air.thread_position_in_nowhere()", "float @air.thread_position_in_grid()",
                                  "[4 x i32] @air.thread_position_in_grid()"}) {
    const std::string text = fmt::format(
        "define void @k(ptr addrspace(1) %p) {{\n  %v = call {0}\n  ret void\n}}\ndeclare {0}\n", declaration);
    const auto targets = compile_text(as_bytes(text), "x.ll");
    REQUIRE_FALSE(targets);
    CHECK_MESSAGE(targets.error().message.find("air.thread_position_in_") != std::string::npos,
                  targets.error().message);
  }
}
