// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiling child's answer is complete when all of it is there, and not before, whatever is said after a part of it.
#include "child_protocol.hpp"

#include <doctest/doctest.h>

using namespace smelt;

namespace {

TEST_CASE("a child's answer is complete when all of it is there") {
  service::Built built(signing::Provenance::made_here());
  built.package = Bytes(40, std::byte{0xFF});  // as the mark of the end
  built.warnings = {"one", "two"};
  built.kernels = 3;
  const Bytes answer = service::framed(service::write_outcome(built));
  REQUIRE(service::is_complete(answer));
  const auto read = service::read_outcome(service::unframed(answer));
  REQUIRE(read);
  CHECK(read->package == built.package);
  CHECK(read->warnings == built.warnings);
  CHECK(read->kernels == 3);

  // Exit with a number, a signal with and without a core, and what a helper says for one that never was.
  for (const uint32_t status : {0u, 1u << 8, 123u << 8, 255u << 8, 9u, 11u, 139u, 124u << 8}) {
    Bytes said(service::kStatusBytes);
    store_le(said.data(), status);
    for (size_t size = 0; size < answer.size(); ++size) {
      Bytes part(answer.begin(), answer.begin() + static_cast<ptrdiff_t>(size));
      CHECK_FALSE(service::is_complete(part));
      part.insert(part.end(), said.begin(), said.end());
      CHECK_FALSE(service::is_complete(part));
    }
    Bytes more = answer;
    more.insert(more.end(), said.begin(), said.end());
    CHECK(service::is_complete(more));
    CHECK(service::read_outcome(service::unframed(more)).has_value());
  }
}

TEST_CASE("a length that nobody can have does not make an answer") {
  for (const uint64_t length : {~uint64_t{0}, ~uint64_t{0} - 11, ~uint64_t{0} - 12, uint64_t{1} << 63}) {
    Bytes answer(64, std::byte{0xFF});
    store_le(answer.data(), length);
    CHECK_FALSE(service::is_complete(answer));
  }
}

TEST_CASE("an answer is bounded by the memory that its child may have") {
  constexpr uint64_t kMemory = 1 << 20;
  Bytes answer(64);
  store_le(answer.data(), uint64_t{kMemory / 2});
  CHECK(service::check_length(answer, kMemory));
  store_le(answer.data(), uint64_t{kMemory / 2 + 1});  // before any of it has come
  CHECK_FALSE(service::check_length(answer, kMemory));
  store_le(answer.data(), uint64_t{8});  // it goes on all the same
  answer.resize(kMemory / 2 + 1);
  CHECK_FALSE(service::check_length(answer, kMemory));
  CHECK(service::check_length({}, kMemory));
}

}  // namespace
