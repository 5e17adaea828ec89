// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The metal device: the same interface over newLibraryWithData:. macOS only; CMake picks this file there and no_metal.cpp
// elsewhere.
//
// THIS FILE HAS NEVER BEEN COMPILED OR RUN BY ITS AUTHORS: the project is developed without a Mac. It is kept small and
// close to Apple's documented calls for that reason; `smelt selftest` on a Mac is its test, and says what to report.
//
// Objective-C objects are held by strong pointers (ARC); each C++ object here may be used from any thread, except the
// encoder, as everywhere in the loader.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <unistd.h>

#include <algorithm>

#include "device_impl.hpp"

namespace smelt::loader {
namespace {

std::string text_of(NSError* error) {
  return error == nil ? std::string("no reason was given") : std::string(error.localizedDescription.UTF8String);
}

NSString* to_ns(std::string_view text) {
  return [[NSString alloc] initWithBytes:text.data() length:text.size() encoding:NSUTF8StringEncoding];
}

/// Metal language of each macOS (docs/formats/air.md 1.2).
Version language_of(const Version& os) {
  if (os.major >= 27) return {4, 1, 0};
  if (os.major == 26) return {4, 0, 0};
  if (os.major == 15) return {3, 2, 0};
  if (os.major == 14) return {3, 1, 0};
  if (os.major == 13) return {3, 0, 0};
  if (os.major == 12) return {2, 4, 0};
  return {2, 3, 0};
}

/// The highest Apple family; 0 for a GPU of another maker or a virtual one. MTLGPUFamilyApple1 is 1001.
uint16_t family_of(id<MTLDevice> device) {
  for (int family = 20; family > 0; --family)
    if ([device supportsFamily:static_cast<MTLGPUFamily>(1000 + family)]) return static_cast<uint16_t>(family);
  return 0;
}

Target target_of(id<MTLDevice> device) {
  const NSOperatingSystemVersion os = NSProcessInfo.processInfo.operatingSystemVersion;
  Target target;
  target.platform = Platform::macos;
  target.min_os = {static_cast<uint16_t>(os.majorVersion), static_cast<uint16_t>(os.minorVersion),
                   static_cast<uint16_t>(os.patchVersion)};
  target.name = fmt::format("macos{}", target.min_os.major);
  target.metal = language_of(target.min_os);
  target.family = family_of(device);
  return target;
}

Limits limits_of(id<MTLDevice> device) {
  Limits limits;
  limits.max_threads_per_threadgroup = device.maxThreadsPerThreadgroup.width;
  limits.max_threadgroup_memory = device.maxThreadgroupMemoryLength;
  limits.max_buffer_bytes = device.maxBufferLength;
  limits.memory_bytes = device.recommendedMaxWorkingSetSize;
  return limits;
}

MTLDataType data_type(const ValueType& type) {
  // The vectors of a scalar follow it.
  const auto vector = [&](MTLDataType scalar) { return static_cast<MTLDataType>(scalar + type.components - 1); };
  switch (type.scalar) {
    case ScalarType::unknown:
      break;
    case ScalarType::boolean:
      return vector(MTLDataTypeBool);
    case ScalarType::i8:
      return vector(MTLDataTypeChar);
    case ScalarType::u8:
      return vector(MTLDataTypeUChar);
    case ScalarType::i16:
      return vector(MTLDataTypeShort);
    case ScalarType::u16:
      return vector(MTLDataTypeUShort);
    case ScalarType::i32:
      return vector(MTLDataTypeInt);
    case ScalarType::u32:
      return vector(MTLDataTypeUInt);
    case ScalarType::i64:
      return vector(static_cast<MTLDataType>(81));  // long, macOS 12
    case ScalarType::u64:
      return vector(static_cast<MTLDataType>(85));  // ulong, macOS 12
    case ScalarType::f16:
      return vector(MTLDataTypeHalf);
    case ScalarType::bf16:
      return vector(static_cast<MTLDataType>(121));  // bfloat, macOS 14
    case ScalarType::f32:
      return vector(MTLDataTypeFloat);
  }
  return MTLDataTypeNone;
}

class MetalBuffer final : public Buffer {
 public:
  explicit MetalBuffer(id<MTLBuffer> buffer)
      : Buffer({static_cast<std::byte*>(buffer.contents), buffer.length}, address_of(buffer)), buffer_(buffer) {}
  id<MTLBuffer> buffer() const { return buffer_; }

 private:
  static uint64_t address_of(id<MTLBuffer> buffer) {
    if (@available(macOS 13.0, *)) return buffer.gpuAddress;
    return 0;
  }
  id<MTLBuffer> buffer_;
};

class MetalPipeline final : public PipelineState {
 public:
  MetalPipeline(Facts facts, id<MTLComputePipelineState> state) : PipelineState(std::move(facts)), state_(state) {}
  id<MTLComputePipelineState> state() const { return state_; }

 private:
  id<MTLComputePipelineState> state_;
};

class MetalSlice final : public OpenSlice {
 public:
  MetalSlice(id<MTLDevice> device, id<MTLLibrary> library) : device_(device), library_(library) {}

  std::vector<Result<PipelineRef>> make_pipelines(std::vector<PipelineRequest> requests) override {
    std::vector<Result<PipelineRef>> pipelines;
    for (PipelineRequest& request : requests) {
      @autoreleasepool {
        pipelines.push_back(make(std::move(request)));
      }
    }
    return pipelines;
  }

 private:
  Result<PipelineRef> make(PipelineRequest request) {
    PipelineState::Facts& facts = request.facts;
    NSError* error = nil;
    id<MTLFunction> function = nil;
    if (request.has_constants) {
      // Always with values, even none: without, the function of a kernel with constants is unusable.
      MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
      for (const BoundConstant& constant : request.constants) {
        const Bytes padded = pad(constant);
        [values setConstantValue:padded.data() type:data_type(constant.type) atIndex:constant.index];
      }
      function = [library_ newFunctionWithName:to_ns(facts.name) constantValues:values error:&error];
    } else {
      function = [library_ newFunctionWithName:to_ns(facts.name)];
    }
    if (function == nil)
      return fail(Errc::pipeline_failed, "kernel '{}': Metal has no such function: {}", facts.name, text_of(error));
    id<MTLComputePipelineState> state = [device_ newComputePipelineStateWithFunction:function error:&error];
    if (state == nil)
      return fail(Errc::pipeline_failed, "kernel '{}': Metal refused the pipeline: {}", facts.name, text_of(error));
    facts.max_threads = state.maxTotalThreadsPerThreadgroup;
    facts.execution_width = state.threadExecutionWidth;
    facts.threadgroup_bytes = state.staticThreadgroupMemoryLength;
    facts.limits_estimated = false;
    return std::make_shared<const MetalPipeline>(std::move(facts), state);
  }

  /// Metal reads a 3-vector as wide as a 4-vector.
  static Bytes pad(const BoundConstant& constant) {
    Bytes bytes = constant.bytes;
    if (constant.type.components == 3) bytes.resize(4 * bytes_of(constant.type.scalar));
    return bytes;
  }

  id<MTLDevice> device_;
  id<MTLLibrary> library_;
};

class MetalEncoder final : public Encoder {
 public:
  MetalEncoder(DeviceRef device, id<MTLCommandQueue> queue) : Encoder(std::move(device)), queue_(queue) {}
  ~MetalEncoder() override { (void)finish(); }

  Result<void> wait() override { return finish(); }

 private:
  Result<void> run(const PipelineState& pipeline, const Size3& threads, const Size3& group) override {
    @autoreleasepool {
      if (commands_ == nil) {
        commands_ = [queue_ commandBuffer];
        encoder_ = [commands_ computeCommandEncoder];
      }
      if (encoder_ == nil) return fail(Errc::pipeline_failed, "Metal gave no command encoder");
      [encoder_ setComputePipelineState:static_cast<const MetalPipeline&>(pipeline).state()];
      for (NSUInteger i = 0; i < kSlots; ++i) {
        Slot& slot = slots_[i];
        if (slot.buffer)
          [encoder_ setBuffer:static_cast<MetalBuffer&>(*slot.buffer).buffer() offset:slot.offset atIndex:i];
        else if (slot.is_inline)
          bind_bytes(slot.inlined, i);
        else if (slot.is_null)
          [encoder_ setBuffer:nil offset:0 atIndex:i];
        if (threadgroup_lengths_[i] != 0)  // a multiple of 16, or Metal refuses
          [encoder_ setThreadgroupMemoryLength:(threadgroup_lengths_[i] + 15) / 16 * 16 atIndex:i];
      }
      [encoder_ dispatchThreads:MTLSizeMake(threads.x, threads.y, threads.z)
          threadsPerThreadgroup:MTLSizeMake(group.x, group.y, group.z)];
      return {};
    }
  }

  void bind_bytes(const std::vector<std::byte>& bytes, NSUInteger index) {
    static const std::byte kNothing[16] = {};
    const void* data = bytes.empty() ? kNothing : bytes.data();
    const NSUInteger size = bytes.empty() ? sizeof(kNothing) : bytes.size();
    if (size <= 4096) {
      [encoder_ setBytes:data length:size atIndex:index];
    } else {
      // Above Metal's limit for inline bytes; the command buffer keeps it.
      id<MTLBuffer> buffer = [queue_.device newBufferWithBytes:data length:size options:MTLResourceStorageModeShared];
      [encoder_ setBuffer:buffer offset:0 atIndex:index];
    }
  }

  Result<void> finish() {
    if (commands_ == nil) return {};
    [encoder_ endEncoding];
    [commands_ commit];
    [commands_ waitUntilCompleted];
    NSError* const error = commands_.error;
    encoder_ = nil;
    commands_ = nil;
    if (error != nil) return fail(Errc::pipeline_failed, "Metal stopped the commands: {}", text_of(error));
    return {};
  }

  id<MTLCommandQueue> queue_;
  id<MTLCommandBuffer> commands_ = nil;
  id<MTLComputeCommandEncoder> encoder_ = nil;
};

class MetalDevice final : public DeviceImpl {
 public:
  MetalDevice(id<MTLDevice> device, id<MTLCommandQueue> queue)
      : DeviceImpl(DeviceKind::metal, device.name.UTF8String, target_of(device), limits_of(device)),
        device_(device),
        queue_(queue) {}

  std::optional<Rejection> reject(const SliceFacts& slice, const LoadOptions& options) const override {
    return reject_by_target(slice, target(), options);
  }

  Result<std::shared_ptr<OpenSlice>> open_slice(const SliceFacts& slice,
                                                const std::shared_ptr<const void>& owner) override {
    @autoreleasepool {
      if (slice.hash != Digest{})  // from a package: what the driver gets is what the manifest lists
        SMELT_TRY_VOID(schema::check_part({slice.bytes, slice.hash}, slice.target.name));
      const std::shared_ptr<const void> keep = owner;
      dispatch_data_t data = dispatch_data_create(slice.bytes.data(), slice.bytes.size(), nullptr, ^{
        (void)keep;  // the block's copy keeps the bytes until Metal is done with them
      });
      NSError* error = nil;
      id<MTLLibrary> library = [device_ newLibraryWithData:data error:&error];
      if (library == nil)
        return fail(Errc::pipeline_failed, "slice '{}': Metal refused the library: {}", slice.target.name,
                    text_of(error));
      return std::make_shared<MetalSlice>(device_, library);
    }
  }

  Result<std::unique_ptr<Encoder>> make_encoder() override {
    return std::make_unique<MetalEncoder>(shared_from_this(), queue_);
  }

  Result<BufferRef> make_buffer(uint64_t bytes) override {
    id<MTLBuffer> buffer = [device_ newBufferWithLength:std::max<uint64_t>(bytes, 16)
                                                options:MTLResourceStorageModeShared];
    if (buffer == nil) return fail(Errc::invalid_argument, "Metal has no memory for a buffer of {} bytes", bytes);
    return std::make_shared<MetalBuffer>(buffer);
  }

  Result<BufferRef> wrap(std::span<std::byte> memory, std::shared_ptr<const void> owner) override {
    const auto page = static_cast<uint64_t>(::getpagesize());
    if (reinterpret_cast<uintptr_t>(memory.data()) % page != 0 || memory.size() % page != 0 || memory.empty())
      return fail(Errc::invalid_argument,
                  "Metal shares only whole pages of {} bytes; got {} bytes at {}. Make a buffer and copy", page,
                  memory.size(), static_cast<const void*>(memory.data()));
    id<MTLBuffer> buffer = [device_ newBufferWithBytesNoCopy:memory.data()
                                                      length:memory.size()
                                                     options:MTLResourceStorageModeShared
                                                 deallocator:^(void*, NSUInteger) {
                                                   (void)owner;
                                                 }];
    if (buffer == nil) return fail(Errc::invalid_argument, "Metal refused to share {} bytes", memory.size());
    return std::make_shared<MetalBuffer>(buffer);
  }

 private:
  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
};

}  // namespace

Result<DeviceRef> open_metal_device(const DeviceOptions&) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (device == nil) return fail(Errc::device_unavailable, "this Mac has no Metal device");
    id<MTLCommandQueue> queue = [device newCommandQueue];
    if (queue == nil) return fail(Errc::device_unavailable, "the Metal device gave no command queue");
    return std::make_shared<MetalDevice>(device, queue);
  }
}

}  // namespace smelt::loader
