// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of bench_cpu_kernels share: errors as exceptions, and packages that another program compiles.
#pragma once

#include "smelt/base/files.hpp"
#include "smelt/loader/encoder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace smelt::bench {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline loader::DeviceRef cpu_device(unsigned threads) {
  loader::DeviceOptions options;
  options.threads = threads;
  return must(loader::Device::open(loader::DeviceKind::cpu, options));
}

/// What bench_cpu_kernels_build, beside this program, makes of `arguments`: PoCL brings an LLVM of its own, which does
/// not share a process with ours.
inline loader::LibraryRef build(const loader::DeviceRef& device, const std::string& arguments = {}) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("smelt-bench-{}.smelt", ::getpid());
  const auto builder = std::filesystem::canonical("/proc/self/exe").parent_path() / "bench_cpu_kernels_build";
  if (std::system((builder.string() + " " + file.string() + " " + arguments).c_str()) != 0)
    throw std::runtime_error(builder.string() + " failed");
  const Bytes bytes = must(read_file(file));
  std::filesystem::remove(file);
  return must(loader::Library::load(device, bytes));
}

}  // namespace smelt::bench
