// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precompiled for the files that speak with Clang (aot/CMakeLists.txt): its headers cost more than LLVM's.
#pragma once

#include "llvm_support/pch.hpp"

#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
