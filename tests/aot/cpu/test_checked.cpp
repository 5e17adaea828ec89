// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked slices: a thread that leaves a buffer is reported and does no harm.
#include "launch.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

/// out[i] = in[index[i]] + shared[index[i]], where shared holds 8 words of each group.
const char* const kGather =
    "@shared = internal unnamed_addr addrspace(3) global [8 x i32] undef, align 4\n"
    "declare void @air.wg.barrier(i32, i32) #1\n"
    "define void @gather(ptr addrspace(1) %in, ptr addrspace(1) %index, ptr addrspace(1) %out, ptr addrspace(3) "
    "%dynamic,\n"
    "    i32 %gid, i32 %tid) #0 {\n"
    "  %g = zext i32 %gid to i64\n"
    "  %t = zext i32 %tid to i64\n"
    "  %sp = getelementptr [8 x i32], ptr addrspace(3) @shared, i64 0, i64 %t\n"
    "  store i32 %tid, ptr addrspace(3) %sp, align 4\n"
    "  call void @air.wg.barrier(i32 2, i32 1) #1\n"
    "  %ip = getelementptr i32, ptr addrspace(1) %index, i64 %g\n"
    "  %i = load i32, ptr addrspace(1) %ip, align 4\n"
    "  %il = sext i32 %i to i64\n"
    "  %p = getelementptr i32, ptr addrspace(1) %in, i64 %il\n"
    "  %v = load i32, ptr addrspace(1) %p, align 4\n"
    "  %op = getelementptr i32, ptr addrspace(1) %out, i64 %g\n"
    "  store i32 %v, ptr addrspace(1) %op, align 4\n"
    "  %dp = getelementptr i32, ptr addrspace(3) %dynamic, i64 %t\n"
    "  store i32 %v, ptr addrspace(3) %dp, align 4\n"
    "  ret void\n}\n"
    "attributes #0 = { convergent nounwind }\nattributes #1 = { convergent nounwind willreturn }\n"
    "!air.kernel = !{!0}\n!0 = !{ptr @gather, !1, !2}\n!1 = !{}\n!2 = !{!3, !4, !5, !6, !7, !8}\n"
    "!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read\", !\"air.address_space\", i32 "
    "1}\n"
    "!4 = !{i32 1, !\"air.buffer\", !\"air.location_index\", i32 3, i32 1, !\"air.read\", !\"air.address_space\", i32 "
    "1}\n"
    "!5 = !{i32 2, !\"air.buffer\", !\"air.location_index\", i32 5, i32 1, !\"air.read_write\", "
    "!\"air.address_space\", i32 1}\n"
    "!6 = !{i32 3, !\"air.buffer\", !\"air.location_index\", i32 1, i32 1, !\"air.read_write\", "
    "!\"air.address_space\", i32 3}\n"
    "!7 = !{i32 4, !\"air.thread_position_in_grid\"}\n!8 = !{i32 5, !\"air.thread_position_in_threadgroup\"}\n";

struct Case {
  std::vector<uint32_t> in = {10, 11, 12, 13};
  std::vector<int32_t> index = {0, 1, 2, 3, 0, 1};
  std::vector<uint32_t> out = std::vector<uint32_t>(6, 99);
  uint32_t group = 6;
  uint32_t dynamic_bytes = 64;
  smelt_cpu_fault fault{};

  void run() {
    for (const aot::CpuLevel level : runnable_levels()) {
      aot::CpuOptions options;
      options.level = level;
      options.checked = true;
      options.verify_ir = true;
      const LoadedSlice slice = compile_one("gather", assemble(std::string(kAirHeader) + kGather), options);
      CHECK(slice.find("gather")->checked);
      std::fill(out.begin(), out.end(), 99);
      fault = {};
      Launch launch;
      launch.grid = {static_cast<uint32_t>(index.size()), 1, 1};
      launch.group = {group, 1, 1};
      launch.fault = &fault;
      launch.threadgroup_bytes[1] = dynamic_bytes;
      launch.bind(0, in).bind(3, index).bind(5, out);
      slice.run("gather", launch);
    }
  }
};

TEST_CASE("nothing is reported while all threads stay inside") {
  Case c;
  c.run();
  CHECK(c.fault.claimed == 0);
  CHECK(c.out == std::vector<uint32_t>{10, 11, 12, 13, 10, 11});
}

TEST_CASE("a read past the end reads zero and says where") {
  Case c;
  c.index[4] = 4;
  c.run();
  CHECK(c.fault.claimed == 1);
  CHECK(c.fault.buffer == 0);
  CHECK(c.fault.offset == 16);
  CHECK(c.fault.bytes == 4);
  CHECK(c.fault.position[0] == 4);
  CHECK(c.fault.is_write == 0);
  CHECK(c.out == std::vector<uint32_t>{10, 11, 12, 13, 0, 11});
}

TEST_CASE("a read before the start is no different") {
  Case c;
  c.index[2] = -1;
  c.run();
  CHECK(c.fault.claimed == 1);
  CHECK(static_cast<int64_t>(c.fault.offset) == -4);
  CHECK(c.out[2] == 0);
}

TEST_CASE("writes that leave a buffer are dropped: device, static and dynamic threadgroup memory") {
  Case device;
  device.out.resize(4);
  device.run();
  CHECK(device.fault.claimed == 1);
  CHECK(device.fault.buffer == 5);
  CHECK(device.fault.is_write == 1);
  CHECK(device.fault.offset == 16);

  Case dynamic;
  dynamic.dynamic_bytes = 20;
  dynamic.run();
  CHECK(dynamic.fault.claimed == 1);
  CHECK(dynamic.fault.buffer == 0x80000001u);
  CHECK(dynamic.fault.offset == 20);

  Case fixed;
  fixed.index.assign(10, 1);
  fixed.out.assign(10, 99);
  fixed.group = 10;
  fixed.run();
  CHECK(fixed.fault.claimed == 1);
  CHECK(fixed.fault.buffer == SMELT_CPU_FAULT_VARIABLE);
  CHECK(fixed.fault.offset == 32);
}

}  // namespace
}  // namespace smelt::test
