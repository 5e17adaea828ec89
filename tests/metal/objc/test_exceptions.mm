// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions between Objective-C, Objective-C++ and C++ frames.
#import <Foundation/Foundation.h>

#include <stdexcept>
#include <string>

#import "check.h"

extern "C" {
int caught_in_objc(void (*throws)(void));  // objc_frames.m
int finally_in_objc(void (*throws)(void), int* ran);
void throw_from_objc(void);
void through_objc(void (*throws)(void), int* ran);
}

namespace {
struct Counter {
  int* at;
  ~Counter() { ++*at; }
};
int destroyed = 0;

void throw_through_cxx() {
  Counter counter{&destroyed};
  throw_from_objc();
}
void throw_cxx() { throw std::runtime_error("from C++"); }

void test_catch() {
  bool right = false;
  @try {
    throw_through_cxx();
  } @catch (NSString*) {
    right = false;
  } @catch (NSException* e) {
    right = [e.name isEqualToString:@"Thrown"] && [e.reason isEqualToString:@"in Objective-C"];
  }
  CHECK(right);
  CHECK(destroyed == 1);
  right = false;
  @try {
    @throw @"a string that is long";
  } @catch (id object) {
    right = [object isEqual:@"a string that is long"];
  }
  CHECK(right);
  right = false;
  try {
    throw_through_cxx();
  } catch (...) {
    right = true;
  }
  CHECK(right);
  right = false;
  try {
    @try {
      throw_cxx();
    } @catch (NSException*) {
      CHECK(false);
    }
  } catch (const std::exception& e) {
    right = std::string(e.what()) == "from C++";
  }
  CHECK(right);
}

void test_objc_frames() {
  CHECK(caught_in_objc(throw_through_cxx) == 1);  // as NSException
  CHECK(caught_in_objc([] { @throw @"some text that is long"; }) == 2);
  CHECK(caught_in_objc(throw_cxx) == 3);
  CHECK(caught_in_objc([] {}) == 0);
  int ran = 0;
  CHECK(finally_in_objc(throw_through_cxx, &ran) == 1);
  CHECK(ran == 11);
  ran = 0;
  bool right = false;
  try {
    through_objc(throw_cxx, &ran);
  } catch (const std::runtime_error&) {
    right = true;
  }
  CHECK(right);
  CHECK(ran == 1);
  ran = 0;
  right = false;
  @try {
    through_objc(throw_through_cxx, &ran);
  } @catch (NSException* e) {
    right = true;
  }
  CHECK(right);
  CHECK(ran == 1);
}

void test_unrecognised() {
  bool right = false;
  @try {
    [(NSString*)[[NSObject new] autorelease] uppercaseString];
  } @catch (NSException* e) {
    right = [e.name isEqualToString:NSInvalidArgumentException] &&
            [e.reason isEqualToString:@"-[NSObject uppercaseString]: no such method"];
  }
  CHECK(right);
}
}  // namespace

int main() {
  @autoreleasepool {
    for (int i = 0; i < 100; ++i) {
      destroyed = 0;
      test_catch();
      test_objc_frames();
      test_unrecognised();
    }
  }
  return outcome();
}
