// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of it, under the name of metal-cpp's single header.
#pragma once

#include "Foundation/Foundation.hpp"
#include "Metal/Metal.hpp"
#include "QuartzCore/QuartzCore.hpp"
