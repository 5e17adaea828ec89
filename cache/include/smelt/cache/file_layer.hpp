// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our own file calls in one place, so that tests can make any of them fail.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace smelt::cache {

/// The default does what the system does. Same results and errno as the calls it is named after. Any thread.
class FileLayer {
 public:
  virtual ~FileLayer() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t pread(int fd, void* bytes, size_t count, off_t at);
  virtual ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at);
  virtual int ftruncate(int fd, off_t size);
  virtual int fdatasync(int fd);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);

  static FileLayer& system();
};

}  // namespace smelt::cache
