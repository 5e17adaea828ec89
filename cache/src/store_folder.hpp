// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder a store stands on: whose it is, and whether it is still the one that was opened.
#pragma once

#include "smelt/base/result.hpp"

#include "record.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace smelt::cache {

class FileLayer;

/// A file or folder itself, whatever it is called.
struct Inode {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const Inode&) const = default;
  static std::optional<Inode> of(const char* path);
  static Inode of(const struct stat& status) { return {status.st_dev, status.st_ino}; }
};

/// A file of the folder. Not by `path`: taking one apart makes twenty pieces of memory while a store is opened.
std::string file_of(const std::filesystem::path& folder, std::string_view name);

/// Whether the folder is a store, or empty and may become one; in another nothing is ever touched. A store has the
/// marker `smelt-store`; one from before there were markers is known by its database or index.
Result<void> check_ours(const std::filesystem::path& folder);

/// A folder, and the name by which it was asked for, which may be a link to it.
struct FolderStatus {
  struct stat folder{}, name{};
};
/// 0, or -1 with errno.
int status_of(const std::filesystem::path& folder, FolderStatus& status);
/// Checks that this user or root alone made the folder, whose facts are `status`, and may write to it. Errors:
/// untrusted.
Result<void> check_owner(const std::filesystem::path& folder, const FolderStatus& status);

/// Puts the marker there, and CACHEDIR.TAG (https://bford.info/cachedir/), which tells backup programs to pass over it.
Result<void> mark(const std::filesystem::path& folder, FileLayer& files);

/// The secret that marks the records of this store as its own: made once, by whoever has the writer lock.
Result<RecordSecret> keep_secret(const std::filesystem::path& folder, FileLayer& files);

/// Bytes that can still be written where the folder is; the largest number when the system does not say.
uint64_t free_bytes(const std::filesystem::path& folder);

}  // namespace smelt::cache
