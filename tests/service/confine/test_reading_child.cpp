// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whatever happens to a child that reads, its parent gets a value.
#include "smelt/service/reading_child.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

using namespace smelt;
using service::read_in_child;
using service::ReadingBounds;
using namespace std::chrono_literals;

namespace {

Result<Bytes> text(std::string_view words) {
  return to_bytes(as_bytes(words));
}

void check_error(const Result<Bytes>& result, Errc code, std::string_view words) {
  REQUIRE_FALSE(result.has_value());
  CHECK(to_string(result.error().code) == to_string(code));
  CHECK_MESSAGE(result.error().message.find(words) != std::string::npos, result.error().message);
}

TEST_CASE("what the child made is what comes back") {
  const auto answer = read_in_child({}, [] { return text("an answer"); });
  REQUIRE(answer.has_value());
  CHECK(as_text(*answer) == "an answer");
  // More than a socket holds, and what the caller has.
  const std::string long_one(20 << 20, 'x');
  const auto all = read_in_child({}, [&] { return text(long_one); });
  REQUIRE(all.has_value());
  CHECK(as_text(*all) == long_one);
  CHECK(read_in_child({}, [] { return Result<Bytes>(Bytes()); })->empty());
}

TEST_CASE("an error comes back as it was") {
  const auto answer = read_in_child({}, []() -> Result<Bytes> {
    return tl::unexpected(Error{Errc::truncated, "x.metallib: too short", "x.metallib"});
  });
  check_error(answer, Errc::truncated, "x.metallib: too short");
  CHECK(answer.error().subject == "x.metallib");
}

TEST_CASE("a child has threads, and nothing else of the system") {
  const auto answer = read_in_child({}, []() -> Result<Bytes> {
    std::string found;
    std::thread([&] { found += "thread,"; }).join();
    if (::open("/dev/null", O_RDONLY) < 0) found += "no file,";
    if (::socket(AF_UNIX, SOCK_STREAM, 0) < 0) found += "no socket,";
    if (::fork() < 0) found += "no process,";
    if (::kill(::getppid(), 0) < 0) found += "no signal,";
    if (::write(2, "words\n", 6) < 0 && errno == EBADF) found += "no stderr";
    return text(found);
  });
  REQUIRE(answer.has_value());
  CHECK(as_text(*answer) == "thread,no file,no socket,no process,no signal,no stderr");
}

TEST_CASE("a child that dies is an error") {
  check_error(read_in_child({}, []() -> Result<Bytes> { std::abort(); }), Errc::corrupt, "died of signal");
  check_error(read_in_child({}, []() -> Result<Bytes> { ::_exit(7); }), Errc::corrupt, "ended with status 7");
  // Half an answer, and the child goes on: it is ended, and the half is not believed.
  check_error(read_in_child({},
                            []() -> Result<Bytes> {
                              (void)!::write(0, "half", 4);
                              ::close(0);
                              for (;;) std::this_thread::sleep_for(1s);
                            }),
              Errc::cancelled, "was killed");
  // Who takes the child over may say that all is well, and send what he likes.
  check_error(read_in_child({},
                            []() -> Result<Bytes> {
                              (void)!::write(0, "\0\0\0\0\377\377\377\377\377\377\377\177", 12);
                              ::_exit(0);
                            }),
              Errc::corrupt, "answer");
}

TEST_CASE("limits are named") {
  const ReadingBounds soon{200ms, 0};
  check_error(read_in_child(soon,
                            []() -> Result<Bytes> {
                              for (;;) std::this_thread::yield();
                            }),
              Errc::cancelled, "0.2 s");
#ifndef SMELT_SANITIZED  // its shadow goes with no limit of address space
  check_error(read_in_child({0ms, 64 << 20},
                            []() -> Result<Bytes> {
                              std::vector<Bytes> all;
                              for (;;) all.emplace_back(1 << 20);
                            }),
              Errc::cancelled, "64 MB");
#endif
}

TEST_CASE("a child that waits for what never comes is ended") {
  check_error(read_in_child({},
                            []() -> Result<Bytes> {
                              sem_t never;
                              ::sem_init(&never, 0, 0);
                              for (;;) ::sem_wait(&never);
                            }),
              Errc::corrupt, "waits for itself");
}

TEST_CASE("a child does not outlive its parent") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)read_in_child({}, [&]() -> Result<Bytes> {
      for (;;) std::this_thread::sleep_for(1s);
    });
    ::_exit(0);
  }
  REQUIRE(parent > 0);
  ::close(ends[1]);
  std::this_thread::sleep_for(300ms);
  ::kill(parent, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(parent, &status, 0) == parent);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);  // all that held the other end have gone
  ::close(ends[0]);
}

TEST_CASE("without a process to be had, that is the error") {
  const pid_t limited = ::fork();
  if (limited == 0) {
    const rlimit none{0, 0};
    const uid_t nobody = 65534;
    // Root may have any number.
    if (::setrlimit(RLIMIT_NPROC, &none) != 0 || ::setuid(nobody) != 0) ::_exit(77);
    const auto answer = read_in_child({}, [] { return text(""); });
    ::_exit(!answer && answer.error().code == Errc::toolchain_missing ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(limited, &status, 0) == limited);
  if (WEXITSTATUS(status) == 77)
    MESSAGE("SKIPPED: another user needs root");
  else
    CHECK(status == 0);
}

}  // namespace
#endif
