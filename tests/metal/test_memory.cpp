// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, buffers, heaps, residency sets, argument buffers.
#include "program.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

using namespace program;

TEST_CASE("the device says what it is") {
  const Pool pool;
  MTL::Device* const on = device();
  const auto same = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  CHECK(same.get() == on);
  CHECK(text(on->name()).find("Apple M3") == 0);
  CHECK(text(on->architecture()->name()) == "applegpu_g15g");
  CHECK(on->supportsFamily(MTL::GPUFamilyApple7));
  CHECK(on->supportsFamily(MTL::GPUFamilyApple9));
  CHECK_FALSE(on->supportsFamily(MTL::GPUFamilyApple10));
  CHECK(on->supportsFamily(MTL::GPUFamilyMetal3));
  CHECK_FALSE(on->supportsFamily(MTL::GPUFamilyMetal4));
  CHECK(on->supportsFamily(MTL::GPUFamilyCommon3));
  CHECK(on->hasUnifiedMemory());
  CHECK(on->maxThreadgroupMemoryLength() == 32768);
  CHECK(on->maxThreadsPerThreadgroup().width == 1024);
  CHECK(on->recommendedMaxWorkingSetSize() > (uint64_t{64} << 20));
  CHECK(on->maxBufferLength() <= on->recommendedMaxWorkingSetSize());
  MTL::Timestamp cpu = 0, gpu = 0;
  on->sampleTimestamps(&cpu, &gpu);
  CHECK(cpu == gpu);
  CHECK(on->counterSets()->count() == 0);
  CHECK_FALSE(on->supportsCounterSampling(MTL::CounterSamplingPointAtStageBoundary));
}

TEST_CASE("buffers: options, labels, length, address, accounting") {
  const Pool pool;
  const NS::UInteger before = device()->currentAllocatedSize();
  auto made = NS::TransferPtr(device()->newBuffer(1000, MTL::ResourceStorageModeShared));
  CHECK(device()->currentAllocatedSize() == before + 1000);
  CHECK(made->length() == 1000);
  CHECK(made->allocatedSize() == 1000);
  CHECK(made->gpuAddress() == reinterpret_cast<uint64_t>(made->contents()));
  CHECK(made->gpuAddress() % 256 == 0);
  CHECK(made->storageMode() == MTL::StorageModeShared);
  CHECK(made->hazardTrackingMode() == MTL::HazardTrackingModeTracked);
  CHECK(made->heap() == nullptr);
  made->setLabel(text("weights"));
  CHECK(text(made->label()) == "weights");
  made->didModifyRange(NS::Range::Make(0, 1000));
  CHECK(made->setPurgeableState(MTL::PurgeableStateVolatile) == MTL::PurgeableStateNonVolatile);
  CHECK(made->setPurgeableState(MTL::PurgeableStateKeepCurrent) == MTL::PurgeableStateVolatile);
  for (const char c : values<char>(made.get())) CHECK(c == 0);
  made.reset();
  CHECK(device()->currentAllocatedSize() == before);
  const auto untracked = NS::TransferPtr(device()->newBuffer(16, MTL::ResourceHazardTrackingModeUntracked |
                                                                     MTL::ResourceStorageModePrivate |
                                                                     MTL::ResourceCPUCacheModeWriteCombined));
  CHECK(untracked->hazardTrackingMode() == MTL::HazardTrackingModeUntracked);
  CHECK(untracked->storageMode() == MTL::StorageModePrivate);
  CHECK(untracked->cpuCacheMode() == MTL::CPUCacheModeWriteCombined);
}

TEST_CASE("a heap is cut into buffers, and takes them back") {
  const Pool pool;
  const auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setSize(4096);
  CHECK(descriptor->storageMode() == MTL::StorageModePrivate);
  descriptor->setStorageMode(MTL::StorageModeShared);
  const NS::UInteger before = device()->currentAllocatedSize();
  auto heap = NS::TransferPtr(device()->newHeap(descriptor.get()));
  REQUIRE(heap);
  CHECK(device()->currentAllocatedSize() == before + 4096);
  CHECK(heap->hazardTrackingMode() == MTL::HazardTrackingModeUntracked);
  const MTL::SizeAndAlign needs = device()->heapBufferSizeAndAlign(1000, MTL::ResourceStorageModeShared);
  CHECK(needs.size >= 1000);
  auto a = NS::TransferPtr(heap->newBuffer(1000, MTL::ResourceStorageModeShared));
  auto b = NS::TransferPtr(heap->newBuffer(2048, MTL::ResourceStorageModeShared));
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->heap() == heap.get());
  CHECK(b->heapOffset() % needs.align == 0);
  CHECK(heap->usedSize() == 1024 + 2048);
  CHECK(heap->maxAvailableSize(256) == 1024);
  CHECK(heap->newBuffer(2048, MTL::ResourceStorageModeShared) == nullptr);
  std::memset(a->contents(), 1, 1000);
  std::memset(b->contents(), 2, 2048);
  CHECK(values<uint8_t>(a.get()) == std::vector<uint8_t>(1000, 1));
  b.reset();
  CHECK(heap->maxAvailableSize(256) == 3072);
  const auto c = NS::TransferPtr(heap->newBuffer(3072, MTL::ResourceStorageModeShared));
  REQUIRE(c);
  // Aliasing: a's place may be used again while a lives.
  a->makeAliasable();
  CHECK(a->isAliasable());
  const auto d = NS::TransferPtr(heap->newBuffer(512, MTL::ResourceStorageModeShared));
  REQUIRE(d);
  CHECK(d->gpuAddress() == a->gpuAddress());
  // Pieces keep the heap.
  heap.reset();
  CHECK(device()->currentAllocatedSize() == before + 4096);
  CHECK(c->heap()->size() == 4096);
}

TEST_CASE("placement heaps put buffers where they are told") {
  const Pool pool;
  const auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setSize(4096);
  descriptor->setType(MTL::HeapTypePlacement);
  descriptor->setResourceOptions(MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeTracked);
  const auto heap = NS::TransferPtr(device()->newHeap(descriptor.get()));
  const auto a = NS::TransferPtr(heap->newBuffer(1024, MTL::ResourceStorageModeShared, 1024));
  const auto b = NS::TransferPtr(heap->newBuffer(1024, MTL::ResourceStorageModeShared, 1024));
  CHECK(a->gpuAddress() == b->gpuAddress());
  CHECK(a->heapOffset() == 1024);
  // Tracked together: a pass over b waits for one over a, although they are two buffers.
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kKernels, "slow_store").get());
  encoder->setBuffer(a.get(), 0, 0);
  const uint32_t value = 6, steps = 20'000'000;
  encoder->setBytes(&value, 4, 1);
  encoder->setBytes(&steps, 4, 2);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  const auto seen = buffer<uint32_t>({0});
  MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
  blit->copyFromBuffer(b.get(), 0, seen.get(), 0, 4);
  blit->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(values<uint32_t>(seen.get())[0] == 6);
}

TEST_CASE("a residency set keeps its allocations from commit to commit") {
  const Pool pool;
  const auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
  descriptor->setLabel(text("weights"));
  descriptor->setInitialCapacity(4);
  NS::Error* error = nullptr;
  const auto set = NS::TransferPtr(device()->newResidencySet(descriptor.get(), &error));
  REQUIRE(set);
  CHECK(text(set->label()) == "weights");
  auto a = NS::TransferPtr(device()->newBuffer(100, 0));
  const auto b = NS::TransferPtr(device()->newBuffer(28, 0));
  const MTL::Allocation* const both[] = {a.get(), b.get()};
  set->addAllocations(both, 2);
  CHECK(set->allocationCount() == 2);
  CHECK(set->allocatedSize() == 0);
  set->commit();
  set->requestResidency();
  CHECK(set->allocatedSize() == 128);
  CHECK(set->containsAllocation(a.get()));
  const NS::UInteger before = device()->currentAllocatedSize();
  set->removeAllocation(a.get());
  a.reset();
  CHECK(device()->currentAllocatedSize() == before);  // until the removal counts
  set->commit();
  CHECK(device()->currentAllocatedSize() == before - 100);
  CHECK(set->allAllocations()->object<MTL::Buffer>(0) == b.get());
  set->endResidency();
}

TEST_CASE("argument buffers by encoder and by hand") {
  const Pool pool;
  const auto state = pipeline(R"(
    struct Table { device const float* x; constant float* factors; float offset; device float* out; };
    kernel void gather(constant Table* tables [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      constant Table& table = tables[1];
      table.out[i] = table.x[i] * table.factors[0] + table.offset;
    })",
                              "gather");
  const auto argument = [](NS::UInteger index, MTL::DataType type, MTL::BindingAccess access) {
    MTL::ArgumentDescriptor* const made = MTL::ArgumentDescriptor::argumentDescriptor();
    made->setIndex(index);
    made->setDataType(type);
    made->setAccess(access);
    return made;
  };
  const NS::Object* const list[] = {argument(3, MTL::DataTypePointer, MTL::BindingAccessReadWrite),
                                    argument(0, MTL::DataTypePointer, MTL::BindingAccessReadOnly),
                                    argument(2, MTL::DataTypeFloat, MTL::BindingAccessReadOnly),
                                    argument(1, MTL::DataTypePointer, MTL::BindingAccessReadOnly)};
  const auto encoder = NS::TransferPtr(device()->newArgumentEncoder(NS::Array::array(list, 4)));
  REQUIRE(encoder);
  CHECK(encoder->encodedLength() == 32);
  CHECK(encoder->alignment() == 8);
  const auto x = buffer<float>({1, 2, 3}), factors = buffer<float>({0, 10}), out = buffer<float>({0, 0, 0});
  const auto tables = NS::TransferPtr(device()->newBuffer(2 * encoder->encodedLength(), 0));
  encoder->setArgumentBuffer(tables.get(), 0, 1);
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(factors.get(), 4, 1);
  *static_cast<float*>(encoder->constantData(2)) = 0.5f;
  encoder->setBuffer(out.get(), 0, 3);
  // By hand the same.
  struct Table {
    uint64_t x, factors;
    float offset;
    uint64_t out;
  };
  const auto* const written = static_cast<const Table*>(tables->contents()) + 1;
  CHECK(written->x == x->gpuAddress());
  CHECK(written->factors == factors->gpuAddress() + 4);
  CHECK(written->out == out->gpuAddress());
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const compute = commands->computeCommandEncoder();
  compute->setComputePipelineState(state.get());
  compute->setBuffer(tables.get(), 0, 0);
  const MTL::Resource* const used[] = {x.get(), factors.get()};
  compute->useResources(used, 2, MTL::ResourceUsageRead);
  compute->useResource(out.get(), MTL::ResourceUsageWrite);
  compute->dispatchThreads(MTL::Size(3, 1, 1), MTL::Size(3, 1, 1));
  compute->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(values<float>(out.get()) == std::vector<float>{10.5, 20.5, 30.5});
}

namespace {

/// A kernel with structures in its argument buffer, and one whose buffers are plain.
const char* const kTables = R"(
    struct Scale { float factor; float shift[2]; };
    struct Lane { device float* out; Scale scale [[id(2)]]; };
    struct Table {
      uint width;
      Lane lanes[2] [[id(3)]];
      constant float* inputs[2] [[id(20)]];
    };
    kernel void spread(constant Table* tables [[buffer(1)]], uint2 at [[thread_position_in_grid]]) {
      constant Table& table = tables[1];
      constant Lane& lane = table.lanes[at.y];
      if (at.x < table.width)
        lane.out[at.x] = table.inputs[at.y][at.x] * lane.scale.factor + lane.scale.shift[0] - lane.scale.shift[1];
    }
    struct Plain { float a, b; };
    kernel void plain(constant Plain& p [[buffer(0)]], device float* x [[buffer(1)]]) { x[0] = p.a + p.b; })";

/// Sets a Table by its indexes, runs the kernel on it, and looks at what it has computed.
void run_tables(MTL::Function* function, MTL::ArgumentEncoder* encoder) {
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(device()->newComputePipelineState(function, &error));
  REQUIRE_MESSAGE(state, text(error));
  const auto first = buffer<float>({1, 2, 3}), second = buffer<float>({0, 10, 20, 30});
  const auto out = buffer<float>({0, 0, 0}), other = buffer<float>({0, 0, 0});
  const auto tables = NS::TransferPtr(device()->newBuffer(2 * encoder->encodedLength(), 0));
  encoder->setArgumentBuffer(tables.get(), 0, 1);
  *static_cast<uint32_t*>(encoder->constantData(0)) = 3;
  encoder->setBuffer(out.get(), 0, 3);
  const float scales[2][3] = {{2, 5, 1}, {3, 0, 7}};  // constants that follow each other are set at once
  std::memcpy(encoder->constantData(5), scales[0], sizeof(scales[0]));
  encoder->setBuffer(other.get(), 0, 8);
  *static_cast<float*>(encoder->constantData(10)) = scales[1][0];
  *static_cast<float*>(encoder->constantData(11)) = scales[1][1];
  *static_cast<float*>(encoder->constantData(12)) = scales[1][2];
  const MTL::Buffer* const inputs[] = {first.get(), second.get()};
  const NS::UInteger offsets[] = {0, 4};
  encoder->setBuffers(inputs, offsets, NS::Range::Make(20, 2));
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const compute = commands->computeCommandEncoder();
  compute->setComputePipelineState(state.get());
  compute->setBuffer(tables.get(), 0, 1);
  compute->useResource(out.get(), MTL::ResourceUsageWrite);
  compute->useResource(other.get(), MTL::ResourceUsageWrite);
  compute->dispatchThreads(MTL::Size(4, 2, 1), MTL::Size(4, 1, 1));
  compute->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(values<float>(out.get()) == std::vector<float>{6, 8, 10});
  CHECK(values<float>(other.get()) == std::vector<float>{23, 53, 83});
}

}  // namespace

TEST_CASE("argument buffers by a function: structures and arrays inside, numbers, reflection") {
  const Pool pool;
  const auto function = NS::TransferPtr(library(kTables)->newFunction(text("spread")));
  MTL::Argument* about = nullptr;
  const auto encoder = NS::TransferPtr(function->newArgumentEncoder(1, &about));
  REQUIRE(encoder);
  CHECK(encoder->encodedLength() == 72);
  CHECK(encoder->alignment() == 8);
  CHECK(encoder->device() == device());
  REQUIRE(about != nullptr);
  CHECK(text(about->name()) == "tables");
  CHECK(about->index() == 1);
  CHECK(about->bufferDataSize() == 72);
  CHECK(about->access() == MTL::BindingAccessReadOnly);
  run_tables(function.get(), encoder.get());
  const auto again = NS::TransferPtr(function->newArgumentEncoder(1));
  REQUIRE(again);
  // Misuse leaves the buffer alone.
  const auto memory = NS::TransferPtr(device()->newBuffer(72, 0)), data = buffer<float>({1});
  again->setArgumentBuffer(memory.get(), 0);
  for (const NS::UInteger index : {1, 2, 4, 13, 19, 22}) {
    CAPTURE(index);
    again->setBuffer(data.get(), 0, index);
    CHECK(again->constantData(index) == nullptr);
  }
  again->setBuffer(data.get(), 0, 5);
  CHECK(again->constantData(8) == nullptr);
  CHECK(values<uint64_t>(memory.get()) == std::vector<uint64_t>(9));
  CHECK(function->newArgumentEncoder(0) == nullptr);
  CHECK(NS::TransferPtr(library(kTables)->newFunction(text("plain")))->newArgumentEncoder(0) == nullptr);
}

TEST_CASE("a null buffer is a null pointer to the kernel") {
  const Pool pool;
  const auto state = pipeline(R"(
    kernel void maybe(device const float* bias [[buffer(0)]], device float* out [[buffer(1)]]) {
      out[0] = bias ? bias[0] : -1.0f;
    })",
                              "maybe");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto bias = buffer<float>({8}), out = buffer<float>({0, 0});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(bias.get(), 0, 0);
  encoder->setBuffer(out.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->setBuffer(nullptr, 0, 0);
  encoder->setBufferOffset(4, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(values<float>(out.get()) == std::vector<float>{8, -1});
}

namespace {

// In C++ there is no member function without an object; metal-cpp's are messages, and nil answers them.
__attribute__((no_sanitize("undefined"))) void ask(MTL::Buffer* buffer) {
  CHECK(buffer->length() == 0);
  CHECK(buffer->contents() == nullptr);
  CHECK(buffer->gpuAddress() == 0);
  CHECK(buffer->allocatedSize() == 0);
  CHECK(buffer->label() == nullptr);
  CHECK(buffer->heap() == nullptr);
  CHECK(buffer->retain() == nullptr);
  CHECK(buffer->autorelease() == nullptr);
  CHECK(buffer->retainCount() == 0);
  buffer->release();
}

}  // namespace

TEST_CASE("a buffer that is not there answers as nil does") {
  MTL::Buffer* volatile none = nullptr;
  ask(none);
}
