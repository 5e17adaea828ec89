// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the kernels of bench_cpu_kernels, or some of a library's, for this processor:
//
//   bench_cpu_kernels_build OUT.smelt [LIBRARY.metallib KERNEL...]
#include "smelt/base/files.hpp"
#include "smelt/service/session.hpp"

#include <cstdio>
#include <span>

namespace smelt::bench {
namespace {

std::vector<std::filesystem::path> own_kernels() {
  const std::filesystem::path source = SMELT_SOURCE_DIR;
  std::vector<std::filesystem::path> files;
  for (const char* name : {"vadd", "square", "saxpy_half", "rope"})
    files.push_back(source / "bench/cpu_kernels/ir" / (std::string(name) + ".ll"));
  for (const char* name : {"sreduce", "softmax", "matmul", "hist"})
    files.push_back(source / "tests/aot/cpu/kernels" / (std::string(name) + ".ll"));
  return files;
}

Result<void> build(const std::filesystem::path& out, std::span<char*> library_and_kernels) {
  std::vector<std::filesystem::path> files = own_kernels();
  service::Request request;
  if (!library_and_kernels.empty()) {
    files = {library_and_kernels[0]};
    for (const char* kernel : library_and_kernels.subspan(1)) request.options.functions.emplace_back(kernel);
  } else {
    SMELT_TRY(request.options.targets.emplace_back(), aot::parse_target("macos15"));
  }
  std::vector<Bytes> contents;
  for (const std::filesystem::path& file : files) {
    SMELT_TRY(contents.emplace_back(), read_file(file));
  }
  for (size_t i = 0; i < files.size(); ++i) request.sources.push_back({files[i].stem().string(), contents[i]});
  request.name = "bench";
  SMELT_TRY(request.levels.emplace_back(), aot::host_cpu_level());
  SMELT_TRY(const Bytes package, service::build_package(request, 2, {}));
  return write_file(out, package);
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const auto built = smelt::bench::build(arguments[1], std::span(arguments, static_cast<size_t>(count)).subspan(2));
  if (!built) std::fprintf(stderr, "bench_cpu_kernels_build: %s\n", built.error().message.c_str());
  return built ? 0 : 1;
}
