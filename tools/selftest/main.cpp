// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt-selftest [PACKAGE]: the self-test as a program that needs nothing but the loader, so that it can be built and
// run on a Mac that has no LLVM. Without PACKAGE it takes the one that was made on Linux and is built in.
#include "smelt/base/files.hpp"

#include "selftest.hpp"

#include <cstdio>
#include <cstring>

extern "C" {
extern const unsigned char smelt_selftest_kernels[];
extern const unsigned long smelt_selftest_kernels_size;
}

namespace {

smelt::Result<void> selftest(const char* path) {
  if (path == nullptr)
    return smelt::selftest::run(
        {reinterpret_cast<const std::byte*>(smelt_selftest_kernels), smelt_selftest_kernels_size});
  SMELT_TRY(const smelt::Bytes package, smelt::read_file(path));
  return smelt::selftest::run(package);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 || (count == 2 && arguments[1][0] == '-')) {
    std::fputs("usage: smelt-selftest [PACKAGE]\n", stderr);
    return count == 2 && std::strcmp(arguments[1], "--help") == 0 ? 0 : 2;
  }
  const auto done = selftest(count == 2 ? arguments[1] : nullptr);
  if (!done) std::fprintf(stderr, "smelt-selftest: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
