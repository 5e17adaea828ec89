// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device: what everything else is made from. Its kernels run on the CPU of this machine.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class ArgumentDescriptor;
class BinaryArchiveDescriptor;
class BufferBinding;
class CommandQueueDescriptor;
class CompileOptions;
class ComputePipelineDescriptor;
class CounterSampleBuffer;
class CounterSampleBufferDescriptor;
class HeapDescriptor;
class ResidencySetDescriptor;
class SharedEventHandle;

/// "applegpu_g13s" and the like: what the device stands for.
class SMELT_METAL_API Architecture : public NS::Copying<Architecture> {
 public:
  NS::String* name() const;
};

/// Threads: every function from any thread. Objects of one device are used with that device only.
class SMELT_METAL_API Device : public NS::Referencing<Device> {
 public:
  NS::String* name() const;
  uint64_t registryID() const;
  Architecture* architecture() const;
  Size maxThreadsPerThreadgroup() const;
  bool lowPower() const { return false; }
  bool isLowPower() const { return false; }
  bool headless() const { return true; }
  bool isHeadless() const { return true; }
  bool removable() const { return false; }
  bool isRemovable() const { return false; }
  bool hasUnifiedMemory() const { return true; }
  DeviceLocation location() const { return DeviceLocationBuiltIn; }
  NS::UInteger locationNumber() const { return 0; }
  uint64_t maxTransferRate() const { return 0; }
  uint64_t peerGroupID() const { return 0; }
  /// $SMELT_METAL_MEMORY in bytes, else three quarters of this machine's memory.
  uint64_t recommendedMaxWorkingSetSize() const;
  NS::UInteger maxBufferLength() const;
  NS::UInteger maxThreadgroupMemoryLength() const;
  NS::UInteger maxArgumentBufferSamplerCount() const { return 0; }
  /// Bytes of all buffers and heaps of this device that are alive.
  NS::UInteger currentAllocatedSize() const;
  ReadWriteTextureTier readWriteTextureSupport() const { return ReadWriteTextureTier2; }
  ArgumentBuffersTier argumentBuffersSupport() const { return ArgumentBuffersTier2; }
  bool supportsFamily(GPUFamily family) const;
  bool supportsRaytracing() const { return false; }
  bool supportsFunctionPointers() const { return true; }
  bool supportsDynamicLibraries() const { return false; }
  bool supportsShaderBarycentricCoordinates() const { return false; }
  bool supportsPullModelInterpolation() const { return false; }
  bool supportsQueryTextureLOD() const { return false; }
  /// BC1 to BC5; BC6H and BC7 are refused by name.
  bool supportsBCTextureCompression() const { return true; }
  bool rasterOrderGroupsSupported() const { return false; }
  bool areRasterOrderGroupsSupported() const { return false; }
  bool depth24Stencil8PixelFormatSupported() const { return false; }

  CommandQueue* newCommandQueue();
  CommandQueue* newCommandQueue(NS::UInteger maxCommandBufferCount);
  CommandQueue* newCommandQueue(const CommandQueueDescriptor* descriptor);

  /// Zeroed, page-aligned. Null when there is no such memory.
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
  Buffer* newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options);
  /// The caller's memory, which must stay until `deallocator` is called or, without one, the buffer is gone and its
  /// commands have completed. Address and length are multiples of the page, as on a Mac.
  Buffer* newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options,
                    const BufferDeallocator& deallocator);
  /// Zeroed. Null when the descriptor says what no texture is, or there is no memory.
  Texture* newTexture(const TextureDescriptor* descriptor);
  SamplerState* newSamplerState(const SamplerDescriptor* descriptor);
  bool supportsTextureSampleCount(NS::UInteger count) const {
    return count == 1 || count == 2 || count == 4 || count == 8;
  }
  NS::UInteger minimumTextureBufferAlignmentForPixelFormat(PixelFormat) const { return 16; }
  NS::UInteger minimumLinearTextureAlignmentForPixelFormat(PixelFormat) const { return 16; }
  Heap* newHeap(const HeapDescriptor* descriptor);
  SizeAndAlign heapBufferSizeAndAlign(NS::UInteger length, ResourceOptions options);
  ResidencySet* newResidencySet(const ResidencySetDescriptor* descriptor, NS::Error** error);

  /// The library at $SMELT_METAL_LIBRARY, else default.metallib or default.smelt beside the program; else null.
  Library* newDefaultLibrary();
  Library* newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error);
  /// A metallib or a package of smelt. Kernels without code for this CPU get it when their pipeline is made.
  Library* newLibrary(const NS::String* filepath, NS::Error** error);
  Library* newLibrary(const NS::URL* url, NS::Error** error);
  Library* newLibrary(const dispatch_data_t data, NS::Error** error);
  /// The same from bytes, which are copied. Not in metal-cpp.
  Library* newLibrary(const NS::Data* data, NS::Error** error);
  Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error);
  /// The handler is called from another thread.
  void newLibrary(const NS::String* source, const CompileOptions* options,
                  const NewLibraryCompletionHandler& completionHandler);

  ComputePipelineState* newComputePipelineState(const Function* computeFunction, NS::Error** error);
  ComputePipelineState* newComputePipelineState(const Function* computeFunction, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error);
  ComputePipelineState* newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                                const AutoreleasedComputePipelineReflection* reflection,
                                                NS::Error** error);
  void newComputePipelineState(const Function* computeFunction,
                               const NewComputePipelineStateCompletionHandler& completionHandler);
  void newComputePipelineState(const Function* computeFunction, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandler& completionHandler);
  void newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                               const NewComputePipelineStateWithReflectionCompletionHandler& completionHandler);

  ArgumentEncoder* newArgumentEncoder(const NS::Array* arguments);
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error);
  Fence* newFence();
  Event* newEvent();
  SharedEvent* newSharedEvent();
  SharedEvent* newSharedEvent(const SharedEventHandle* handle);

  /// Both are the steady clock in nanoseconds.
  void sampleTimestamps(Timestamp* cpuTimestamp, Timestamp* gpuTimestamp);
  /// None, so nothing can be sampled.
  NS::Array* counterSets() const;
  bool supportsCounterSampling(CounterSamplingPoint) const { return false; }
  CounterSampleBuffer* newCounterSampleBuffer(const CounterSampleBufferDescriptor* descriptor, NS::Error** error);
};

/// Owned by the caller. The same device each time, as long as anybody owns it.
SMELT_METAL_API Device* CreateSystemDefaultDevice();
/// Owned by the caller: $SMELT_METAL_DEVICES devices (1 when it is not set), the default one first. Each has its own
/// threads, buffers and queues.
SMELT_METAL_API NS::Array* CopyAllDevices();

}  // namespace MTL
