// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels FILE KERNEL...: a library of the Metal source in FILE, a pipeline of each kernel, all of them at once by
// threads of their own, and what each makes of x[0] = 1: a line "KERNEL VALUE". A name may stand there several times.
// First it says how many functions the library has.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

NS::String* text(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

std::string run(MTL::Device* device, MTL::Library* library, const std::string& kernel) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto function = NS::TransferPtr(library->newFunction(text(kernel)));
  if (!function) return "no such function";
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!state) return error->localizedDescription()->utf8String();
  const float one = 1;
  const auto x = NS::TransferPtr(device->newBuffer(&one, sizeof(one), MTL::ResourceStorageModeShared));
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  std::ostringstream value;
  value << *static_cast<const float*>(x->contents());
  return value.str();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string source((std::istreambuf_iterator<char>(file)), {});
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device->newLibrary(text(source), nullptr, &error));
  if (!library) {
    std::fprintf(stderr, "%s\n", error->localizedDescription()->utf8String());
    return 1;
  }
  std::printf("functions: %zu\n", static_cast<size_t>(library->functionNames()->count()));
  const std::vector<std::string> kernels(arguments + 2, arguments + count);
  std::vector<std::string> values(kernels.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kernels.size(); ++i)
    threads.emplace_back([&, i] { values[i] = run(device.get(), library.get(), kernels[i]); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kernels.size(); ++i) std::printf("%s %s\n", kernels[i].c_str(), values[i].c_str());
  return 0;
}
