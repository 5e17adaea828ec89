// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What loading costs against what it replaces, from one run: a package of one kernel and one of 500, in a fresh process
// each time, against compiling the same from LLVM IR and against reading and hashing the same bytes. Loading itself
// builds no pipeline and hashes no code (docs/design/loader.md 1.1, 3.4), so two more rows say what the first call and
// all pipelines cost. Also what a program that links only the loader weighs, and what it links.
//
//   bench_load [rounds]     times are medians over rounds that take turns; files are in the page cache
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"
#include "smelt/service/session.hpp"

#include "bench.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace smelt::bench {
namespace {

std::string ir_of(size_t kernels) {
  std::string text = "target triple = \"spir64-unknown-unknown\"\ndeclare i64 @_Z13get_global_idj(i32)\n";
  for (size_t i = 0; i < kernels; ++i)
    text += fmt::format(R"(
define spir_kernel void @kernel_{0}(ptr addrspace(1) %x, ptr addrspace(1) %y, float %a, i32 %n) {{
entry:
  %id = call i64 @_Z13get_global_idj(i32 0)
  %i = trunc i64 %id to i32
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %body, label %exit
body:
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %id
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %id
  %vx = load float, ptr addrspace(1) %px, align 4
  %vy = load float, ptr addrspace(1) %py, align 4
  %ax = fmul float %a, %vx
  %sum = fadd float %ax, %vy
  %own = fadd float %sum, {0}.0
  store float %own, ptr addrspace(1) %py, align 4
  br label %exit
exit:
  ret void
}}
)",
                        i);
  return text;
}

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part;
  for (size_t count; (count = std::fread(part.data(), 1, part.size(), pipe)) != 0;) text.append(part.data(), count);
  if (::pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return text;
}

struct Sample {
  double inside = 0;  ///< microseconds, by the child's own clock
  double whole = 0;   ///< and of the process, from before it is started to after it has ended
};

Sample run_child(const std::string& arguments) {
  const std::string child = std::filesystem::canonical("/proc/self/exe").parent_path() / "bench_load_child";
  Sample sample;
  const double start = now();
  const std::string text = output_of(child + " " + arguments);
  sample.whole = (now() - start) * 1e6;
  sample.inside = std::stod(text);
  return sample;
}

struct Subject {
  size_t kernels = 0;
  std::string path;
  size_t file_bytes = 0;
  size_t manifest_end = 0;  ///< what opening reads: header and manifest, from byte 0
  size_t from = 0;          ///< of the CPU slice in the file
  size_t size = 0;
  double compile = 0;  ///< seconds
};

Subject make_subject(size_t kernels, const std::filesystem::path& folder) {
  Subject subject;
  subject.kernels = kernels;
  const std::string ir = ir_of(kernels);
  service::Request request;
  request.sources = {{"kernels", as_bytes(ir)}};
  request.name = "kernels";
  request.options.targets = {must(aot::parse_target("macos14"))};
  request.levels = {must(aot::host_cpu_level())};
  Bytes bytes;
  subject.compile = timed([&] { bytes = must(service::build_package(request, 1, {})); });
  subject.path = folder / fmt::format("{}.smelt", kernels);
  if (const auto written = write_file(subject.path, bytes); !written) throw std::runtime_error(written.error().message);
  const schema::Package package = must(schema::Package::open(bytes));
  const schema::LibraryView library = package.library(0);
  for (uint32_t i = 0; i < library.slices.count; ++i) {
    const schema::SliceView slice = package.slice(library.slices.first + i);
    if (slice.kind != schema::SliceKind::cpu) continue;
    subject.from = static_cast<size_t>(slice.part.bytes.data() - bytes.data());
    subject.size = slice.part.bytes.size();
  }
  subject.file_bytes = bytes.size();
  schema::PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  subject.manifest_end = header.manifest_offset + header.manifest_size;
  return subject;
}

void measure(const Subject& subject, size_t rounds) {
  std::map<std::string, std::vector<double>> inside, whole;
  const std::map<std::string, std::string> ways = {
      {"open", "open " + subject.path},
      {"call", fmt::format("call {} kernel_0", subject.path)},
      {"all", "all " + subject.path},
      {"hash", fmt::format("hash {} 0 {} {} {}", subject.path, subject.manifest_end, subject.from, subject.size)},
      {"none", "none"}};
  for (size_t round = 0; round < rounds; ++round)
    for (const auto& [way, arguments] : ways) {
      const Sample sample = run_child(arguments);
      inside[way].push_back(sample.inside);
      whole[way].push_back(sample.whole);
    }
  fmt::print("{} kernel{}: package of {} bytes; the loader reads {}: header and manifest {}, CPU slice {}\n",
             subject.kernels, subject.kernels == 1 ? "" : "s", subject.file_bytes, subject.manifest_end + subject.size,
             subject.manifest_end, subject.size);
  fmt::print("  compile from IR, 1 thread {:.0f} us\n", subject.compile * 1e6);
  fmt::print("  a fresh process each, median (fastest) of {}, from main() on, file in the page cache\n", rounds);
  const auto row = [&](const char* what, const std::string& way) {
    const double time = median(inside[way]), hash = median(inside["hash"]);
    fmt::print("  {:36} {:8.1f} us ({:.1f}), whole process {:.0f} us", what, time, least(inside[way]),
               median(whole[way]));
    if (way != "hash" && way != "none")
      fmt::print("; {:.2f} ({:.2f}) times read and hash, {:.0f} times faster than compiling", time / hash,
                 least(inside[way]) / least(inside["hash"]), subject.compile * 1e6 / time);
    fmt::print("\n");
  };
  if (subject.kernels > 1)
    for (const char* way : {"open", "call", "all"})
      record(fmt::format("load.{}", way), "us", median(inside[way]), median(inside["hash"]));
  row("read and hash what the loader reads", "hash");
  row("load: every kernel known by name", "open");
  row("load, and the first kernel has run", "call");
  row("load, and all pipelines are built", "all");
  row("a process that does nothing", "none");
}

void weigh(const std::filesystem::path& folder) {
  const std::filesystem::path child = std::filesystem::canonical("/proc/self/exe").parent_path() / "bench_load_child";
  const std::filesystem::path stripped = folder / "stripped";
  output_of(fmt::format("strip -o {} {}", stripped.string(), child.string()));
  fmt::print("loader-only program: {} bytes stripped\n{}", std::filesystem::file_size(stripped),
             output_of("ldd " + child.string()));
}

int run(size_t rounds) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("smelt-bench-{}", ::getpid());
  std::filesystem::create_directories(folder);
  make_subject(1, folder);  // LLVM's own start-up is nobody's compile time
  for (const size_t kernels : {size_t{1}, size_t{500}}) measure(make_subject(kernels, folder), rounds);
  weigh(folder);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  try {
    return smelt::bench::run(count > 1 ? std::stoul(arguments[1]) : 40);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_load: {}\n", error.what());
    return 1;
  }
}
