// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_groups.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

namespace smelt::bench {
namespace {

constexpr int kSkipped = 77;  // as a test that cannot run ends

bool runs(const std::vector<std::string>& words) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kSkipped);
}

}  // namespace

int run_groups(const std::string& rounds) {
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe");
  const std::filesystem::path folder = self.parent_path();
  bool all = true;
  for (const char* threads : {"1", "2"}) all &= runs({self.string(), "--threads", threads, rounds});
  for (const char* group : {"bench_cpu_kernels_ggml", "bench_cpu_kernels_launch"}) {
    if (std::filesystem::exists(folder / group))
      all &= runs({(folder / group).string()});
    else
      fmt::print("\n{}: not built here; bench/cpu_kernels/CMakeLists.txt says what it needs\n", group);
  }
  all &= runs({SMELT_PYTHON, SMELT_SOURCE_DIR "/bench/cpu_kernels/triton.py", "--smelt", (folder / "smelt").string()});
  return all ? 0 : 1;
}

}  // namespace smelt::bench
