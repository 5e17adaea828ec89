/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Libraries and their functions. */
#pragma once

#import <Metal/MTLArgumentEncoder.h>
#import <Metal/MTLFunctionDescriptor.h>

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion1_0 = 0x10000,
  MTLLanguageVersion1_1 = 0x10001,
  MTLLanguageVersion1_2 = 0x10002,
  MTLLanguageVersion2_0 = 0x20000,
  MTLLanguageVersion2_1 = 0x20001,
  MTLLanguageVersion2_2 = 0x20002,
  MTLLanguageVersion2_3 = 0x20003,
  MTLLanguageVersion2_4 = 0x20004,
  MTLLanguageVersion3_0 = 0x30000,
  MTLLanguageVersion3_1 = 0x30001,
  MTLLanguageVersion3_2 = 0x30002,
  MTLLanguageVersion4_0 = 0x40000,
  MTLLanguageVersion4_1 = 0x40001,
};
typedef NS_ENUM(NSInteger, MTLLibraryType) {
  MTLLibraryTypeExecutable = 0,
  MTLLibraryTypeDynamic = 1,
};
typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
  MTLLibraryOptimizationLevelDefault = 0,
  MTLLibraryOptimizationLevelSize = 1,
};
typedef NS_ENUM(NSInteger, MTLMathMode) {
  MTLMathModeSafe = 0,
  MTLMathModeRelaxed = 1,
  MTLMathModeFast = 2,
};
typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1,
};
typedef NS_ENUM(NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};
typedef NS_ENUM(NSUInteger, MTLFunctionType) {
  MTLFunctionTypeVertex = 1,
  MTLFunctionTypeFragment = 2,
  MTLFunctionTypeKernel = 3,
  MTLFunctionTypeVisible = 5,
  MTLFunctionTypeIntersection = 6,
  MTLFunctionTypeMesh = 7,
  MTLFunctionTypeObject = 8,
};

MTL_EXPORT NSErrorDomain const MTLLibraryErrorDomain;

/** How Metal source is compiled. Defaults are Metal's: fast math, the newest language version. */
@interface MTLCompileOptions : SmeltMetalObject <NSCopying>
/** Names to strings or numbers, as -D. */
@property(copy) NSDictionary<NSString*, NSObject*>* preprocessorMacros;
@property BOOL fastMathEnabled;
@property MTLMathMode mathMode;
@property MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property MTLLanguageVersion languageVersion;
/** MTLLibraryTypeDynamic is an error when the library is made. */
@property MTLLibraryType libraryType;
@property MTLLibraryOptimizationLevel optimizationLevel;
@property BOOL preserveInvariance;
/** Messages of kernels (os_log, Metal 3.2) are kept, and written to standard error. */
@property BOOL enableLogging;
@property NSUInteger maxTotalThreadsPerThreadgroup;
@end

@interface MTLFunctionConstant : SmeltMetalObject
@property(readonly) NSString* name;
@property(readonly) MTLDataType type;
@property(readonly) NSUInteger index;
@property(readonly) BOOL required;
@end

@protocol MTLFunction <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLFunctionType functionType;
/** The specialised name, if one was given. */
@property(readonly) NSString* name;
@property(readonly) MTLFunctionOptions options;
@property(readonly) NSDictionary<NSString*, MTLFunctionConstant*>* functionConstantsDictionary;
/** For the kernel's argument buffer at [[buffer(index)]], laid out as the kernel reads it. nil,
 * which is misuse, when there is none. */
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index;
/** `reflection`, if not nil, gets what the pipeline says about that argument. */
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index
                                                 reflection:(MTLAutoreleasedArgument*)reflection;
@end

@protocol MTLLibrary <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
/** nil when the library has none of that name. */
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError* __autoreleasing*)error;
- (void)newFunctionWithName:(NSString*)name
             constantValues:(MTLFunctionConstantValues*)values
          completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler;
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor error:(NSError* __autoreleasing*)error;
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor
                completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler;
@property(readonly) NSArray<NSString*>* functionNames;
@property(readonly) MTLLibraryType type;
@property(readonly) NSString* installName;
@end
