// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics: every operation against plain arithmetic, contended by real threads, in all operand forms.
#include "jit.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <thread>
#include <vector>

using namespace smelt::test;

namespace {

/// define RESULT @name(ptr, ptr expected, value): one call of an atomic operation.
std::string rmw(const std::string& name, const std::string& operation, const std::string& type,
                const std::string& space, const std::string& extra = "") {
  const std::string pointer = space == "global" ? "ptr addrspace(1)" : "ptr addrspace(3)";
  const std::string full = "air.atomic." + space + "." + operation;
  return "declare " + type + " @" + full + "(" + pointer + ", " + type + ", i32, i32, " +
         (extra.empty() ? "" : "i32, ") + "i1)\n" + "define " + type + " @" + name + "(" + pointer + " %p, " + type +
         " %v) {\n  %r = call " + type + " @" + full + "(" + pointer + " %p, " + type + " %v, i32 0, i32 2, " + extra +
         "i1 true)\n  ret " + type + " %r\n}\n";
}

/// Runs `work` on four threads at once.
void contend(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("read-modify-write operations of both memories") {
  for (const std::string space : {"global", "local"}) {
    std::string air;
    struct Case {
      const char *name, *operation;
      uint32_t start, operand, want;
    };
    const std::vector<Case> cases = {{"add", "add.s.i32", 5, 7, 12},
                                     {"sub", "sub.u.i32", 5, 7, 0xfffffffe},
                                     {"and", "and.u.i32", 12, 10, 8},
                                     {"or", "or.u.i32", 12, 10, 14},
                                     {"xor", "xor.s.i32", 12, 10, 6},
                                     {"xchg", "xchg.i32", 1, 9, 9},
                                     {"min_s", "min.s.i32", 3, 0xffffffff, 0xffffffff},
                                     {"min_u", "min.u.i32", 3, 0xffffffff, 3},
                                     {"max_s", "max.s.i32", 3, 0xffffffff, 3},
                                     {"max_u", "max.u.i32", 3, 0xffffffff, 0xffffffff}};
    for (const Case& c : cases) air += rmw(c.name, c.operation, "i32", space);
    air += rmw("add_float", "add.f32", "float", space);
    air += rmw("xchg_float", "xchg.f32", "float", space);
    air += rmw("with_flags", "add.u.i32", "i32", space, "i32 1, ");  // the form of AIR 2.9
    const Jit jit(air);
    for (const Case& c : cases) {
      uint32_t memory = c.start;
      const uint32_t old = jit.function<uint32_t(uint32_t*, uint32_t)>(c.name)(&memory, c.operand);
      CHECK_MESSAGE(old == c.start, space << " " << std::string(c.name));
      CHECK_MESSAGE(memory == c.want, space << " " << std::string(c.name));
    }
    float sum = 1.5f;
    CHECK(jit.function<float(float*, float)>("add_float")(&sum, 2) == 1.5f);
    CHECK(sum == 3.5f);
    CHECK(jit.function<float(float*, float)>("xchg_float")(&sum, -1) == 3.5f);
    CHECK(sum == -1);
    uint32_t flags = 1;
    CHECK(jit.function<uint32_t(uint32_t*, uint32_t)>("with_flags")(&flags, 2) == 1);
    CHECK(flags == 3);
  }
}

TEST_CASE("device atomics lose nothing under contention") {
  const Jit jit(rmw("add", "add.u.i32", "i32", "global") + rmw("add_float", "add.f32", "float", "global") +
                rmw("max", "max.s.i32", "i32", "global") + R"(
declare void @air.atomic.global.max.u.i64(ptr addrspace(1), i64, i32, i32, i1)
define void @max64(ptr addrspace(1) %p, i64 %v) {
  call void @air.atomic.global.max.u.i64(ptr addrspace(1) %p, i64 %v, i32 0, i32 2, i1 true)
  ret void
}
declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1), ptr, i32, i32, i32, i32, i1)
declare i32 @air.atomic.global.load.i32(ptr addrspace(1), i32, i32, i1)
define void @triple_and_add(ptr addrspace(1) %p, i32 %v) {
entry:
  %expected = alloca i32
  %first = call i32 @air.atomic.global.load.i32(ptr addrspace(1) %p, i32 0, i32 2, i1 true)
  store i32 %first, ptr %expected
  br label %again
again:
  %old = load i32, ptr %expected
  %scaled = mul i32 %old, 3
  %new = add i32 %scaled, %v
  %seen = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %expected, i32 %new, i32 0, i32 0, i32 2, i1 true)
  %done = icmp eq i32 %seen, %old
  br i1 %done, label %out, label %again
out:
  ret void
})");
  constexpr int kRounds = 20000;
  uint32_t counter = 0;
  contend([&](int) {
    for (int i = 0; i < kRounds; ++i) jit.function<uint32_t(uint32_t*, uint32_t)>("add")(&counter, 3);
  });
  CHECK(counter == 4u * kRounds * 3);
  float sum = 0;
  contend([&](int) {
    for (int i = 0; i < kRounds; ++i) jit.function<float(float*, float)>("add_float")(&sum, 0.5f);
  });
  CHECK(sum == 4 * kRounds * 0.5f);
  int32_t largest = INT32_MIN;
  contend([&](int t) {
    for (int i = 0; i < kRounds; ++i) jit.function<int32_t(int32_t*, int32_t)>("max")(&largest, i * 4 + t - 50000);
  });
  CHECK(largest == (kRounds - 1) * 4 + 3 - 50000);
  uint64_t wide = 0;
  contend([&](int t) {
    for (int i = 0; i < kRounds; ++i) jit.function<void(uint64_t*, uint64_t)>("max64")(&wide, (uint64_t(i) << 33) + t);
  });
  CHECK(wide == (uint64_t{kRounds - 1} << 33) + 3);
  // x -> 3x + 1 for everyone is the same whatever the order.
  uint32_t chained = 1, want = 1;
  contend([&](int) {
    for (int i = 0; i < kRounds; ++i) jit.function<void(uint32_t*, uint32_t)>("triple_and_add")(&chained, 1);
  });
  for (int i = 0; i < 4 * kRounds; ++i) want = want * 3 + 1;
  CHECK(chained == want);
}

TEST_CASE("compare and exchange") {
  std::string air;
  for (const std::string space : {"global", "local"})
    for (const std::string type : {"i32", "float"}) {
      const std::string pointer = space == "global" ? "ptr addrspace(1)" : "ptr addrspace(3)";
      const std::string suffix = type == "float" ? "f32" : type,
                        name = "air.atomic." + space + ".cmpxchg.weak." + suffix;
      air += "declare " + type + " @" + name + "(" + pointer + ", ptr, " + type + ", i32, i32, i32, i1)\n";
      air += "define " + type + " @" + space + "_" + suffix + "(" + pointer + " %p, ptr %e, " + type +
             " %v) {\n  %r = call " + type + " @" + name + "(" + pointer + " %p, ptr %e, " + type +
             " %v, i32 0, i32 0, i32 2, i1 true)\n  ret " + type + " %r\n}\n";
    }
  const Jit jit(air);
  for (const std::string space : {"global", "local"}) {
    uint32_t memory = 5, expected = 5;
    auto* exchange = jit.function<uint32_t(uint32_t*, uint32_t*, uint32_t)>(space + "_i32");
    CHECK(exchange(&memory, &expected, 8) == 5);
    CHECK(memory == 8);
    CHECK(expected == 5);
    CHECK(exchange(&memory, &expected, 9) == 8);  // fails, and says what it saw
    CHECK(memory == 8);
    CHECK(expected == 8);
    // Floats are compared as bits: a NaN equals itself, and a loop on it ends.
    float number = NAN, wanted = number;
    auto* exchange_float = jit.function<float(float*, float*, float)>(space + "_f32");
    CHECK(std::isnan(exchange_float(&number, &wanted, 2)));
    CHECK(number == 2);
    number = 0.0f, wanted = -0.0f;
    exchange_float(&number, &wanted, 1);
    CHECK(number == 0.0f);
    CHECK(std::bit_cast<uint32_t>(wanted) == 0);
  }
}

TEST_CASE("threadgroup atomics are plain accesses, device atomics are not") {
  const Compiled local = compile(rmw("f", "add.u.i32", "i32", "local"));
  CHECK(local.error == "");
  CHECK(local.ir.find("atomicrmw") == std::string::npos);
  CHECK(local.ir.find("volatile") != std::string::npos);
  const Compiled global = compile(rmw("f", "add.u.i32", "i32", "global"));
  CHECK(global.ir.find("atomicrmw add") != std::string::npos);
}

TEST_CASE("loads, stores and fences") {
  const std::string air = R"(
declare i32 @air.atomic.global.load.i32(ptr addrspace(1), i32, i32, i1)
declare void @air.atomic.global.store.i32(ptr addrspace(1), i32, i32, i32, i1)
declare void @air.atomic.fence(i32, i32, i32)
define i32 @f(ptr addrspace(1) %p) {
  %v = call i32 @air.atomic.global.load.i32(ptr addrspace(1) %p, i32 0, i32 2, i1 true)
  call void @air.atomic.fence(i32 1, i32 5, i32 2)
  call void @air.atomic.fence(i32 2, i32 5, i32 1)
  call void @air.atomic.fence(i32 1, i32 0, i32 2)
  %w = add i32 %v, 1
  call void @air.atomic.global.store.i32(ptr addrspace(1) %p, i32 %w, i32 0, i32 2, i1 true)
  ret i32 %v
})";
  const Compiled compiled = compile(air);
  CHECK(compiled.error == "");
  CHECK(compiled.ir.find("load atomic i32") != std::string::npos);
  CHECK(compiled.ir.find("store atomic i32") != std::string::npos);
  const size_t fence = compiled.ir.find("fence seq_cst");
  CHECK(fence != std::string::npos);
  CHECK(compiled.ir.find("fence seq_cst", fence + 1) == std::string::npos);  // threadgroup and relaxed fences are none
  const Jit jit(air);
  uint32_t memory = 41;
  CHECK(jit.function<uint32_t(uint32_t*)>("f")(&memory) == 41);
  CHECK(memory == 42);
}
