// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// file:///folder: the same layout as on a server, so that rsync, a USB stick and nginx's own folder are mirrors.
#include "smelt/base/files.hpp"

#include "transports.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <tuple>
#include <vector>

namespace smelt::remote {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> trouble_with(const fs::path& path) {
  return fail(Errc::io, "{}: {}", path.string(), std::strerror(errno));
}

Result<void> write_new(int fd, ByteView bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return trouble_with(path);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

/// A new file in the place of whatever is there, which is neither opened nor followed: write_file() writes to a FIFO
/// that it finds, and this one may be a stranger's.
Result<void> replace_file(const fs::path& path, ByteView bytes) {
  uint64_t random = 0;
  if (::getentropy(&random, sizeof random) != 0) return trouble_with(path);
  const std::string temporary = fmt::format("{}.{:016x}", path.string(), random);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return trouble_with(path);
  auto written = write_new(fd, bytes, path);
  ::close(fd);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = trouble_with(path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

/// Keeps a folder within its bound. Nobody else does: it is no server. How much it holds stands in the file `bytes`;
/// what several write at once may be missing there, so it is counted anew each day.
class FolderBound {
 public:
  FolderBound(fs::path folder, uint64_t most) : folder_(std::move(folder)), most_(most) {}

  void added(uint64_t bytes) {
    if (most_ == 0 || bytes == 0) return;
    const auto known = noted();
    const uint64_t total = known ? *known + bytes : make_room();
    note(total > most_ ? make_room() : total);
  }

 private:
  struct Lying {
    fs::file_time_type used;  // of one second there may be hundreds
    uint64_t bytes;
    fs::path path;
  };

  fs::path note_path() const { return folder_ / "bytes"; }

  /// Nothing when it has to be counted.
  std::optional<uint64_t> noted() const {
    constexpr time_t kDay = 24 * 3600;
    struct stat facts;
    if (::stat(note_path().c_str(), &facts) != 0 || std::abs(::time(nullptr) - facts.st_ctime) > kDay)
      return std::nullopt;
    const auto read = read_file(note_path());
    if (!read) return std::nullopt;
    uint64_t bytes = 0;
    const std::string_view text = as_text(*read);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    return error == std::errc() && end != text.data() ? std::optional(bytes) : std::nullopt;
  }

  void note(uint64_t bytes) const { (void)replace_file(note_path(), as_bytes(std::to_string(bytes) + "\n")); }

  /// Counts, and removes what was unused for longest down to nine tenths. How much is left.
  uint64_t make_room() const {
    std::vector<Lying> files;
    uint64_t total = 0;
    for (const char* kind : {"ac", "cas"}) {
      std::error_code error;
      fs::directory_iterator entries(folder_ / kind, error);
      for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        std::error_code gone;
        const bool regular = entries->symlink_status(gone).type() == fs::file_type::regular;
        const uint64_t bytes = regular ? entries->file_size(gone) : 0;
        const auto used = gone || !regular ? fs::file_time_type() : entries->last_write_time(gone);
        if (gone || !regular) continue;
        files.push_back({used, bytes, entries->path()});
        total += bytes;
      }
    }
    if (total <= most_) return total;
    std::sort(files.begin(), files.end(),
              [](const Lying& a, const Lying& b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
    for (const Lying& file : files) {
      if (total <= most_ - most_ / 10) break;
      if (::unlink(file.path.c_str()) == 0) total -= file.bytes;
    }
    return total;
  }

  fs::path folder_;
  uint64_t most_;
};

class FileTransport : public Transport {
 public:
  explicit FileTransport(const Address& address)
      : folder_(address.path), bound_(address.path, address.max_size), notes_use_(!address.read_only) {}

  Fetched get(std::span<const Want> wants, const Patience& patience) override {
    Fetched fetched;
    fetched.round_trips = 1;
    fetched.got.resize(wants.size());
    const auto end = std::chrono::steady_clock::now() + std::min(patience.timeout, patience.drip);
    uint64_t left = patience.most_bytes;
    // A folder that is not mounted would make every file absent: that is no miss worth remembering.
    std::error_code error;
    if (!fs::is_directory(folder_, error)) {
      fetched.trouble = Trouble{{Errc::io, fmt::format("{}: no such folder", folder_.string()), {}}};
      return fetched;
    }
    for (size_t i = 0; i < wants.size(); ++i) {
      if (std::chrono::steady_clock::now() > end) {
        fetched.trouble = Trouble{{Errc::io, fmt::format("{}: reading took too long", folder_.string()), {}}};
        break;
      }
      auto read = read_bounded(folder_ / to_path(wants[i].name), std::min(wants[i].most, left));
      if (read)
        fetched.got[i] = std::move(*read);
      else
        fetched.trouble = Trouble{std::move(read).error()};
      left -= fetched.got[i].bytes.size();
    }
    return fetched;
  }

  Stored put(std::span<const Item> items, const Patience& patience) override {
    Stored stored;
    stored.round_trips = 1;
    const auto end = std::chrono::steady_clock::now() + patience.timeout;
    uint64_t bytes = 0;
    for (const Item& item : items) {
      if (patience.cancel && *patience.cancel) break;
      if (std::chrono::steady_clock::now() > end) {
        stored.trouble = Trouble{{Errc::io, fmt::format("{}: writing took too long", folder_.string()), {}}};
        break;
      }
      const fs::path path = folder_ / to_path(item.name);
      std::error_code error;
      fs::create_directories(path.parent_path(), error);
      if (error) {
        stored.trouble = Trouble{
            {Errc::io, fmt::format("{}: cannot be made: {}", path.parent_path().string(), error.message()), {}}};
        stored.trouble->writes_only = true;
        break;
      }
      if (auto written = replace_file(path, item.bytes); !written) {
        stored.trouble = Trouble{std::move(written).error()};
        stored.trouble->writes_only = true;
        break;
      }
      ++stored.count;
      bytes += item.bytes.size();
    }
    bound_.added(bytes);
    return stored;
  }

  std::vector<bool> has(std::span<const Name> names, const Patience&) override {
    std::vector<bool> found;
    for (const Name& name : names) {
      struct stat facts;
      found.push_back(::stat((folder_ / to_path(name)).c_str(), &facts) == 0 && S_ISREG(facts.st_mode));
    }
    return found;
  }

 private:
  Result<Got> read_bounded(const fs::path& path, uint64_t most) const {
    // Whoever writes there may have put anything: without O_NONBLOCK a FIFO is waited for until somebody writes to it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return Got{Got::Outcome::absent, {}};
    // A socket or a device without a driver; a link to itself.
    if (fd < 0 && (errno == ENXIO || errno == ENODEV || errno == ELOOP)) return Got{Got::Outcome::damaged, {}};
    if (fd < 0) return trouble_with(path);
    auto read = read_open(fd, path, most);
    if (read && read->outcome == Got::Outcome::found && notes_use_) note_use(fd);
    ::close(fd);
    return read;
  }

  static Result<Got> read_open(int fd, const fs::path& path, uint64_t most) {
    struct stat facts;
    if (::fstat(fd, &facts) != 0) return trouble_with(path);
    const auto size = static_cast<uint64_t>(facts.st_size);
    if (!S_ISREG(facts.st_mode) || size > most) return Got{Got::Outcome::damaged, {}};
    Got got{Got::Outcome::found, Bytes(size)};
    for (size_t at = 0; at < size;) {
      const ssize_t count = ::read(fd, got.bytes.data() + at, size - at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return trouble_with(path);
      if (count == 0) return fail(Errc::truncated, "{}: it became shorter while it was read", path.string());
      at += static_cast<size_t>(count);
    }
    return got;
  }

  /// The time of a file is that of its last use, to the hour. Where that may not be written, it is not.
  static void note_use(int fd) {
    constexpr time_t kHour = 3600;
    struct stat facts;
    if (::fstat(fd, &facts) == 0 && facts.st_mtime + kHour < ::time(nullptr)) (void)::futimens(fd, nullptr);
  }

  fs::path folder_;
  FolderBound bound_;
  bool notes_use_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_file_transport(const Address& address) {
  return std::make_unique<FileTransport>(address);
}

}  // namespace smelt::remote
