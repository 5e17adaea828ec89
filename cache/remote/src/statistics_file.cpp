// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "statistics_file.hpp"

#include "smelt/base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

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

void add_statistics(const std::filesystem::path& folder, const std::vector<RemoteCount>& counts) {
  const std::filesystem::path file = folder / kFile;
  // The lock is on a file of its own, since the other is replaced by renaming.
  const int lock = ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) {
    if (lock >= 0) ::close(lock);
    return;
  }
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
  (void)write_file(file, as_bytes(text));
  ::close(lock);
}

}  // namespace smelt::remote
