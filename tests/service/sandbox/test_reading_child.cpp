// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whatever happens to a child that reads, its parent gets a value.
#include "smelt/service/reading_child.hpp"

#include "skips.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>
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

TEST_CASE("whatever call a child makes of the system, it is not allowed") {
  // What computing, memory, threads and the one socket need (service/sandbox/src/filter.cpp); two of them look at their
  // flags.
  const std::set<long> allowed{SYS_read,
                               SYS_write,
                               SYS_close,
                               SYS_recvfrom,
                               SYS_sendto,
                               SYS_brk,
                               SYS_munmap,
                               SYS_mremap,
                               SYS_madvise,
                               SYS_futex,
                               SYS_set_robust_list,
                               SYS_rseq,
                               SYS_sched_yield,
                               SYS_sched_getaffinity,
                               SYS_getrandom,
                               SYS_clock_gettime,
                               SYS_clock_nanosleep,
                               SYS_gettimeofday,
                               SYS_getpid,
                               SYS_gettid,
                               SYS_getrusage,
                               SYS_rt_sigaction,
                               SYS_rt_sigprocmask,
                               SYS_rt_sigreturn,
                               SYS_sigaltstack,
                               SYS_restart_syscall,
                               SYS_exit,
                               SYS_exit_group,
                               SYS_mmap,
                               SYS_mprotect,
                               SYS_clone,
                               SYS_clone3};
  const auto answer = read_in_child({}, [&]() -> Result<Bytes> {
    std::string found;
    // uretprobe and uprobe are the kernel's own doors, which no filter sees: SIGILL unless it comes from its
    // trampoline.
    for (long call = 0; call < 512; ++call)
      if (!allowed.contains(call) && call != 335 && call != 336 &&
          (::syscall(call, 0, 0, 0, 0, 0, 0) != -1 || errno != EPERM))
        found += fmt::format("{} ", call);
    return text(found);
  });
  REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
  CHECK(as_text(*answer) == "");
  // Those that look at other processes by name, and the flags of those that are allowed with some.
  const auto reached = read_in_child({}, []() -> Result<Bytes> {
    std::string found;
    const auto denied = [&](const char* what, long result) {
      if (result != -1 || errno != EPERM) found += fmt::format("{} ", what);
    };
    denied("ptrace", ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
    denied("traceme", ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    iovec here{&found, sizeof found};
    denied("process_vm_readv", ::syscall(SYS_process_vm_readv, ::getppid(), &here, 1, &here, 1, 0));
    denied("process_vm_writev", ::syscall(SYS_process_vm_writev, ::getppid(), &here, 1, &here, 1, 0));
    denied("pidfd_open", ::syscall(SYS_pidfd_open, ::getppid(), 0));
    denied("memory that is code", reinterpret_cast<intptr_t>(::mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
                                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
    alignas(4096) static std::byte page[4096];
    denied("code of its memory", ::mprotect(page, sizeof page, PROT_READ | PROT_WRITE | PROT_EXEC));
    denied("a process by clone", ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    return text(found);
  });
  REQUIRE_MESSAGE(reached.has_value(), reached.error().message);
  CHECK(as_text(*reached) == "");
#ifdef __x86_64__
  // By the door of 32-bit programs, where the numbers mean other calls.
  check_error(read_in_child({},
                            []() -> Result<Bytes> {
                              long result = 20;  // getpid there
                              asm volatile("int $0x80" : "+a"(result) : : "memory");
                              return text(fmt::format("{}", result));
                            }),
              Errc::corrupt, "died of signal");
#endif
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
              Errc::corrupt, "deadlocked");
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

TEST_CASE("a thread bomb ends where the child's address space does, and goes with the child") {
  const auto answer = read_in_child({}, []() -> Result<Bytes> {
    constexpr size_t kMost = 100'000;
    size_t count = 0;
    pthread_t thread{};
    const auto sleep = [](void*) -> void* {
      for (;;) std::this_thread::sleep_for(1s);
    };
    while (count < kMost && ::pthread_create(&thread, nullptr, sleep, nullptr) == 0) ++count;
    return text(std::to_string(count));
  });
  REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
  const unsigned long count = std::stoul(std::string(as_text(*answer)));
  CHECK(count > 0);
  CHECK(count < 5000);
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
    smelt::test::skipped("another user needs root");
  else
    CHECK(status == 0);
}

}  // namespace
#endif
