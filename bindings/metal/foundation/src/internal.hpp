// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Foundation's files share. Objective-C++ without ARC.
#pragma once
#import <Foundation/Foundation.h>
#include <objc/objc-arc.h>

#include <string>
#include <string_view>

namespace smelt::foundation {

/** The text as UTF-8; alive as UTF8String's is. Empty for nil. */
std::string_view text_of(NSString* string);
NSString* string_of(std::string_view text);  // autoreleased
NSString* format_list(NSString* format, va_list list);

/** Throws; for arguments that are outside of what there is, and the like. */
[[noreturn]] void raise(NSString* name, const char* format, ...) __attribute__((format(printf, 2, 3)));

/** Sets *error, if wanted, to what errno says about the path. */
void file_error(NSError** error, int code, int posix_error, NSString* path);
/** False: errno says why. */
bool read_file(const char* path, std::string& bytes);
bool write_file(const char* path, std::string_view bytes, bool atomically);

}  // namespace smelt::foundation
