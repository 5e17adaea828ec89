/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSData.h>
#import <Foundation/NSError.h>

typedef NSString* NSFileAttributeKey;
typedef NSString* NSFileAttributeType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeRegular;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeDirectory;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeSymbolicLink;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeUnknown;

@interface NSFileManager : NSObject
@property(class, readonly, strong) NSFileManager* defaultManager;
@property(readonly, copy) NSString* currentDirectoryPath;
- (BOOL)fileExistsAtPath:(NSString*)path;
- (BOOL)fileExistsAtPath:(NSString*)path isDirectory:(BOOL*)folder;
- (BOOL)isReadableFileAtPath:(NSString*)path;
- (NSDictionary<NSFileAttributeKey, id>*)attributesOfItemAtPath:(NSString*)path error:(NSError**)error;
- (NSString*)destinationOfSymbolicLinkAtPath:(NSString*)path error:(NSError**)error;
- (BOOL)createDirectoryAtPath:(NSString*)path
    withIntermediateDirectories:(BOOL)all
                     attributes:(NSDictionary<NSFileAttributeKey, id>*)attributes
                          error:(NSError**)error;
- (BOOL)createDirectoryAtURL:(NSURL*)url
    withIntermediateDirectories:(BOOL)all
                     attributes:(NSDictionary<NSFileAttributeKey, id>*)attributes
                          error:(NSError**)error;
- (BOOL)removeItemAtPath:(NSString*)path error:(NSError**)error;
- (BOOL)removeItemAtURL:(NSURL*)url error:(NSError**)error;
@property(readonly, copy) NSURL* temporaryDirectory;
- (NSData*)contentsAtPath:(NSString*)path;
@end
FOUNDATION_EXPORT NSString* NSTemporaryDirectory(void);
