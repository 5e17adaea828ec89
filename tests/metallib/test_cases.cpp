// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tests/metallib/cases/*.txt: files made by the text form, named by their flaw. The first line says what reading one
// must give: "# ok", or "# <error code>: <message>". SMELT_ACCEPT=1 writes the line anew, and the test counts as
// skipped.
#include "smelt/base/files.hpp"
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include "files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace smelt;
using namespace smelt::metallib;

namespace {

/// What the case's first line should be.
std::string outcome(ByteView bytes) {
  // A buffer of its own, so that the sanitizers see a read past its end.
  const Bytes exact = to_bytes(bytes);
  const auto library = read(exact);
  if (!library) return fmt::format("# {}: {}", to_string(library.error().code), library.error().message);
  const auto written = write(*library);
  if (!written) return "# read, and not written: " + written.error().message;
  if (*written != exact) return "# read, and written differently";
  const auto text = to_text(*library);
  if (!text || from_text(*text).value_or(Bytes{}) != exact) return "# read, and its text form differs";
  if (!inspect(*library)) return "# read, and not inspected";
  return "# ok";
}

}  // namespace

TEST_CASE("files with one flaw each give the message beside them") {
  const bool accept = std::getenv("SMELT_ACCEPT") != nullptr;
  const auto cases = test::files_below(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases", ".txt");
  CHECK(cases.size() > 70);
  for (const auto& path : cases) {
    CAPTURE(path.filename());
    const Bytes file = test::must_read(path);
    const std::string text(as_text(file));
    const auto bytes = from_text(text);
    REQUIRE_MESSAGE(bytes, bytes.error().message);
    const std::string found = outcome(*bytes);
    const std::string wanted = text.substr(0, text.find('\n'));
    if (accept && found != wanted) {
      REQUIRE(write_file(path, as_bytes(found + text.substr(text.find('\n')))));
      MESSAGE("accepted ", found);
      continue;
    }
    CHECK(found == wanted);
    CHECK((found == "# ok") == path.filename().string().starts_with("ok_"));
    // A file that cannot be read always leaves a finding.
    if (found != "# ok") CHECK_FALSE(check_file(*bytes).empty());
  }
}
