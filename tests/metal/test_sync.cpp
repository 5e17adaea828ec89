// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events between queues, shared events between queues, threads and devices.
#include "program.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <thread>

using namespace program;

namespace {

void encode_add(MTL::CommandBuffer* commands, MTL::Buffer* to, const char* kernel = "add_one") {
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, kernel).get());
  encoder->setBuffer(to, 0, 0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
}

}  // namespace

TEST_CASE("an event orders two queues") {
  const Pool pool;
  const auto one = NS::TransferPtr(device()->newCommandQueue()), two = NS::TransferPtr(device()->newCommandQueue());
  const auto event = NS::TransferPtr(device()->newEvent());
  CHECK(event->device() == device());
  const auto x = buffer<uint32_t>({5});
  // The waiting one is committed first: its work, and what is encoded behind it, is held back.
  MTL::CommandBuffer* const later = two->commandBuffer();
  later->encodeWait(event.get(), 3);
  encode_add(later, x.get(), "double_it");
  later->commit();
  MTL::CommandBuffer* const after = two->commandBuffer();
  encode_add(after, x.get(), "double_it");
  after->commit();
  MTL::CommandBuffer* const first = one->commandBuffer();
  encode_add(first, x.get());
  first->encodeSignalEvent(event.get(), 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(values<uint32_t>(x.get())[0] == 5);
  first->commit();
  after->waitUntilCompleted();
  CHECK(values<uint32_t>(x.get())[0] == 24);
}

TEST_CASE("a shared event between commands and threads, both ways") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  const auto x = buffer<uint32_t>({1});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  encode_add(commands, x.get());  // 2
  commands->encodeSignalEvent(event.get(), 1);
  commands->encodeWait(event.get(), 2);
  encode_add(commands, x.get(), "double_it");
  commands->encodeSignalEvent(event.get(), 3);
  commands->commit();
  REQUIRE(event->waitUntilSignaledValue(1, 20000));
  CHECK(event->signaledValue() == 1);
  CHECK(values<uint32_t>(x.get())[0] == 2);
  CHECK_FALSE(event->waitUntilSignaledValue(3, 10));
  static_cast<uint32_t*>(x->contents())[0] = 50;  // the commands wait: the memory is the program's
  event->setSignaledValue(2);
  REQUIRE(event->waitUntilSignaledValue(3, 20000));
  CHECK(values<uint32_t>(x.get())[0] == 100);
}

TEST_CASE("a signal waits for everything before it in its queue") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  const auto slow = buffer<uint32_t>({0}, MTL::ResourceHazardTrackingModeUntracked);
  MTL::CommandBuffer* const first = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = first->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "slow_store").get());
  encoder->setBuffer(slow.get(), 0, 0);
  const uint32_t value = 9, steps = 30'000'000;
  encoder->setBytes(&value, 4, 1);
  encoder->setBytes(&steps, 4, 2);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  first->commit();
  MTL::CommandBuffer* const second = queue->commandBuffer();
  second->encodeSignalEvent(event.get(), 1);
  second->commit();
  CHECK(event->waitUntilSignaledValue(1, 20000));
  CHECK(values<uint32_t>(slow.get())[0] == 9);
}

TEST_CASE("listeners are called at their values, once") {
  const Pool pool;
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  const auto listener = NS::TransferPtr(MTL::SharedEventListener::alloc()->init());
  std::promise<uint64_t> low, high;
  std::atomic<int> calls{0};
  event->notifyListener(listener.get(), 5, [&](MTL::SharedEvent* which, uint64_t value) {
    CHECK(which == event.get());
    ++calls;
    low.set_value(value);
  });
  event->notifyListener(listener.get(), 9, [&](MTL::SharedEvent*, uint64_t value) {
    ++calls;
    high.set_value(value);
  });
  event->setSignaledValue(4);
  CHECK(calls == 0);
  event->setSignaledValue(7);
  CHECK(low.get_future().get() == 5);
  CHECK(calls == 1);
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  commands->encodeSignalEvent(event.get(), 10);
  commands->commit();
  CHECK(high.get_future().get() == 9);
  event->setSignaledValue(3);  // never back
  CHECK(event->signaledValue() == 10);
}

TEST_CASE("a handle makes the same event, on another device too") {
  const Pool pool;
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  event->setLabel(text("across"));
  const auto handle = NS::TransferPtr(event->newSharedEventHandle());
  CHECK(text(handle->label()) == "across");
  const auto other = NS::TransferPtr(device(1)->newSharedEvent(handle.get()));
  const auto x = buffer<uint32_t>({1}), y = buffer<uint32_t>({1}, 0, device(1));
  const auto one = NS::TransferPtr(device()->newCommandQueue()), two = NS::TransferPtr(device(1)->newCommandQueue());
  MTL::CommandBuffer* const waits = two->commandBuffer();
  waits->encodeWait(other.get(), 1);
  MTL::BlitCommandEncoder* const blit = waits->blitCommandEncoder();
  blit->fillBuffer(y.get(), NS::Range::Make(0, 4), 7);
  blit->endEncoding();
  waits->commit();
  CHECK(values<uint32_t>(y.get())[0] == 1);
  MTL::CommandBuffer* const signals = one->commandBuffer();
  encode_add(signals, x.get());
  signals->encodeSignalEvent(event.get(), 1);
  signals->commit();
  waits->waitUntilCompleted();
  CHECK(values<uint32_t>(y.get())[0] == 0x07070707);
}
