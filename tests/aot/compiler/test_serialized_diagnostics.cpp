// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is serialised is read by Clang's own reader.
#include "smelt/aot/serialized_diagnostics.hpp"

#include "files.hpp"

#include "clang/Frontend/SerializedDiagnosticReader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <map>

using namespace smelt;
using aot::DiagnosticLine;
using Level = DiagnosticLine::Level;

namespace {

/// The messages as text, a line each; notes are indented by how deep they lie.
class Printer final : public clang::serialized_diags::SerializedDiagnosticReader {
 public:
  std::string text;

 private:
  std::error_code visitStartOfDiagnostic() override {
    ++depth_;
    return {};
  }
  std::error_code visitEndOfDiagnostic() override {
    --depth_;
    return {};
  }
  std::error_code visitFilenameRecord(unsigned id, unsigned, unsigned, llvm::StringRef name) override {
    files_[id] = name.str();
    return {};
  }
  std::error_code visitDiagFlagRecord(unsigned id, llvm::StringRef name) override {
    flags_[id] = name.str();
    return {};
  }
  std::error_code visitDiagnosticRecord(unsigned severity, const clang::serialized_diags::Location& at, unsigned,
                                        unsigned flag, llvm::StringRef message) override {
    text += fmt::format("{:>{}}{}:{}:{}: {} {} [{}]\n", "", 2 * (depth_ - 1), files_[at.FileID], at.Line, at.Col,
                        severity, message.str(), flags_[flag]);
    return {};
  }
  unsigned depth_ = 0;
  std::map<unsigned, std::string> files_, flags_;
};

Printer read(std::span<const DiagnosticLine> lines) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("smelt-dia-{}", ::getpid());
  const Bytes bytes = aot::serialize_diagnostics(lines);
  CHECK(bytes == aot::serialize_diagnostics(lines));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  Printer printer;
  CHECK_FALSE(printer.readDiagnostics(path.string()));
  std::filesystem::remove(path);
  return printer;
}

}  // namespace

TEST_CASE("serialised messages are what Clang reads") {
  const std::vector<DiagnosticLine> lines = {
      {Level::warning, "a.metal", 2, 7, "unused variable 'x'", "unused-variable"},
      {Level::error, "a.metal", 70000, 300, "no such thing", ""},
      {Level::note, "h.h", 1, 1, "declared here", ""},
      {Level::note, "a.metal", 1, 1, "and here", ""},
      {Level::warning, "", 0, 0, "of no file, \xc3\xa4", "unused-variable"},
  };
  const Printer printer = read(lines);
  CHECK(printer.text ==
        "a.metal:2:7: 2 unused variable 'x' [unused-variable]\n"
        "a.metal:70000:300: 3 no such thing []\n"
        "  h.h:1:1: 1 declared here []\n"
        "  a.metal:1:1: 1 and here []\n"
        ":0:0: 2 of no file, \xc3\xa4 [unused-variable]\n");
}

TEST_CASE("no message is a file too, and so are many") {
  CHECK(read({}).text.empty());
  std::vector<DiagnosticLine> lines;
  for (unsigned i = 0; i < 300; ++i)
    lines.push_back({Level::error, fmt::format("{}.metal", i), i, i, std::string(i, 'x'), fmt::format("flag-{}", i)});
  const std::string text = read(lines).text;
  CHECK(std::count(text.begin(), text.end(), '\n') == 300);
  CHECK(text.find("299.metal:299:299: 3 xxx") != std::string::npos);
}
