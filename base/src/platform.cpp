// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/platform.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#if defined(__APPLE__)
#include <pthread.h>
#include <sys/mount.h>
#include <sys/param.h>
#elif defined(__linux__)
#include <link.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#endif

namespace smelt::platform {

int64_t seconds_since_boot() {
  timespec up{};
#if defined(__APPLE__)
  ::clock_gettime(CLOCK_MONOTONIC, &up);  // counts on while the machine sleeps, unlike Linux's
#else
  ::clock_gettime(CLOCK_BOOTTIME, &up);
#endif
  return up.tv_sec;
}

int64_t coarse_milliseconds() {
  timespec now{};
#if defined(__APPLE__)
  ::clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &now);
#else
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#endif
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

MemoryUse memory_use() {
#if defined(__linux__)
  FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return {};
  unsigned long long mapped = 0, resident = 0;  // pages
  const int read = std::fscanf(file, "%llu %llu", &mapped, &resident);
  std::fclose(file);
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return read == 2 ? MemoryUse{mapped * page, resident * page} : MemoryUse{};
#else
  return {};
#endif
}

uint64_t thread_id() {
#if defined(__APPLE__)
  uint64_t number = 0;
  ::pthread_threadid_np(::pthread_self(), &number);
  return number;
#else
  return static_cast<uint64_t>(::syscall(SYS_gettid));
#endif
}

void lower_priority() {
#if defined(__APPLE__)
  ::pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0);
#elif defined(__linux__)
  // Of one thread, as Linux has it. Not 19: at the end of a process somebody waits for it, and nobody may undo this.
  ::setpriority(PRIO_PROCESS, 0, 10);
#endif
}

#if defined(__linux__) && defined(SYS_sched_setattr)
namespace {

// sched_setattr(2) as of Linux 3.14; since 6.12 `runtime` is the slice of a thread of the ordinary policies.
struct SchedulerAttributes {
  uint32_t size = sizeof(SchedulerAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;
};
static_assert(sizeof(SchedulerAttributes) == 48);

constexpr uint64_t kShortestSlice = 100000;  // nanoseconds; the kernel takes no less
constexpr uint32_t kOther = 0, kBatch = 3;   // policies

std::optional<SchedulerAttributes> with_a_slice() {
  SchedulerAttributes now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0) return std::nullopt;
  if ((now.policy != kOther && now.policy != kBatch) || now.runtime == 0) return std::nullopt;
  now.size = sizeof now;
  return now;
}

}  // namespace

uint64_t scheduler_slice() {
  const auto now = with_a_slice();
  return now ? now->runtime : 0;
}

ShortSlices::ShortSlices() {
  auto wanted = with_a_slice();
  if (!wanted || wanted->runtime <= kShortestSlice) return;
  const uint64_t before = wanted->runtime;
  wanted->runtime = kShortestSlice;
  if (::syscall(SYS_sched_setattr, 0, &*wanted, 0) == 0) before_ = before;
}

ShortSlices::~ShortSlices() {
  if (before_ == 0) return;
  auto wanted = with_a_slice();  // somebody may have made it nicer meanwhile
  if (!wanted) return;
  wanted->runtime = before_;
  ::syscall(SYS_sched_setattr, 0, &*wanted, 0);
}
#else
uint64_t scheduler_slice() {
  return 0;
}
ShortSlices::ShortSlices() = default;
ShortSlices::~ShortSlices() = default;
#endif

int reserve_file(int fd, uint64_t bytes) {
  return extend_file(fd, 0, bytes);
}

int extend_file(int fd, uint64_t from, uint64_t to) {
#if defined(__APPLE__)
  fstore_t wanted{};
  wanted.fst_flags = F_ALLOCATEALL;
  wanted.fst_posmode = F_PEOFPOSMODE;
  wanted.fst_length = static_cast<off_t>(to - from);
  if (::fcntl(fd, F_PREALLOCATE, &wanted) != 0 && errno == ENOSPC) return ENOSPC;  // other file systems cannot promise
  return ::ftruncate(fd, static_cast<off_t>(to)) == 0 ? 0 : errno;
#else
  return ::posix_fallocate(fd, static_cast<off_t>(from), static_cast<off_t>(to - from));
#endif
}

int free_file_range([[maybe_unused]] int fd, [[maybe_unused]] uint64_t from, [[maybe_unused]] uint64_t to) {
#if defined(__linux__)
  const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return ::fallocate(fd, how, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0 ? 0 : errno;
#else
  return ENOTSUP;
#endif
}

int sync_data(int fd) {
#if defined(__APPLE__)
  // fsync there leaves the bytes in the drive's own cache; file systems without the call have fsync alone.
  return ::fcntl(fd, F_FULLFSYNC) == 0 ? 0 : ::fsync(fd);
#else
  return ::fdatasync(fd);
#endif
}

const char* network_file_system(const std::filesystem::path& folder) {
  struct statfs status{};
  if (::statfs(folder.c_str(), &status) != 0) return nullptr;
#if defined(__APPLE__)
  if ((status.f_flags & MNT_LOCAL) != 0) return nullptr;
  const std::string_view name = status.f_fstypename;
  return name == "nfs" ? "NFS" : name == "smbfs" ? "SMB" : name == "afpfs" ? "AFP" : "a remote file system";
#else
  switch (static_cast<uint64_t>(status.f_type) & 0xffffffff) {  // magic numbers of statfs(2)
    case 0x6969:
      return "NFS";
    case 0x517b:
      return "SMB";
    case 0xff534d42:
      return "CIFS";
    case 0xfe534d42:
      return "SMB2";
    case 0x65735546:
      return "FUSE";
    case 0x01021997:
      return "9p";
    case 0x5346414f:
      return "AFS";
    case 0x00c36400:
      return "Ceph";
    case 0x0bd00bd0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    default:
      return nullptr;
  }
#endif
}

std::optional<std::filesystem::path> path_of(int fd) {
#if defined(__APPLE__)
  char path[MAXPATHLEN];
  if (::fcntl(fd, F_GETPATH, path) != 0) return std::nullopt;
  return std::filesystem::path(path);
#else
  std::error_code none;
  auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none);
  if (none) return std::nullopt;
  return path;
#endif
}

std::filesystem::path folder_of_code(const void* address) {
  Dl_info info{};
  std::filesystem::path file;
#if defined(__linux__)
  link_map* map = nullptr;
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  std::error_code none;
  // The program itself has no name in the list; dladdr would give what it was called with.
  file = map->l_name == nullptr || *map->l_name == 0 ? std::filesystem::read_symlink("/proc/self/exe", none)
                                                     : std::filesystem::path(map->l_name);
#else
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  file = info.dli_fname;
#endif
  return file.is_absolute() ? file.parent_path() : std::filesystem::path();
}

void advise_huge_pages([[maybe_unused]] void* address, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  ::madvise(address, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace smelt::platform
