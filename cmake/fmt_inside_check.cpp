// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks fmt for all that the loader asks of it; built without libfmt.so, it shows whether fmt_inside.cpp has that.
#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  std::string text;
  fmt::format_to(std::back_inserter(text), "{} {:.3} {:L} {} {:08x} {}", 1.5f, 2.5, count, 'c', 7, true);
  try {
    text += fmt::format(fmt::runtime("{:?<5} {:{}} {}"), words.front(), count, 4, fmt::join(words, ", "));
    fmt::print(stderr, "{:?}\n", text);
  } catch (const fmt::format_error& error) {
    std::puts(error.what());
  }
}
