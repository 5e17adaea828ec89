// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__

#include "filter.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <initializer_list>

namespace smelt::service {

Result<scmp_filter_ctx> make_filter() {
  SMELT_TRY(const SeccompLibrary* const library, seccomp_library());
  const scmp_filter_ctx filter = library->init(SCMP_ACT_ERRNO(EPERM));
  bool fine = filter != nullptr;
  for (const int call : {SCMP_SYS(read),
                         SCMP_SYS(write),
                         SCMP_SYS(close),
                         SCMP_SYS(recvfrom),
                         SCMP_SYS(sendto),
                         SCMP_SYS(brk),
                         SCMP_SYS(munmap),
                         SCMP_SYS(mremap),
                         SCMP_SYS(madvise),
                         SCMP_SYS(futex),
                         SCMP_SYS(set_robust_list),
                         SCMP_SYS(rseq),
                         SCMP_SYS(sched_yield),
                         SCMP_SYS(sched_getaffinity),
                         SCMP_SYS(getrandom),
                         SCMP_SYS(clock_gettime),
                         SCMP_SYS(clock_nanosleep),
                         SCMP_SYS(gettimeofday),
                         SCMP_SYS(getpid),
                         SCMP_SYS(gettid),
                         SCMP_SYS(getrusage),
                         SCMP_SYS(rt_sigaction),
                         SCMP_SYS(rt_sigprocmask),
                         SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(sigaltstack),
                         SCMP_SYS(restart_syscall),
                         SCMP_SYS(exit),
                         SCMP_SYS(exit_group)})
    fine = fine && library->rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})  // memory, but no code
    fine = fine && library->rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
  fine = fine && library->rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                   SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)) == 0;
  // Its flags lie in memory, where a filter cannot look; the C library then takes the other one.
  fine = fine && library->rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
  if (fine) return filter;
  return fail(Errc::toolchain_missing, "libseccomp makes no filter");
}

}  // namespace smelt::service

#endif
