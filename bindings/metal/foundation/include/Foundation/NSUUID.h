/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSString.h>

typedef unsigned char uuid_t[16];

@interface NSUUID : NSObject <NSCopying>
/** Makes a random UUID (version 4). */
+ (instancetype)UUID;
- (instancetype)init;
/** Returns nil for text of another form. */
- (instancetype)initWithUUIDString:(NSString*)text;
- (instancetype)initWithUUIDBytes:(const uuid_t)bytes;
- (void)getUUIDBytes:(uuid_t)bytes;
@property(readonly, copy) NSString* UUIDString;
@end
