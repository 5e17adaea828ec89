/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Included before every file of the check: what glibc has and a Mac has not may not be used, though the check reads
 * glibc's headers. The standard library's own uses come first. */
#ifdef __cplusplus
#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC poison posix_fallocate fallocate posix_fadvise readahead sync_file_range copy_file_range
#undef CPU_COUNT
#pragma GCC poison sched_getaffinity CPU_COUNT cpu_set_t pthread_setaffinity_np
#pragma GCC poison memfd_create pipe2 dup3 renameat2 statx gettid syscall secure_getenv canonicalize_file_name
#pragma GCC poison program_invocation_name program_invocation_short_name get_nprocs mremap eventfd epoll_create1
#pragma GCC poison strchrnul mempcpy memrchr asprintf64 open64 st_mtim st_atim st_ctim
#define fdatasync not_on_a_mac_fdatasync /* a name that a class may have, too */
