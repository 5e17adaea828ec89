// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that are right only when order is kept: by tracked hazards, by barriers, by fences. Each is run without what
// orders it too, and must then be wrong: the slow kernel's value arrives after it was read. So these tests can fail,
// and what nothing orders really runs at the same time.
#include "program.hpp"

#include <doctest/doctest.h>

using namespace program;

namespace {

constexpr uint32_t kSteps = 40'000'000;  // of the slow kernel: some tens of milliseconds
constexpr uint32_t kValue = 4711;

void encode_slow(MTL::ComputeCommandEncoder* encoder, MTL::Buffer* to, uint32_t value = kValue) {
  encoder->setComputePipelineState(pipeline(kKernels, "slow_store").get());
  encoder->setBuffer(to, 0, 0);
  encoder->setBytes(&value, sizeof(value), 1);
  encoder->setBytes(&kSteps, sizeof(kSteps), 2);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
}
void encode_copy(MTL::ComputeCommandEncoder* encoder, MTL::Buffer* from, MTL::Buffer* to) {
  encoder->setComputePipelineState(pipeline(kKernels, "copy_to").get());
  encoder->setBuffer(from, 0, 0);
  encoder->setBuffer(to, 0, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
}

struct Two {
  Pool pool;
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  NS::SharedPtr<MTL::Buffer> slow, seen;
  explicit Two(MTL::ResourceOptions options)
      : slow(buffer<uint32_t>({0}, options)), seen(buffer<uint32_t>({1}, options)) {
    pipeline(kKernels, "slow_store");
    pipeline(kKernels, "copy_to");
  }
  uint32_t finish(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
    return values<uint32_t>(seen.get())[0];
  }
};

uint32_t two_passes(MTL::ResourceOptions options) {
  Two two(options);
  MTL::CommandBuffer* const commands = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encode_slow(encoder, two.slow.get());
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder();
  encode_copy(encoder, two.slow.get(), two.seen.get());
  encoder->endEncoding();
  return two.finish(commands);
}

uint32_t two_command_buffers(MTL::ResourceOptions options) {
  Two two(options);
  MTL::CommandBuffer* const first = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = first->computeCommandEncoder();
  encode_slow(encoder, two.slow.get());
  encoder->endEncoding();
  first->commit();
  MTL::CommandBuffer* const second = two.queue->commandBuffer();
  encoder = second->computeCommandEncoder();
  encode_copy(encoder, two.slow.get(), two.seen.get());
  encoder->endEncoding();
  return two.finish(second);
}

uint32_t concurrent_pass(bool with_barrier) {
  Two two(MTL::ResourceStorageModeShared);
  MTL::CommandBuffer* const commands = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  CHECK(encoder->dispatchType() == MTL::DispatchTypeConcurrent);
  encode_slow(encoder, two.slow.get());
  if (with_barrier) encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  encode_copy(encoder, two.slow.get(), two.seen.get());
  encoder->endEncoding();
  return two.finish(commands);
}

uint32_t fenced_passes(bool with_fence, MTL::DispatchType type) {
  Two two(MTL::ResourceHazardTrackingModeUntracked);
  const auto fence = NS::TransferPtr(device()->newFence());
  MTL::CommandBuffer* const commands = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(type);
  encode_slow(encoder, two.slow.get());
  if (with_fence) encoder->updateFence(fence.get());
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder(type);
  if (with_fence) encoder->waitForFence(fence.get());
  encode_copy(encoder, two.slow.get(), two.seen.get());
  encoder->endEncoding();
  return two.finish(commands);
}

uint32_t blit_after_compute(MTL::ResourceOptions options) {
  Two two(options);
  MTL::CommandBuffer* const commands = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encode_slow(encoder, two.slow.get());
  encoder->endEncoding();
  MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
  blit->copyFromBuffer(two.slow.get(), 0, two.seen.get(), 0, 4);
  blit->endEncoding();
  return two.finish(commands);
}

/// The slow kernel is given the other buffer's address in memory.
uint32_t through_address(bool told) {
  const Pool pool;
  const auto write_through = pipeline(R"(
    struct Table { device uint* target; };
    kernel void write_through(constant Table& table [[buffer(0)]], constant uint& steps [[buffer(1)]]) {
      uint state = steps;
      for (uint k = 0; k < steps; ++k) state = state * 1664525u + 1013904223u + (state >> 7);
      *table.target = state == 0xffffffffu ? 0 : 4711;
    })",
                                      "write_through");
  Two two(MTL::ResourceStorageModeShared);
  const uint64_t address = two.slow->gpuAddress();
  const auto table = buffer<uint64_t>({address});
  MTL::CommandBuffer* const commands = two.queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(write_through.get());
  encoder->setBuffer(table.get(), 0, 0);
  encoder->setBytes(&kSteps, sizeof(kSteps), 1);
  if (told) encoder->useResource(two.slow.get(), MTL::ResourceUsageWrite);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder();
  encode_copy(encoder, two.slow.get(), two.seen.get());
  encoder->endEncoding();
  return two.finish(commands);
}

}  // namespace

TEST_CASE("passes of a command buffer: tracked buffers order them, others do not") {
  CHECK(two_passes(MTL::ResourceStorageModeShared) == kValue);
  CHECK(two_passes(MTL::ResourceHazardTrackingModeTracked) == kValue);
  CHECK(two_passes(MTL::ResourceHazardTrackingModeUntracked) == 0);
}

TEST_CASE("passes of two command buffers: the same") {
  CHECK(two_command_buffers(MTL::ResourceStorageModeShared) == kValue);
  CHECK(two_command_buffers(MTL::ResourceHazardTrackingModeUntracked) == 0);
}

TEST_CASE("a concurrent encoder orders its dispatches by barriers alone") {
  CHECK(concurrent_pass(true) == kValue);
  CHECK(concurrent_pass(false) == 0);
}

TEST_CASE("fences order passes that touch what is not tracked") {
  CHECK(fenced_passes(true, MTL::DispatchTypeSerial) == kValue);
  CHECK(fenced_passes(true, MTL::DispatchTypeConcurrent) == kValue);
  CHECK(fenced_passes(false, MTL::DispatchTypeSerial) == 0);
}

TEST_CASE("a blit waits for the kernel that writes its source") {
  CHECK(blit_after_compute(MTL::ResourceStorageModeShared) == kValue);
  CHECK(blit_after_compute(MTL::ResourceHazardTrackingModeUntracked) == 0);
}

TEST_CASE("what a kernel reaches through an address counts when useResource says so") {
  CHECK(through_address(true) == kValue);
  CHECK(through_address(false) == 0);
}

TEST_CASE("a serial encoder's dispatches follow each other, tracked or not") {
  for (const MTL::ResourceOptions options :
       {MTL::ResourceStorageModeShared, MTL::ResourceHazardTrackingModeUntracked}) {
    Two two(options);
    MTL::CommandBuffer* const commands = two.queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encode_slow(encoder, two.slow.get());
    encode_copy(encoder, two.slow.get(), two.seen.get());
    encoder->endEncoding();
    CHECK(two.finish(commands) == kValue);
  }
}

TEST_CASE("a writer waits for earlier readers, of whichever pass") {
  // Slow copies out of x into a, b; then x is overwritten. The copies must have seen the old value.
  const Pool pool;
  const auto slow_copy = pipeline(R"(
    kernel void slow_copy(device const uint* from [[buffer(0)]], device uint* to [[buffer(1)]],
                          constant uint& steps [[buffer(2)]]) {
      uint state = steps;
      for (uint k = 0; k < steps; ++k) state = state * 1664525u + 1013904223u + (state >> 7);
      *to = state == 0xffffffffu ? 0 : *from;
    })",
                                  "slow_copy");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto run = [&](MTL::ResourceOptions options) {
    const auto x = buffer<uint32_t>({5}, options), a = buffer<uint32_t>({0}, options),
               b = buffer<uint32_t>({0}, options);
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    for (MTL::Buffer* const to : {a.get(), b.get()}) {
      MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(slow_copy.get());
      encoder->setBuffer(x.get(), 0, 0);
      encoder->setBuffer(to, 0, 1);
      encoder->setBytes(&kSteps, sizeof(kSteps), 2);
      encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
      encoder->endEncoding();
    }
    MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
    blit->fillBuffer(x.get(), NS::Range::Make(0, 4), 0);
    blit->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return std::vector<uint32_t>{values<uint32_t>(a.get())[0], values<uint32_t>(b.get())[0]};
  };
  CHECK(run(MTL::ResourceStorageModeShared) == std::vector<uint32_t>{5, 5});
}

TEST_CASE("a long chain of passes over one buffer is in order, with serial and concurrent encoders between") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one"), twice = pipeline(kKernels, "double_it");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>(std::vector<uint32_t>(300, 1));
  uint32_t wanted = 1;
  MTL::CommandBuffer* last = nullptr;
  for (int step = 0; step < 60; ++step) {
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    for (int pass = 0; pass < 3; ++pass) {
      MTL::ComputeCommandEncoder* const encoder =
          commands->computeCommandEncoder(pass % 2 == 0 ? MTL::DispatchTypeSerial : MTL::DispatchTypeConcurrent);
      const bool adds = (step + pass) % 3 != 0;
      encoder->setComputePipelineState(adds ? add.get() : twice.get());
      encoder->setBuffer(x.get(), 0, 0);
      encoder->dispatchThreads(MTL::Size(300, 1, 1), MTL::Size(64, 1, 1));
      encoder->endEncoding();
      wanted = adds ? wanted + 1 : wanted * 2;
    }
    commands->commit();
    last = commands;
  }
  last->waitUntilCompleted();
  CHECK(values<uint32_t>(x.get()) == std::vector<uint32_t>(300, wanted));
}

TEST_CASE("enqueue() settles the order, whoever commits first") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one"), twice = pipeline(kKernels, "double_it");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>({3});
  const auto encode = [&](MTL::CommandBuffer* commands, MTL::ComputePipelineState* state) {
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state);
    encoder->setBuffer(x.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
  };
  MTL::CommandBuffer *const first = queue->commandBuffer(), *const second = queue->commandBuffer();
  first->enqueue();
  second->enqueue();
  CHECK(first->status() == MTL::CommandBufferStatusEnqueued);
  encode(second, twice.get());
  second->commit();
  CHECK(second->status() == MTL::CommandBufferStatusCommitted);
  encode(first, add.get());
  first->commit();
  second->waitUntilCompleted();
  CHECK(first->status() == MTL::CommandBufferStatusCompleted);
  CHECK(values<uint32_t>(x.get())[0] == 8);
}
