// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of an array library's Metal back end, as such programs are written against metal-cpp: an allocator that
// keeps buffers for reuse, one concurrent encoder for many kernels with barriers by what they read and write, a fence
// at the end of each encoder for buffers that are not tracked, kernels specialised by constants under names of their
// own, command buffers that keep nothing, and completion handlers that give buffers back.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "program.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

namespace {

constexpr auto kOptions = MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked;

/// Buffers by size; small ones out of a heap.
class Allocator {
 public:
  explicit Allocator(MTL::Device* device) : device_(device) {
    auto* descriptor = MTL::HeapDescriptor::alloc()->init();
    descriptor->setResourceOptions(kOptions);
    descriptor->setSize(1 << 16);
    heap_ = device_->newHeap(descriptor);
    descriptor->release();
    auto* set = MTL::ResidencySetDescriptor::alloc()->init();
    NS::Error* error = nullptr;
    residency_ = device_->newResidencySet(set, &error);
    set->release();
    residency_->addAllocation(heap_);
    residency_->commit();
  }
  ~Allocator() {
    for (auto& [size, buffer] : free_) buffer->release();
    residency_->release();
    heap_->release();
  }
  MTL::Buffer* malloc(size_t size) {
    const std::lock_guard guard(mutex_);
    if (const auto found = free_.lower_bound(size); found != free_.end() && found->first < 2 * size) {
      MTL::Buffer* const buffer = found->second;
      free_.erase(found);
      ++reused;
      return buffer;
    }
    MTL::Buffer* buffer = size <= 256 ? heap_->newBuffer(size, kOptions) : nullptr;
    if (buffer == nullptr) buffer = device_->newBuffer(size, kOptions);
    residency_->addAllocation(buffer);
    return buffer;
  }
  void free(MTL::Buffer* buffer) {
    const std::lock_guard guard(mutex_);
    free_.emplace(buffer->length(), buffer);
  }
  int reused = 0;

 private:
  MTL::Device* device_;
  MTL::Heap* heap_;
  MTL::ResidencySet* residency_;
  std::mutex mutex_;
  std::multimap<size_t, MTL::Buffer*> free_;
};

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
constant bool negate [[function_constant(20)]];
constant int added [[function_constant(21)]];
kernel void unary(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = (negate ? -in[i] : in[i]) + added;
}
template <typename T> [[kernel]] void binary_add(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                                                 device T* out [[buffer(2)]], constant int& n [[buffer(3)]],
                                                 uint i [[thread_position_in_grid]]) {
  if (int(i) < n) out[i] = a[i] + b[i];
}
template [[host_name("add_float")]] [[kernel]] void binary_add<float>(device const float*, device const float*, device float*,
                                                                      constant int&, uint);
)";

/// One command buffer after the other, each with one concurrent encoder.
class Stream {
 public:
  Stream(MTL::Device* device, Allocator& allocator) : device_(device), allocator_(allocator) {
    queue_ = NS::TransferPtr(device->newCommandQueue());
    fence_ = NS::TransferPtr(device->newFence());
    NS::Error* error = nullptr;
    library_ = NS::TransferPtr(device->newLibrary(program::text(kSource), nullptr, &error));
    REQUIRE_MESSAGE(library_, program::text(error));
  }

  MTL::ComputePipelineState* kernel(const std::string& base, bool negate, int added) {
    const std::string name = base + (negate ? "_neg_" : "_") + std::to_string(added);
    if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second.get();
    auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    values->setConstantValue(&negate, MTL::DataTypeBool, 20);
    values->setConstantValue(&added, MTL::DataTypeInt, 21);
    auto descriptor = MTL::FunctionDescriptor::functionDescriptor();
    descriptor->setName(program::text(base));
    descriptor->setSpecializedName(program::text(name));
    descriptor->setConstantValues(values.get());
    NS::Error* error = nullptr;
    auto function = NS::TransferPtr(library_->newFunction(descriptor, &error));
    REQUIRE_MESSAGE(function, program::text(error));
    auto linked = NS::TransferPtr(MTL::LinkedFunctions::alloc()->init());
    auto pipeline = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    pipeline->setComputeFunction(function.get());
    pipeline->setLinkedFunctions(linked.get());
    auto state =
        NS::TransferPtr(device_->newComputePipelineState(pipeline.get(), MTL::PipelineOptionNone, nullptr, &error));
    REQUIRE_MESSAGE(state, program::text(error));
    return kernels_.emplace(name, state).first->second.get();
  }

  void run(MTL::ComputePipelineState* state, std::initializer_list<MTL::Buffer*> inputs, MTL::Buffer* output,
           NS::UInteger count) {
    if (commands_ == nullptr) begin();
    bool barrier = written_.count(output) != 0 || read_.count(output) != 0;
    for (MTL::Buffer* input : inputs) barrier |= written_.count(input) != 0;
    if (barrier) {
      encoder_->memoryBarrier(MTL::BarrierScopeBuffers);
      written_.clear();
      read_.clear();
    }
    NS::UInteger index = 0;
    for (MTL::Buffer* input : inputs) {
      encoder_->setBuffer(input, 0, index++);
      read_.insert(input);
    }
    encoder_->setBuffer(output, 0, index++);
    written_.insert(output);
    const int n = static_cast<int>(count);
    encoder_->setBytes(&n, sizeof(n), index);
    encoder_->setComputePipelineState(state);
    encoder_->dispatchThreads(MTL::Size(count, 1, 1), MTL::Size(std::min<NS::UInteger>(count, 256), 1, 1));
    if (++operations_ == 7) commit();
  }
  /// When everything that was encoded so far has run.
  void free_later(MTL::Buffer* buffer) { dead_.push_back(buffer); }
  void commit() {
    if (commands_ == nullptr) return;
    encoder_->updateFence(fence_.get());
    encoder_->endEncoding();
    commands_->addCompletedHandler([&allocator = allocator_, dead = std::move(dead_)](MTL::CommandBuffer* finished) {
      CHECK(finished->status() == MTL::CommandBufferStatusCompleted);
      for (MTL::Buffer* buffer : dead) allocator.free(buffer);
    });
    dead_.clear();
    commands_->commit();
    last_ = NS::TransferPtr(commands_);
    commands_ = nullptr;
    operations_ = 0;
  }
  void synchronize() {
    commit();
    if (last_) last_->waitUntilCompleted();
  }

 private:
  void begin() {
    const program::Pool pool;
    commands_ = queue_->commandBufferWithUnretainedReferences()->retain();
    encoder_ = commands_->computeCommandEncoder(MTL::DispatchTypeConcurrent);
    encoder_->retain()->autorelease();
    encoder_->waitForFence(fence_.get());
    kept_ = NS::RetainPtr(encoder_);
    written_.clear();
    read_.clear();
  }
  MTL::Device* device_;
  Allocator& allocator_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::Fence> fence_;
  NS::SharedPtr<MTL::Library> library_;
  std::unordered_map<std::string, NS::SharedPtr<MTL::ComputePipelineState>> kernels_;
  MTL::CommandBuffer* commands_ = nullptr;
  MTL::ComputeCommandEncoder* encoder_ = nullptr;
  NS::SharedPtr<MTL::ComputeCommandEncoder> kept_;
  NS::SharedPtr<MTL::CommandBuffer> last_;
  std::set<MTL::Buffer*> written_, read_;
  std::vector<MTL::Buffer*> dead_;
  int operations_ = 0;
};

}  // namespace

TEST_CASE("an array library's back end: Fibonacci numbers by additions, negations and reused buffers") {
  const program::Pool pool;
  MTL::Device* const device = program::device();
  Allocator allocator(device);
  Stream stream(device, allocator);
  for (const NS::UInteger count : {NS::UInteger{16}, NS::UInteger{5000}}) {
    const auto make = [&](float value) {
      MTL::Buffer* const buffer = allocator.malloc(count * sizeof(float));
      std::fill_n(static_cast<float*>(buffer->contents()), count, value);
      return buffer;
    };
    MTL::Buffer *a = make(0), *b = make(1);
    double wanted_a = 0, wanted_b = 1;
    for (int step = 0; step < 60; ++step) {
      // b = a + b; a = old b, negated, and back by the next step's kernel with another constant
      MTL::Buffer* const sum = allocator.malloc(count * sizeof(float));
      stream.run(stream.kernel("add_float", false, 0), {a, b}, sum, count);
      MTL::Buffer* const negated = allocator.malloc(count * sizeof(float));
      stream.run(stream.kernel("unary", true, 3), {b}, negated, count);  // 3 - b
      MTL::Buffer* const next = allocator.malloc(count * sizeof(float));
      stream.run(stream.kernel("unary", true, 3), {negated}, next, count);  // b again
      for (MTL::Buffer* buffer : {a, b, negated}) stream.free_later(buffer);
      a = next;
      b = sum;
      const double old_b = wanted_b;
      wanted_b = static_cast<double>(static_cast<float>(wanted_a + wanted_b));
      wanted_a = static_cast<double>(3.0f - (3.0f - static_cast<float>(old_b)));
      if (step == 30) stream.synchronize();  // from here on there is something to reuse
    }
    stream.synchronize();
    for (NS::UInteger i = 0; i < count; ++i) {
      REQUIRE(static_cast<float*>(b->contents())[i] == static_cast<float>(wanted_b));
      REQUIRE(static_cast<float*>(a->contents())[i] == static_cast<float>(wanted_a));
    }
    allocator.free(a);
    allocator.free(b);
  }
  CHECK(allocator.reused > 100);
}
