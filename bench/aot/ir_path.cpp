// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR to metallib, in process and through one process a kernel:
//
//   bench_ir_path [KERNELS=1000] [SMELT=path of the command] [FILE.ll...]
//
// Inputs: the IR files named, else those of examples/ and tests/aot/cpu/kernels and, if there, Triton's of
// tests/data. Each becomes many kernels of different names, so that no two are the same input. One run prints
//   milliseconds a kernel, one call each (median and 90th percentile), and kernels a second in one call, on 1 and 2
//   threads; the same with one process a kernel, as a build system or a back end that shells out does it;
//   peak memory of both; and where the time goes: LLVM's parser, the rest of LLVM, our own code.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"

#include "bench.hpp"
#include "sampler.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

using namespace smelt;
namespace fs = std::filesystem;

namespace {

struct Template {
  std::string file, text, function, metadata;
};

/// The name of the only entry point, or nothing when the file has another number or does not compile.
std::optional<std::string> entry_of(const std::string& text, const std::string& metadata) {
  aot::CompileOptions options;
  options.targets = {aot::default_target()};
  options.metadata_json = metadata;
  const aot::Source source{"input", as_bytes(text)};
  auto compiled = aot::compile({&source, 1}, options);
  if (!compiled || compiled->targets[0].functions.size() != 1) return std::nullopt;
  return compiled->targets[0].functions[0].info.name;
}

std::string renamed(const Template& from, size_t number) {
  std::string text;
  const std::string old = "@" + from.function;
  for (size_t at = 0;;) {
    const size_t found = from.text.find(old, at);
    text += from.text.substr(at, found - at);
    if (found == std::string::npos) return text;
    at = found + old.size();
    const char next = at < from.text.size() ? from.text[at] : ' ';
    text += old;
    if (!isalnum(static_cast<unsigned char>(next)) && next != '_' && next != '.') text += "_" + std::to_string(number);
  }
}

std::vector<Template> templates(const std::vector<std::string>& files) {
  std::vector<Template> found;
  for (const std::string& file : files) {
    auto text = read_file(file);
    if (!text) continue;
    Template one{.file = file, .text = std::string(as_text(*text))};
    if (auto metadata = read_file(fs::path(file).replace_extension(".json").string()))
      one.metadata = std::string(as_text(*metadata));
    if (auto entry = entry_of(one.text, one.metadata)) {
      one.function = *entry;
      found.push_back(std::move(one));
    } else {
      fmt::print("left out (not one entry point, or does not compile): {}\n", fs::path(file).filename().string());
    }
  }
  return found;
}

/// Runs `work` in a process of its own; its peak memory in MiB.
double peak_mib(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run_command(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "%s failed\n", pointers[0]);
    std::exit(1);
  }
}

/// What is compiled: `count` kernels made of a few templates, each under a name of its own.
class Kernels {
 public:
  Kernels(std::vector<Template> from, size_t count) : from_(std::move(from)) {
    for (size_t i = 0; i < count; ++i) {
      texts_.push_back(renamed(from_[i % from_.size()], i));
      names_.push_back(fmt::format("k{}.ll", i));
    }
  }

  size_t count() const { return names_.size(); }
  size_t templates() const { return from_.size(); }
  size_t bytes() const {
    size_t all = 0;
    for (const std::string& text : texts_) all += text.size();
    return all;
  }

  /// Kernels of one template share its metadata, so that they can be compiled in one call a template.
  void compile_all(unsigned threads) const {
    for (size_t which = 0; which < from_.size(); ++which) {
      std::vector<aot::Source> sources;
      for (size_t i = which; i < count(); i += from_.size()) sources.push_back(source(i));
      if (sources.empty()) continue;
      if (auto made = aot::compile(sources, options_of(which, threads)); !made) {
        std::fprintf(stderr, "%s\n", made.error().message.c_str());
        std::exit(1);
      }
    }
  }
  void compile_one(size_t i) const {
    const aot::Source one = source(i);
    bench::keep(aot::compile({&one, 1}, options_of(i % from_.size(), 1)));
  }
  /// Each of the first `processes` in a process of its own: seconds of all.
  double spawn(const std::string& command, size_t processes) const {
    const fs::path folder = fs::temp_directory_path() / fmt::format("smelt-bench-{}", getpid());
    fs::create_directories(folder);
    for (size_t i = 0; i < processes; ++i) write(folder / names_[i], texts_[i]);
    const double seconds = bench::timed([&] {
      for (size_t i = 0; i < processes; ++i) {
        std::vector<std::string> arguments{
            command,   "compile",   (folder / names_[i]).string(), "-o", (folder / "out.metallib").string(), "--target",
            "macos14", "--no-store"};
        if (const std::string& metadata = from_[i % from_.size()].metadata; !metadata.empty()) {
          write(folder / "metadata.json", metadata);
          arguments.insert(arguments.end(), {"--metadata", (folder / "metadata.json").string()});
        }
        run_command(arguments);
      }
    });
    fs::remove_all(folder);
    return seconds;
  }

 private:
  aot::Source source(size_t i) const { return {names_[i], as_bytes(texts_[i])}; }
  aot::CompileOptions options_of(size_t which, unsigned threads) const {
    aot::CompileOptions options;
    options.targets = {aot::default_target()};
    options.metadata_json = from_[which].metadata;
    options.threads = threads;
    return options;
  }
  static void write(const fs::path& path, const std::string& text) {
    if (write_file(path.string(), as_bytes(text))) return;
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }

  std::vector<Template> from_;
  std::vector<std::string> texts_, names_;
};

/// IR that lies in the tree and beside it.
std::vector<std::string> inputs_at_hand() {
  std::vector<std::string> files;
  for (const char* folder : {SMELT_SOURCE_DIR "/examples", SMELT_SOURCE_DIR "/tests/aot/cpu/kernels",
                             SMELT_SOURCE_DIR "/tests/data/triton-3.6.0/hip-gfx1100"}) {
    std::error_code error;
    std::vector<std::string> here;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".ll" || entry.path().extension() == ".llir") here.push_back(entry.path());
    std::sort(here.begin(), here.end());
    files.insert(files.end(), here.begin(), here.end());
  }
  return files;
}

void show_where_time_goes(const Kernels& kernels) {
  bench::Sampler sampler;
  kernels.compile_all(1);
  const auto places = sampler.stop();
  size_t all = 0, parse = 0, ours = 0;
  for (const auto& [place, samples] : places) {
    all += samples;
    if (place == "LLVM: parsing text") parse = samples;
    if (place == "ours") ours = samples;
  }
  fmt::print("\nwhere the time goes, 1 thread ({} samples)\n", all);
  for (const auto& [place, samples] : places)
    fmt::print("  {:46} {:>5.1f} %\n", place, 100.0 * static_cast<double>(samples) / static_cast<double>(all));
  fmt::print("our own code is {:.2f} of LLVM's parsing, {:.2f} of all LLVM\n",
             static_cast<double>(ours) / static_cast<double>(std::max<size_t>(parse, 1)),
             static_cast<double>(ours) / static_cast<double>(std::max<size_t>(all - ours, 1)));
}

}  // namespace

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::string command = argc > 2 ? argv[2] : SMELT_BINARY_DIR "/bin/smelt";
  std::vector<std::string> files(argv + std::min(argc, 3), argv + argc);
  if (files.empty()) files = inputs_at_hand();
  std::vector<Template> from = templates(files);
  if (from.empty()) return std::fprintf(stderr, "no input compiles\n"), 1;
  const Kernels kernels(std::move(from), count);
  fmt::print("{} kernels made of {} files, {:.1f} KB of text each on average; target macos14\n", count,
             kernels.templates(), static_cast<double>(kernels.bytes()) / 1e3 / static_cast<double>(count));

  // Peak memory first: a forked child starts with what its parent has touched.
  const double peak1 = peak_mib([&] { kernels.compile_all(1); });
  const double peak2 = peak_mib([&] { kernels.compile_all(2); });
  const double peak_one = peak_mib([&] { kernels.compile_one(0); });

  std::vector<double> each;
  for (size_t i = 0; i < std::min<size_t>(count, 500); ++i)
    each.push_back(bench::timed([&] { kernels.compile_one(i); }) * 1e3);
  const double one = bench::timed([&] { kernels.compile_all(1); });
  const double two = bench::timed([&] { kernels.compile_all(2); });
  const size_t processes = std::min<size_t>(count, 100);
  const double per_process = kernels.spawn(command, processes) / static_cast<double>(processes);

  const double n = static_cast<double>(count);
  fmt::print("\n{:46} {:>10} {:>12} {:>10}\n", "", "ms/kernel", "kernels/s", "ratio");
  fmt::print("{:46} {:>10.2f} {:>12} {:>10}\n", "one call a kernel, median", bench::median(each), "", "");
  fmt::print("{:46} {:>10.2f}\n", "one call a kernel, 90th percentile", bench::percentile(each, 0.9));
  fmt::print("{:46} {:>10.2f} {:>12.0f} {:>10.2f}\n", "all in one call, 1 thread", one / n * 1e3, n / one, 1.0);
  fmt::print("{:46} {:>10.2f} {:>12.0f} {:>10.2f}\n", "all in one call, 2 threads", two / n * 1e3, n / two, two / one);
  fmt::print("{:46} {:>10.2f} {:>12.0f} {:>10.2f}\n", fmt::format("one process a kernel ({} run)", processes),
             per_process * 1e3, 1 / per_process, per_process * n / one);
  fmt::print("\npeak memory: {:.0f} MiB on 1 thread, {:.0f} MiB on 2; {:.0f} MiB for one kernel\n", peak1, peak2,
             peak_one);
  show_where_time_goes(kernels);
}
