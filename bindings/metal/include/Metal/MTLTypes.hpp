// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that Metal's interface speaks in. Names are those of Apple's documentation (developer.apple.com/documentation/
// metal) as metal-cpp spells them: MTLResourceStorageModeShared is MTL::ResourceStorageModeShared. Numbers are Metal's
// own, so that they may be stored or handed to code that has them from elsewhere.
#pragma once

#include "Foundation/Foundation.hpp"
#include "Metal/classes.hpp"

#include <functional>
#include <memory>
#include <type_traits>

// <dispatch/dispatch.h> has the real ones; here they are only handed on.
#if !defined(__DISPATCH_BASE__) && !defined(SMELT_DISPATCH_H)
typedef struct dispatch_data_s* dispatch_data_t;
typedef struct dispatch_queue_s* dispatch_queue_t;
#endif

#if defined(__BLOCKS__)
extern "C" void* _Block_copy(const void*);
extern "C" void _Block_release(const void*);
#endif

namespace MTL {

/// A callback holds a function, a lambda or nothing. Where the compiler has blocks, it can also hold a block, which it
/// copies.
template <class Signature>
class Callback;
template <class Result, class... Arguments>
class Callback<Result(Arguments...)> : public std::function<Result(Arguments...)> {
 public:
  using Function = std::function<Result(Arguments...)>;
  Callback() = default;
  Callback(std::nullptr_t) {}
  template <class Callable, class = std::enable_if_t<std::is_constructible_v<Function, const Callable&>>>
  Callback(const Callable& callable) : Function(callable) {}
#if defined(__BLOCKS__)
  using Block = Result (^)(Arguments...);
  Callback(Block block) : Function(from_block(block)) {}

 private:
  static Function from_block(Block block) {
    if (block == nullptr) return {};
    const std::shared_ptr<void> kept(_Block_copy((const void*)block), [](void* copy) { _Block_release(copy); });
    return [kept](Arguments... arguments) { return ((Block)kept.get())(arguments...); };
  }
#endif
};

struct Size {
  NS::UInteger width = 0;
  NS::UInteger height = 0;
  NS::UInteger depth = 0;
  Size() = default;
  Size(NS::UInteger w, NS::UInteger h, NS::UInteger d) : width(w), height(h), depth(d) {}
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth) { return {width, height, depth}; }
};
struct Origin {
  NS::UInteger x = 0;
  NS::UInteger y = 0;
  NS::UInteger z = 0;
  Origin() = default;
  Origin(NS::UInteger at_x, NS::UInteger at_y, NS::UInteger at_z) : x(at_x), y(at_y), z(at_z) {}
  static Origin Make(NS::UInteger x, NS::UInteger y, NS::UInteger z) { return {x, y, z}; }
};
struct Region {
  Origin origin;
  Size size;
  Region() = default;
  Region(Origin at, Size of) : origin(at), size(of) {}
  Region(NS::UInteger x, NS::UInteger width) : origin(x, 0, 0), size(width, 1, 1) {}
  Region(NS::UInteger x, NS::UInteger y, NS::UInteger width, NS::UInteger height)
      : origin(x, y, 0), size(width, height, 1) {}
  Region(NS::UInteger x, NS::UInteger y, NS::UInteger z, NS::UInteger width, NS::UInteger height, NS::UInteger depth)
      : origin(x, y, z), size(width, height, depth) {}
  static Region Make1D(NS::UInteger x, NS::UInteger width) { return {x, width}; }
  static Region Make2D(NS::UInteger x, NS::UInteger y, NS::UInteger width, NS::UInteger height) {
    return {x, y, width, height};
  }
  static Region Make3D(NS::UInteger x, NS::UInteger y, NS::UInteger z, NS::UInteger width, NS::UInteger height,
                       NS::UInteger depth) {
    return {x, y, z, width, height, depth};
  }
};
struct SizeAndAlign {
  NS::UInteger size = 0;
  NS::UInteger align = 0;
};
struct DispatchThreadgroupsIndirectArguments {
  uint32_t threadgroupsPerGrid[3];
};
using Timestamp = uint64_t;
struct CounterResultTimestamp {
  uint64_t timestamp;
};
using GPUAddress = uint64_t;

using HandlerFunction = std::function<void(CommandBuffer*)>;
using CommandBufferHandler = Callback<void(CommandBuffer*)>;
using NewLibraryCompletionHandlerFunction = std::function<void(Library*, NS::Error*)>;
using NewLibraryCompletionHandler = Callback<void(Library*, NS::Error*)>;
using NewFunctionCompletionHandler = Callback<void(Function*, NS::Error*)>;
using NewComputePipelineStateCompletionHandlerFunction = std::function<void(ComputePipelineState*, NS::Error*)>;
using NewComputePipelineStateCompletionHandler = Callback<void(ComputePipelineState*, NS::Error*)>;
using NewComputePipelineStateWithReflectionCompletionHandlerFunction =
    std::function<void(ComputePipelineState*, ComputePipelineReflection*, NS::Error*)>;
using NewComputePipelineStateWithReflectionCompletionHandler =
    Callback<void(ComputePipelineState*, ComputePipelineReflection*, NS::Error*)>;
using SharedEventNotificationFunction = std::function<void(SharedEvent*, uint64_t)>;
using SharedEventNotificationBlock = Callback<void(SharedEvent*, uint64_t)>;
using BufferDeallocator = Callback<void(void*, NS::UInteger)>;
using AutoreleasedComputePipelineReflection = ComputePipelineReflection*;
using AutoreleasedArgument = class Argument*;

/// Domains of errors, by code: CommandBufferError, LibraryError, BinaryArchiveError, CaptureError.
SMELT_METAL_API extern const NS::ErrorDomain CommandBufferErrorDomain;
SMELT_METAL_API extern const NS::ErrorDomain LibraryErrorDomain;
SMELT_METAL_API extern const NS::ErrorDomain BinaryArchiveDomain;
SMELT_METAL_API extern const NS::ErrorDomain CaptureErrorDomain;

/// Owned by the caller. The same device each time, as long as anybody owns it.
SMELT_METAL_API Device* CreateSystemDefaultDevice();
/// Owned by the caller: $SMELT_METAL_DEVICES devices (1 when it is not set), the default one first. Each has its own
/// threads, buffers and queues.
SMELT_METAL_API NS::Array* CopyAllDevices();

}  // namespace MTL
