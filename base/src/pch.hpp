// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precompiled for all modules that know no LLVM (cmake/smelt.cmake), whose compile would else be mostly reading these
// headers. No source counts on it: each includes what it uses, and other builds go without.
#pragma once
#include <fmt/format.h>
#include <smelt/base/result.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
