// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of Foundation that programs written for Metal in C++ use, with metal-cpp's names. Everything is in
// libsmelt-metal.so, so NS_PRIVATE_IMPLEMENTATION, which metal-cpp wants defined in one file, may be defined or not.
#pragma once

#include "Foundation/available.hpp"
#include "Foundation/collections.hpp"
#include "Foundation/object.hpp"
#include "Foundation/strings.hpp"
#include "Foundation/values.hpp"

// Programs for metal-cpp have these through its headers, and rely on it.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
