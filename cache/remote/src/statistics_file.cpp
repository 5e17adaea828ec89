// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "statistics_file.hpp"

#include "smelt/base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <thread>

namespace smelt::remote {
namespace {

constexpr std::string_view kFile = "remotes";

// In the order in which they are written: name, then these.
constexpr uint64_t Statistics::* kFields[] = {
    &Statistics::hits,       &Statistics::misses,        &Statistics::remembered,  &Statistics::damaged,
    &Statistics::errors,     &Statistics::resting,       &Statistics::puts,        &Statistics::dropped,
    &Statistics::bytes_read, &Statistics::bytes_written, &Statistics::round_trips, &Statistics::microseconds,
};

}  // namespace

std::vector<RemoteCount> read_statistics(const std::filesystem::path& store_folder) {
  std::vector<RemoteCount> counts;
  const auto bytes = read_file(store_folder / kFile);
  if (!bytes) return counts;
  std::istringstream lines{std::string(as_text(*bytes))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    RemoteCount count;
    words >> count.name;
    for (const auto field : kFields) words >> count.statistics.*field;
    if (words) counts.push_back(std::move(count));
  }
  return counts;
}

namespace {

/// The file is not changed by others while `body` runs; it does not run where somebody else has it for long.
void alone_with_statistics(const std::filesystem::path& file, const std::function<void()>& body) {
  // The lock is on a file of its own, since the other is replaced by renaming.
  const int lock = ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // A process that is stopped while it holds the lock keeps nobody from ending: numbers are not worth it.
  int locked = -1;
  for (int attempt = 0; lock >= 0 && attempt < 50; ++attempt) {
    locked = ::flock(lock, LOCK_EX | LOCK_NB);
    if (locked == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (locked != 0) {
    if (lock >= 0) ::close(lock);
    return;
  }
  body();
  ::close(lock);
}

void add_to_statistics(const std::filesystem::path& folder, const std::vector<RemoteCount>& counts) {
  std::vector<RemoteCount> all = read_statistics(folder);
  for (const RemoteCount& count : counts) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const RemoteCount& one) { return one.name == count.name; });
    if (same == all.end())
      all.push_back(count);
    else
      same->statistics += count.statistics;
  }
  std::string text;
  for (const RemoteCount& count : all) {
    text += count.name;
    for (const auto field : kFields) text += fmt::format(" {}", count.statistics.*field);
    text += "\n";
  }
  (void)write_file(folder / kFile, as_bytes(text));
}

}  // namespace

void add_statistics(const std::filesystem::path& folder, const std::vector<RemoteCount>& counts) {
  alone_with_statistics(folder / kFile, [&] { add_to_statistics(folder, counts); });
}

void reset_statistics(const std::filesystem::path& folder) {
  alone_with_statistics(folder / kFile, [&] { ::unlink((folder / kFile).c_str()); });
}

}  // namespace smelt::remote
