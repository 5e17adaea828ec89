// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <doctest/doctest.h>

#include <map>
#include <mutex>

namespace program {

const char* const kKernels = R"(
#include <metal_stdlib>
using namespace metal;
kernel void add_one(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void double_it(device uint* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void copy_to(device const uint* from [[buffer(0)]], device uint* to [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) { to[i] = from[i]; }
// Takes long: a chain of steps that nothing can shorten.
kernel void slow_store(device uint* x [[buffer(0)]], constant uint& value [[buffer(1)]],
                       constant uint& steps [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  uint state = value + i;
  for (uint k = 0; k < steps; ++k) state = state * 1664525u + 1013904223u + (state >> 7);
  x[i] = state == 0xffffffffu ? 0 : value;
}
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) { y[i] = fma(a, x[i], y[i]); }
kernel void sum_groups(device const uint* x [[buffer(0)]], device uint* sums [[buffer(1)]],
                       threadgroup uint* part [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                       uint t [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                       uint n [[threads_per_threadgroup]]) {
  part[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint half_n = n / 2; half_n > 0; half_n /= 2) {
    if (t < half_n) part[t] += part[t + half_n];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) sums[g] = part[0];
}
)";

MTL::Device* device(size_t number) {
  static NS::Array* const devices = MTL::CopyAllDevices();
  REQUIRE_MESSAGE(devices->count() > number, "run by ctest, which sets SMELT_METAL_DEVICES=2");
  return devices->object<MTL::Device>(number);
}

MTL::Library* library(const std::string& source, MTL::Device* on) {
  static std::mutex lock;
  static std::map<std::pair<MTL::Device*, std::string>, MTL::Library*> known;
  const std::lock_guard guard(lock);
  MTL::Library*& made = known[{on, source}];
  if (made == nullptr) {
    NS::Error* error = nullptr;
    made = on->newLibrary(text(source), nullptr, &error);
    REQUIRE_MESSAGE(made != nullptr, text(error));
  }
  return made;
}

NS::SharedPtr<MTL::ComputePipelineState> pipeline(const std::string& source, const std::string& kernel,
                                                  MTL::Device* on) {
  const auto function = NS::TransferPtr(library(source, on)->newFunction(text(kernel)));
  REQUIRE(function);
  NS::Error* error = nullptr;
  auto state = NS::TransferPtr(on->newComputePipelineState(function.get(), &error));
  REQUIRE_MESSAGE(state, text(error));
  return state;
}

}  // namespace program
