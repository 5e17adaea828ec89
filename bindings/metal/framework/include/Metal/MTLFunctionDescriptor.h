/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLFunctionConstantValues.h>

typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
  MTLFunctionOptionNone = 0,
  MTLFunctionOptionCompileToBinary = 1,
};

@interface MTLFunctionDescriptor : SmeltMetalObject <NSCopying>
+ (MTLFunctionDescriptor*)functionDescriptor;
@property(copy) NSString* name;
@property(copy) NSString* specializedName;
@property(copy) MTLFunctionConstantValues* constantValues;
@property MTLFunctionOptions options;
@property(copy) NSArray<id<MTLBinaryArchive>>* binaryArchives;
@end
