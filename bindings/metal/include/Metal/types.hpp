// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that Metal's interface speaks in. Names are those of Apple's documentation (developer.apple.com/documentation/
// metal) as metal-cpp spells them: MTLResourceStorageModeShared is MTL::ResourceStorageModeShared. Numbers are Metal's
// own, so that they may be stored or handed to code that has them from elsewhere.
#pragma once

#include "Foundation/Foundation.hpp"

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

/// What is called back: a function, a lambda or, where the compiler has them, a block (which is copied). May be empty.
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

enum GPUFamily : NS::Integer {
  GPUFamilyApple1 = 1001,
  GPUFamilyApple2 = 1002,
  GPUFamilyApple3 = 1003,
  GPUFamilyApple4 = 1004,
  GPUFamilyApple5 = 1005,
  GPUFamilyApple6 = 1006,
  GPUFamilyApple7 = 1007,
  GPUFamilyApple8 = 1008,
  GPUFamilyApple9 = 1009,
  GPUFamilyApple10 = 1010,
  GPUFamilyMac1 = 2001,
  GPUFamilyMac2 = 2002,
  GPUFamilyCommon1 = 3001,
  GPUFamilyCommon2 = 3002,
  GPUFamilyCommon3 = 3003,
  GPUFamilyMacCatalyst1 = 4001,
  GPUFamilyMacCatalyst2 = 4002,
  GPUFamilyMetal3 = 5001,
  GPUFamilyMetal4 = 5002
};
enum DeviceLocation : NS::UInteger {
  DeviceLocationBuiltIn = 0,
  DeviceLocationSlot = 1,
  DeviceLocationExternal = 2,
  DeviceLocationUnspecified = NS::UIntegerMax
};
enum ReadWriteTextureTier : NS::UInteger {
  ReadWriteTextureTierNone = 0,
  ReadWriteTextureTier1 = 1,
  ReadWriteTextureTier2 = 2
};
enum ArgumentBuffersTier : NS::UInteger { ArgumentBuffersTier1 = 0, ArgumentBuffersTier2 = 1 };

enum CPUCacheMode : NS::UInteger { CPUCacheModeDefaultCache = 0, CPUCacheModeWriteCombined = 1 };
enum StorageMode : NS::UInteger {
  StorageModeShared = 0,
  StorageModeManaged = 1,
  StorageModePrivate = 2,
  StorageModeMemoryless = 3
};
enum HazardTrackingMode : NS::UInteger {
  HazardTrackingModeDefault = 0,
  HazardTrackingModeUntracked = 1,
  HazardTrackingModeTracked = 2
};
using ResourceOptions = NS::UInteger;
enum : NS::UInteger {
  ResourceCPUCacheModeDefaultCache = 0,
  ResourceCPUCacheModeWriteCombined = 1,
  ResourceStorageModeShared = 0,
  ResourceStorageModeManaged = 16,
  ResourceStorageModePrivate = 32,
  ResourceStorageModeMemoryless = 48,
  ResourceHazardTrackingModeDefault = 0,
  ResourceHazardTrackingModeUntracked = 256,
  ResourceHazardTrackingModeTracked = 512,
  ResourceOptionCPUCacheModeDefault = 0,
  ResourceOptionCPUCacheModeWriteCombined = 1
};
enum PurgeableState : NS::UInteger {
  PurgeableStateKeepCurrent = 1,
  PurgeableStateNonVolatile = 2,
  PurgeableStateVolatile = 3,
  PurgeableStateEmpty = 4
};
enum HeapType : NS::Integer { HeapTypeAutomatic = 0, HeapTypePlacement = 1, HeapTypeSparse = 2 };

using ResourceUsage = NS::UInteger;
enum : NS::UInteger { ResourceUsageRead = 1, ResourceUsageWrite = 2, ResourceUsageSample = 4 };
using BarrierScope = NS::UInteger;
enum : NS::UInteger { BarrierScopeBuffers = 1, BarrierScopeTextures = 2, BarrierScopeRenderTargets = 4 };
enum DispatchType : NS::UInteger { DispatchTypeSerial = 0, DispatchTypeConcurrent = 1 };

enum PixelFormat : NS::UInteger {
  PixelFormatInvalid = 0,
  PixelFormatA8Unorm = 1,
  PixelFormatR8Unorm = 10,
  PixelFormatR8Unorm_sRGB = 11,
  PixelFormatR8Snorm = 12,
  PixelFormatR8Uint = 13,
  PixelFormatR8Sint = 14,
  PixelFormatR16Unorm = 20,
  PixelFormatR16Snorm = 22,
  PixelFormatR16Uint = 23,
  PixelFormatR16Sint = 24,
  PixelFormatR16Float = 25,
  PixelFormatRG8Unorm = 30,
  PixelFormatRG8Unorm_sRGB = 31,
  PixelFormatRG8Snorm = 32,
  PixelFormatRG8Uint = 33,
  PixelFormatRG8Sint = 34,
  PixelFormatB5G6R5Unorm = 40,
  PixelFormatA1BGR5Unorm = 41,
  PixelFormatABGR4Unorm = 42,
  PixelFormatBGR5A1Unorm = 43,
  PixelFormatR32Uint = 53,
  PixelFormatR32Sint = 54,
  PixelFormatR32Float = 55,
  PixelFormatRG16Unorm = 60,
  PixelFormatRG16Snorm = 62,
  PixelFormatRG16Uint = 63,
  PixelFormatRG16Sint = 64,
  PixelFormatRG16Float = 65,
  PixelFormatRGBA8Unorm = 70,
  PixelFormatRGBA8Unorm_sRGB = 71,
  PixelFormatRGBA8Snorm = 72,
  PixelFormatRGBA8Uint = 73,
  PixelFormatRGBA8Sint = 74,
  PixelFormatBGRA8Unorm = 80,
  PixelFormatBGRA8Unorm_sRGB = 81,
  PixelFormatRGB10A2Unorm = 90,
  PixelFormatRGB10A2Uint = 91,
  PixelFormatRG11B10Float = 92,
  PixelFormatRGB9E5Float = 93,
  PixelFormatBGR10A2Unorm = 94,
  PixelFormatRG32Uint = 103,
  PixelFormatRG32Sint = 104,
  PixelFormatRG32Float = 105,
  PixelFormatRGBA16Unorm = 110,
  PixelFormatRGBA16Snorm = 112,
  PixelFormatRGBA16Uint = 113,
  PixelFormatRGBA16Sint = 114,
  PixelFormatRGBA16Float = 115,
  PixelFormatRGBA32Uint = 123,
  PixelFormatRGBA32Sint = 124,
  PixelFormatRGBA32Float = 125,
  PixelFormatBC1_RGBA = 130,
  PixelFormatBC1_RGBA_sRGB = 131,
  PixelFormatBC2_RGBA = 132,
  PixelFormatBC2_RGBA_sRGB = 133,
  PixelFormatBC3_RGBA = 134,
  PixelFormatBC3_RGBA_sRGB = 135,
  PixelFormatBC4_RUnorm = 140,
  PixelFormatBC4_RSnorm = 141,
  PixelFormatBC5_RGUnorm = 142,
  PixelFormatBC5_RGSnorm = 143,
  PixelFormatBC6H_RGBFloat = 150,
  PixelFormatBC6H_RGBUfloat = 151,
  PixelFormatBC7_RGBAUnorm = 152,
  PixelFormatBC7_RGBAUnorm_sRGB = 153,
  PixelFormatPVRTC_RGB_2BPP = 160,
  PixelFormatPVRTC_RGB_2BPP_sRGB = 161,
  PixelFormatPVRTC_RGB_4BPP = 162,
  PixelFormatPVRTC_RGB_4BPP_sRGB = 163,
  PixelFormatPVRTC_RGBA_2BPP = 164,
  PixelFormatPVRTC_RGBA_2BPP_sRGB = 165,
  PixelFormatPVRTC_RGBA_4BPP = 166,
  PixelFormatPVRTC_RGBA_4BPP_sRGB = 167,
  PixelFormatEAC_R11Unorm = 170,
  PixelFormatEAC_R11Snorm = 172,
  PixelFormatEAC_RG11Unorm = 174,
  PixelFormatEAC_RG11Snorm = 176,
  PixelFormatEAC_RGBA8 = 178,
  PixelFormatEAC_RGBA8_sRGB = 179,
  PixelFormatETC2_RGB8 = 180,
  PixelFormatETC2_RGB8_sRGB = 181,
  PixelFormatETC2_RGB8A1 = 182,
  PixelFormatETC2_RGB8A1_sRGB = 183,
  PixelFormatASTC_4x4_sRGB = 186,
  PixelFormatASTC_5x4_sRGB = 187,
  PixelFormatASTC_5x5_sRGB = 188,
  PixelFormatASTC_6x5_sRGB = 189,
  PixelFormatASTC_6x6_sRGB = 190,
  PixelFormatASTC_8x5_sRGB = 192,
  PixelFormatASTC_8x6_sRGB = 193,
  PixelFormatASTC_8x8_sRGB = 194,
  PixelFormatASTC_10x5_sRGB = 195,
  PixelFormatASTC_10x6_sRGB = 196,
  PixelFormatASTC_10x8_sRGB = 197,
  PixelFormatASTC_10x10_sRGB = 198,
  PixelFormatASTC_12x10_sRGB = 199,
  PixelFormatASTC_12x12_sRGB = 200,
  PixelFormatASTC_4x4_LDR = 204,
  PixelFormatASTC_5x4_LDR = 205,
  PixelFormatASTC_5x5_LDR = 206,
  PixelFormatASTC_6x5_LDR = 207,
  PixelFormatASTC_6x6_LDR = 208,
  PixelFormatASTC_8x5_LDR = 210,
  PixelFormatASTC_8x6_LDR = 211,
  PixelFormatASTC_8x8_LDR = 212,
  PixelFormatASTC_10x5_LDR = 213,
  PixelFormatASTC_10x6_LDR = 214,
  PixelFormatASTC_10x8_LDR = 215,
  PixelFormatASTC_10x10_LDR = 216,
  PixelFormatASTC_12x10_LDR = 217,
  PixelFormatASTC_12x12_LDR = 218,
  PixelFormatASTC_4x4_HDR = 222,
  PixelFormatASTC_5x4_HDR = 223,
  PixelFormatASTC_5x5_HDR = 224,
  PixelFormatASTC_6x5_HDR = 225,
  PixelFormatASTC_6x6_HDR = 226,
  PixelFormatASTC_8x5_HDR = 228,
  PixelFormatASTC_8x6_HDR = 229,
  PixelFormatASTC_8x8_HDR = 230,
  PixelFormatASTC_10x5_HDR = 231,
  PixelFormatASTC_10x6_HDR = 232,
  PixelFormatASTC_10x8_HDR = 233,
  PixelFormatASTC_10x10_HDR = 234,
  PixelFormatASTC_12x10_HDR = 235,
  PixelFormatASTC_12x12_HDR = 236,
  PixelFormatDepth16Unorm = 250,
  PixelFormatDepth32Float = 252,
  PixelFormatStencil8 = 253
};
enum TextureType : NS::UInteger {
  TextureType1D = 0,
  TextureType1DArray = 1,
  TextureType2D = 2,
  TextureType2DArray = 3,
  TextureType2DMultisample = 4,
  TextureTypeCube = 5,
  TextureTypeCubeArray = 6,
  TextureType3D = 7,
  TextureType2DMultisampleArray = 8,
  TextureTypeTextureBuffer = 9
};
using TextureUsage = NS::UInteger;
enum : NS::UInteger {
  TextureUsageUnknown = 0,
  TextureUsageShaderRead = 1,
  TextureUsageShaderWrite = 2,
  TextureUsageRenderTarget = 4,
  TextureUsagePixelFormatView = 16,
  TextureUsageShaderAtomic = 32
};
enum SamplerMinMagFilter : NS::UInteger { SamplerMinMagFilterNearest = 0, SamplerMinMagFilterLinear = 1 };
enum SamplerMipFilter : NS::UInteger {
  SamplerMipFilterNotMipmapped = 0,
  SamplerMipFilterNearest = 1,
  SamplerMipFilterLinear = 2
};
enum SamplerAddressMode : NS::UInteger {
  SamplerAddressModeClampToEdge = 0,
  SamplerAddressModeMirrorClampToEdge = 1,
  SamplerAddressModeRepeat = 2,
  SamplerAddressModeMirrorRepeat = 3,
  SamplerAddressModeClampToZero = 4,
  SamplerAddressModeClampToBorderColor = 5
};
enum SamplerBorderColor : NS::UInteger {
  SamplerBorderColorTransparentBlack = 0,
  SamplerBorderColorOpaqueBlack = 1,
  SamplerBorderColorOpaqueWhite = 2
};
enum CompareFunction : NS::UInteger {
  CompareFunctionNever = 0,
  CompareFunctionLess = 1,
  CompareFunctionEqual = 2,
  CompareFunctionLessEqual = 3,
  CompareFunctionGreater = 4,
  CompareFunctionNotEqual = 5,
  CompareFunctionGreaterEqual = 6,
  CompareFunctionAlways = 7
};

enum CommandBufferStatus : NS::UInteger {
  CommandBufferStatusNotEnqueued = 0,
  CommandBufferStatusEnqueued = 1,
  CommandBufferStatusCommitted = 2,
  CommandBufferStatusScheduled = 3,
  CommandBufferStatusCompleted = 4,
  CommandBufferStatusError = 5
};
enum CommandBufferError : NS::UInteger {
  CommandBufferErrorNone = 0,
  CommandBufferErrorInternal = 1,
  CommandBufferErrorTimeout = 2,
  CommandBufferErrorPageFault = 3,
  CommandBufferErrorAccessRevoked = 4,
  CommandBufferErrorBlacklisted = 4,
  CommandBufferErrorNotPermitted = 7,
  CommandBufferErrorOutOfMemory = 8,
  CommandBufferErrorInvalidResource = 9,
  CommandBufferErrorMemoryless = 10,
  CommandBufferErrorDeviceRemoved = 11,
  CommandBufferErrorStackOverflow = 12
};
using CommandBufferErrorOption = NS::UInteger;
enum : NS::UInteger { CommandBufferErrorOptionNone = 0, CommandBufferErrorOptionEncoderExecutionStatus = 1 };

enum LanguageVersion : NS::UInteger {
  LanguageVersion1_0 = 0x10000,
  LanguageVersion1_1 = 0x10001,
  LanguageVersion1_2 = 0x10002,
  LanguageVersion2_0 = 0x20000,
  LanguageVersion2_1 = 0x20001,
  LanguageVersion2_2 = 0x20002,
  LanguageVersion2_3 = 0x20003,
  LanguageVersion2_4 = 0x20004,
  LanguageVersion3_0 = 0x30000,
  LanguageVersion3_1 = 0x30001,
  LanguageVersion3_2 = 0x30002,
  LanguageVersion4_0 = 0x40000,
  LanguageVersion4_1 = 0x40001
};
enum LibraryType : NS::Integer { LibraryTypeExecutable = 0, LibraryTypeDynamic = 1 };
enum LibraryOptimizationLevel : NS::Integer { LibraryOptimizationLevelDefault = 0, LibraryOptimizationLevelSize = 1 };
enum MathMode : NS::Integer { MathModeSafe = 0, MathModeRelaxed = 1, MathModeFast = 2 };
enum MathFloatingPointFunctions : NS::Integer {
  MathFloatingPointFunctionsFast = 0,
  MathFloatingPointFunctionsPrecise = 1
};
enum LibraryError : NS::UInteger {
  LibraryErrorUnsupported = 1,
  LibraryErrorInternal = 2,
  LibraryErrorCompileFailure = 3,
  LibraryErrorCompileWarning = 4,
  LibraryErrorFunctionNotFound = 5,
  LibraryErrorFileNotFound = 6
};
enum FunctionType : NS::UInteger {
  FunctionTypeVertex = 1,
  FunctionTypeFragment = 2,
  FunctionTypeKernel = 3,
  FunctionTypeVisible = 5,
  FunctionTypeIntersection = 6,
  FunctionTypeMesh = 7,
  FunctionTypeObject = 8
};
using FunctionOptions = NS::UInteger;
enum : NS::UInteger { FunctionOptionNone = 0, FunctionOptionCompileToBinary = 1 };
using PipelineOption = NS::UInteger;
enum : NS::UInteger {
  PipelineOptionNone = 0,
  PipelineOptionArgumentInfo = 1,
  PipelineOptionBindingInfo = 1,
  PipelineOptionBufferTypeInfo = 2,
  PipelineOptionFailOnBinaryArchiveMiss = 4
};
enum ArgumentType : NS::UInteger {
  ArgumentTypeBuffer = 0,
  ArgumentTypeThreadgroupMemory = 1,
  ArgumentTypeTexture = 2,
  ArgumentTypeSampler = 3,
  ArgumentTypeVisibleFunctionTable = 24
};
enum BindingType : NS::Integer {
  BindingTypeBuffer = 0,
  BindingTypeThreadgroupMemory = 1,
  BindingTypeTexture = 2,
  BindingTypeSampler = 3,
  BindingTypeVisibleFunctionTable = 24
};
enum BindingAccess : NS::UInteger {
  BindingAccessReadOnly = 0,
  BindingAccessReadWrite = 1,
  BindingAccessWriteOnly = 2,
  ArgumentAccessReadOnly = 0,
  ArgumentAccessReadWrite = 1,
  ArgumentAccessWriteOnly = 2
};
using ArgumentAccess = BindingAccess;
enum Mutability : NS::UInteger { MutabilityDefault = 0, MutabilityMutable = 1, MutabilityImmutable = 2 };
enum CaptureDestination : NS::Integer { CaptureDestinationDeveloperTools = 1, CaptureDestinationGPUTraceDocument = 2 };
enum CaptureError : NS::Integer {
  CaptureErrorNotSupported = 1,
  CaptureErrorAlreadyCapturing = 2,
  CaptureErrorInvalidDescriptor = 3
};
enum BinaryArchiveError : NS::UInteger {
  BinaryArchiveErrorNone = 0,
  BinaryArchiveErrorInvalidFile = 1,
  BinaryArchiveErrorUnexpectedElement = 2,
  BinaryArchiveErrorCompilationFailure = 3,
  BinaryArchiveErrorInternalError = 4
};
enum CounterSamplingPoint : NS::UInteger {
  CounterSamplingPointAtStageBoundary = 0,
  CounterSamplingPointAtDrawBoundary = 1,
  CounterSamplingPointAtDispatchBoundary = 2,
  CounterSamplingPointAtTileDispatchBoundary = 3,
  CounterSamplingPointAtBlitBoundary = 4
};
enum CounterSampleBufferError : NS::Integer {
  CounterSampleBufferErrorOutOfMemory = 0,
  CounterSampleBufferErrorInvalid = 1,
  CounterSampleBufferErrorInternal = 2
};

enum DataType : NS::UInteger {
  DataTypeNone = 0,
  DataTypeStruct = 1,
  DataTypeArray = 2,
  DataTypeFloat = 3,
  DataTypeFloat2 = 4,
  DataTypeFloat3 = 5,
  DataTypeFloat4 = 6,
  DataTypeHalf = 16,
  DataTypeHalf2 = 17,
  DataTypeHalf3 = 18,
  DataTypeHalf4 = 19,
  DataTypeInt = 29,
  DataTypeInt2 = 30,
  DataTypeInt3 = 31,
  DataTypeInt4 = 32,
  DataTypeUInt = 33,
  DataTypeUInt2 = 34,
  DataTypeUInt3 = 35,
  DataTypeUInt4 = 36,
  DataTypeShort = 37,
  DataTypeShort2 = 38,
  DataTypeShort3 = 39,
  DataTypeShort4 = 40,
  DataTypeUShort = 41,
  DataTypeUShort2 = 42,
  DataTypeUShort3 = 43,
  DataTypeUShort4 = 44,
  DataTypeChar = 45,
  DataTypeChar2 = 46,
  DataTypeChar3 = 47,
  DataTypeChar4 = 48,
  DataTypeUChar = 49,
  DataTypeUChar2 = 50,
  DataTypeUChar3 = 51,
  DataTypeUChar4 = 52,
  DataTypeBool = 53,
  DataTypeBool2 = 54,
  DataTypeBool3 = 55,
  DataTypeBool4 = 56,
  DataTypeTexture = 58,
  DataTypeSampler = 59,
  DataTypePointer = 60,
  DataTypeLong = 81,
  DataTypeLong2 = 82,
  DataTypeLong3 = 83,
  DataTypeLong4 = 84,
  DataTypeULong = 85,
  DataTypeULong2 = 86,
  DataTypeULong3 = 87,
  DataTypeULong4 = 88,
  DataTypeBFloat = 121,
  DataTypeBFloat2 = 122,
  DataTypeBFloat3 = 123,
  DataTypeBFloat4 = 124
};

class Allocation;
class ArgumentEncoder;
class BinaryArchive;
class BlitCommandEncoder;
class Buffer;
class CommandBuffer;
class CommandQueue;
class ComputeCommandEncoder;
class ComputePipelineReflection;
class ComputePipelineState;
class Device;
class Event;
class Fence;
class Function;
class FunctionHandle;
class Heap;
class Library;
class ResidencySet;
class Resource;
class SamplerDescriptor;
class SamplerState;
class SharedEvent;
class Texture;
class TextureDescriptor;
class VisibleFunctionTable;
class VisibleFunctionTableDescriptor;

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

}  // namespace MTL
