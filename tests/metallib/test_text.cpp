// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include "files.hpp"
#include "real_files.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::metallib;

TEST_CASE("every real library survives its text form byte for byte") {
  for (const auto& path : test::real_files()) {
    CAPTURE(path);
    const Bytes image = test::must_read(path);
    const auto library = read(image);
    REQUIRE(library);
    const auto text = to_text(*library);
    REQUIRE_MESSAGE(text, text.error().message);
    const auto bytes = from_text(*text);
    REQUIRE_MESSAGE(bytes, bytes.error().message);
    CHECK(*bytes == image);
  }
}

TEST_CASE("names and paths are text, not numbers") {
  const Bytes text =
      test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases/ok_everything.txt");
  const Bytes image = from_text(as_text(text)).value();
  const auto library = read(image);
  REQUIRE(library);
  const std::string written = to_text(*library).value();
  for (const char* line : {"\n  NAME z\"@rpath/first.metallib\"\n", "\n  DYNL z\"one.metallib\"\n",
                           "\n  DYNL z\"two.metallib\"\n", "\n  DEPF z\"/build/first.air\"\n"})
    CHECK_MESSAGE(written.find(line) != std::string::npos, written);
}

TEST_CASE("a text that is wrong is refused with its line") {
  const auto message = [](std::string_view text) {
    const auto bytes = from_text(text);
    CHECK_FALSE(bytes);
    return bytes ? std::string() : bytes.error().message;
  };
  CHECK(message("") == "empty text; want 'metallib text 1'");
  CHECK(message("metallib text 2") == "line 1: want '1', found '2'");
  const std::string head = "metallib text 1\n\n";
  CHECK(message(head + "hello there") == "line 3: unknown statement 'hello'");
  CHECK(message(head + "NAME") == "line 3: 'NAME' outside of a block that holds tags");
  CHECK(message(head + "container 2.0.0") == "line 3: want a container 1.2.N, found '2.0.0'");
  CHECK(message(head + "function \"f") == "line 3: text without its closing quote");
  CHECK(message(head + "function \"\\n\"") == "line 3: unknown escape; want \\\", \\\\ or \\xHH");
  CHECK(message(head + "module wrapped {\n00\n") == "line 4: '{' without its '}'");
  CHECK(message(head + "module wrapped 0") ==
        "line 3: '0' is not a payload item: want hexadecimal bytes, text, u16:N, zero:N ...");
  for (const char digits : {'g', 'G', '/', '@', '`'})
    CHECK(message(head + "module wrapped 4" + digits) ==
          fmt::format("line 3: '4{}' is not a payload item: want hexadecimal bytes, text, u16:N, zero:N ...", digits));
  CHECK(message(head + "variables u8:256") ==
        "line 3: 'u8:256': want u8, u16, u32, u64 or zero, ':' and a number that fits");
  CHECK(message(head + "variables zero:2147483648") == "line 3: 'zero:2147483648': more than 67108864 zeros in all");
  CHECK(message(head + "platform atari") == "line 3: unknown platform 'atari'");
  CHECK(message(head + "os 14") == "line 3: want an OS version such as 14.0.0, found '14'");
  CHECK(message(head + "stub yes no") == "line 3: 'no' after the end of the statement");
  CHECK(message(head + "set header.colour 1") == "line 3: the file has no field 'header.colour'");
  CHECK(message(head + "set header.patch 65536") == "line 3: 65536 does not fit 'header.patch', which has 2 bytes");
  CHECK(message(head + "poke 91 0000") == "line 3: 2 bytes at 91 are outside the file of 92 bytes");
}

TEST_CASE("a library that cannot be expressed is not written") {
  const auto message = [](std::string_view body) {
    const auto bytes = from_text(fmt::format("metallib text 1\n{}", body));
    return bytes ? std::string() : bytes.error().message;
  };
  CHECK(message("function \"f\"\n OFFT public 0 private 0 module 0\n") == "function 'f': public metadata group 0 of 0");
  CHECK(message("variables 00") == "variable list: is not named by the header extension");
  CHECK(message("extension\nRLST") == "reflection list: is named by the header extension and does not exist");
  CHECK(message("place functions") == "public metadata: has no place in the file");
  CHECK(message("public linker\n CNST zero:65536") ==
        "CNST: payload of 65536 bytes; the container holds at most 65535");
}
