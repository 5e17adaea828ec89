// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compute part of Metal in C++, with metal-cpp's names and ownership rules, over smelt: kernels run on the CPU.
// What each function does here and what differs from a Mac: docs/reference/metal-api.md. Everything is in
// libsmelt-metal.so, so MTL_PRIVATE_IMPLEMENTATION, which metal-cpp wants defined in one file, may be defined or not.
#pragma once

#include "Metal/argument.hpp"
#include "Metal/capture.hpp"
#include "Metal/command.hpp"
#include "Metal/device.hpp"
#include "Metal/function_table.hpp"
#include "Metal/library.hpp"
#include "Metal/pipeline.hpp"
#include "Metal/resource.hpp"
#include "Metal/sync.hpp"
#include "Metal/texture.hpp"
#include "Metal/types.hpp"
