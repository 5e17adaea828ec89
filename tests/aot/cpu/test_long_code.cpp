// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of thousands of instructions in a row, in a loop's body and behind it: their code is cut into functions, and
// they compute what they did.
#include "codegen/long_code.hpp"
#include "launch.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>

namespace smelt::test {
namespace {

constexpr uint32_t kThreads = 96;
constexpr uint32_t kValues = 8;
constexpr uint32_t kRounds = 2;
constexpr uint32_t kTable = 64;

enum class Step { mix, branch, shuffle };

Step kind_of(uint32_t step) {
  if (step % 25 == 24) return Step::shuffle;
  return step % 10 == 3 ? Step::branch : Step::mix;
}

/// `now`: the names of the values before, and after.
std::string steps(const std::string& prefix, uint32_t count, std::array<std::string, kValues>& now) {
  std::string text;
  for (uint32_t s = 0; s < count; ++s) {
    const std::string name = prefix + std::to_string(s);
    std::string& own = now[s % kValues];
    const std::string& other = now[(s + 3) % kValues];
    switch (kind_of(s)) {
      case Step::mix:
        text += fmt::format("  %{0}.m = mul i32 {1}, 5\n  %{0}.x = xor i32 {2}, {3}\n  %{0} = add i32 %{0}.m, %{0}.x\n",
                            name, own, other, s);
        break;
      case Step::branch:
        text += fmt::format(
            "  %{0}.b = and i32 {2}, 1\n"
            "  %{0}.c = icmp ne i32 %{0}.b, 0\n"
            "  br label %{0}.from\n"
            "{0}.from:\n"
            "  br i1 %{0}.c, label %{0}.then, label %{0}.join\n"
            "{0}.then:\n"
            "  %{0}.k = and i32 {1}, {3}\n"
            "  %{0}.w = zext i32 %{0}.k to i64\n"
            "  %{0}.p = getelementptr i32, ptr addrspace(1) %table, i64 %{0}.w\n"
            "  %{0}.l = load i32, ptr addrspace(1) %{0}.p, align 4\n"
            "  %{0}.s = sub i32 {1}, %{0}.l\n"
            "  br label %{0}.join\n"
            "{0}.join:\n"
            "  %{0} = phi i32 [ {1}, %{0}.from ], [ %{0}.s, %{0}.then ]\n",
            name, own, other, kTable - 1);
        break;
      case Step::shuffle:
        text += fmt::format(
            "  %{0}.h = call i32 @air.simd_shuffle_xor.u.i32(i32 {1}, i16 {3}) #1\n  %{0} = add i32 {2}, %{0}.h\n",
            name, other, own, s % 31 + 1);
    }
    own = "%" + name;
  }
  return text;
}

/// `count`: steps in the loop's body, and behind it.
std::string kernel(uint32_t count) {
  std::string loads, phis, stores;
  std::array<std::string, kValues> now;
  for (uint32_t v = 0; v < kValues; ++v) {
    loads += fmt::format(
        "  %p{0} = getelementptr i32, ptr addrspace(1) %from, i64 {0}\n"
        "  %v{0} = load i32, ptr addrspace(1) %p{0}, align 4\n",
        v);
    now[v] = fmt::format("%in{}", v);
  }
  const std::string body = steps("a", count, now);
  const std::array<std::string, kValues> last = now;
  for (uint32_t v = 0; v < kValues; ++v)
    phis += fmt::format("  %in{0} = phi i32 [ %v{0}, %entry ], [ {1}, %latch ]\n", v, last[v]);
  const std::string behind = steps("b", count, now);
  for (uint32_t v = 0; v < kValues; ++v)
    stores += fmt::format("  store i32 {1}, ptr addrspace(1) %p{0}, align 4\n", v, now[v]);
  return fmt::format(R"({0}
declare i32 @air.simd_shuffle_xor.u.i32(i32, i16) #1
define void @k(ptr addrspace(1) %inout, ptr addrspace(1) %table, i32 %i) #0 {{
entry:
  %i.wide = zext i32 %i to i64
  %first = mul i64 %i.wide, {1}
  %from = getelementptr i32, ptr addrspace(1) %inout, i64 %first
{2}  br label %body
body:
  %r = phi i32 [ 0, %entry ], [ %r.next, %latch ]
{3}{4}  br label %latch
latch:
  %r.next = add i32 %r, 1
  %more = icmp ult i32 %r.next, {5}
  br i1 %more, label %body, label %behind
behind:
{6}{7}  ret void
}}
attributes #0 = {{ convergent nounwind }}
attributes #1 = {{ convergent nounwind willreturn }}
!air.kernel = !{{!0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4, !5}}
!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}}
!4 = !{{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read", !"air.address_space", i32 1}}
!5 = !{{i32 2, !"air.thread_position_in_grid"}}
)",
                     kAirHeader, kValues, loads, phis, body, kRounds, behind, stores);
}

using State = std::vector<std::array<uint32_t, kValues>>;

void step_all(State& state, uint32_t count, const std::vector<uint32_t>& table) {
  for (uint32_t s = 0; s < count; ++s) {
    const State before = state;
    for (uint32_t i = 0; i < kThreads; ++i) {
      uint32_t& own = state[i][s % kValues];
      const uint32_t other = before[i][(s + 3) % kValues];
      switch (kind_of(s)) {
        case Step::mix:
          own = own * 5 + (other ^ s);
          break;
        case Step::branch:
          if (other & 1) own -= table[own & (kTable - 1)];
          break;
        case Step::shuffle:
          own += before[i ^ (s % 31 + 1)][(s + 3) % kValues];
      }
    }
  }
}

}  // namespace

TEST_CASE("long code computes what it says, however it is made") {
  constexpr uint32_t kSteps = 1000;  // as code for 32 lanes, or 32 threads in turns, long enough
  const Bytes bitcode = assemble(kernel(kSteps));
  std::vector<uint32_t> values(size_t{kThreads} * kValues), table(kTable);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i * 2654435761u);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint32_t>(i * 2246822519u);
  State state(kThreads);
  for (size_t i = 0; i < values.size(); ++i) state[i / kValues][i % kValues] = values[i];
  for (uint32_t r = 0; r <= kRounds; ++r) step_all(state, kSteps, table);

  for (const aot::CpuMethod method : {aot::CpuMethod::lanes, aot::CpuMethod::regions}) {
    CAPTURE(static_cast<int>(method));
    aot::CpuOptions options;
    options.method = method;
    options.verify_ir = true;
    options.effort = aot::CpuEffort::fast;
    const LoadedSlice slice = compile_one("k", bitcode, options);
    std::vector<uint32_t> inout = values;
    Launch launch;
    launch.grid = {kThreads, 1, 1};
    launch.group = {32, 1, 1};
    launch.bind(0, inout);
    launch.bind(1, table);
    slice.run("k", launch);
    size_t wrong = 0;
    for (size_t i = 0; i < inout.size(); ++i) wrong += inout[i] != state[i / kValues][i % kValues];
    CHECK(wrong == 0);
  }
}

TEST_CASE("long code becomes short functions") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(kernel(3000), diagnostic, context);
  REQUIRE(module);
  const unsigned before = module->getFunction("k")->getInstructionCount();
  aot::cpu::outline_long_code(*module->getFunction("k"));
  CHECK_FALSE(llvm::verifyModule(*module));
  unsigned pieces = 0, longest = 0;
  for (const llvm::Function& function : *module) {
    if (!function.isDeclaration()) ++pieces;
    longest = std::max(longest, function.getInstructionCount());
  }
  CAPTURE(before);
  CHECK(pieces >= before / 2000);
  CHECK(longest < before / 3);
}

}  // namespace smelt::test
