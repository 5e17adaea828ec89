// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal_often SECONDS: launches one kernel until the trace (SMELT_TRACE) tells of other code for it, or so many seconds
// have gone, and ends at once. Says which; a launch that gives other numbers than the first is an error.
#include "program.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void heavy(device float* x, uint i [[thread_position_in_grid]]) {
  float s = x[i];
  for (int k = 0; k < 200; ++k) s = s * 0.5f + 3.0f;
  x[i] = s;
}
)";

int failed(const char* what, const NS::Error* error) {
  std::printf("%s: %s\n", what, program::text(error).c_str());
  return 1;
}

bool told() {
  const char* const path = std::getenv("SMELT_TRACE");
  if (path == nullptr) return false;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find("\"cat\":\"replace\"") != std::string::npos;
}

}  // namespace

int main(int count, char** words) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto ends =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(count > 1 ? std::atof(words[1]) : 1);
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device->newLibrary(program::text(kSource), nullptr, &error));
  if (!library) return failed("library", error);
  const auto function = NS::TransferPtr(library->newFunction(program::text("heavy")));
  const auto state = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!state) return failed("pipeline", error);
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  std::vector<float> numbers(20'000), first;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  bool replaced = false;
  for (int launch = 0; !replaced && std::chrono::steady_clock::now() < ends; ++launch) {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const auto x = NS::TransferPtr(
        device->newBuffer(numbers.data(), numbers.size() * sizeof(float), MTL::ResourceStorageModeShared));
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(x.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(numbers.size(), 1, 1), MTL::Size(256, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    const auto values = program::values<float>(x.get());
    if (first.empty()) first = values;
    if (values != first) return failed("other numbers", nullptr);
    if (launch % 20 == 0) replaced = told();
  }
  std::puts(replaced ? "replaced" : "not replaced");
  return 0;
}
