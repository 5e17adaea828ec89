/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of Apple's Foundation that programs for Metal use, written from its public documentation. What is not
 * declared is not there; docs/reference/objective-c.md has the list. */
#pragma once

#import <Foundation/NSArray.h>
#import <Foundation/NSAutoreleasePool.h>
#import <Foundation/NSBundle.h>
#import <Foundation/NSData.h>
#import <Foundation/NSDate.h>
#import <Foundation/NSDictionary.h>
#import <Foundation/NSEnumerator.h>
#import <Foundation/NSError.h>
#import <Foundation/NSException.h>
#import <Foundation/NSFileManager.h>
#import <Foundation/NSHashTable.h>
#import <Foundation/NSLock.h>
#import <Foundation/NSObjCRuntime.h>
#import <Foundation/NSObject.h>
#import <Foundation/NSProcessInfo.h>
#import <Foundation/NSSet.h>
#import <Foundation/NSString.h>
#import <Foundation/NSURL.h>
#import <Foundation/NSUUID.h>
#import <Foundation/NSValue.h>

/* What programs take for granted after this header on a Mac. */
#include <Block.h>
#include <assert.h>
#include <dispatch/dispatch.h>
#include <inttypes.h>
#include <mach/mach.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif
