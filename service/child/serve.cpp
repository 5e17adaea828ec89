// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "serve.hpp"

#include "smelt/aot/limits.hpp"

#include "child_protocol.hpp"
#include "sandboxed.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace smelt::service {
namespace {

bool read_all(int from, Bytes& bytes) {
  std::vector<std::byte> part(1 << 16);
  for (;;) {
    const ssize_t got = ::recv(from, part.data(), part.size(), 0);
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    bytes.insert(bytes.end(), part.begin(), part.begin() + got);
  }
}

Result<Built> compile(const ChildJob& job) {
  const aot::Limited limited({.time = job.time, .memory_bytes = 0, .cancel = nullptr});
  if (job.request && job.only_read) {
    SMELT_TRY_VOID(make_plan(*job.request, job.threads, {}));
    return Built(signing::Provenance::made_here());
  }
  if (job.request) return build_package(*job.request, job.threads, {}, KernelStore());
  if (!job.package) return fail(Errc::invalid_argument, "nothing to compile");
  Built built(signing::Provenance::made_here());  // of what the job brought
  SMELT_TRY(built.package, recompile_package(*job.package, job.wanted));
  return built;
}

Result<Built> compile_within(const ChildJob& job) {
  auto built = compile(job);
  // LLVM reports some shortages by itself, and a fault in it that was contained may have been one.
  if (!built && (built.error().code == Errc::out_of_memory || is_memory_used_up())) give_up();
  return built;
}

}  // namespace

void serve(int socket, uint64_t mapped, scmp_filter_ctx filter) {
  keep_only(socket);
  Bytes message;
  if (!read_all(0, message)) ::_exit(kNoMessage);
  const auto job = read_job(message);
  if (!job) answer_and_end(framed(write_outcome(tl::unexpected(job.error()))));
  if (job->nice != 0) ::setpriority(PRIO_PROCESS, 0, static_cast<int>(job->nice));
  ChildBounds bounds{
      .time = job->time,
      .threads = job->threads,
      .mapped = mapped,
      .memory_bytes = job->memory_bytes,
      .shortage = framed(write_outcome(
          fail(Errc::cancelled, "compiling took more memory than the limit of {} MB", job->memory_bytes >> 20)))};
  if (!job->folder) {
    enter_sandbox(std::move(bounds), filter);
  } else {
    if (::chdir(job->folder->c_str()) != 0)
      answer_and_end(framed(write_outcome(fail(Errc::io, "{}: {}", *job->folder, std::strerror(errno)))));
    // Who asked says how long that was.
    watch(std::move(bounds), framed(write_outcome(fail(Errc::cancelled, "not compiled within the limit"))));
  }
  answer_and_end(framed(write_outcome(compile_within(*job))));
}

}  // namespace smelt::service
