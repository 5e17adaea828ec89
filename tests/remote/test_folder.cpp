// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder as a remote has nobody who bounds it: who writes does, with max-size.
#include "smelt/base/files.hpp"
#include "smelt/remote/remotes.hpp"

#include "entries.hpp"
#include "files.hpp"
#include "servers.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::remote;
using namespace smelt::test;

namespace {

std::shared_ptr<Remote> open_folder(const std::string& url) {
  auto address = parse_address(patient(url));
  if (!address) FAIL(address.error().message);
  auto remote = Remote::open(*address, {});
  if (!remote) FAIL(remote.error().message);
  return std::move(*remote);
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const char* kind : {"ac", "cas"})
    for (const auto& file : std::filesystem::directory_iterator(folder / kind)) found.push_back(file.path());
  return found;
}

uint64_t bytes_of(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const auto& file : files_of(folder)) bytes += std::filesystem::file_size(file);
  return bytes;
}

bool finds_entry(Remote& remote, uint64_t id) {
  const Digest key = key_of(id);
  return remote.find(std::span(&key, 1), true)[0].has_value();
}

}  // namespace

TEST_CASE("a folder with max-size loses what was unused for longest, and nothing else") {
  TemporaryFolder folder;
  const std::string url = "file://" + folder.path().string();
  constexpr uint64_t kMost = 200000;
  REQUIRE(write_file(folder / "README", as_bytes("somebody's own")));
  {
    const auto unbounded = open_folder(url);
    for (uint64_t id = 0; id < 40; ++id) {
      const Outgoing entry = entry_of(id);
      REQUIRE(unbounded->put(std::span(&entry, 1)));
    }
  }
  REQUIRE(bytes_of(folder.path()) > 2 * kMost);
  // All were used two days ago, then two of them now.
  const auto then = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  for (const auto& file : files_of(folder.path())) std::filesystem::last_write_time(file, then);
  const auto remote = open_folder(url + "?max-size=" + std::to_string(kMost));
  for (const uint64_t id : {7, 23}) CHECK(finds_entry(*remote, id));
  for (uint64_t id = 100; id < 140; ++id) {
    const Outgoing entry = entry_of(id);
    REQUIRE(remote->put(std::span(&entry, 1)));
    CHECK(bytes_of(folder.path()) <= kMost);
    if (id == 100) {
      for (const uint64_t used : {7, 23, 100}) CHECK(finds_entry(*remote, used));
      CHECK_FALSE(finds_entry(*remote, 3));
    }
  }
  CHECK(finds_entry(*remote, 139));
  CHECK(std::filesystem::exists(folder / "README"));
  // The note of its size is data, too.
  REQUIRE(write_file(folder / "bytes", as_bytes("many\n")));
  const Outgoing entry = entry_of(200);
  REQUIRE(remote->put(std::span(&entry, 1)));
  CHECK(bytes_of(folder.path()) <= kMost);
  CHECK(finds_entry(*remote, 200));
}

TEST_CASE("a folder that cannot be written says which of its folders, and why") {
  TemporaryFolder folder;
  REQUIRE(write_file(folder / "cas", as_bytes("no folder")));
  const Outgoing entry = entry_of(1);
  const auto put = open_folder("file://" + folder.path().string())->put(std::span(&entry, 1));
  REQUIRE_FALSE(put);
  CHECK(put.error().message.find((folder / "cas").string() + ": cannot be made: ") != std::string::npos);
}

TEST_CASE("max-size is for folders alone, and has units") {
  CHECK(parse_address("file:///a?max-size=2GiB")->max_size == uint64_t{2} << 30);
  for (const char* url : {"file:///a?max-size=much", "https://host/?max-size=2GiB"})
    CHECK(parse_address(url).error().message.find("size") != std::string::npos);
}
