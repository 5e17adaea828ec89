// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal libraries that others built, with a few of their bits changed, through everything that reads them: verify,
// describe, disassemble, compile, CPU code. An answer is an error or a result, within a time; a finding is a call that
// takes longer. A mutant that ends the process leaves its file, which is written before it is tried.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/cpu.hpp"
#include "smelt/aot/kernel_info.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"

#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

using namespace smelt;
using Clock = std::chrono::steady_clock;

namespace {

struct Original {
  std::string name;
  std::shared_ptr<const Bytes> file;
  ByteView module;
};

/// Modules of at most `most` bytes of the libraries below the paths.
std::vector<Original> read_originals(const std::vector<std::string>& paths, size_t most) {
  std::vector<Original> originals;
  const auto add = [&](const std::filesystem::path& path) {
    auto bytes = read_file(path);
    if (!bytes || !metallib::is_metallib(*bytes)) return;
    const auto file = std::make_shared<const Bytes>(std::move(*bytes));
    const auto library = metallib::read(*file);
    if (!library) return;
    for (const metallib::Function& function : library->functions) {
      const ByteView module = library->module_of(function).bitcode();
      if (module.size() <= most) originals.push_back({function.name, file, module});
    }
  };
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      add(path);
      continue;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add(file);
  }
  return originals;
}

/// Bits flipped, bytes and words set to telling values, pieces copied over others, an end cut off.
Bytes mutate(const Bytes& from, std::mt19937_64& random) {
  Bytes bytes = from;
  const auto at = [&](size_t size) { return static_cast<size_t>(random() % std::max<size_t>(1, bytes.size() - size)); };
  const auto times = 1 + random() % 6;
  for (uint64_t i = 0; i < times && bytes.size() > 16; ++i) {
    switch (random() % 8) {
      case 0:
        bytes[at(1)] = static_cast<std::byte>(random());
        break;
      case 1: {
        static constexpr uint32_t kWords[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
        const uint32_t word = kWords[random() % std::size(kWords)];
        std::memcpy(bytes.data() + (at(4) & ~size_t{3}), &word, sizeof(word));
        break;
      }
      case 2: {
        const size_t size = 1 + random() % 16, source = at(size), target = at(size);
        std::memmove(bytes.data() + target, bytes.data() + source,
                     std::min(size, bytes.size() - std::max(source, target)));
        break;
      }
      case 3:
        if (random() % 8 == 0) bytes.resize(16 + random() % (bytes.size() - 16));
        break;
      default:
        bytes[at(1)] ^= std::byte{1} << (random() % 8);
    }
  }
  return bytes;
}

struct Counts {
  uint64_t made = 0, clean = 0, described = 0, disassembled = 0, compiled = 0, native = 0;
};

/// How long the longest call took.
double try_all(const Original& original, const Bytes& module, Counts& counts) {
  double longest = 0;
  const auto timed = [&](auto&& call) {
    const auto began = Clock::now();
    call();
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - began).count());
  };
  ++counts.made;
  timed([&] { counts.clean += aot::verify_module(module).empty(); });
  timed([&] { counts.described += aot::describe(module, original.name).has_value(); });
  timed([&] { counts.disassembled += aot::disassemble(module, original.name).has_value(); });
  const aot::Source source{"mutant", module};
  aot::CompileOptions options;
  options.threads = 1;
  timed([&] { counts.compiled += aot::compile(std::span(&source, 1), options).has_value(); });
  const aot::AirModuleView view{original.name, module};
  timed([&] {
    const auto made = aot::compile_cpu(std::span(&view, 1), {});
    counts.native += made && !made->kernels.empty();
  });
  return longest;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10, limit = 60;
  uint64_t seed = 1, only = 0, most = 0;
  size_t largest = 8192;
  std::string keep = "findings";
  std::vector<std::string> paths;
  CLI::App app("Changes bits of Metal libraries and reads, compiles and runs nothing of what comes out");
  app.add_option("FILE", paths, "Metal libraries, or folders of them")->required();
  app.add_option("--seconds", seconds, "How long");
  app.add_option("--count", most, "How many at most (default: as many as there is time for)");
  app.add_option("--seed", seed, "Number of the first mutant");
  app.add_option("--only", only, "Try this mutant alone");
  app.add_option("--limit", limit, "Seconds that a call may take");
  app.add_option("--largest", largest, "Bytes of the largest module that is changed");
  app.add_option("--keep", keep, "Folder for mutants that did harm");
  CLI11_PARSE(app, argc, argv);

  const std::vector<Original> originals = read_originals(paths, largest);
  if (originals.empty()) {
    fmt::print("SKIPPED: no Metal library at {}\n", fmt::join(paths, ", "));
    return 77;
  }
  std::filesystem::create_directories(keep);
  const std::filesystem::path current = std::filesystem::path(keep) / fmt::format("current-{}.bc", seed);
  Counts counts;
  int findings = 0;
  double slowest = 0;
  const auto began = Clock::now();
  uint64_t next = only != 0 ? only : seed;
  for (;; ++next) {
    if (std::chrono::duration<double>(Clock::now() - began).count() > seconds) break;
    if ((most != 0 && counts.made >= most) || (only != 0 && next != only)) break;
    std::mt19937_64 random(next);
    const Original& original = originals[random() % originals.size()];
    const Bytes module = mutate(to_bytes(original.module), random);
    if (auto written = write_file(current, module); !written) {
      fmt::print(stderr, "{}\n", written.error().message);
      return 1;
    }
    const double longest = try_all(original, module, counts);
    slowest = std::max(slowest, longest);
    if (counts.made % 1000 == 0) fmt::print(stderr, "{} mutants, the slowest call {:.2f} s\n", counts.made, slowest);
    if (longest <= limit) continue;
    ++findings;
    fmt::print("mutant {} of '{}': a call took {:.1f} s\n", next, original.name, longest);
    (void)write_file(std::filesystem::path(keep) / fmt::format("slow-{}.bc", next), module);
  }
  std::filesystem::remove(current);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} mutants of {} modules in {:.0f} s: {} without a finding, {} described, {} disassembled, {} compiled, {} "
      "made CPU code; the slowest call took {:.2f} s, the process {} MB\n",
      counts.made, originals.size(), std::chrono::duration<double>(Clock::now() - began).count(), counts.clean,
      counts.described, counts.disassembled, counts.compiled, counts.native, slowest, usage.ru_maxrss / 1024);
  return findings == 0 ? 0 : 1;
}
