// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process in which a fault of LLVM's was contained does not read LLVM IR itself any more, unless it is told to.
#include "smelt/aot/faults.hpp"
#include "smelt/service/session.hpp"

#include "compile_child.hpp"
#include "llvm_support/guard.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

using namespace smelt;
using service::Request;
using service::Sandbox;

namespace {

constexpr std::string_view kIr = R"(target triple = "spir64-unknown-unknown"
define spir_kernel void @one(ptr addrspace(1) %x) {
  store float 1.0, ptr addrspace(1) %x, align 4
  ret void
}
)";

Request request_of(std::string_view source, std::optional<Sandbox> sandbox = {}) {
  Request request;
  request.sources.push_back({"one", as_bytes(source)});
  request.sandbox = sandbox;
  return request;
}

Result<Bytes> made(const Request& request) {
  service::SessionOptions options;
  options.use_store = false;
  options.threads = 1;
  SMELT_TRY(const auto result, service::Session::open(std::move(options))->make(request));
  return to_bytes(result.package);
}

/// Of a process of its own: a fault is remembered for good.
template <class Work>
int status_of(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("after a fault LLVM IR goes to a child, and to none when it is wanted never") {
  const int status = status_of([] {
    const Request ir = request_of(kIr), source = request_of("kernel void f(device float* x) { x[0] = 1; }");
    if (aot::had_fault() || service::wants_child(Sandbox::automatic, ir)) return 1;
    if (aot::contain_crashes([] { std::raise(SIGSEGV); }) || !aot::had_fault()) return 2;
    if (!service::wants_child(Sandbox::automatic, ir) || service::wants_child(Sandbox::never, ir)) return 3;
    return service::wants_child(Sandbox::automatic, source) ? 4 : 0;  // includes files
  });
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("after a fault the bytes are the same") {
  const auto before = made(request_of(kIr, Sandbox::never));
  REQUIRE(before.has_value());
  const int status = status_of([&] {
    (void)aot::contain_crashes([] { std::raise(SIGSEGV); });
    const auto after = made(request_of(kIr, Sandbox::automatic));
    if (!after) return 1;
    return *after == *before ? 0 : 2;
  });
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
#endif
