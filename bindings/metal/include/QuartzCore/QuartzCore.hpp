// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal-cpp's third header, which programs include with the other two. Its classes show textures on a screen, which
// there is none of here: CA::MetalLayer and CA::MetalDrawable are not declared, so that whoever needs them learns it
// when the program is compiled. CA_PRIVATE_IMPLEMENTATION may be defined or not.
#pragma once

#include "Foundation/Foundation.hpp"
#include "Metal/Metal.hpp"
