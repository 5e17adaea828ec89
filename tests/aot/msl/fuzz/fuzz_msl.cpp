// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutated Metal source through the whole front end: text to a finished Metal library. Every mutant compiles or is an
// error; a crash, ten seconds of processor time without an end, or a library that cannot be read is a finding, and its
// source is kept.
//
//   fuzz_msl --seconds 3600 --seed 1 --keep found -I FOLDER --donors FOLDER FOLDER...
//
// A mutant is known by seed, number and corpus: --show N prints it, --first N begins with it. Compiling happens in a
// forked process: what takes it down is counted here and work goes on with the next mutant. Exit status: 0 no finding,
// 1 findings, 2 asked wrongly.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"

#include "mutate.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>

using namespace smelt;
using namespace smelt::test;

namespace {

constexpr int kHangSeconds = 10;        // of processor time
constexpr unsigned kLostSeconds = 300;  // of the clock on the wall, for what waits and does not work
constexpr uint64_t kBatch = 400;        // mutants a process: a crash that was contained leaks
#ifdef SMELT_SANITIZED
constexpr rlim_t kMemory = RLIM_INFINITY;
#else
constexpr rlim_t kMemory = rlim_t{6} << 30;
#endif

struct Settings {
  double seconds = 10;
  uint64_t seed = 1, first = 0;
  std::optional<uint64_t> show;
  std::filesystem::path keep = ".";
  std::vector<std::string> include_folders, sources, donors;
};

/// Written by the process that compiles, read by the one that watches: how far it came, what was in work when it died.
struct Progress {
  uint64_t number = 0;  ///< of the mutant in work
  uint64_t tried = 0, compiled = 0;
  bool in_work = false;
  char finding[120] = {};  ///< not empty: what is wrong with the mutant in work, found by the process itself
};

Result<void> add_files(const std::string& path, std::vector<CorpusFile>& files) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
      if (entry.is_regular_file() && (entry.path().extension() == ".metal" || entry.path().extension() == ".h"))
        found.push_back(entry.path());
  } else {
    found.emplace_back(path);
  }
  std::sort(found.begin(), found.end());
  for (const auto& file : found) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    files.push_back({file.string(), tokens_of(as_text(bytes))});
  }
  return {};
}

Result<Mutator> make_mutator(const Settings& settings) {
  std::vector<CorpusFile> sources, donors;
  for (const std::string& path : settings.sources) SMELT_TRY_VOID(add_files(path, sources));
  for (const std::string& path : settings.donors) SMELT_TRY_VOID(add_files(path, donors));
  if (std::all_of(sources.begin(), sources.end(), [](const CorpusFile& file) { return file.tokens.empty(); }))
    return fail(Errc::invalid_argument, "the paths given hold no Metal source to mutate");
  return Mutator(std::move(sources), std::move(donors), settings.seed);
}

Result<aot::Compiled> compile(const Mutator::Mutant& mutant, const Settings& settings) {
  aot::CompileOptions options;
  options.targets = {aot::parse_target("macos15").value()};
  options.include_folders = settings.include_folders;
  const aot::Source source{mutant.name, as_bytes(mutant.text)};
  return aot::compile(std::span(&source, 1), options);
}

/// What is wrong with how a mutant ended; empty: nothing.
std::string judge(const Result<aot::Compiled>& result) {
  if (!result) {
    if (result.error().message.empty()) return "an error without a message";
    if (result.error().message.find("crashed") != std::string::npos) return "crash";
    return {};
  }
  const aot::CompiledTarget& target = result->targets.front();
  const auto library = metallib::read(target.metallib);
  if (!library) return "unreadable library: " + library.error().message;
  if (library->functions.size() != target.functions.size()) return "functions are missing in the library";
  return {};
}

void limit_processor_time(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);  // SIGPROF ends the process
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The forked process. Ends by itself after a batch or `seconds` of its time, by a signal, or with status 3 and a word
/// in `progress.finding`.
[[noreturn]] void work(const Mutator& mutator, const Settings& settings, double seconds, Progress& progress) {
  const rlimit memory{kMemory, kMemory}, no_core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  for (uint64_t i = 0; i < kBatch && processor_seconds() < seconds; ++i) {
    const Mutator::Mutant mutant = mutator.make(progress.number);
    progress.in_work = true;
    limit_processor_time(kHangSeconds);
    alarm(kLostSeconds);
    const auto result = compile(mutant, settings);
    const std::string finding = judge(result);
    ++progress.tried;
    progress.compiled += result.has_value();
    if (!finding.empty()) {
      std::strncpy(progress.finding, finding.c_str(), sizeof(progress.finding) - 1);
      _exit(3);
    }
    progress.in_work = false;
    ++progress.number;
  }
  _exit(0);
}

std::string how_it_ended(int status, const Progress& progress) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) return "hang";
    if (signal == SIGALRM) return "lost";
    return fmt::format("signal {}", signal);
  }
  if (progress.finding[0] != '\0') return progress.finding;
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit status {}", WEXITSTATUS(status));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void keep(const Mutator& mutator, const Settings& settings, uint64_t number, const std::string& ending) {
  const Mutator::Mutant mutant = mutator.make(number);
  std::error_code ignored;
  std::filesystem::create_directories(settings.keep, ignored);
  const auto file = settings.keep / fmt::format("finding-{}-{}.metal", settings.seed, number);
  const auto written = write_file(file, as_bytes(mutant.text));
  fmt::print("{}: mutant {} of {}{}{}\n", ending, number, mutant.name,
             written ? ", kept as " : ", could not be kept: ", written ? file.string() : written.error().message);
  std::fflush(stdout);
}

int fuzz(const Mutator& mutator, const Settings& settings) {
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  Progress& progress = *new (shared) Progress;
  progress.number = settings.first;
  // Made here, the precompiled headers are in the memory of every process to come.
  const auto warm = compile({"warm.metal", "kernel void f() {}"}, settings);
  if (!warm) {
    fmt::print(stderr, "fuzz_msl: {}\n", warm.error().message);
    return 2;
  }
  uint64_t findings = 0;
  double spent = 0, reported = 0;
  const auto report = [&] {
    fmt::print("{:.0f} s: {} mutants, {} of them compile, {} findings; next is {}\n", spent, progress.tried,
               progress.compiled, findings, progress.number);
    std::fflush(stdout);
    reported = spent;
  };
  while (spent < settings.seconds) {
    const pid_t worker = fork();
    if (worker < 0) return 2;
    if (worker == 0) work(mutator, settings, settings.seconds - spent, progress);
    int status = 0;
    rusage used{};
    while (wait4(worker, &status, 0, &used) < 0 && errno == EINTR) {
    }
    spent += seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    if (const std::string ending = how_it_ended(status, progress); !ending.empty()) {
      ++findings;
      keep(mutator, settings, progress.number, ending);
    }
    if (progress.in_work) ++progress.number;
    progress.in_work = false;
    progress.finding[0] = '\0';
    if (spent - reported >= 60) report();
  }
  report();
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  CLI::App app("Mutates Metal source and compiles it; keeps what crashes or hangs the compiler.", "fuzz_msl");
  app.add_option("PATH", settings.sources, "files or folders of Metal source to mutate")->required();
  app.add_option("--donors", settings.donors, "files or folders that give tokens and lines alone")
      ->allow_extra_args(false);
  app.add_option("-I", settings.include_folders, "where the sources find their includes")->allow_extra_args(false);
  app.add_option("--seconds", settings.seconds, "processor time of all mutants")->capture_default_str();
  app.add_option("--seed", settings.seed)->capture_default_str();
  app.add_option("--first", settings.first, "number of the first mutant")->capture_default_str();
  app.add_option("--show", settings.show, "print the mutant of this number and compile nothing");
  app.add_option("--keep", settings.keep, "folder for the findings")->capture_default_str();
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto mutator = make_mutator(settings);
  if (!mutator) {
    fmt::print(stderr, "fuzz_msl: {}\n", mutator.error().message);
    return 2;
  }
  if (!settings.show) return fuzz(*mutator, settings);
  fmt::print("{}", mutator->make(*settings.show).text);
  return 0;
}
