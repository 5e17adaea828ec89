/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program has one bundle: the folder that it lies in. */
#pragma once

#import <Foundation/NSURL.h>

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle* mainBundle;
+ (NSBundle*)bundleForClass:(Class)of; /* the main bundle */
+ (instancetype)bundleWithPath:(NSString*)path;
- (instancetype)initWithPath:(NSString*)path;
@property(readonly, copy) NSString* bundlePath;
@property(readonly, copy) NSURL* bundleURL;
@property(readonly, copy) NSString* resourcePath;
@property(readonly, copy) NSURL* resourceURL;
@property(readonly, copy) NSString* executablePath;
@property(readonly, copy) NSString* bundleIdentifier; /* nil */
/** A file of the folder; nil when it is not there. */
- (NSString*)pathForResource:(NSString*)name ofType:(NSString*)extension;
- (NSURL*)URLForResource:(NSString*)name withExtension:(NSString*)extension;
@end
