/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of files: "file:///a/b", or a path. */
#pragma once

#import <Foundation/NSString.h>

@interface NSURL : NSObject <NSCopying, NSSecureCoding>
+ (instancetype)fileURLWithPath:(NSString*)path;
+ (instancetype)fileURLWithPath:(NSString*)path isDirectory:(BOOL)folder;
+ (instancetype)URLWithString:(NSString*)text;
- (instancetype)initFileURLWithPath:(NSString*)path;
- (instancetype)initWithString:(NSString*)text;
@property(readonly, copy) NSString* path;
@property(readonly, copy) NSString* absoluteString;
@property(readonly, copy) NSString* lastPathComponent;
@property(readonly, copy) NSString* pathExtension;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) const char* fileSystemRepresentation NS_RETURNS_INNER_POINTER;
- (NSURL*)URLByAppendingPathComponent:(NSString*)component;
- (NSURL*)URLByAppendingPathExtension:(NSString*)extension;
@property(readonly, copy) NSURL* URLByDeletingLastPathComponent;
@property(readonly, copy) NSURL* URLByDeletingPathExtension;
@end
