// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private arrays of any size that a kernel may have run on threads with little stack; what is too much is refused when
// it is compiled.
#include "launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <pthread.h>

#include <functional>

namespace smelt::test {
namespace {

/// Thread i fills its array with i + 3 k and gives the sum of every 1024th: out[i]. With a barrier it cannot be one
/// loop.
std::string kernel_with(uint32_t words, bool barrier) {
  return fmt::format(R"({0}
declare void @air.wg.barrier(i32, i32) #1
define void @k(ptr addrspace(1) %out, i32 %i) #0 {{
entry:
  %own = alloca [{1} x i32], align 4
  br label %fill
fill:
  %k = phi i32 [ 0, %entry ], [ %k.next, %fill ]
  %k3 = mul i32 %k, 3
  %v = add i32 %k3, %i
  %p = getelementptr [{1} x i32], ptr %own, i32 0, i32 %k
  store volatile i32 %v, ptr %p, align 4
  %k.next = add i32 %k, 1
  %filling = icmp ult i32 %k.next, {1}
  br i1 %filling, label %fill, label %between
between:
  {2}
  br label %add
add:
  %n = phi i32 [ 0, %between ], [ %n.next, %add ]
  %sum = phi i32 [ 0, %between ], [ %more, %add ]
  %q = getelementptr [{1} x i32], ptr %own, i32 0, i32 %n
  %w = load volatile i32, ptr %q, align 4
  %more = add i32 %sum, %w
  %n.next = add i32 %n, 1024
  %adding = icmp ult i32 %n.next, {1}
  br i1 %adding, label %add, label %done
done:
  %i.wide = zext i32 %i to i64
  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i.wide
  store i32 %more, ptr addrspace(1) %o, align 4
  ret void
}}
attributes #0 = {{ convergent nounwind }}
attributes #1 = {{ convergent nounwind willreturn }}
!air.kernel = !{{!0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4}}
!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}}
!4 = !{{i32 1, !"air.thread_position_in_grid"}}
)",
                     kAirHeader, words, barrier ? "call void @air.wg.barrier(i32 2, i32 1) #1" : "");
}

/// On a thread with the smallest stack that is usual: musl's.
void run_on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(
              &thread, &attributes,
              [](void* argument) -> void* {
                (*static_cast<const std::function<void()>*>(argument))();
                return nullptr;
              },
              const_cast<std::function<void()>*>(&work)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("large private arrays run on small stacks") {
  constexpr uint32_t kThreads = 70;
  for (const uint32_t words : {1024u, 4096u, 65536u})
    for (const bool barrier : {false, true})
      for (const aot::CpuMethod method : {aot::CpuMethod::lanes, aot::CpuMethod::regions, aot::CpuMethod::automatic}) {
        CAPTURE(words);
        CAPTURE(barrier);
        CAPTURE(static_cast<int>(method));
        aot::CpuOptions options;
        options.method = method;
        options.verify_ir = true;
        const LoadedSlice slice = compile_one("k", assemble(kernel_with(words, barrier)), options);
        std::vector<uint32_t> out(kThreads);
        Launch launch;
        launch.grid = {kThreads, 1, 1};
        launch.group = {35, 1, 1};
        launch.bind(0, out);
        run_on_small_stack([&] { slice.run("k", launch); });
        for (uint32_t i = 0; i < kThreads; ++i) {
          uint32_t wanted = 0;
          for (uint32_t n = 0; n < words; n += 1024) wanted += i + 3 * n;
          CHECK(out[i] == wanted);
        }
      }
}

TEST_CASE("more private memory than the CPU keeps is refused with its reason") {
  for (const bool barrier : {false, true})
    for (const aot::CpuMethod method : {aot::CpuMethod::lanes, aot::CpuMethod::regions}) {
      if (method == aot::CpuMethod::regions && !barrier) continue;  // one thread at a time: its array is there once
      const Bytes bitcode = assemble(kernel_with(1 << 23, barrier));
      const aot::AirModuleView view{"k", bitcode};
      aot::CpuOptions options;
      options.method = method;
      const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
      REQUIRE(compiled);
      REQUIRE(compiled->missing.size() == 1);
      CHECK_MESSAGE(compiled->missing[0].reason.find("the CPU keeps at most") != std::string::npos,
                    compiled->missing[0].reason);
    }
}

}  // namespace smelt::test
