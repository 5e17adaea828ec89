#include "oracle.hpp"

#include "smelt/base/files.hpp"

#include "files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <mutex>
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

Verdict ask(ByteView bitcode, std::vector<std::string> command, bool wants_text) {
  const auto in = scratch() / "in.bc", out = scratch() / "out.ll", errors = scratch() / "errors";
  if (auto written = write_file(in, bitcode); !written) return {false, {}, written.error().message};
  command.push_back(in.string());
  Verdict verdict;
  verdict.accepted = run(command, out, errors);
  verdict.error = text_of(errors);
  if (verdict.accepted && wants_text) verdict.text = text_of(out);
  return verdict;
}

}  // namespace

bool have_llvm_14() {
  return std::filesystem::exists(SMELT_LLVM_DIS_14) && std::filesystem::exists(SMELT_OPT_14);
}

Verdict disassemble_14(ByteView bitcode) {
  return ask(bitcode, {SMELT_LLVM_DIS_14, "-o", "-"}, true);
}

Verdict verify_14(ByteView bitcode) {
  return ask(bitcode, {SMELT_OPT_14, "-mtriple=x86_64-unknown-linux-gnu", "-passes=verify", "-disable-output"}, false);
}

Verdict judge_14(ByteView bitcode) {
  Verdict verdict = disassemble_14(bitcode);
  if (!verdict.accepted) return verdict;
  Verdict verified = verify_14(bitcode);
  verdict.accepted = verified.accepted;
  verdict.error += verified.error;
  return verdict;
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
