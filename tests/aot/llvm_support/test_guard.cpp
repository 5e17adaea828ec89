// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards around LLVM and Clang, in particular by several threads at once: crash recovery is one flag of the process.
#include "smelt/aot/verify.hpp"

#include "llvm_support/guard.hpp"
#include "msl/safely.hpp"

#include "llvm/Support/ErrorHandling.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <thread>

namespace smelt::test {
namespace {

TEST_CASE("LLVM's fatal errors become error values") {
  const auto result = aot::contain_fatal_errors([] { llvm::report_fatal_error("as if the pipeline hit one"); });
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("as if the pipeline hit one") != std::string::npos);
  CHECK(aot::contain_fatal_errors([] {}).has_value());
}

TEST_CASE("a fault is an answer, and the next call works") {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    CAPTURE(signal);
    CHECK_FALSE(aot::contain_crashes([signal] { std::raise(signal); }));
    bool ran = false;
    CHECK(aot::contain_crashes([&] { ran = true; }));
    CHECK(ran);
  }
}

#ifndef SMELT_SANITIZED  // they bring an allocator of their own
// glibc ends the process with the lock of that memory held; who had it and went on would wait for himself.
TEST_CASE("a fault in the allocator is an answer, and nobody waits for its lock") {
  for (int i = 0; i < 20; ++i) {
    std::string answer;
    CHECK_FALSE(aot::contain_crashes([&] {
      CHECK_FALSE(aot::contain_crashes([] {
        char* volatile memory = static_cast<char*>(std::malloc(2000));
        char* volatile behind = static_cast<char*>(std::malloc(2000));
        reinterpret_cast<volatile size_t*>(behind)[-1] = 0;  // what the allocator says about it
        std::free(memory);
      }));
      answer = std::string(200, 'x');  // frees and allocates, as everybody does after an error
      std::raise(SIGSEGV);
    }));
    CHECK(answer.size() == 200);
  }
}
#endif

TEST_CASE("outside of every guard the program's own handlers are in place") {
  struct sigaction before{}, after{};
  sigaction(SIGSEGV, nullptr, &before);
  CHECK(aot::contain_crashes([] {}));
  sigaction(SIGSEGV, nullptr, &after);
  CHECK((before.sa_handler == after.sa_handler));
}

// The front end and the verifier are both users. The one that comes first leaves last, and crashes after the other has
// left: were each to count for itself, the handlers would be gone by then and the process would end here.
TEST_CASE("the front end crashes while a verifier comes and goes") {
  std::latch compiling(1), verified(1);
  Result<void> outcome;
  std::thread front_end([&] {
    outcome = aot::msl::run_safely("kernel.metal", [&] {
      compiling.count_down();
      verified.wait();
      std::raise(SIGSEGV);
    });
  });
  compiling.wait();
  const Bytes nonsense(64);
  CHECK_FALSE(aot::verify_module(nonsense).empty());
  verified.count_down();
  front_end.join();
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().message.find("kernel.metal") != std::string::npos);
}

TEST_CASE("a verifier crashes while the front end goes on") {
  std::latch verifying(1), compiled(1);
  bool survived = true;
  std::thread verifier([&] {
    survived = aot::contain_crashes([&] {
      verifying.count_down();
      compiled.wait();
      std::raise(SIGSEGV);
    });
  });
  verifying.wait();
  CHECK(aot::msl::run_safely("kernel.metal", [] {}).has_value());
  compiled.count_down();
  verifier.join();
  CHECK_FALSE(survived);
}

}  // namespace
}  // namespace smelt::test
