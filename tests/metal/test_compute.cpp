// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From source to numbers: what every program does.
#include "program.hpp"

#include <doctest/doctest.h>

using namespace program;

TEST_CASE("a kernel from source runs, and its times and status are told") {
  const Pool pool;
  const auto saxpy = pipeline(kKernels, "saxpy");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<float>({1, 2, 3, 4, 5}), y = buffer<float>({10, 20, 30, 40, 50});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  CHECK(commands->status() == MTL::CommandBufferStatusNotEnqueued);
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(saxpy.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(y.get(), 0, 1);
  const float a = 2;
  encoder->setBytes(&a, sizeof(a), 2);
  encoder->dispatchThreads(MTL::Size(5, 1, 1), MTL::Size::Make(4, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(commands->error() == nullptr);
  CHECK(values<float>(y.get()) == std::vector<float>{12, 24, 36, 48, 60});
  CHECK(commands->GPUEndTime() >= commands->GPUStartTime());
  CHECK(commands->GPUStartTime() > 0);
  CHECK(commands->kernelEndTime() >= commands->kernelStartTime());
}

TEST_CASE("threadgroups, threadgroup memory and offsets") {
  const Pool pool;
  const auto sum = pipeline(kKernels, "sum_groups");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  std::vector<uint32_t> numbers(4 + 1024);
  for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  const auto x = buffer(numbers), sums = buffer(std::vector<uint32_t>(9, 7));
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(sum.get());
  const MTL::Buffer* both[] = {x.get(), sums.get()};
  const NS::UInteger offsets[] = {0, 4};
  encoder->setBuffers(both, offsets, NS::Range::Make(0, 2));
  encoder->setBufferOffset(16, 0);
  encoder->setThreadgroupMemoryLength(128 * 4, 0);
  encoder->dispatchThreadgroups(MTL::Size(8, 1, 1), MTL::Size(128, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
  const std::vector<uint32_t> read = values<uint32_t>(sums.get());
  CHECK(read[0] == 7);
  for (uint32_t group = 0; group < 8; ++group) {
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < 128; ++i) wanted += 4 + group * 128 + i;
    CHECK(read[1 + group] == wanted);
  }
}

TEST_CASE("indirect dispatch reads its counts when it runs") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one"), copy = pipeline(kKernels, "copy_to");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer(std::vector<uint32_t>(64, 0));
  const auto counts = buffer<uint32_t>({0, 0, 0, 0}), wanted = buffer<uint32_t>({3, 2, 1});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(copy.get());  // a kernel writes the counts
  encoder->setBuffer(wanted.get(), 0, 0);
  encoder->setBuffer(counts.get(), 4, 1);
  encoder->dispatchThreads(MTL::Size(3, 1, 1), MTL::Size(3, 1, 1));
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(add.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->dispatchThreadgroups(counts.get(), 4, MTL::Size(8, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
  // 3 x 2 groups of 8 x 1 threads: each x below 24 twice.
  const std::vector<uint32_t> read = values<uint32_t>(x.get());
  for (size_t i = 0; i < read.size(); ++i) CHECK(read[i] == (i < 24 ? 2u : 0u));
}

TEST_CASE("a blit encoder copies and fills") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto from = buffer<uint32_t>({1, 2, 3, 4});
  const auto hidden = NS::TransferPtr(device()->newBuffer(16, MTL::ResourceStorageModePrivate));
  CHECK(hidden->contents() == nullptr);
  const auto to = NS::TransferPtr(device()->newBuffer(16, MTL::ResourceStorageModeManaged));
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
  blit->fillBuffer(hidden.get(), NS::Range::Make(0, 16), 0xab);
  blit->copyFromBuffer(from.get(), 4, hidden.get(), 8, 8);
  blit->copyFromBuffer(hidden.get(), 0, to.get(), 0, 16);
  blit->synchronizeResource(to.get());
  blit->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(values<uint32_t>(to.get()) == std::vector<uint32_t>{0xabababab, 0xabababab, 2, 3});
}
