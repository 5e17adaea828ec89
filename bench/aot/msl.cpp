// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source to AIR and to callable kernels:
//
//   bench_msl [KERNELS=500]
//
// One run prints, for 1, 10 and KERNELS kernels in one source: text to metallib in a fresh process with kept headers
// (cold), again and again in one process (warm), and on all cores; the same kernels from OpenCL C by PoCL, cold and
// warm, and from C++ by a clang process (with no library behind them, so it has the easier job). Then an edit of one
// kernel against a compile of all and against a full hit of the store; and the headline, text to callable kernel
// against store to callable kernel. Processor time does not change when the machine is busy; ratios are of that.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"
#include "smelt/loader/device.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/service/session.hpp"

#include "bench.hpp"
#include "msl_sources.hpp"

#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

using namespace smelt;
using namespace smelt::bench;
namespace fs = std::filesystem;

namespace {

struct Cost {
  double wall = 0, cpu = 0;  ///< milliseconds
};

double children_cpu_ms() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

Cost cost_of(const std::function<void()>& work) {
  const double before = cpu_ms();
  Cost cost;
  cost.wall = 1e3 * timed(work);
  cost.cpu = cpu_ms() - before;
  return cost;
}

Cost median_of(const std::vector<Cost>& costs) {
  std::vector<double> wall, cpu;
  for (const Cost& cost : costs) {
    wall.push_back(cost.wall);
    cpu.push_back(cost.cpu);
  }
  return {median(wall), median(cpu)};
}

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}

Cost compile(const std::string& text, aot::CompileOptions options) {
  options.targets = {aot::default_target()};
  const aot::Source source{"bench.metal", as_bytes(text)};
  return cost_of([&] { must(aot::compile(std::span(&source, 1), options)); });
}

/// What a command prints, and what it costs. Empty when it fails.
std::string output_of(const std::string& command, Cost* cost = nullptr) {
  std::string text;
  const double start = now(), before = children_cpu_ms();
  if (FILE* pipe = popen(command.c_str(), "r")) {
    std::array<char, 4096> buffer;
    while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
    if (pclose(pipe) != 0) text.clear();
  }
  if (cost) *cost = {(now() - start) * 1e3, children_cpu_ms() - before};
  return text;
}

struct Pocl {
  Cost cold, warm;
  double callable = 0, cached = 0;  ///< milliseconds to a kernel that has run: fresh text, and PoCL's cache
};

std::optional<Pocl> pocl(const std::string& program, const fs::path& cache, size_t kernels) {
  const std::string text = output_of(fmt::format("POCL_CACHE_DIR={} POCL_MAX_PTHREAD_COUNT=1 {} {} {} 2>/dev/null",
                                                 cache.string(), program, kernels, kernels > 10 ? 3 : 8));
  std::vector<std::array<double, 3>> rows;
  for (const char* at = text.c_str(); *at != 0;) {
    std::array<double, 3> row{};
    int used = 0;
    if (std::sscanf(at, "%lf %lf %lf\n%n", &row[0], &row[1], &row[2], &used) != 3) break;
    rows.push_back(row);
    at += used;
  }
  if (rows.size() < 3) return std::nullopt;
  Pocl result{.cold = {rows[0][0], rows[0][1]}, .cached = rows.back()[2]};
  rows.pop_back();
  std::vector<Cost> warm;
  std::vector<double> callable;
  for (size_t i = 1; i < rows.size(); ++i) {
    warm.push_back({rows[i][0], rows[i][1]});
    callable.push_back(rows[i][2]);
  }
  result.warm = median_of(warm);
  result.callable = median(callable);
  return result;
}

std::string shown(const Cost& cost) {
  return fmt::format("{:.1f} ({:.1f})", cost.wall, cost.cpu);
}

Cost callable(service::Session& session, const loader::DeviceRef& device, const std::string& text) {
  service::Request request;
  request.sources.push_back({"bench.metal", as_bytes(text)});
  return cost_of([&] {
    const auto library = must(session.load(request, device));
    must(must(library->function("axpy_0"))->pipeline());
  });
}

/// A library of `kernels` with CPU code: all compiled, one edited, all from the store.
void print_edit(const fs::path& store, size_t kernels) {
  const auto session = service::Session::open({.store = store});
  std::string text = metal_source(kernels);
  const auto make = [&] {
    service::Request request;
    request.sources.push_back({"bench.metal", as_bytes(text)});
    return must(session->make(request));
  };
  service::CompileResult made(signing::Provenance::made_here());
  const Cost cold = cost_of([&] { made = make(); });
  std::vector<Cost> edits, hits;
  for (int i = 0; i < 5; ++i) {
    const std::string number = fmt::format(" + {}.0f", i == 0 ? "7" : fmt::format("7{}", i - 1));
    text.replace(text.find(number), number.size(), fmt::format(" + 7{}.0f", i));
    edits.push_back(cost_of([&] { made = make(); }));
    hits.push_back(cost_of([&] { make(); }));
  }
  const Cost edit = median_of(edits), hit = median_of(hits);
  fmt::print("\n{} kernels with CPU code, ms wall (processor)\n", kernels);
  fmt::print("  all compiled {}; one edited {}, {} of {} from the store; full hit {}\n", shown(cold), shown(edit),
             made.kernels_kept, made.kernels, shown(hit));
  fmt::print("  an edit costs {:.3f} of a compile\n", edit.cpu / cold.cpu);
}

void print_callable(const fs::path& store, const loader::DeviceRef& device, const std::optional<Pocl>& rival) {
  const auto session = service::Session::open({.store = store});
  callable(*session, device, metal_source(2));  // opens the store and the headers
  std::vector<Cost> fresh, kept;
  for (int i = 0; i < 8; ++i) {
    const std::string text = metal_source(1) + fmt::format("kernel void extra_{}() {{}}\n", i) + "// \n";
    fresh.push_back(callable(*session, device, text));
    kept.push_back(callable(*session, device, text));
  }
  const Cost slow = median_of(fresh), fast = median_of(kept);
  fmt::print("\ntext to callable kernel {} ms; store to callable kernel {:.3f} ({:.3f}) ms: 1 : {:.0f}\n", shown(slow),
             fast.wall, fast.cpu, slow.wall / fast.wall);
  if (rival)
    fmt::print("PoCL: text to a kernel that has run {:.1f} ms; from its cache {:.2f} ms\n", rival->callable,
               rival->cached);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--once") == 0) {  // a fresh process for the cold figures
    aot::CompileOptions options;
    options.cache_folder = argv[3];
    const Cost cost = compile(metal_source(static_cast<size_t>(std::atoi(argv[2]))), options);
    fmt::print("{} {}\n", cost.wall, cost.cpu);
    return 0;
  }
  const size_t many = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : 500;
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_msl_{}", static_cast<int>(now() * 1e3));
  fs::create_directories(folder);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  aot::CompileOptions options;
  options.cache_folder = (folder / "headers").string();
  fmt::print("headers precompiled and kept: {} ms\n\nms wall (processor)\n", shown(compile(metal_source(1), options)));
  fmt::print("{:<8} {:>16} {:>16} {:>10} {:>16} {:>16} {:>16} {:>12} {:>12}\n", "kernels", "cold", "warm", "all cores",
             "PoCL cold", "PoCL warm", "clang++", "PoCL/smelt", "clang/smelt");
  std::optional<Pocl> first_rival;
  for (const size_t kernels : {size_t{1}, size_t{10}, many}) {
    const std::string text = metal_source(kernels);
    Cost cold;
    std::sscanf(output_of(fmt::format("{} --once {} {}", self, kernels, options.cache_folder)).c_str(), "%lf %lf",
                &cold.wall, &cold.cpu);
    std::vector<Cost> times;
    for (int i = 0; i < (kernels > 10 ? 3 : 15); ++i) times.push_back(compile(text, options));
    const Cost warm = median_of(times);
    aot::CompileOptions parallel = options;
    parallel.threads = 0;
    const Cost all_cores = compile(text, parallel);
    const auto rival = pocl(self + "_pocl", folder / "pocl", kernels);
    if (kernels == 1) first_rival = rival;
    const fs::path file = folder / "bench.cpp";
    (void)write_file(file, as_bytes(cpp_source(kernels)));
    std::vector<Cost> clang;
    for (int i = 0; i < 3; ++i)
      output_of(fmt::format("clang++-19 -std=c++20 -O2 -emit-llvm -c {} -o {}", file.string(),
                            (folder / "bench.bc").string()),
                &clang.emplace_back());
    const Cost other = median_of(clang);
    fmt::print("{:<8} {:>16} {:>16} {:>10.1f} {:>16} {:>16} {:>16} {:>12} {:>12.2f}\n", kernels, shown(cold),
               shown(warm), all_cores.wall, rival ? shown(rival->cold) : "-", rival ? shown(rival->warm) : "-",
               shown(other), rival ? fmt::format("{:.2f}", rival->warm.cpu / warm.cpu) : "-", other.cpu / warm.cpu);
  }
  aot::CompileOptions one = options;
  one.functions = {"axpy_0"};
  fmt::print("one kernel of {} by name: {}\n", many, shown(compile(metal_source(many), one)));
  print_edit(folder / "edits", 100);
  if (const auto device = loader::Device::open(loader::DeviceKind::cpu))
    print_callable(folder / "store", *device, first_rival);
  fs::remove_all(folder);
}
