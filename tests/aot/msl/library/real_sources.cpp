// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "real_sources.hpp"

#include "files.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

namespace smelt::test {

std::optional<std::filesystem::path> real_sources(const char* variable, const char* needed) {
  const char* folder = std::getenv(variable);
  if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / needed)) {
    MESSAGE("by hand: ", variable, " names no folder with ", needed);
    return std::nullopt;
  }
  return std::filesystem::path(folder);
}

MslLibrary compile_real(const std::filesystem::path& root, const std::string& file, std::vector<std::string> functions,
                        const std::string& prelude) {
  const Bytes text = must_read(root / file);
  return MslLibrary(
      prelude + std::string(as_text(text)),
      {.name = (root / file).string(), .include_folders = {root.string()}, .functions = std::move(functions)});
}

Array::Array(Kind stored, const std::vector<double>& values) : kind(stored), bytes(values.size() * bytes_of(stored)) {
  for (size_t i = 0; i < values.size(); ++i)
    store_element(kind, bytes.data() + i * bytes_of(kind),
                  is_float(kind) ? real(values[i]) : whole(static_cast<Whole>(values[i])));
}

double Array::operator[](size_t i) const {
  const Element e = load_element(kind, bytes.data() + i * bytes_of(kind));
  return is_float(kind) ? static_cast<double>(e.real) : static_cast<double>(e.whole);
}

std::vector<double> spread(size_t count, double low, double high) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = low + (high - low) * static_cast<double>(i * 37 % count) / static_cast<double>(count);
  return values;
}

double tolerance(Kind kind) {
  return kind == Kind::f32 ? 2e-5 : kind == Kind::f16 ? 2e-3 : kind == Kind::bf16 ? 1.6e-2 : 0;
}

bool near(double got, double want, double relative) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  return std::fabs(got - want) <= relative * std::max(1.0, std::fabs(want));
}

void check_array(const std::string& name, const Array& got, const std::function<double(size_t)>& want,
                 double relative) {
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (!near(got[i], want(i), relative) && wrong++ == 0) first = i;
  CHECK_MESSAGE(wrong == 0, name, ": ", wrong, " of ", got.size(), " wrong; at ", first, " is ", got[first],
                " and should be ", want(first));
}

Launch one_thread_each(size_t count) {
  return {.grid = {static_cast<uint32_t>(count), 1, 1}, .group = {64, 1, 1}};
}

}  // namespace smelt::test
