// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutants of Metal libraries that Apple's compiler built, through everything that reads them: verify, inspect and
// disasm in a child, as the command does it, every sixteenth by the command itself, and here; compile and load, every
// other one in a compiling child; code that was made with checks is run. An answer is an error or a result, within a
// time and a memory, and nothing on stderr; all else is a finding, and its file is kept.
//
//   fuzz_mutants --seconds 3600 --tally FILE --keep found FOLDER...
//
// Works in forked processes, so that one that ends is counted and work goes on; one in which a fault was contained
// reads nothing more (aot::had_fault), and the next goes on with the mutant. With --tally a run goes on where the last
// one ended, and counts together with it. Exit status: 0 no finding, 1 findings, 2 asked wrongly, 77 no library.
#include "smelt/base/files.hpp"

#include "try_mutant.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace smelt;
using namespace smelt::test;
using Clock = std::chrono::steady_clock;

namespace {

constexpr uint64_t kBatch = 100;        // mutants a process
constexpr unsigned kLostSeconds = 300;  // of the clock on the wall, for what waits and does not work
#ifdef SMELT_SANITIZED
constexpr rlim_t kMemory = RLIM_INFINITY;
#else
constexpr rlim_t kMemory = rlim_t{8} << 30;
#endif

struct Settings {
  double seconds = 10;
  uint64_t first = 1, most = 0;
  std::optional<uint64_t> only;
  std::filesystem::path keep = "findings", tally;
  Bounds bounds;
};

/// What is counted, by name: what is printed, and kept between runs.
std::vector<std::pair<const char*, uint64_t*>> counters(Tally& tally, uint64_t& findings) {
  return {{"next", &tally.number},
          {"mutants", &tally.made},
          {"readable libraries", &tally.libraries},
          {"without a finding of verify", &tally.clean},
          {"described", &tally.described},
          {"disassembled", &tally.disassembled},
          {"loads in a child", &tally.in_child},
          {"loaded", &tally.loaded},
          {"with code", &tally.with_code},
          {"ran", &tally.ran},
          {"runs without an end", &tally.endless},
          {"ended at a limit", &tally.ended_at_limit},
          {"reading children", &tally.reading_children},
          {"reading children that died", &tally.children_died},
          {"commands", &tally.commands},
          {"faults contained here", &tally.faults},
          {"bytes at most", &tally.most_memory},
          {"findings", &findings}};
}

void read_tally(const Settings& settings, Tally& tally, uint64_t& findings) {
  std::ifstream file(settings.tally);
  for (std::string line; std::getline(file, line);)
    for (const auto& [name, value] : counters(tally, findings))
      if (line.starts_with(std::string(name) + "\t")) *value = std::stoull(line.substr(line.find('\t') + 1));
}

void write_tally(const Settings& settings, Tally& tally, uint64_t& findings) {
  std::string text;
  for (const auto& [name, value] : counters(tally, findings)) text += fmt::format("{}\t{}\n", name, *value);
  fmt::print("{}slowest call\t{:.2f} s of the processor\n\n", text, tally.slowest);
  std::fflush(stdout);
  if (!settings.tally.empty()) (void)write_file(settings.tally, as_bytes(text));
}

/// The forked process. Ends after a batch, at `end`, by a signal, or with status 3 and a word in `tally.finding`.
[[noreturn]] void work(const std::vector<Original>& originals, const Settings& settings, Clock::time_point end,
                       uint64_t left, Tally& tally) {
  const rlimit memory{kMemory, kMemory}, no_core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  const auto said = settings.keep / fmt::format("stderr-{}", tally.number);
  if (const int file = ::open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644); file >= 0) ::dup2(file, 2);
  const auto trial = Trial::make(settings.bounds);
  if (!trial) {
    fmt::print("fuzz_mutants: {}\n", trial.error().message);
    _exit(4);
  }
  for (uint64_t i = 0; i < std::min(kBatch, left) && Clock::now() < end; ++i) {
    const Mutant mutant = make_mutant(originals, tally.number);
    tally.in_work = true;
    const itimerval timer{{0, 0}, {static_cast<time_t>(settings.bounds.seconds * 4), 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);  // SIGPROF ends the process
    alarm(kLostSeconds);
    const bool done = (*trial)->run(mutant, tally);
    if (tally.finding[0] != '\0') _exit(3);
    if (!done) break;
    tally.in_work = false;
    tally.step = 0;
    ++tally.number;
    ++tally.made;
  }
  std::error_code ignored;
  std::filesystem::remove(said, ignored);
  _exit(0);
}

/// What is wrong with how a process ended; empty: nothing.
std::string judge(int status, Tally& tally) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF && tally.running) {
      ++tally.endless;  // a loop that counts too far: documented, the caller ends such a process
      return {};
    }
    if (signal == SIGPROF) return "hang";
    if (signal == SIGALRM) return "lost: waits for something";
    if (tally.running) return fmt::format("signal {} while its checked code ran", signal);
    const bool in_child = tally.number % 2 == 0;
    return fmt::format("signal {} in or after {} ({})", signal, tally.doing, in_child ? "in a child" : "here");
  }
  if (tally.finding[0] != '\0') return tally.finding;
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit status {}", WEXITSTATUS(status));
}

void keep(const std::vector<Original>& originals, const Settings& settings, uint64_t number, const std::string& what) {
  const Mutant mutant = make_mutant(originals, number);
  const auto file = settings.keep / fmt::format("mutant-{}.metallib", number);
  (void)write_file(file, mutant.file);
  fmt::print("FINDING: mutant {} of '{}' ({}): {}; kept as {}\n", number, mutant.function, mutant.story, what,
             file.string());
  std::fflush(stdout);
}

int fuzz(const std::vector<Original>& originals, const Settings& settings) {
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  Tally& tally = *new (shared) Tally;
  uint64_t findings = 0;
  tally.number = settings.only.value_or(settings.first);
  if (!settings.tally.empty()) read_tally(settings, tally, findings);
  const uint64_t before = findings;
  const uint64_t made_before = tally.made;
  const auto began = Clock::now();
  const auto end = began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.seconds));
  auto reported = began;
  const uint64_t most = settings.only ? 1 : settings.most != 0 ? settings.most : ~uint64_t{0};
  while (Clock::now() < end && (tally.made - made_before < most || tally.step != 0)) {
    const pid_t worker = fork();
    if (worker < 0) return 2;
    if (worker == 0) work(originals, settings, end, most - (tally.made - made_before) + (tally.step != 0), tally);
    int status = 0;
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 4) return 2;
    const std::string what_was_wrong = judge(status, tally);
    if (!what_was_wrong.empty()) {
      ++findings;
      keep(originals, settings, tally.number, what_was_wrong);
    }
    const bool goes_on = what_was_wrong.empty() && tally.in_work && !tally.running && WIFEXITED(status);
    if (tally.in_work && !goes_on) {
      ++tally.number;
      ++tally.made;
      tally.step = 0;
    }
    tally.in_work = tally.running = false;
    tally.finding[0] = '\0';
    if (Clock::now() - reported < std::chrono::minutes(1)) continue;
    reported = Clock::now();
    write_tally(settings, tally, findings);
  }
  fmt::print("{} mutants of {} functions in {:.0f} s\n", tally.made - made_before, originals.size(),
             std::chrono::duration<double>(Clock::now() - began).count());
  write_tally(settings, tally, findings);
  return findings == before ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  size_t largest = 65536;
  std::vector<std::string> paths;
  CLI::App app("Reads, compiles, loads and runs mutants of Metal libraries.", "fuzz_mutants");
  app.add_option("PATH", paths, "Metal libraries, or folders of them")->required();
  app.add_option("--seconds", settings.seconds, "How long")->capture_default_str();
  app.add_option("--count", settings.most, "How many at most (default: as many as there is time for)");
  app.add_option("--first", settings.first, "Number of the first mutant")->capture_default_str();
  app.add_option("--only", settings.only, "Try this mutant alone, and keep its file");
  app.add_option("--tally", settings.tally, "File of counts: go on where it says, and add to it");
  app.add_option("--command", settings.bounds.command, "The program smelt (default: beside this one)");
  app.add_option("--limit", settings.bounds.seconds, "Seconds that a call may take")->capture_default_str();
  app.add_option("--largest", largest, "Bytes of the largest module that is changed")->capture_default_str();
  app.add_option("--keep", settings.keep, "Folder for mutants that did harm")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "smelt";
      settings.bounds.command.empty() && std::filesystem::exists(beside))
    settings.bounds.command = beside;
  settings.bounds.folder = settings.keep;
  const std::vector<Original> originals = read_originals(paths, largest);
  if (originals.empty()) {
    fmt::print("SKIPPED: no Metal library at {}\n", fmt::join(paths, ", "));
    return 77;
  }
  std::filesystem::create_directories(settings.keep);
  if (settings.only) keep(originals, settings, *settings.only, "asked for");
  return fuzz(originals, settings);
}
