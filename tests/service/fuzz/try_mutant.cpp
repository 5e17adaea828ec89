// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "try_mutant.hpp"

#include "smelt/aot/faults.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/base/files.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/service/reading_child.hpp"

#include "spawned.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace smelt::test {
namespace {

/// What is done with a mutant, in this order.
enum Step : uint64_t { kChildren, kVerify, kInspect, kDescribe, kDisasm, kLoad };

void tell(Tally& tally, std::string_view what) {
  if (tally.finding[0] != '\0') return;
  std::memcpy(tally.finding, what.data(), std::min(what.size(), sizeof(tally.finding) - 1));
}

double seconds_of(const rusage& used) {
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return seconds_of(used);
}

/// From here on the process's peak is counted anew.
void forget_peak() {
  const int file = ::open("/proc/self/clear_refs", O_WRONLY);
  if (file < 0) return;
  (void)!::write(file, "5", 1);
  ::close(file);
}

uint64_t status_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::strtoull(line.c_str() + std::strlen(field), nullptr, 10) << 10;
  return 0;
}

/// What came to stderr since it was asked last: who calls a library never asked for that. Stderr is a file then.
std::string said_on_stderr() {
  static off_t before = 0;
  const off_t end = ::lseek(2, 0, SEEK_END);
  std::string text(end > before ? static_cast<size_t>(end - before) : 0, ' ');
  if (!text.empty())
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::pread(2, text.data(), text.size(), before))));
  before = end;
  // The C library's own last words, before a fault that is contained; a sanitizer's, after it.
  for (const char* word : {"malloc", "free", "corrupt", "ASan is ignoring requested __asan_handle_no_return"})
    if (text.find(word) != std::string::npos) return {};
  return text;
}

}  // namespace

Result<std::unique_ptr<Trial>> Trial::make(const Bounds& bounds) {
  std::unique_ptr<Trial> trial(new Trial(bounds));
  service::SessionOptions options;
  options.use_store = false;
  options.threads = 1;
  options.warn = [trial = trial.get()](std::string_view text) { trial->warned_ = text; };
  trial->session_ = service::Session::open(std::move(options));
  loader::DeviceOptions device;
  device.threads = 1;
  device.log = [](std::string_view, std::string_view) {};
  device.launch_limit = std::chrono::milliseconds(static_cast<int64_t>(bounds.run_seconds * 1000));
  SMELT_TRY(trial->device_, loader::Device::open(loader::DeviceKind::cpu, device));
  trial->memory_.resize(1 << 16);
  (void)said_on_stderr();
  return trial;
}

template <class Call>
void Trial::timed(std::string_view what, Tally& tally, Call call) {
  std::memset(tally.doing, 0, sizeof(tally.doing));
  std::memcpy(tally.doing, what.data(), std::min(what.size(), sizeof(tally.doing) - 1));
  const double began = processor_seconds();
  call();
  const double took = processor_seconds() - began;
  tally.slowest = std::max(tally.slowest, took);
  if (took > bounds_.seconds + 5) tell(tally, fmt::format("{} took {:.1f} s of the processor", what, took));
  if (const std::string said = said_on_stderr(); !said.empty())
    tell(tally, fmt::format("{} wrote on stderr: {}", what, said.substr(0, 150)));
}

void Trial::read_here(const Mutant& mutant, uint64_t step, Tally& tally) {
  switch (step) {
    case kVerify:
      return timed("verify", tally, [&] { tally.clean += aot::verify_metallib(mutant.file).empty(); });
    case kInspect:
      return timed("inspect", tally, [&] {
        const auto library = metallib::read(mutant.file);
        if (library) tally.libraries += metallib::inspect(*library).has_value();
      });
    case kDescribe:
      return timed("describe", tally,
                   [&] { tally.described += aot::describe(mutant.module, mutant.function).has_value(); });
    default:
      return timed("disasm", tally, [&] { tally.disassembled += aot::disassemble(mutant.file, "mutant").has_value(); });
  }
}

/// Its answer is a result, or an error that says something, within the limit; whatever the child did.
void Trial::read_in_children(const Mutant& mutant, Tally& tally) {
  using Read = std::function<void()>;
  const std::pair<const char*, Read> calls[] = {
      {"child: verify", [&] { (void)aot::verify_metallib(mutant.file); }},
      {"child: describe", [&] { (void)aot::describe(mutant.module, mutant.function); }},
      {"child: disasm", [&] { (void)aot::disassemble(mutant.file, "mutant"); }}};
  const service::ReadingBounds bounds{std::chrono::milliseconds(static_cast<int64_t>(bounds_.seconds * 1000)),
                                      bounds_.memory};
  for (const auto& [what, read] : calls) {
    const auto began = std::chrono::steady_clock::now();
    timed(what, tally, [&] {
      const auto answer = service::read_in_child(bounds, [&]() -> Result<Bytes> {
        read();
        return Bytes();
      });
      ++tally.reading_children;
      if (answer) return;
      const Errc code = answer.error().code;
      tally.ended_at_limit += code == Errc::cancelled;
      tally.children_died += code == Errc::corrupt;
      if (code != Errc::cancelled && code != Errc::corrupt) tell(tally, answer.error().message);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (took.count() > bounds_.seconds + 15) tell(tally, fmt::format("{} took {:.1f} s", what, took.count()));
  }
}

void Trial::run_command(const Mutant& mutant, Tally& tally) {
  const std::string file = bounds_.folder / fmt::format("in-work-{}", ::getpid());
  if (!write_file(file, mutant.file)) return tell(tally, "no file for the command");
  for (const char* verb : {"verify", "inspect", "disasm"})
    timed(fmt::format("smelt {}", verb), tally, [&] {
      ++tally.commands;
      const Spawned ended =
          spawn({bounds_.command, verb, file, "--sandbox", "always", "--timeout", fmt::format("{}", bounds_.seconds)},
                bounds_.seconds + 15);
      const bool fine = !ended.was_killed && (ended.status == 0 || ended.status == 1);
      const bool says = ended.words.empty() || ended.words.starts_with("smelt: error: ");
      if (!fine || !says || (ended.status == 0 && !ended.words.empty()))
        tell(tally, fmt::format("smelt {}: status {}, killed {}, wrote on stderr: {}", verb, ended.status,
                                ended.was_killed, ended.words.substr(0, 100)));
    });
  ::unlink(file.c_str());
}

void Trial::launch(const loader::Library& library, Tally& tally) {
  for (const std::string_view name : library.function_names()) {
    const auto function = library.function(name);
    if (!function || (*function)->kind() != FunctionKind::kernel) continue;
    const auto pipeline = (*function)->pipeline(loader::ConstantValues().lenient());
    if (!pipeline) continue;
    ++tally.with_code;
    auto encoder = loader::Encoder::create(device_);
    if (!encoder || !(*encoder)->set_pipeline(*pipeline)) continue;
    std::fill(memory_.begin(), memory_.end(), std::byte{0});  // counts that are large make long loops
    for (const loader::ArgInfo& argument : (*pipeline)->args()) {
      if (argument.kind == ArgumentKind::buffer)
        (void)(*encoder)->set_memory(argument.index, std::span(memory_).subspan(argument.index * 1024 % 32768, 1024));
      if (argument.kind == ArgumentKind::threadgroup) (void)(*encoder)->set_threadgroup_memory(argument.index, 1024);
    }
    const uint64_t wide = std::min<uint64_t>(32, (*pipeline)->max_threads_per_threadgroup());
    const loader::Size3 group = (*pipeline)->required_group().value_or(loader::Size3{wide, 1, 1});
    tally.ran += (*encoder)->dispatch_threadgroups({2, 1, 1}, group).has_value();
  }
}

void Trial::load(const Mutant& mutant, Tally& tally) {
  // Both ways that a program has: what LLVM reads is read in a child, or here.
  const bool in_child = tally.number % 2 == 0;
  setenv("SMELT_SANDBOX", in_child ? "auto" : "never", 1);
  tally.in_child += in_child;
  loader::LoadOptions options;
  options.checked = tally.number % 8 < 6;
  Result<loader::LibraryRef> library = tl::unexpected(Error{});
  timed("load", tally, [&] {
    const aot::Limited limited({.time = std::chrono::milliseconds(static_cast<int64_t>(bounds_.seconds * 1000)),
                                .memory_bytes = bounds_.memory,
                                .cancel = nullptr});
    const auto bytes = std::make_shared<const Bytes>(mutant.file);
    library = session_->load_bytes({*bytes, bytes}, "mutant", device_, options);
  });
  if (!warned_.empty()) tell(tally, warned_);  // for example that there is no child
  if (!library) {
    tally.ended_at_limit += library.error().code == Errc::cancelled;
    if (library.error().message.empty()) tell(tally, "an error without a message");
    return;
  }
  ++tally.loaded;
  // Code that is not checked may write past its buffers, as documented: it is looked at, not run.
  if (!options.checked) return;
  // A loop that counts too far is ended by nobody: the process is.
  const itimerval soon{{0, 0}, {static_cast<time_t>(bounds_.run_seconds * 2), 0}};
  tally.running = true;
  setitimer(ITIMER_PROF, &soon, nullptr);
  launch(**library, tally);
  tally.running = false;
}

bool Trial::run(const Mutant& mutant, Tally& tally) {
  forget_peak();
  const uint64_t before = status_bytes("VmRSS:");
  for (; tally.step <= kLoad; ++tally.step) {
    if (aot::had_fault()) return false;
    if (tally.step == kChildren) {
      read_in_children(mutant, tally);
      if (tally.number % 16 == 0 && !bounds_.command.empty()) run_command(mutant, tally);
    } else if (tally.step == kLoad) {
      load(mutant, tally);
    } else {
      read_here(mutant, tally.step, tally);
    }
    tally.faults += aot::had_fault();
    if (tally.finding[0] != '\0') break;
  }
  const uint64_t peak = status_bytes("VmHWM:");
  const uint64_t added = peak > before ? peak - before : 0;
  tally.most_memory = std::max(tally.most_memory, added);
  if (added > bounds_.memory) tell(tally, fmt::format("{} MB more memory", added >> 20));
  return true;
}

}  // namespace smelt::test
