// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "oracle.hpp"

#include "smelt/base/files.hpp"

#include "files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace smelt::test {
namespace {

// Runs `arguments` with both outputs in files; whether it ended well.
bool run(const std::vector<std::string>& arguments, const std::filesystem::path& out,
         const std::filesystem::path& errors) {
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string text_of(const std::filesystem::path& path) {
  return std::string(as_text(must_read(path)));
}

// One folder a thread, for the few files that are passed back and forth.
TemporaryFolder& scratch() {
  thread_local TemporaryFolder folder;
  return folder;
}

// Writes module `i` where the tools find it.
std::string place(ByteView bitcode, size_t i) {
  const auto path = scratch() / (std::to_string(i) + ".bc");
  if (auto written = write_file(path, bitcode); !written) throw std::runtime_error(written.error().message);
  return path.string();
}

Verdict disassemble_one(const std::string& path) {
  const auto out = scratch() / "out.ll", errors = scratch() / "errors";
  Verdict verdict;
  verdict.accepted = run({SMELT_LLVM_DIS_14, "-o", "-", path}, out, errors);
  verdict.error = text_of(errors);
  if (verdict.accepted) verdict.text = text_of(out);
  return verdict;
}

}  // namespace

bool have_llvm_14() {
  return std::filesystem::exists(SMELT_LLVM_DIS_14) && std::filesystem::exists(SMELT_OPT_14);
}

std::vector<Verdict> disassemble_14(const std::vector<ByteView>& modules) {
  std::vector<std::string> command{SMELT_LLVM_DIS_14};
  for (size_t i = 0; i < modules.size(); ++i) command.push_back(place(modules[i], i));
  std::vector<Verdict> verdicts;
  const bool all = run(command, scratch() / "out", scratch() / "errors");
  const bool silent = std::filesystem::file_size(scratch() / "errors") == 0;
  for (size_t i = 0; i < modules.size(); ++i) {
    const std::string& path = command[i + 1];
    if (all && silent) {  // it writes N.ll beside N.bc
      verdicts.push_back({true, text_of(path.substr(0, path.size() - 2) + "ll"), {}});
    } else {
      verdicts.push_back(disassemble_one(path));
    }
  }
  return verdicts;
}

Verdict verify_14(ByteView bitcode) {
  const auto errors = scratch() / "errors";
  Verdict verdict;
  verdict.accepted =
      run({SMELT_OPT_14, "-mtriple=x86_64-unknown-linux-gnu", "-passes=verify", "-disable-output", place(bitcode, 0)},
          scratch() / "out", errors);
  verdict.error = text_of(errors);
  return verdict;
}

std::vector<Verdict> judge_14(const std::vector<ByteView>& modules) {
  std::vector<Verdict> verdicts = disassemble_14(modules);
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!verdicts[i].accepted) continue;
    const Verdict verified = verify_14(modules[i]);
    verdicts[i].accepted = verified.accepted;
    verdicts[i].error += verified.error;
  }
  return verdicts;
}

Verdict judge_14(ByteView bitcode) {
  return judge_14(std::vector{bitcode})[0];
}

void for_each_run(size_t count, const std::function<void(size_t, size_t)>& work) {
  constexpr size_t kRun = 48;
  for_each_index((count + kRun - 1) / kRun, [&](size_t i) { work(i * kRun, std::min(count, (i + 1) * kRun)); });
}

void for_each_index(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr thrown;
  std::mutex guard;
  auto run_some = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        thrown = std::current_exception();
      }
    }
  };
  std::thread other(run_some);
  run_some();
  other.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace smelt::test
