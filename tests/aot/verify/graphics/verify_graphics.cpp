// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// verify_graphics FOLDER: Apple-built libraries with functions of all stages, from AIR 1.6 on, have no errors, and no
// notes but of what was not judged. Exit 77 when the folder is not there.
#include "smelt/aot/verify.hpp"
#include "smelt/base/files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>

using namespace smelt;
namespace fs = std::filesystem;

int main(int argc, char** argv) {
  const char* const elsewhere = std::getenv("SMELT_SHARED");
  const fs::path folder =
      elsewhere ? fs::path(elsewhere) / "data/metallibs-graphics" : fs::path(argc > 1 ? argv[1] : "");
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    fmt::print("SKIPPED: {} is not there\n", folder.string());
    return 77;
  }
  size_t files = 0, wrong = 0;
  std::map<std::string, size_t> notes;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".metallib") continue;
    ++files;
    const auto bytes = read_file(entry.path());
    if (!bytes) return fmt::print("{}\n", bytes.error().message), 1;
    const std::string name = entry.path().filename().string();
    for (const aot::Finding& finding : aot::verify_metallib(*bytes)) {
      const bool is_note = finding.severity == aot::Finding::Severity::note;
      if (is_note && finding.message.find("are not judged") != std::string::npos)
        ++notes[fmt::format("{}: {}", aot::to_string(finding.check), finding.message)];
      else if (++wrong <= 40)
        fmt::print("{}: {}\n", name, finding.to_line().substr(0, 400));
    }
  }
  for (const auto& [note, count] : notes) fmt::print("note: {} x {}\n", count, note);
  fmt::print("{} libraries, {} findings\n", files, wrong);
  return files == 0 || wrong != 0 ? 1 : 0;
}
