// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/cache/file_layer.hpp"

#include "smelt/base/platform.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace smelt::cache {

int FileLayer::open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
ssize_t FileLayer::pread(int fd, void* bytes, size_t count, off_t at) {
  return ::pread(fd, bytes, count, at);
}
ssize_t FileLayer::pwrite(int fd, const void* bytes, size_t count, off_t at) {
  return ::pwrite(fd, bytes, count, at);
}
int FileLayer::ftruncate(int fd, off_t size) {
  return ::ftruncate(fd, size);
}
int FileLayer::fdatasync(int fd) {
  return platform::sync_data(fd);
}
int FileLayer::rename(const char* from, const char* to) {
  return ::rename(from, to);
}
int FileLayer::unlink(const char* path) {
  return ::unlink(path);
}
FileLayer& FileLayer::system() {
  static FileLayer layer;
  return layer;
}

}  // namespace smelt::cache
