// Metal source to AIR and to callable kernels:
//
//   bench_msl [KERNELS=500]
//
// One run prints, for 1, 10 and KERNELS kernels in one source: text to metallib the first time in a process without
// kept headers (cold), then again and again (warm); one kernel of the last source by name; the same kernels as C++
// through one clang process (parsed with no library behind it, so it has the easier job); and the headline, text to
// callable kernel against store to callable kernel.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"
#include "smelt/loader/device.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/service/session.hpp"

#include "bench.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

using namespace smelt;
using namespace smelt::bench;
namespace fs = std::filesystem;

namespace {

std::string metal_source(size_t kernels) {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (size_t i = 0; i < kernels; ++i)
    text += fmt::format(
        "kernel void axpy_{0}(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a "
        "[[buffer(2)]], constant uint& n [[buffer(3)]], uint i [[thread_position_in_grid]]) {{\n"
        "  if (i < n) y[i] = fma(a, x[i], y[i]) + {0}.0f;\n}}\n",
        i);
  return text;
}

std::string cpp_source(size_t kernels) {
  std::string text;
  for (size_t i = 0; i < kernels; ++i)
    text += fmt::format(
        "extern \"C\" void axpy_{0}(const float* x, float* y, const float& a, const unsigned& n, unsigned i) {{\n"
        "  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]) + {0}.0f;\n}}\n",
        i);
  return text;
}

/// Of all threads of this process: does not change when the machine is busy.
double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

double compile_ms(const std::string& text, aot::CompileOptions options) {
  options.targets = {aot::default_target()};
  const aot::Source source{"bench.metal", as_bytes(text)};
  return 1e3 * timed([&] {
           const auto compiled = aot::compile(std::span(&source, 1), options);
           if (!compiled) {
             fmt::print(stderr, "{}\n", compiled.error().message);
             std::exit(1);
           }
         });
}

double callable_ms(service::Session& session, const loader::DeviceRef& device, const std::string& text) {
  service::Request request;
  request.sources.push_back({"bench.metal", as_bytes(text)});
  request.options.targets = {aot::default_target()};
  return 1e3 * timed([&] {
           const auto library = session.load(request, device);
           const auto function = library ? (*library)->function("axpy_0") : tl::unexpected(library.error());
           const auto pipeline = function ? (*function)->pipeline() : tl::unexpected(function.error());
           if (!pipeline) {
             fmt::print(stderr, "{}\n", pipeline.error().message);
             std::exit(1);
           }
         });
}

}  // namespace

int main(int argc, char** argv) {
  const size_t many = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : 500;
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_msl_{}", static_cast<int>(now() * 1e3));
  fs::create_directories(folder);
  aot::CompileOptions options;
  options.cache_folder = (folder / "headers").string();
  fmt::print("{:<34} {:>10}\n", "headers precompiled and kept, ms",
             fmt::format("{:.1f}", compile_ms(metal_source(1), options)));
  fmt::print("{:<10} {:>12} {:>12} {:>12} {:>16} {:>16}\n", "kernels", "warm ms", "warm p90", "warm cpu ms",
             "on all cores ms", "clang++ ms");
  for (const size_t kernels : {size_t{1}, size_t{10}, many}) {
    const std::string text = metal_source(kernels);
    std::vector<double> times, cpu_times;
    for (int i = 0; i < (kernels > 10 ? 3 : 15); ++i) {
      const double before = cpu_ms();
      times.push_back(compile_ms(text, options));
      cpu_times.push_back(cpu_ms() - before);
    }
    aot::CompileOptions parallel = options;
    parallel.threads = 0;
    const double all_cores = compile_ms(text, parallel);
    const fs::path file = folder / "bench.cpp";
    (void)write_file(file, as_bytes(cpp_source(kernels)));
    const std::string command =
        fmt::format("clang++-19 -std=c++20 -O2 -emit-llvm -c {} -o {}", file.string(), (folder / "bench.bc").string());
    std::vector<double> rival;
    for (int i = 0; i < 3; ++i)
      rival.push_back(1e3 * timed([&] {
                        if (std::system(command.c_str()) != 0) fmt::print(stderr, "no clang++-19\n");
                      }));
    fmt::print("{:<10} {:>12.1f} {:>12.1f} {:>12.1f} {:>16.1f} {:>16.1f}\n", kernels, median(times),
               percentile(times, 0.9), median(cpu_times), all_cores, median(rival));
  }
  aot::CompileOptions one = options;
  one.functions = {"axpy_0"};
  fmt::print("one kernel of {} by name: {:.1f} ms\n", many, compile_ms(metal_source(many), one));

  const auto device = loader::Device::open(loader::DeviceKind::cpu);
  if (device) {
    service::SessionOptions with;
    with.store = folder / "store";
    const auto session = service::Session::open(with);
    callable_ms(*session, *device, metal_source(2));  // opens the store and the headers
    const std::string text = metal_source(1);
    const double fresh = callable_ms(*session, *device, text);
    std::vector<double> again;
    for (int i = 0; i < 15; ++i) again.push_back(callable_ms(*session, *device, text));
    fmt::print("text to callable kernel: {:.2f} ms; store to callable kernel: {:.2f} ms\n", fresh, median(again));
  }
  fs::remove_all(folder);
}
