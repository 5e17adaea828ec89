// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the processor's time goes, without a profiler: every millisecond of processor time a signal looks at the stack.
// A sample belongs to the innermost frame that is neither libc's nor the C++ library's: what LLVM makes malloc do is
// LLVM's. Samples in LLVM are told apart by the entry point of LLVM that is on the stack.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::bench {

class Sampler {
 public:
  static constexpr int kDepth = 96;
  static constexpr size_t kCapacity = 60'000;

  Sampler() {
    void* warm[4];
    backtrace(warm, 4);  // loads libgcc now, not inside a signal
    samples_().resize(kCapacity);
    used_() = 0;
    struct sigaction action{};
    action.sa_handler = &Sampler::take;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    const itimerval every{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &every, nullptr);
  }
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Samples by place, after which the sampler is done.
  std::map<std::string, size_t> stop() {
    const itimerval off{};
    setitimer(ITIMER_PROF, &off, nullptr);
    std::map<std::string, size_t> places;
    for (size_t i = 0; i < std::min(used_().load(), kCapacity); ++i) ++places[place(samples_()[i])];
    return places;
  }

 private:
  struct Sample {
    std::array<void*, kDepth> frames;
    int depth = 0;
  };
  static std::vector<Sample>& samples_() {
    static std::vector<Sample> samples;
    return samples;
  }
  static std::atomic<size_t>& used_() {
    static std::atomic<size_t> used;
    return used;
  }
  static void take(int) {
    const size_t at = used_()++;
    if (at < kCapacity) samples_()[at].depth = backtrace(samples_()[at].frames.data(), kDepth);
  }

  static std::string place(const Sample& sample) {
    bool ours = false, decided = false;
    for (int i = 2; i < sample.depth; ++i) {  // 0 and 1: the handler and the signal's frame
      Dl_info info{};
      if (!dladdr(sample.frames[i], &info) || !info.dli_fname) continue;
      const std::string_view file = info.dli_fname;
      if (!decided) {
        if (file.find("libc.so") != file.npos || file.find("libstdc++") != file.npos ||
            file.find("libgcc") != file.npos || file.find("libm.so") != file.npos || file.find("vdso") != file.npos ||
            file.find("ld-linux") != file.npos)
          continue;
        ours = file.find("libLLVM") == file.npos;
        decided = true;
        if (ours) return "ours";
      }
      if (file.find("libLLVM") == file.npos || !info.dli_sname) continue;
      const std::string_view name = info.dli_sname;
      const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
      if (has("parseAssembly") || has("LLParser")) return "LLVM: parsing text";
      if (has("verifyModule") || has("verifyFunction")) return "LLVM: verifying";
      if (has("WriteBitcode")) return "LLVM: writing bitcode for the next step";
      if (has("LazyBitcodeModule") || has("materialize")) return "LLVM: reading bitcode of the step before";
      if (has("CloneModule")) return "LLVM: cloning";
      if (has("Pass") && has("run")) return "LLVM: passes";
    }
    return decided ? "LLVM: called by ours (values, types, names)" : "ours";
  }
};

}  // namespace smelt::bench
