// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked slices: whatever a pointer was made from, and whatever the kernel claims about it.
#include "launch.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

/// A kernel of one buffer of 64-bit words to read, one to write.
std::string kernel(const std::string& body, const std::string& declarations = {}) {
  return std::string(kAirHeader) + declarations +
         "define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(3) %shared, i32 %gid) {\n" + body +
         "\n}\n"
         "!air.kernel = !{!0}\n!0 = !{ptr @k, !1, !2}\n!1 = !{}\n!2 = !{!3, !4, !5, !6}\n"
         "!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read\", !\"air.address_space\", "
         "i32 1}\n"
         "!4 = !{i32 1, !\"air.buffer\", !\"air.location_index\", i32 1, i32 1, !\"air.read_write\", "
         "!\"air.address_space\", i32 1}\n"
         "!5 = !{i32 2, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read_write\", "
         "!\"air.address_space\", i32 3}\n"
         "!6 = !{i32 3, !\"air.thread_position_in_grid\"}\n!7 = !{}\n!8 = !{i32 0, i32 4}\n";
}

struct Outcome {
  smelt_cpu_fault fault{};
  std::vector<uint64_t> out = std::vector<uint64_t>(8, 99);
};

/// One thread, on these very words. All levels have to agree.
Outcome run_in_place(const std::string& text, std::vector<uint64_t>& in) {
  Outcome last;
  bool first = true;
  for (const aot::CpuLevel level : runnable_levels()) {
    aot::CpuOptions options;
    options.level = level;
    options.checked = true;
    options.verify_ir = true;
    const LoadedSlice slice = compile_one("k", assemble(text), options);
    Outcome outcome;
    Launch launch;
    launch.fault = &outcome.fault;
    launch.threadgroup_bytes[0] = 128;
    launch.bind(0, in).bind(1, outcome.out);
    slice.run("k", launch);
    if (!first) CHECK(outcome.out == last.out);
    if (!first) CHECK(outcome.fault.buffer == last.fault.buffer);
    first = false;
    last = outcome;
  }
  return last;
}

Outcome run(const std::string& text, std::vector<uint64_t> in) {
  return run_in_place(text, in);
}

uint64_t address_of(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

/// array[in[0]] = 5; out[0] = array[in[1]], where the array is one of the thread's own.
const char* const kPrivate =
    "  %a = alloca [4 x i64], align 8\n"
    "  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 32, i1 false)\n"
    "  %i = load i64, ptr addrspace(1) %in\n"
    "  %p = getelementptr inbounds [4 x i64], ptr %a, i64 0, i64 %i\n"
    "  store i64 5, ptr %p\n"
    "  %jp = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
    "  %j = load i64, ptr addrspace(1) %jp\n"
    "  %q = getelementptr inbounds [4 x i64], ptr %a, i64 0, i64 %j\n"
    "  %v = load i64, ptr %q\n"
    "  store i64 %v, ptr addrspace(1) %out\n"
    "  ret void";
const char* const kMemset = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

TEST_CASE("checked: arrays of the thread's own") {
  const Outcome good = run(kernel(kPrivate, kMemset), {3, 3});
  CHECK(good.fault.claimed == 0);
  CHECK(good.out[0] == 5);
  const Outcome write = run(kernel(kPrivate, kMemset), {4, 1});
  CHECK(write.fault.buffer == SMELT_CPU_FAULT_PRIVATE);
  CHECK(write.fault.offset == 32);
  CHECK(write.fault.is_write == 1);
  CHECK(write.out[0] == 0);
  const Outcome read = run(kernel(kPrivate, kMemset), {0, ~uint64_t{0}});
  CHECK(read.fault.buffer == SMELT_CPU_FAULT_PRIVATE);
  CHECK(static_cast<int64_t>(read.fault.offset) == -8);
  CHECK(read.out[0] == 0);
  // Times eight this is 8 once more, which is inside: the multiplication may not be taken for one that cannot overflow.
  CHECK(run(kernel(kPrivate, kMemset), {(uint64_t{1} << 61) + 1, 1}).out[0] == 5);
}

TEST_CASE("checked: null") {
  const char* const body =
      "  %i = load i64, ptr addrspace(1) %in\n"
      "  %c = icmp eq i64 %i, 0\n"
      "  %p = select i1 %c, ptr addrspace(1) null, ptr addrspace(1) %out\n"
      "  %q = getelementptr i64, ptr addrspace(1) %p, i64 2\n"
      "  store i64 1, ptr addrspace(1) %q\n  ret void";
  CHECK(run(kernel(body), {1}).out[2] == 1);
  const Outcome bad = run(kernel(body), {0});
  CHECK(bad.fault.buffer == SMELT_CPU_FAULT_NULL);
  CHECK(bad.fault.offset == 16);
}

TEST_CASE("checked: pointers made from integers must lie in a bound buffer") {
  const char* const body =
      "  %i = load i64, ptr addrspace(1) %in\n"
      "  %p = inttoptr i64 %i to ptr addrspace(1)\n"
      "  %q = getelementptr i64, ptr addrspace(1) %p, i64 1\n"
      "  %v = load i64, ptr addrspace(1) %q\n"
      "  store i64 %v, ptr addrspace(1) %out\n  ret void";
  std::vector<uint64_t> foreign = {1, 2};
  const Outcome bad = run(kernel(body), {address_of(foreign.data())});
  CHECK(bad.fault.buffer == SMELT_CPU_FAULT_STRAY);
  CHECK(bad.fault.offset == address_of(&foreign[1]));
  CHECK(bad.out[0] == 0);
  const char* const round_trip =
      "  %i = ptrtoint ptr addrspace(1) %in to i64\n"
      "  %jp = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
      "  %j = load i64, ptr addrspace(1) %jp\n"
      "  %k = add i64 %i, 8\n"
      "  %p = inttoptr i64 %k to ptr addrspace(1)\n"
      "  %q = getelementptr i64, ptr addrspace(1) %p, i64 %j\n"
      "  %v = load i64, ptr addrspace(1) %q\n"
      "  store i64 %v, ptr addrspace(1) %out\n  ret void";
  CHECK(run(kernel(round_trip), {11, 1, 13}).out[0] == 13);
  const Outcome past = run(kernel(round_trip), {11, 2, 13});
  CHECK(past.fault.claimed == 1);
  CHECK(past.fault.buffer == 0);
  CHECK(past.fault.offset == 24);
}

TEST_CASE("checked: pointers read from a buffer must lie in a bound buffer") {
  if (!kernels_see_our_memory()) return;
  const char* const body =
      "  %p = load ptr addrspace(1), ptr addrspace(1) %in\n"
      "  %jp = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
      "  %j = load i64, ptr addrspace(1) %jp\n"
      "  %q = getelementptr i64, ptr addrspace(1) %p, i64 %j\n"
      "  store i64 42, ptr addrspace(1) %q\n  ret void";
  std::vector<uint64_t> foreign = {1, 2};
  CHECK(run(kernel(body), {address_of(foreign.data()), 0}).fault.buffer == SMELT_CPU_FAULT_STRAY);
  CHECK(foreign[0] == 1);
  const Outcome null = run(kernel(body), {0, 2});
  CHECK(null.fault.buffer == SMELT_CPU_FAULT_STRAY);
  CHECK(null.fault.offset == 16);
  // The same through the launch's own buffer, whose address the test learns by looking at it.
  std::vector<uint64_t> in = {0, 1};
  const LoadedSlice slice = [&] {
    aot::CpuOptions options;
    options.level = runnable_levels().front();
    options.checked = true;
    return compile_one("k", assemble(kernel(body)), options);
  }();
  std::vector<uint64_t> out(4, 99);
  in[0] = address_of(out.data());
  smelt_cpu_fault fault{};
  Launch launch;
  launch.fault = &fault;
  launch.threadgroup_bytes[0] = 16;
  launch.bind(0, in).bind(1, out);
  slice.run("k", launch);
  CHECK(fault.claimed == 0);
  CHECK(out[1] == 42);
  in[1] = 4;
  slice.run("k", launch);
  CHECK(fault.buffer == 1);
  CHECK(fault.offset == 32);
}

TEST_CASE("checked: pointers kept in private memory know their object again") {
  const char* const body =
      "  %a = alloca [2 x i64], align 8\n  %slots = alloca [2 x ptr], align 8\n"
      "  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 16, i1 false)\n"
      "  store ptr %a, ptr %slots\n"
      "  %second = getelementptr ptr, ptr %slots, i64 1\n  %a1 = getelementptr i64, ptr %a, i64 1\n"
      "  store ptr %a1, ptr %second\n"
      "  %i = load i64, ptr addrspace(1) %in\n"
      "  %s = getelementptr ptr, ptr %slots, i64 %i\n"
      "  %p = load ptr, ptr %s\n"
      "  %jp = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
      "  %j = load i64, ptr addrspace(1) %jp\n"
      "  %q = getelementptr i64, ptr %p, i64 %j\n"
      "  %v = load i64, ptr %q\n"
      "  store i64 %v, ptr addrspace(1) %out\n  ret void";
  CHECK(run(kernel(body, kMemset), {1, ~uint64_t{0}}).out[0] == 0x0101010101010101);
  const Outcome bad = run(kernel(body, kMemset), {1, 1});
  CHECK(bad.fault.buffer == SMELT_CPU_FAULT_PRIVATE);
  CHECK(bad.fault.offset == 16);
}

/// in[0] says which of two kept pointers, in[1] how many words from it lies what is copied to out[0].
std::string kept(const std::string& first, const std::string& between = {}) {
  return "  %slots = alloca [2 x ptr addrspace(1)], align 8\n" + first +
         "  store ptr addrspace(1) %first, ptr %slots\n"
         "  %after = getelementptr i64, ptr addrspace(1) %in, i64 100\n"
         "  %second = getelementptr ptr, ptr %slots, i64 1\n"
         "  store ptr addrspace(1) %after, ptr %second\n" +
         between +
         "  %i = load i64, ptr addrspace(1) %in\n"
         "  %s = getelementptr ptr, ptr %slots, i64 %i\n"
         "  %p = load ptr addrspace(1), ptr %s\n"
         "  %jp = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
         "  %j = load i64, ptr addrspace(1) %jp\n"
         "  %q = getelementptr i64, ptr addrspace(1) %p, i64 %j\n"
         "  %v = load i64, ptr addrspace(1) %q\n"
         "  store i64 %v, ptr addrspace(1) %out\n  ret void";
}

TEST_CASE("checked: pointers kept outside of their object come back to it") {
  const std::string before = kernel(kept("  %first = getelementptr i64, ptr addrspace(1) %in, i64 -1000\n"));
  const auto back = [](int64_t words) { return static_cast<uint64_t>(words); };
  CHECK(run(before, {0, 1002, 13}).out[0] == 13);
  CHECK(run(before, {1, back(-98), 13}).out[0] == 13);
  const Outcome in_front = run(before, {0, 999, 13});
  CHECK(in_front.fault.buffer == 0);
  CHECK(static_cast<int64_t>(in_front.fault.offset) == -8);
  const Outcome behind = run(before, {1, back(-97), 13});
  CHECK(behind.fault.buffer == 0);
  CHECK(behind.fault.offset == 24);
  CHECK(behind.out[0] == 0);
  const Outcome no_slot = run(before, {2, 0, 13});
  CHECK(no_slot.fault.buffer == SMELT_CPU_FAULT_PRIVATE);
  CHECK(no_slot.fault.offset == 16);
}

TEST_CASE("checked: pointers kept while they are in another buffer come back to their own") {
  // It has the address of %out's sixth word, and is one of %in.
  const std::string text =
      kernel(kept("  %a = ptrtoint ptr addrspace(1) %in to i64\n  %b = ptrtoint ptr addrspace(1) %out to i64\n"
                  "  %d = sub i64 %b, %a\n  %there = getelementptr i8, ptr addrspace(1) %in, i64 %d\n"
                  "  %first = getelementptr i64, ptr addrspace(1) %there, i64 5\n",
                  "  %way = sub i64 -24, %d\n  %steps = sdiv i64 %way, 8\n"
                  "  %where = getelementptr i64, ptr addrspace(1) %in, i64 1\n"
                  "  store i64 %steps, ptr addrspace(1) %where\n"));
  CHECK(run(text, {0, 0, 13}).out[0] == 13);
  CHECK(run(text, {0, 0}).fault.buffer == 0);
}

TEST_CASE("checked: what is kept of a pointer is forgotten with it") {
  const std::string text =
      kernel(kept("  %others = alloca [1 x ptr addrspace(1)], align 8\n"
                  "  store ptr addrspace(1) %out, ptr %others\n"
                  "  %first = getelementptr i64, ptr addrspace(1) %in, i64 -1000\n",
                  "  call void @llvm.memcpy.p0.p0.i64(ptr %slots, ptr %others, i64 8, i1 false)\n"),
             "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n");
  CHECK(run(text, {0, 3}).out[0] == 99);
  const Outcome bad = run(text, {0, 8});
  CHECK(bad.fault.buffer == 1);
  CHECK(bad.fault.offset == 64);
}

TEST_CASE("checked: lists are followed") {
  if (!kernels_see_our_memory()) return;
  // Pairs of a number and the next pair's address, whose own number is looked at at once: the loop's pointer is known
  // before the load that it comes from is guarded.
  const char* const body =
      "  br label %loop\nloop:\n"
      "  %p = phi ptr addrspace(1) [ %in, %0 ], [ %n, %loop ]\n"
      "  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]\n"
      "  %v = load i64, ptr addrspace(1) %p\n"
      "  %np = getelementptr i64, ptr addrspace(1) %p, i64 1\n"
      "  %n = load ptr addrspace(1), ptr addrspace(1) %np\n"
      "  %w = load i64, ptr addrspace(1) %n\n"
      "  %product = mul i64 %v, %w\n"
      "  %more = add i64 %sum, %product\n"
      "  %go = icmp ne i64 %w, 0\n"
      "  br i1 %go, label %loop, label %end\nend:\n"
      "  store i64 %more, ptr addrspace(1) %out\n  ret void";
  std::vector<uint64_t> in = {2, 0, 3, 0, 5, 0, 0, 0};
  for (size_t i = 0; i < 3; ++i) in[2 * i + 1] = address_of(&in[2 * i + 2]);
  CHECK(run_in_place(kernel(body), in).out[0] == 2 * 3 + 3 * 5);
  in[3] = 8;
  const Outcome bad = run_in_place(kernel(body), in);
  CHECK(bad.fault.buffer == SMELT_CPU_FAULT_STRAY);
  CHECK(bad.fault.offset == 8);
  CHECK(bad.out[0] == 2 * 3);
}

TEST_CASE("checked: what is said to fill memory of any length is one access") {
  const char* const body =
      "  %n = load i64, ptr addrspace(1) %in\n"
      "  call void @llvm.memset.p1.i64(ptr addrspace(1) %out, i8 0, i64 %n, i1 false)\n"
      "  %q = getelementptr i64, ptr addrspace(1) %out, i64 4\n"
      "  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) %q, ptr addrspace(1) %in, i64 %n, i1 false)\n  ret void";
  const char* const declarations =
      "declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)\n"
      "declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)\n";
  const Outcome good = run(kernel(body, declarations), {32, 2, 3, 4});
  CHECK(good.fault.claimed == 0);
  CHECK(good.out == std::vector<uint64_t>{0, 0, 0, 0, 32, 2, 3, 4});
  const Outcome bad = run(kernel(body, declarations), {~uint64_t{0}, 2, 3, 4});
  CHECK(bad.fault.bytes == ~uint64_t{0});
  CHECK(bad.out == std::vector<uint64_t>(8, 99));
  const Outcome read = run(kernel(body, declarations), {32, 2});
  CHECK(read.fault.buffer == 0);
  CHECK(read.fault.is_write == 0);
}

TEST_CASE("checked: what a kernel claims takes no check away") {
  const auto indexed = [](const std::string& claim, const std::string& more = {}) {
    return kernel(
        "  %a = alloca [4 x i64], align 8\n"
        "  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 32, i1 false)\n" +
            claim +
            "  %p = getelementptr inbounds [4 x i64], ptr %a, i64 0, i64 %i\n"
            "  store i64 5, ptr %p\n  %v = load i64, ptr %p\n"
            "  store i64 %v, ptr addrspace(1) %out\n  ret void" +
            more,
        std::string(kMemset) + "declare void @llvm.assume(i1)\n");
  };
  const std::string load = "  %i = load i64, ptr addrspace(1) %in";
  const auto is_caught = [&](const std::string& text, std::vector<uint64_t> in) {
    const Outcome outcome = run(text, std::move(in));
    CHECK(outcome.fault.claimed == 1);
    CHECK(outcome.fault.buffer == SMELT_CPU_FAULT_PRIVATE);
  };
  is_caught(indexed(load + "\n  %c = icmp ult i64 %i, 4\n  call void @llvm.assume(i1 %c)\n"), {1000});
  is_caught(indexed(load + ", !range !{i64 0, i64 4}\n"), {1000});
  is_caught(indexed("  %bit = load i1, ptr addrspace(1) %in\n  %n = zext i1 %bit to i64\n  %i = mul i64 %n, 4\n"),
            {0xff});
  is_caught(indexed(load + "\n  %c = icmp ult i64 %i, 4\n  br i1 %c, label %go, label %never\ngo:\n",
                    "\nnever:\n  unreachable"),
            {1000});
}

TEST_CASE("checked: a load that is said to be invariant is one as well") {
  const Outcome outcome = run(kernel("  %p = getelementptr i64, ptr addrspace(1) %in, i64 9\n"
                                     "  %v = load i64, ptr addrspace(1) %p, !invariant.load !7\n"
                                     "  store i64 %v, ptr addrspace(1) %out\n  ret void"),
                              {1, 2});
  CHECK(outcome.fault.claimed == 1);
  CHECK(outcome.fault.offset == 72);
}

TEST_CASE("checked: atomics, tiles and copies of tiles") {
  const std::string atomic_name = "air.atomic.global.add.u.i32";
  const Outcome atomic =
      run(kernel("  %i = load i64, ptr addrspace(1) %in\n  %p = getelementptr i32, ptr addrspace(1) %out, i64 %i\n"
                 "  %v = call i32 @" +
                     atomic_name + "(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i1 true)\n  ret void",
                 "declare i32 @" + atomic_name + "(ptr addrspace(1), i32, i32, i32, i1)\n"),
          {16});
  CHECK(atomic.fault.buffer == 1);
  CHECK(atomic.fault.offset == 64);

  const std::string load_name = "air.simdgroup_matrix_8x8_load.v64f32.p1f32";
  const std::string matrix = kernel(
      "  %pitch = load i64, ptr addrspace(1) %in\n"
      "  %m = call <64 x float> @" +
          load_name +
          "(ptr addrspace(1) %out, i64 %pitch, <2 x i64> zeroinitializer, i1 false)\n"
          "  %e = extractelement <64 x float> %m, i64 0\n"
          "  store float %e, ptr addrspace(1) %out\n  ret void",
      "declare <64 x float> @" + load_name + "(ptr addrspace(1), i64, <2 x i64>, i1)\n");
  CHECK(run(matrix, {8}).fault.claimed == 1);  // 256 bytes of 64
  CHECK(run(matrix, {1}).fault.claimed == 0);
  CHECK(run(matrix, {0x6DB6DB6DB6DB6DB7}).fault.claimed == 1);  // times seven it is one

  const std::string copy_name = "air.simdgroup_async_copy_1d.p3i8.p1i8";
  const std::string copy = kernel(
      "  %n = load i64, ptr addrspace(1) %in\n"
      "  %e = call ptr @" +
          copy_name +
          "(i64 8, i64 8, ptr addrspace(3) %shared, ptr addrspace(1) %out, i64 %n)\n"
          "  ret void",
      "declare ptr @" + copy_name + "(i64, i64, ptr addrspace(3), ptr addrspace(1), i64)\n");
  CHECK(run(copy, {8}).fault.claimed == 0);
  const Outcome read = run(copy, {9});
  CHECK(read.fault.buffer == 1);
  CHECK(read.fault.is_write == 0);
  CHECK(run(copy, {17}).fault.buffer == SMELT_CPU_FAULT_THREADGROUP_ARGUMENT);
  CHECK(run(copy, {uint64_t{1} << 61}).fault.claimed == 1);

  const std::string tile_name = "air.simdgroup_async_copy_2d.p3i8.p1i8";
  const std::string tile = kernel(
      "  %w = load i64, ptr addrspace(1) %in\n"
      "  %fromp = getelementptr i64, ptr addrspace(1) %in, i64 1\n  %from = load i64, ptr addrspace(1) %fromp\n"
      "  %to0 = insertelement <2 x i64> poison, i64 %w, i32 0\n  %to = insertelement <2 x i64> %to0, i64 2, i32 1\n"
      "  %f0 = insertelement <2 x i64> poison, i64 %from, i32 0\n  %f = insertelement <2 x i64> %f0, i64 2, i32 1\n"
      "  %e = call ptr @" +
          tile_name +
          "(i64 4, i64 4, ptr addrspace(3) %shared, i64 8, i64 1, <2 x i64> %to, ptr addrspace(1) %out, i64 8, i64 1, "
          "<2 x i64> %f, <2 x i64> zeroinitializer, i32 0)\n  ret void",
      "declare ptr @" + tile_name +
          "(i64, i64, ptr addrspace(3), i64, i64, <2 x i64>, ptr addrspace(1), i64, i64, <2 x i64>, <2 x i64>, i32)\n");
  CHECK(run(tile, {8, 8}).fault.claimed == 0);
  CHECK(run(tile, {8, 1000}).fault.claimed == 0);  // a source larger than what is taken of it
  CHECK(run(tile, {9, 9}).fault.buffer == 1);
  CHECK(run(tile, {25, 1}).fault.buffer == SMELT_CPU_FAULT_THREADGROUP_ARGUMENT);
  CHECK(run(tile, {uint64_t{1} << 62, 8}).fault.claimed == 1);
}

}  // namespace
}  // namespace smelt::test
