// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/base/shared_library.hpp"

#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstring>
#include <fstream>
#include <thread>

using namespace smelt;

TEST_CASE("a cursor refuses what is not there and says where") {
  const Bytes bytes = to_bytes(as_bytes("abcdef"));
  Cursor cursor(bytes, "header", 100);
  REQUIRE(cursor.skip(4));
  const auto word = cursor.read<uint32_t>();
  REQUIRE_FALSE(word);
  CHECK(word.error().code == Errc::corrupt);
  CHECK(word.error().message == "header: want 4 bytes at offset 104, have 2");
  CHECK(cursor.read<uint16_t>().value() == 0x6665);
  CHECK(cursor.at_end());
  CHECK_FALSE(cursor.seek(7));
  CHECK_FALSE(cursor.take(~uint64_t{0}));
}

TEST_CASE("text without its NUL is refused") {
  const Bytes bytes{std::byte{'a'}, std::byte{0}, std::byte{'b'}};
  Cursor cursor(bytes, "names");
  CHECK(cursor.read_cstring().value() == "a");
  CHECK_FALSE(cursor.read_cstring());
}

TEST_CASE("SHA-256 agrees with FIPS 180-4's example and survives hexadecimal") {
  const Digest digest = sha256(as_bytes("abc"));
  CHECK(to_hex(digest) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest_from_hex(to_hex(digest)).value() == digest);
  CHECK_FALSE(digest_from_hex("12"));
  CHECK_FALSE(digest_from_hex(std::string(64, 'g')));
}

TEST_CASE("fields of a key cannot run into each other") {
  Hasher a, b;
  a.field("ab");
  a.field("c");
  b.field("a");
  b.field("bc");
  CHECK(a.finish() != b.finish());
}

TEST_CASE("files are written whole or not at all") {
  test::TemporaryFolder folder;
  REQUIRE(write_file(folder / "x", as_bytes("one")));
  REQUIRE(write_file(folder / "x", as_bytes("two")));
  CHECK(as_text(read_file(folder / "x").value()) == "two");
  CHECK(MappedFile::open(folder / "x").value()->bytes().size() == 3);
  const auto missing = read_file(folder / "y");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::file_not_found);
  CHECK_FALSE(write_file(folder / "none/z", as_bytes("z")));
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++left;
  CHECK(left == 1);
}

TEST_CASE("short slices are this thread's, and end with the object") {
  const uint64_t before = platform::scheduler_slice();
  if (before == 0) {
    test::skipped("a thread cannot ask for slices before Linux 6.12");
    return;
  }
  {
    const platform::ShortSlices outer;
    CHECK(platform::scheduler_slice() < before);
    uint64_t others = 0;
    std::thread([&] {
      const platform::ShortSlices inner;
      others = platform::scheduler_slice();
    }).join();
    CHECK(others == platform::scheduler_slice());
    {
      const platform::ShortSlices inner;
    }
    CHECK(platform::scheduler_slice() < before);
  }
  CHECK(platform::scheduler_slice() == before);
}

#ifdef __linux__
TEST_CASE("what a process maps and what it holds are told apart") {
  constexpr size_t kBytes = size_t{256} << 20;
  const platform::MemoryUse before = platform::memory_use();
  CHECK(before.mapped >= before.resident);
  CHECK(before.resident > 0);
  void* const mapping = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapping != MAP_FAILED);
  const platform::MemoryUse mapped = platform::memory_use();
  CHECK(mapped.mapped >= before.mapped + kBytes);
  CHECK(mapped.resident < before.resident + kBytes / 2);
  std::memset(mapping, 1, kBytes / 4);
  CHECK(platform::memory_use().resident > mapped.resident + kBytes / 8);
  ::munmap(mapping, kBytes);
}
#endif

TEST_CASE("a library that is not there, or lacks a function, says so") {
  SharedLibrary missing("libsmelt-of-nowhere.so.1");
  CHECK_FALSE(static_cast<bool>(missing.find<int (*)()>("anything")));
  CHECK(missing.trouble().find("libsmelt-of-nowhere.so.1") != std::string::npos);
#ifdef __linux__
  SharedLibrary found("libc.so.6");
  const auto length = found.find<size_t (*)(const char*)>("strlen");
  REQUIRE(static_cast<bool>(length));
  CHECK(length("four") == 4);
  CHECK(found.trouble().empty());
  CHECK_FALSE(static_cast<bool>(found.find<int (*)()>("no_such_function")));
  CHECK(found.trouble().find("no_such_function") != std::string::npos);
#endif
}
