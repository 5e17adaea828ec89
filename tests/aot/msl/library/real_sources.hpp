// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of other people's kernels share. Their sources are never part of this tree: an environment variable names
// a folder that holds them, and without it such a test is left out.
#pragma once

#include "elementwise.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smelt::test {

/// The folder that `variable` names, when it holds `needed`; else a message and nothing.
std::optional<std::filesystem::path> real_sources(const char* variable, const char* needed);

/// A file of `root` compiled with `root` as include folder; `functions` empty: all of its kernels.
MslLibrary compile_real(const std::filesystem::path& root, const std::string& file,
                        std::vector<std::string> functions = {}, const std::string& prelude = {});

inline constexpr Kind kReals[] = {Kind::f32, Kind::f16, Kind::bf16};

/// Numbers in the storage of a kind.
struct Array {
  Array(Kind stored, const std::vector<double>& values);
  Array(Kind stored, std::initializer_list<double> values) : Array(stored, std::vector<double>(values)) {}
  Array(Kind stored, size_t count) : Array(stored, std::vector<double>(count)) {}
  double operator[](size_t i) const;
  size_t size() const { return bytes.size() / bytes_of(kind); }
  Kind kind;
  std::vector<std::byte> bytes;
};

/// `count` numbers from `low` up to `high`, in an order that is not theirs.
std::vector<double> spread(size_t count, double low, double high);

/// What a kernel that rounds to `kind` now and then may be off by, relative to a result above one.
double tolerance(Kind kind);
bool near(double got, double want, double relative);

/// A failed CHECK that names the first of the elements that are not near; `want` gives element i.
void check_array(const std::string& name, const Array& got, const std::function<double(size_t)>& want, double relative);

/// One thread for each of `count` elements.
Launch one_thread_each(size_t count);

}  // namespace smelt::test
