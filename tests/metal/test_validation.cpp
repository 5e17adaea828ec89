// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal's debug layer stops a program for. The tests run with SMELT_METAL_VALIDATION=error, so that each message
// can be looked at; one test sees that a program is stopped by default.
#include "program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>

using namespace program;

namespace {

/// Encodes with a pipeline of saxpy and all its arguments, then `misuse`; what the command buffer says in the end.
std::string trouble(const std::function<void(MTL::ComputeCommandEncoder*)>& misuse) {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<float>({1, 2}), y = buffer<float>({3, 4});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "saxpy").get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(y.get(), 0, 1);
  const float a = 2;
  encoder->setBytes(&a, 4, 2);
  encoder->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
  misuse(encoder);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() == MTL::CommandBufferStatusError) {
    CHECK(text(commands->error()->domain()) == "MTLCommandBufferErrorDomain");
    CHECK(values<float>(y.get()) == std::vector<float>{3, 4});  // nothing of it ran
  }
  return text(commands->error());
}

bool says(const std::string& message, const char* call, const char* what) {
  const bool both = message.find(call) != std::string::npos && message.find(what) != std::string::npos;
  CHECK_MESSAGE(both, message);
  return both;
}

}  // namespace

TEST_CASE("misuse of a compute encoder names call and argument") {
  CHECK(trouble([](MTL::ComputeCommandEncoder*) {}) == "");
  const auto some = buffer<float>({1});
  says(trouble([&](auto* encoder) { encoder->setBuffer(some.get(), 5, 0); }),
       "setBuffer:offset:atIndex:", "offset 5 at index 0 is past the end");
  says(trouble([&](auto* encoder) { encoder->setBuffer(some.get(), 0, 31); }),
       "setBuffer:offset:atIndex:", "index 31 is above 30");
  const std::vector<char> long_bytes(5000);
  says(trouble([&](auto* encoder) { encoder->setBytes(long_bytes.data(), long_bytes.size(), 0); }),
       "setBytes:length:atIndex:", "length 5000 is above 4096");
  says(trouble([&](auto* encoder) { encoder->setThreadgroupMemoryLength(20, 0); }),
       "setThreadgroupMemoryLength:atIndex:", "length 20 at index 0 is not a multiple of 16");
  says(trouble([&](auto* encoder) { encoder->setThreadgroupMemoryLength(65536, 0); }),
       "setThreadgroupMemoryLength:atIndex:", "above the device's 32768");
  says(trouble([&](auto* encoder) { encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(64, 64, 1)); }),
       "dispatchThreads:threadsPerThreadgroup:", "kernel 'saxpy': threadsPerThreadgroup (64, 64, 1) is above");
  says(trouble([&](auto* encoder) { encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(0, 1, 1)); }),
       "dispatchThreadgroups:threadsPerThreadgroup:", "has a 0");
  says(trouble([&](auto* encoder) { encoder->dispatchThreadgroups(some.get(), 0, MTL::Size(1, 1, 1)); }),
       "dispatchThreadgroupsWithIndirectBuffer:", "12 bytes behind it in 4 bytes");
  says(trouble([&](auto* encoder) { encoder->setComputePipelineState(nullptr); }),
       "setComputePipelineState:", "state is null");
  says(trouble([&](auto* encoder) { encoder->popDebugGroup(); }), "popDebugGroup", "no group was pushed");
  says(trouble([&](auto* encoder) { encoder->setComputePipelineState(pipeline(kKernels, "saxpy", device(1)).get()); }),
       "setComputePipelineState:", "another device");
  const auto elsewhere = buffer<float>({1}, 0, device(1));
  says(trouble([&](auto* encoder) { encoder->setBuffer(elsewhere.get(), 0, 0); }),
       "setBuffer:offset:atIndex:", "the buffer at index 0 is of another device");
  const auto fence = NS::TransferPtr(device(1)->newFence());
  says(trouble([&](auto* encoder) { encoder->waitForFence(fence.get()); }), "waitForFence:", "another device");
}

TEST_CASE("a dispatch without what the kernel needs") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto finish = [](MTL::CommandBuffer* commands, MTL::ComputeCommandEncoder* encoder) {
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return text(commands->error());
  };
  MTL::CommandBuffer* commands = queue->commandBuffer();
  says(finish(commands, commands->computeCommandEncoder()),
       "dispatchThreads:threadsPerThreadgroup:", "no pipeline was set");
  commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "saxpy").get());
  const auto x = buffer<float>({1});
  encoder->setBuffer(x.get(), 0, 0);
  says(finish(commands, encoder),
       "dispatchThreads:threadsPerThreadgroup:", "kernel 'saxpy': missing buffer binding at index 1 for 'y'");
}

TEST_CASE("encoders that were not ended, or were ended twice") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* const first = commands->blitCommandEncoder();
  CHECK(commands->computeCommandEncoder() == nullptr);
  first->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  says(text(commands->error()), "computeCommandEncoder", "endEncoding was not called");

  commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
  blit->endEncoding();
  const auto x = buffer<float>({1});
  blit->fillBuffer(x.get(), NS::Range::Make(0, 4), 1);
  commands->commit();
  commands->waitUntilCompleted();
  says(text(commands->error()), "fillBuffer:range:value:", "endEncoding was called already");
  CHECK(values<float>(x.get())[0] == 1.0f);

  commands = queue->commandBuffer();
  commands->blitCommandEncoder();
  commands->commit();  // with the encoder open
  commands->waitUntilCompleted();
  says(text(commands->error()), "commit", "endEncoding was not called");
}

TEST_CASE("misuse of a blit encoder") {
  const auto run = [](const std::function<void(MTL::BlitCommandEncoder*)>& encode) {
    const Pool pool;
    const auto queue = NS::TransferPtr(device()->newCommandQueue());
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
    encode(blit);
    blit->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return text(commands->error());
  };
  const auto x = buffer<float>({1, 2});
  says(run([&](auto* blit) { blit->copyFromBuffer(x.get(), 4, x.get(), 0, 5); }),
       "copyFromBuffer:", "sourceBuffer: offset 4 and 5 bytes go past its 8 bytes");
  says(run([&](auto* blit) { blit->copyFromBuffer(x.get(), 0, x.get(), 2, 4); }), "copyFromBuffer:", "overlap");
  says(run([&](auto* blit) { blit->copyFromBuffer(nullptr, 0, x.get(), 0, 4); }),
       "copyFromBuffer:", "sourceBuffer is null");
  says(run([&](auto* blit) { blit->fillBuffer(x.get(), NS::Range::Make(~NS::UInteger{0}, 2), 0); }),
       "fillBuffer:", "go past its 8 bytes");
}

TEST_CASE("buffers that cannot be") {
  const Pool pool;
  CHECK(device()->newBuffer(0, MTL::ResourceStorageModeShared) == nullptr);
  CHECK(device()->newBuffer(16, MTL::ResourceStorageModeMemoryless) == nullptr);
  CHECK(device()->newBuffer(16, 768) == nullptr);
  CHECK(device()->newBuffer(device()->maxBufferLength() + 1, 0) == nullptr);
  alignas(16) static char memory[64];
  CHECK(device()->newBuffer(memory + 1, 64, 0, nullptr) == nullptr);
  CHECK(device()->newCommandQueue(NS::UInteger{0}) == nullptr);
}

TEST_CASE("a command buffer is committed once") {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  commands->commit();
  commands->commit();
  CHECK(commands->computeCommandEncoder() == nullptr);
  commands->waitUntilCompleted();
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
}

TEST_CASE("by default a misuse stops the program, with one line") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  // Before this process has threads of its own that a child would miss, nothing is used but the buffer's check.
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("SMELT_METAL_VALIDATION");
    ::dup2(ends[1], 2);
    std::signal(SIGABRT, SIG_DFL);
    device()->newBuffer(0, MTL::ResourceStorageModeShared);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char chunk[512];
  for (ssize_t count = 0; (count = ::read(ends[0], chunk, sizeof(chunk))) > 0;) said.append(chunk, size_t(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(said == "smelt: Metal validation: -[MTLDevice newBufferWithLength:options:]: length is 0\n");
}

TEST_CASE("with validation off, what a GPU takes without harm is taken") {
  const Pool pool;
  std::vector<uint32_t> memory(100, 6);
  const auto wrap = [&](void* at) {
    return NS::TransferPtr(device()->newBuffer(at, 50 * sizeof(uint32_t), MTL::ResourceStorageModeShared, nullptr));
  };
  CHECK_FALSE(wrap(&memory[1]));
  ::setenv("SMELT_METAL_VALIDATION", "off", 1);
  const auto wrapped = wrap(&memory[1]);
  CHECK_FALSE(wrap(nullptr));
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "add_one").get());
  encoder->setBuffer(wrapped.get(), 0, 0);
  encoder->setThreadgroupMemoryLength(17, 0);
  encoder->dispatchThreads(MTL::Size(50, 1, 1), MTL::Size(50, 1, 1));
  // A list of numbers that has none, and one of them asked for.
  const auto copy = buffer<uint32_t>({5});
  encoder->setComputePipelineState(pipeline(kKernels, "copy_to").get());
  encoder->setBytes(nullptr, 0, 0);
  encoder->setBuffer(copy.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  ::setenv("SMELT_METAL_VALIDATION", "error", 1);
  CHECK(values<uint32_t>(copy.get())[0] == 0);
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(memory[0] == 6);
  CHECK(memory[1] == 7);
  CHECK(memory[50] == 7);
  CHECK(memory[51] == 6);
}

TEST_CASE("threadgroup memory behind what was asked for is the threadgroup's") {
  // ggml's attention writes there for some sizes of heads, and Macs take it. 32 KB from the argument's end on.
  const Pool pool;
  const char* const source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void behind(device uint* sums [[buffer(0)]], constant uint& end [[buffer(1)]],\n"
      "                   threadgroup uint* own [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
      "  for (uint k = 0; k < 8192; k += 64) own[end + k + i] = k + i;\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  uint sum = 0;\n"
      "  for (uint k = 0; k < 8192; k += 64) sum += own[end + k + (i + 1) % 64];\n"
      "  sums[i] += sum;\n"
      "}\n";
  const auto sums = buffer(std::vector<uint32_t>(64));
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(source, "behind").get());
  encoder->setBuffer(sums.get(), 0, 0);
  // Each wants more memory than the one before: an allocator whose own numbers were written over would notice.
  for (uint32_t bytes = 1024; bytes <= 32768; bytes += 1024) {
    const uint32_t end = bytes / 4;
    encoder->setBytes(&end, sizeof(end), 1);
    encoder->setThreadgroupMemoryLength(bytes, 0);
    encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(64, 1, 1));
  }
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(values<uint32_t>(sums.get())[i] == 32 * (64 * (127 * 128 / 2) + 128 * ((i + 1) % 64)));
}

TEST_CASE("a buffer is as long as what the kernel declares there") {
  const Pool pool;
  const char* const source =
      "struct Params { float a; float b; };\n"
      "kernel void k(constant Params& p [[buffer(0)]], device float* out [[buffer(1)]], device const float4* v "
      "[[buffer(2)]]) { out[0] = p.a + p.b + (v ? v[0].w : 0); }";
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto parameters = buffer<float>({1, 2, 3}), out = buffer<float>({0}), vector = buffer<float>({0, 0, 0, 4});
  const auto run = [&](const std::function<void(MTL::ComputeCommandEncoder*)>& bind) {
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline(source, "k").get());
    encoder->setBuffer(parameters.get(), 0, 0);
    encoder->setBuffer(out.get(), 0, 1);
    encoder->setBuffer(vector.get(), 0, 2);
    bind(encoder);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return text(commands->error());
  };
  CHECK(run([](auto*) {}) == "");
  CHECK(values<float>(out.get()) == std::vector<float>{7});
  const float one = 1;
  const char* const call = "dispatchThreads:threadsPerThreadgroup:";
  const char* const four = "kernel 'k': buffer 0 'p' has 4 bytes, and the kernel reads Params of 8 bytes";
  says(run([&](auto* encoder) { encoder->setBytes(&one, 4, 0); }), call, four);
  says(run([&](auto* encoder) { encoder->setBuffer(out.get(), 0, 0); }), call, four);
  says(run([&](auto* encoder) { encoder->setBuffer(parameters.get(), 8, 0); }), call, four);
  says(run([&](auto* encoder) { encoder->setBufferOffset(8, 0); }), call, four);
  says(run([&](auto* encoder) { encoder->setBuffer(out.get(), 0, 2); }), call, "buffer 2 'v' has 4 bytes");
  CHECK(run([&](auto* encoder) { encoder->setBuffer(parameters.get(), 4, 0); }) == "");  // as much as there is to read
  CHECK(values<float>(out.get()) == std::vector<float>{9});
  CHECK(run([&](auto* encoder) { encoder->setBuffer(nullptr, 0, 2); }) == "");  // nothing, and nothing is read
}

TEST_CASE("captures and counters say that there are none") {
  const Pool pool;
  NS::Error* error = nullptr;
  const auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(device());
  descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
  descriptor->setOutputURL(NS::URL::fileURLWithPath(text("/tmp/x.gputrace")));
  MTL::CaptureManager* const manager = MTL::CaptureManager::sharedCaptureManager();
  CHECK_FALSE(manager->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  CHECK_FALSE(manager->startCapture(descriptor.get(), &error));
  CHECK(error->code() == MTL::CaptureErrorNotSupported);
  CHECK(text(error).find("SMELT_TRACE") != std::string::npos);
  const auto counters = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  CHECK(device()->newCounterSampleBuffer(counters.get(), &error) == nullptr);
  CHECK(text(error).find("no counters") != std::string::npos);
}

// Of its own ctest test, metal_checked: the variable is read when the device is opened.
TEST_CASE("checked code: a kernel that reaches outside is a page fault that names the place" *
          doctest::skip(std::getenv("SMELT_METAL_CHECKED") == nullptr)) {
  const Pool pool;
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto x = buffer<uint32_t>({1, 2, 3, 4}), y = buffer<uint32_t>({5});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "copy_to").get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(y.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  encoder->setComputePipelineState(pipeline(kKernels, "add_one").get());
  encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE(commands->status() == MTL::CommandBufferStatusError);
  CHECK(commands->error()->code() == MTL::CommandBufferErrorPageFault);
  says(text(commands->error()), "kernel 'copy_to'", "buffer 1 'to', which has 4 bytes");
  CHECK(values<uint32_t>(x.get()) == std::vector<uint32_t>{1, 2, 3, 4});  // what followed did not run
  // The queue goes on.
  MTL::CommandBuffer* const next = queue->commandBuffer();
  MTL::BlitCommandEncoder* const blit = next->blitCommandEncoder();
  blit->fillBuffer(y.get(), NS::Range::Make(0, 4), 0);
  blit->endEncoding();
  next->commit();
  next->waitUntilCompleted();
  CHECK(next->status() == MTL::CommandBufferStatusCompleted);
}
