// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// file:///folder: the same layout as on a server, so that rsync, a USB stick and nginx's own folder are mirrors.
#include "smelt/base/files.hpp"

#include "transports.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace smelt::remote {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> trouble_with(const fs::path& path) {
  return fail(Errc::io, "{}: {}", path.string(), std::strerror(errno));
}

class FileTransport : public Transport {
 public:
  explicit FileTransport(fs::path folder) : folder_(std::move(folder)) {}

  Fetched get(std::span<const Want> wants, const Patience& patience) override {
    Fetched fetched;
    fetched.round_trips = 1;
    fetched.got.resize(wants.size());
    const auto end = std::chrono::steady_clock::now() + patience.timeout;
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
      auto read = read_bounded(folder_ / to_path(wants[i].name), wants[i].most);
      if (read)
        fetched.got[i] = std::move(*read);
      else
        fetched.trouble = Trouble{std::move(read).error()};
    }
    return fetched;
  }

  Stored put(std::span<const Item> items, const Patience& patience) override {
    Stored stored;
    stored.round_trips = 1;
    const auto end = std::chrono::steady_clock::now() + patience.timeout;
    for (const Item& item : items) {
      if (patience.cancel && *patience.cancel) break;
      if (std::chrono::steady_clock::now() > end) {
        stored.trouble = Trouble{{Errc::io, fmt::format("{}: writing took too long", folder_.string()), {}}};
        break;
      }
      const fs::path path = folder_ / to_path(item.name);
      std::error_code error;
      fs::create_directories(path.parent_path(), error);
      if (auto written = write_file(path, item.bytes); !written) {
        stored.trouble = Trouble{std::move(written).error()};
        stored.trouble->writes_only = true;
        break;
      }
      ++stored.count;
    }
    return stored;
  }

  std::vector<bool> has(std::span<const Name> names, const Patience&) override {
    std::vector<bool> found;
    for (const Name& name : names) found.push_back(::access((folder_ / to_path(name)).c_str(), R_OK) == 0);
    return found;
  }

 private:
  static Result<Got> read_bounded(const fs::path& path, uint64_t most) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return Got{Got::Outcome::absent, {}};
    if (fd < 0) return trouble_with(path);
    auto read = read_open(fd, path, most);
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

  fs::path folder_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_file_transport(const Address& address) {
  return std::make_unique<FileTransport>(address.path);
}

}  // namespace smelt::remote
