// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the classes of strings hold their text. Objective-C++ without ARC.
#pragma once
#include "internal.hpp"

@interface NSString (Storage)
- (std::string_view)smelt_text;  ///< ends with a 0 that is not part of it
- (instancetype)smelt_init:(std::string)text;
@end
