// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as it is written for metal-cpp on a Mac, with nothing in it that is ours: it compiles a kernel from source,
// squares the numbers in one pass, sums them in another, and checks the sum.
//
//     reduce [COUNT]
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void square(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= x[i]; }

kernel void sum(device const float* x [[buffer(0)]], device atomic_uint* total [[buffer(1)]],
                uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const float part = simd_sum(x[i]);
  if (lane == 0) atomic_fetch_add_explicit(total, uint(part), memory_order_relaxed);
}
)";

NS::String* string(const char* text) {
  return NS::String::string(text, NS::StringEncoding::UTF8StringEncoding);
}

MTL::ComputePipelineState* pipeline(MTL::Device* device, MTL::Library* library, const char* name) {
  NS::Error* error = nullptr;
  const auto function = NS::TransferPtr(library->newFunction(string(name)));
  MTL::ComputePipelineState* const state = function ? device->newComputePipelineState(function.get(), &error) : nullptr;
  if (state == nullptr) {
    std::cerr << name << ": " << (error ? error->localizedDescription()->utf8String() : "no such kernel") << "\n";
    std::exit(1);
  }
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  const NS::UInteger count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024;
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) {
    std::cerr << "no Metal device\n";
    return 1;
  }
  std::cout << "device: " << device->name()->utf8String() << "\n";
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device->newLibrary(string(kSource), nullptr, &error));
  if (!library) {
    std::cerr << error->localizedDescription()->utf8String() << "\n";
    return 1;
  }
  const auto square = NS::TransferPtr(pipeline(device.get(), library.get(), "square"));
  const auto sum = NS::TransferPtr(pipeline(device.get(), library.get(), "sum"));
  const auto numbers = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  const auto total = NS::TransferPtr(device->newBuffer(sizeof(uint32_t), MTL::ResourceStorageModeShared));
  uint32_t wanted = 0;
  for (NS::UInteger i = 0; i < count; ++i) {
    static_cast<float*>(numbers->contents())[i] = static_cast<float>(i % 8);
    wanted += static_cast<uint32_t>(i % 8 * (i % 8));
  }

  const auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  commands->setLabel(string("reduce"));
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setLabel(string("squares"));
  encoder->setComputePipelineState(square.get());
  encoder->setBuffer(numbers.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size::Make(count, 1, 1), MTL::Size::Make(64, 1, 1));
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder();
  encoder->setLabel(string("sums"));
  encoder->setComputePipelineState(sum.get());
  encoder->setBuffer(numbers.get(), 0, 0);
  encoder->setBuffer(total.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size::Make(count, 1, 1), MTL::Size::Make(64, 1, 1));
  encoder->endEncoding();
  commands->addCompletedHandler([](MTL::CommandBuffer* finished) {
    std::cout << "ran " << (finished->status() == MTL::CommandBufferStatusCompleted ? "to its end" : "into an error")
              << "\n";
  });
  commands->commit();
  commands->waitUntilCompleted();

  const uint32_t found = *static_cast<uint32_t*>(total->contents());
  std::cout << "sum " << found << (found == wanted ? ", as wanted\n" : ", which is wrong\n");
  return found == wanted ? 0 : 1;
}
