// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/trusted_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace smelt {
namespace {

class Opened {
 public:
  explicit Opened(int fd = -1) : fd_(fd) {}
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  Opened(Opened&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Opened& operator=(Opened&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> failed(const std::filesystem::path& path, int error) {
  return fail(error == ENOENT || error == ENOTDIR ? Errc::file_not_found : Errc::io, "{}: cannot open: {}",
              path.string(), std::strerror(error));
}

/// Who may have written what is taken.
class Writers {
 public:
  Writers() = default;  // root and this user
  /// Whoever may write to the folder of code, too.
  explicit Writers(const struct stat& code) : owner_(code.st_uid) {
    if ((code.st_mode & S_IWGRP) != 0) group_ = code.st_gid;
  }

  Result<void> check(const std::filesystem::path& path, const struct stat& facts) const {
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0 && facts.st_uid != owner_)
      return fail(Errc::untrusted, "{}: belongs to user {}, this is user {}", path.string(), facts.st_uid, ::geteuid());
    const bool by_group = (facts.st_mode & S_IWGRP) != 0 && facts.st_gid != group_;
    if (!S_ISLNK(facts.st_mode) && (by_group || (facts.st_mode & S_IWOTH) != 0))
      return fail(Errc::untrusted, "{}: others may write to it (mode {:o})", path.string(), facts.st_mode & 07777);
    return {};
  }

 private:
  uid_t owner_ = 0;
  std::optional<gid_t> group_;
};

/// `name` in the folder that is open as `at`; `flags` say what it has to be. Links only where they may be there.
Result<Opened> open_in(int at, const std::string& name, int flags, const std::filesystem::path& shown,
                       const Writers& writers, bool links) {
  constexpr int kAlways = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  Opened opened(::openat(at, name.c_str(), kAlways | flags | O_NOFOLLOW));
  struct stat facts{};
  if (opened.fd() < 0) {
    const int error = errno;
    if (::fstatat(at, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(facts.st_mode))
      return failed(shown, error);
    if (!links) return fail(Errc::untrusted, "{}: is a link", shown.string());
    SMELT_TRY_VOID(writers.check(shown, facts));
    opened = Opened(::openat(at, name.c_str(), kAlways | flags));
    if (opened.fd() < 0) return failed(shown, errno);
  }
  if (::fstat(opened.fd(), &facts) != 0) return failed(shown, errno);
  if ((flags & O_DIRECTORY) == 0 && !S_ISREG(facts.st_mode)) return failed(shown, ENODEV);
  SMELT_TRY_VOID(writers.check(shown, facts));
  return opened;
}

/// By its path, which is not looked at.
Result<Opened> open_folder(const std::filesystem::path& folder) {
  Opened opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.fd() < 0) return failed(folder, errno);
  return opened;
}

Result<Opened> open_own_folder(const std::filesystem::path& folder) {
  SMELT_TRY(const Opened above, open_folder(folder.parent_path()));
  return open_in(above.fd(), folder.filename().string(), O_DIRECTORY, folder, Writers(), false);
}

/// The very file: by its path another one could be there by now.
Result<std::shared_ptr<const MappedFile>> map_opened(const Opened& file) {
  return MappedFile::open("/dev/fd/" + std::to_string(file.fd()));
}

Result<void> make_own_folder(const std::filesystem::path& folder) {
  if (folder.empty() || ::access(folder.c_str(), F_OK) == 0) return {};
  SMELT_TRY_VOID(make_own_folder(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(Errc::io, "{}: cannot create: {}", folder.string(), std::strerror(errno));
}

Result<std::pair<Opened, std::filesystem::path>> open_beside(const std::filesystem::path& code,
                                                             std::initializer_list<const char*> places,
                                                             const std::string& name) {
  if (!code.is_absolute()) return fail(Errc::file_not_found, "{} was not found beside smelt", name);
  SMELT_TRY(const Opened base, open_folder(code));
  struct stat facts{};
  if (::fstat(base.fd(), &facts) != 0) return failed(code, errno);
  const Writers writers(facts);
  const auto open_at = [&](const std::filesystem::path& place) -> Result<Opened> {
    std::filesystem::path shown = code;
    Opened at(::dup(base.fd()));
    for (const auto& step : place) {
      if (step.empty()) continue;
      shown /= step;
      if (step != "..") {
        SMELT_TRY(at, open_in(at.fd(), step.string(), O_DIRECTORY, shown, writers, true));
      } else {
        at = Opened(::openat(at.fd(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (at.fd() < 0) return failed(shown, errno);
      }
    }
    return open_in(at.fd(), name, 0, shown / name, writers, true);
  };
  std::optional<Error> refused;
  for (const char* const place : places) {
    auto opened = open_at(place);
    if (opened) return std::pair(std::move(*opened), code / place / name);
    if (opened.error().code == Errc::untrusted && !refused) refused = std::move(opened).error();
  }
  if (refused) return tl::unexpected(std::move(*refused));
  return fail(Errc::file_not_found, "{} was not found beside smelt, in {}", name, code.string());
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> map_own_file(const std::filesystem::path& folder, const std::string& name) {
  SMELT_TRY(const Opened at, open_own_folder(folder));
  SMELT_TRY(const Opened file, open_in(at.fd(), name, 0, folder / name, Writers(), false));
  return map_opened(file);
}

Result<void> write_own_file(const std::filesystem::path& folder, const std::string& name, ByteView bytes) {
  SMELT_TRY_VOID(make_own_folder(folder));
  SMELT_TRY_VOID(open_own_folder(folder));
  SMELT_TRY_VOID(write_file(folder / name, bytes));
  // A umask that lets a group write would make it one that is not taken.
  if (::chmod((folder / name).c_str(), 0600) == 0) return {};
  return fail(Errc::io, "{}: cannot set the mode: {}", (folder / name).string(), std::strerror(errno));
}

Result<std::filesystem::path> find_beside(const std::filesystem::path& code, std::initializer_list<const char*> places,
                                          const std::string& name) {
  SMELT_TRY(auto found, open_beside(code, places, name));
  return std::move(found.second);
}

Result<std::shared_ptr<const MappedFile>> map_beside(const std::filesystem::path& code,
                                                     std::initializer_list<const char*> places,
                                                     const std::string& name) {
  SMELT_TRY(const auto found, open_beside(code, places, name));
  return map_opened(found.first);
}

}  // namespace smelt
