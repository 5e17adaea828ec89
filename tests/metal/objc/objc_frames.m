// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of plain Objective-C for test_exceptions.mm.
#import <Foundation/Foundation.h>

int caught_in_objc(void (*throws)(void)) {
  @try {
    throws();
  } @catch (NSException* e) {
    return 1;
  } @catch (id e) {
    return [e isKindOfClass:[NSString class]] ? 2 : -1;
  } @catch (...) {
    return 3;
  }
  return 0;
}

int finally_in_objc(void (*throws)(void), int* ran) {
  @try {
    @try {
      throws();
    } @catch (NSException* e) {
      *ran += 1;
      @throw;
    } @finally {
      *ran += 10;
    }
  } @catch (NSException* e) {
    return 1;
  }
  return 0;
}

void throw_from_objc(void) { @throw [NSException exceptionWithName:@"Thrown" reason:@"in Objective-C" userInfo:nil]; }

void through_objc(void (*throws)(void), int* ran) {
  NSObject* lock = [NSObject new];
  @try {
    @synchronized(lock) {
      throws();
    }
  } @finally {
    *ran += 1;
    @synchronized(lock) {  // free again
      [lock hash];
    }
    [lock release];
  }
}
