// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who owns what while commands run: objects released early, handlers that start new work, many command buffers in
// flight, two devices.
#include "program.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace program;

namespace {

constexpr uint32_t kSteps = 4'000'000;

void encode_add(MTL::CommandBuffer* commands, MTL::Buffer* to, MTL::ComputePipelineState* state, uint32_t threads = 1) {
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state);
  encoder->setBuffer(to, 0, 0);
  encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
}

}  // namespace

TEST_CASE("everything may be released once it is committed") {
  const auto result = buffer<uint32_t>({0});
  NS::SharedPtr<MTL::CommandBuffer> commands;
  const NS::UInteger before = device()->currentAllocatedSize();
  {
    const Pool pool;
    // Nothing of this is kept by the test but the command buffer.
    const auto library = NS::TransferPtr(device()->newLibrary(text(kKernels), nullptr, nullptr));
    const auto slow = NS::TransferPtr(library->newFunction(text("slow_store")));
    const auto state = NS::TransferPtr(device()->newComputePipelineState(slow.get(), nullptr));
    const auto copy = NS::TransferPtr(library->newFunction(text("copy_to")));
    const auto copies = NS::TransferPtr(device()->newComputePipelineState(copy.get(), nullptr));
    const auto queue = NS::TransferPtr(device()->newCommandQueue());
    const auto between = NS::TransferPtr(device()->newBuffer(4096, MTL::ResourceStorageModeShared));
    commands = NS::RetainPtr(queue->commandBuffer());
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(between.get(), 0, 0);
    const uint32_t value = 77;
    encoder->setBytes(&value, 4, 1);
    encoder->setBytes(&kSteps, 4, 2);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->setComputePipelineState(copies.get());
    encoder->setBuffer(result.get(), 0, 1);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->commit();
  }
  commands->waitUntilCompleted();
  CHECK(values<uint32_t>(result.get())[0] == 77);
  CHECK(device()->currentAllocatedSize() == before);  // the buffer between went with the commands
}

TEST_CASE("a command buffer that nobody keeps runs all the same") {
  const auto x = buffer<uint32_t>({0});
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  {
    const Pool pool;
    const auto queue = NS::TransferPtr(device()->newCommandQueue());
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    encode_add(commands, x.get(), pipeline(kKernels, "add_one").get());
    commands->encodeSignalEvent(event.get(), 1);
    commands->commit();
  }
  CHECK(event->waitUntilSignaledValue(1, 20000));
  CHECK(values<uint32_t>(x.get())[0] == 1);
}

TEST_CASE("the deallocator of no-copy memory is called once, when its commands have completed") {
  const Pool pool;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  std::atomic<int> calls{0};
  const auto event = NS::TransferPtr(device()->newSharedEvent());
  auto wrapped = NS::TransferPtr(
      device()->newBuffer(memory, page, MTL::ResourceStorageModeShared, [&](void* pointer, NS::UInteger length) {
        CHECK(pointer == memory);
        CHECK(length == page);
        ++calls;
      }));
  REQUIRE(wrapped);
  CHECK(wrapped->contents() == memory);
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto commands = NS::RetainPtr(queue->commandBuffer());
  commands->encodeWait(event.get(), 1);
  encode_add(commands.get(), wrapped.get(), pipeline(kKernels, "add_one").get());
  commands->commit();
  wrapped.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(calls == 0);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
  CHECK(calls == 1);
  CHECK(*static_cast<uint32_t*>(memory) == 1);
  ::munmap(memory, page);
}

TEST_CASE("a thousand command buffers in flight, of tracked and untracked buffers") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one");
  const auto queue = NS::TransferPtr(device()->newCommandQueue(1000));
  const auto start = NS::TransferPtr(device()->newSharedEvent());
  const auto x = buffer<uint32_t>(std::vector<uint32_t>(64, 0));
  std::vector<NS::SharedPtr<MTL::Buffer>> own;
  MTL::CommandBuffer* const first = queue->commandBuffer();
  first->encodeWait(start.get(), 1);  // nothing runs before all are there
  first->commit();
  std::atomic<int> completed{0};
  int out_of_order = 0;  // guarded by the one thread of the handlers
  NS::SharedPtr<MTL::CommandBuffer> last;
  for (int i = 0; i < 1000; ++i) {
    const Pool inner;
    own.push_back(buffer<uint32_t>({uint32_t(i)}, MTL::ResourceHazardTrackingModeUntracked));
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    encode_add(commands, x.get(), add.get(), 64);
    encode_add(commands, own.back().get(), add.get());
    commands->addCompletedHandler([&, i](MTL::CommandBuffer*) { out_of_order += completed++ != i; });
    commands->commit();
    last = NS::RetainPtr(commands);
  }
  CHECK(completed == 0);
  CHECK(values<uint32_t>(x.get())[0] == 0);
  start->setSignaledValue(1);
  last->waitUntilCompleted();
  CHECK(completed == 1000);
  CHECK(out_of_order == 0);
  CHECK(values<uint32_t>(x.get()) == std::vector<uint32_t>(64, 1000));
  for (uint32_t i = 0; i < 1000; ++i) CHECK(values<uint32_t>(own[i].get())[0] == i + 1);
}

TEST_CASE("handlers start new work") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>({0});
  std::mutex mutex;
  std::condition_variable done;
  int rounds = 0;
  std::function<void(MTL::CommandBuffer*)> again = [&](MTL::CommandBuffer* finished) {
    CHECK(finished->status() == MTL::CommandBufferStatusCompleted);
    const std::lock_guard guard(mutex);
    if (++rounds == 50) {
      done.notify_one();
      return;
    }
    MTL::CommandBuffer* const next = queue->commandBuffer();
    encode_add(next, x.get(), add.get());
    next->addCompletedHandler(again);
    next->commit();
  };
  MTL::CommandBuffer* const first = queue->commandBuffer();
  bool scheduled = false;
  first->addScheduledHandler([&](MTL::CommandBuffer* commands) {
    CHECK(commands->status() >= MTL::CommandBufferStatusScheduled);
    scheduled = true;
  });
  encode_add(first, x.get(), add.get());
  first->addCompletedHandler(again);
  first->commit();
  first->waitUntilScheduled();
  CHECK(scheduled);
  std::unique_lock held(mutex);
  CHECK(done.wait_for(held, std::chrono::seconds(30), [&] { return rounds == 50; }));
  CHECK(values<uint32_t>(x.get())[0] == 50);
}

TEST_CASE("a handler may wait for another command buffer of its queue") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>({0});
  uint32_t seen = 0;
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  encode_add(commands, x.get(), add.get());
  commands->addCompletedHandler([&](MTL::CommandBuffer*) {
    MTL::CommandBuffer* const inner = queue->commandBuffer();
    encode_add(inner, x.get(), add.get());
    inner->addCompletedHandler([](MTL::CommandBuffer*) {});
    inner->commit();
    inner->waitUntilCompleted();
    seen = values<uint32_t>(x.get())[0];
  });
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(seen == 2);
}

TEST_CASE("queues, threads and devices are independent") {
  const Pool pool;
  MTL::Device *const one = device(0), *const two = device(1);
  CHECK(one != two);
  CHECK(one->registryID() != two->registryID());
  // A queue of each device is held up; another queue of the same device and the other device go on.
  const auto held_up = NS::TransferPtr(one->newCommandQueue());
  const auto event = NS::TransferPtr(one->newSharedEvent());
  MTL::CommandBuffer* const stuck = held_up->commandBuffer();
  stuck->encodeWait(event.get(), 1);
  stuck->commit();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, on = t % 2 == 0 ? one : two] {
      const Pool inner;
      const auto add = pipeline(kKernels, "add_one", on);
      const auto queue = NS::TransferPtr(on->newCommandQueue());
      const auto x = buffer<uint32_t>(std::vector<uint32_t>(128, 0), 0, on);
      for (int i = 0; i < 50; ++i) {
        MTL::CommandBuffer* const commands = queue->commandBuffer();
        encode_add(commands, x.get(), add.get(), 128);
        commands->commit();
        if (i % 7 == 0) commands->waitUntilCompleted();
        if (i == 49) commands->waitUntilCompleted();
      }
      right += values<uint32_t>(x.get()) == std::vector<uint32_t>(128, 50);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 6);
  CHECK(stuck->status() == MTL::CommandBufferStatusScheduled);
  event->setSignaledValue(1);
  stuck->waitUntilCompleted();
  CHECK(stuck->status() == MTL::CommandBufferStatusCompleted);
}

TEST_CASE("threads share a queue") {
  const Pool pool;
  const auto add = pipeline(kKernels, "add_one");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>({0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const Pool inner;
        MTL::CommandBuffer* const commands = queue->commandBuffer();
        encode_add(commands, x.get(), add.get());
        commands->commit();
        if (i % 10 == 9) commands->waitUntilCompleted();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(values<uint32_t>(x.get())[0] == 400);
}
