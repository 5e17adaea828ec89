// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precompiled: what most tests include. A test still includes what it uses, as builds without this one need.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/result.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>
