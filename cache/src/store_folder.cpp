// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store_folder.hpp"

#include "smelt/base/bytes.hpp"
#include "smelt/cache/file_layer.hpp"
#include "smelt/schema/store_schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace smelt::cache {
namespace {

constexpr const char* kMarker = "smelt-store";
constexpr std::string_view kMarkerText =
    "smelt store\n"
    "Compiled kernels. While no program uses it, this folder may be deleted whole.\n";
constexpr const char* kCacheTag = "CACHEDIR.TAG";
constexpr std::string_view kCacheTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache made by smelt. About this file: https://bford.info/cachedir/\n";

// The first bytes of a file, fewer when it is shorter, none when it cannot be read.
std::string beginning(const std::filesystem::path& path, size_t bytes) {
  std::string text(bytes, '\0');
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const ssize_t got = fd < 0 ? 0 : ::pread(fd, text.data(), bytes, 0);
  if (fd >= 0) ::close(fd);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// https://www.sqlite.org/fileformat.html: page 1 begins with a magic text and has the application id at 68, big-endian.
bool is_our_page(std::string_view page) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kApplicationId = 68;
  const auto* id = as_bytes(page).data() + kApplicationId;
  return page.size() >= kApplicationId + 4 && page.starts_with(kMagic) &&
         load_le<uint32_t>(id) == __builtin_bswap32(schema::kStoreApplicationId);
}

// SQLite itself would leave files in a folder that is not ours, so we look: at the file, and at the log, where page 1
// of a young store still is. The log: 32 bytes, then pages, each behind 24 bytes that begin with its number.
bool is_our_database(const std::filesystem::path& path) {
  constexpr size_t kHead = 100, kLogHeader = 32, kFrameHeader = 24, kPage = 4096, kMostFrames = 64;
  const std::string database = beginning(path, kHead);
  if (is_our_page(database)) return true;
  if (!database.starts_with("SQLite format 3")) return false;
  const std::string log = beginning(path.string() + "-wal", kLogHeader + kMostFrames * (kFrameHeader + kPage));
  for (size_t at = kLogHeader; at + kFrameHeader + kHead <= log.size(); at += kFrameHeader + kPage)
    if (is_our_page(std::string_view(log).substr(at + kFrameHeader, kHead))) return true;
  return false;
}

bool is_store(const std::filesystem::path& folder) {
  const std::string_view first_line = kMarkerText.substr(0, kMarkerText.find('\n') + 1);
  const std::string marker = beginning(folder / kMarker, first_line.size());
  // A power cut soon after the first use leaves names without bytes, or with zeros for bytes.
  const bool lost =
      marker.find_first_not_of('\0') == std::string::npos && ::access((folder / kMarker).c_str(), F_OK) == 0;
  return lost || marker == first_line || is_our_database(folder / "store.db") ||
         beginning(folder / "index", 4) == "SMIX";
}

// What may lie in a folder that is about to become a store: what another process leaves that is making it one this
// moment or died doing so, and what is not the store's but may be there before it.
bool is_harmless(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (name == "lost+found" || name == "metal-headers") return entry.is_directory(error);
  if (name == "packs") return entry.is_directory(error) && std::filesystem::is_empty(entry.path(), error);
  if (name == kCacheTag) return beginning(entry.path(), 43) == kCacheTagText.substr(0, 43);
  if (name.starts_with(kMarker)) return entry.is_regular_file(error);
  const bool in_the_making = name == "locks" || name.starts_with("locks.") || name == "store.db" || name == "reserve";
  return in_the_making && entry.is_regular_file(error) && entry.file_size(error) == 0;
}

Result<void> write_whole(const std::filesystem::path& path, std::string_view text, FileLayer& files) {
  // Under its own name only once it is whole: half a marker marks nothing.
  const std::string temporary = path.string() + fmt::format(".{}", ::getpid());
  const int fd = files.open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool wrote = fd >= 0 && files.pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  int error = errno;
  if (fd >= 0) ::close(fd);
  if (wrote && files.rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (wrote) error = errno;
  files.unlink(temporary.c_str());
  return fail(Errc::io, "{}: cannot write: {}", path.string(), std::strerror(error));
}

Result<void> write_once(const std::filesystem::path& path, std::string_view text, FileLayer& files) {
  if (beginning(path, text.size()) == text) return {};
  auto wrote = write_whole(path, text, files);
  if (!wrote && beginning(path, text.size()) == text) return {};  // by another thread
  return wrote;
}

}  // namespace

std::optional<Inode> Inode::of(const char* path) {
  struct stat status{};
  if (::stat(path, &status) != 0) return std::nullopt;
  return of(status);
}

std::string file_of(const std::filesystem::path& folder, std::string_view name) {
  std::string path;
  path.reserve(folder.native().size() + 1 + name.size());
  return path.append(folder.native()).append(1, '/').append(name);
}

int status_of(const std::filesystem::path& folder, FolderStatus& status) {
  if (::lstat(folder.c_str(), &status.name) != 0) return -1;
  status.folder = status.name;
  return S_ISLNK(status.name.st_mode) ? ::stat(folder.c_str(), &status.folder) : 0;
}

Result<void> check_owner(const std::filesystem::path& folder, const FolderStatus& status) {
  const uid_t user = ::geteuid();
  // Whoever made a link to the folder may have chosen another one of ours.
  for (const uid_t owner : {status.folder.st_uid, status.name.st_uid})
    if (owner != user && owner != 0)
      return fail(Errc::untrusted,
                  "store {}: belongs to user {}, this is user {}; kernels from it would run as you. Use "
                  "a folder of your own (SMELT_STORE)",
                  folder.string(), owner, user);
  if ((status.folder.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Errc::untrusted, "store {}: others may write to it (mode {:o}); make it mode 0700", folder.string(),
                status.folder.st_mode & 07777);
  return {};
}

Result<void> check_ours(const std::filesystem::path& folder) {
  if (is_store(folder)) return {};
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (is_harmless(*entries)) continue;
    if (is_store(folder)) return {};  // since this moment: the marker comes before anything else
    return fail(Errc::invalid_argument,
                "store {}: is not a smelt store but has files in it ('{}', for example), which are left alone; name an "
                "empty or a new folder (SMELT_STORE)",
                folder.string(), entries->path().filename().string());
  }
  if (error) return fail(Errc::io, "store {}: cannot read the folder: {}", folder.string(), error.message());
  return {};
}

Result<void> mark(const std::filesystem::path& folder, FileLayer& files) {
  SMELT_TRY_VOID(write_once(folder / kMarker, kMarkerText, files));
  return write_once(folder / kCacheTag, kCacheTagText, files);
}

Result<RecordSecret> keep_secret(const std::filesystem::path& folder, FileLayer& files) {
  const std::string path = file_of(folder, "secret");
  RecordSecret secret{};
  const std::string there = beginning(path, secret.size());
  if (there.size() == secret.size() && there.find_first_not_of('\0') != std::string::npos) {
    std::memcpy(secret.data(), there.data(), secret.size());
    return secret;
  }
  if (::getentropy(secret.data(), secret.size()) != 0)
    return fail(Errc::io, "store {}: no random bytes: {}", folder.string(), std::strerror(errno));
  SMELT_TRY_VOID(write_whole(path, as_text(secret), files));
  return secret;
}

uint64_t free_bytes(const std::filesystem::path& folder) {
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0) return std::numeric_limits<uint64_t>::max();
  return uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace smelt::cache
