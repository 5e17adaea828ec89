// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the kernels of bench_cpu_kernels for this processor:  bench_cpu_kernels_build OUT.smelt
#include "smelt/base/files.hpp"
#include "smelt/service/session.hpp"

#include <cstdio>

namespace smelt::bench {
namespace {

Result<void> build(const std::filesystem::path& out) {
  const std::filesystem::path source = SMELT_SOURCE_DIR;
  std::vector<std::filesystem::path> files;
  for (const char* name : {"vadd", "square", "saxpy_half", "rope"})
    files.push_back(source / "bench/cpu_kernels/ir" / (std::string(name) + ".ll"));
  for (const char* name : {"sreduce", "softmax", "matmul", "hist"})
    files.push_back(source / "tests/aot/cpu/kernels" / (std::string(name) + ".ll"));
  std::vector<Bytes> texts;
  for (const std::filesystem::path& file : files) {
    SMELT_TRY(texts.emplace_back(), read_file(file));
  }
  service::Request request;
  for (size_t i = 0; i < files.size(); ++i) request.sources.push_back({files[i].stem().string(), texts[i]});
  request.name = "bench";
  SMELT_TRY(request.options.targets.emplace_back(), aot::parse_target("macos15"));
  SMELT_TRY(request.levels.emplace_back(), aot::host_cpu_level());
  SMELT_TRY(const Bytes package, service::build_package(request, 1, {}));
  return write_file(out, package);
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto built = smelt::bench::build(arguments[1]);
  if (!built) std::fprintf(stderr, "bench_cpu_kernels_build: %s\n", built.error().message.c_str());
  return built ? 0 : 1;
}
