// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/listing.hpp"

#include "kernels/compile_kernel.hpp"

#include <charconv>

namespace smelt::aot {
namespace {

/// Reads LLVM's assembly: keeps what is code or data, and takes `.loc` for the line of what follows. LLVM writes the
/// constants of a function before it; who reads code begins with code.
class AssemblyReader {
 public:
  void read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      line(text.substr(0, end));
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
  }

  std::vector<CpuLine> take() {
    code_.insert(code_.end(), std::make_move_iterator(constants_.begin()), std::make_move_iterator(constants_.end()));
    return std::move(code_);
  }

 private:
  void line(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    std::string_view word = text.substr(std::min(text.find_first_not_of("\t "), text.size()));
    if (word.empty() || word.front() == '#') return;
    if (word.starts_with(".section")) {
      in_notes_ =
          word.find(".debug") != word.npos || word.find(".stack_sizes") != word.npos || word.find(".note") != word.npos;
      in_constants_ = word.find(".rodata") != word.npos;
      return;
    }
    if (word == ".text") in_notes_ = in_constants_ = false;
    if (in_notes_) return;
    if (word.starts_with(".loc\t") || word.starts_with(".loc ")) return locate(word.substr(5));
    // Labels that only debug info refers to.
    if (word.starts_with(".Ltmp") || word.starts_with(".Lfunc_")) return;
    if (text.front() != '\t') {
      lines().push_back({.text = std::string(text), .air_line = 0});
      return;
    }
    if (word.front() != '.')
      lines().push_back({.text = spaced(word), .air_line = line_});
    else if (is_data(word))
      lines().push_back({.text = spaced(word), .air_line = 0});
  }

  std::vector<CpuLine>& lines() { return in_constants_ ? constants_ : code_; }

  /// "1 12 0 prologue_end": file, line, column.
  void locate(std::string_view words) {
    const size_t space = words.find(' ');
    if (space == words.npos) return;
    line_ = 0;
    std::from_chars(words.data() + space + 1, words.data() + words.size(), line_);
  }

  static bool is_data(std::string_view word) {
    for (const std::string_view directive : {".byte", ".short", ".long", ".quad", ".zero", ".ascii", ".asciz", ".word",
                                             ".xword", ".hword", ".4byte", ".8byte", ".2byte"})
      if (word.starts_with(directive)) return true;
    return false;
  }

  static std::string spaced(std::string_view word) {
    std::string text = "    ";
    for (const char c : word) text += c == '\t' ? ' ' : c;
    return text;
  }

  std::vector<CpuLine> code_, constants_;
  uint32_t line_ = 0;
  bool in_notes_ = false, in_constants_ = false;
};

}  // namespace

Result<CpuListing> list_cpu(const AirModuleView& module, const CpuOptions& options) {
  SMELT_TRY(cpu::CompiledKernel kernel, cpu::list_kernel(module, options));
  AssemblyReader reader;
  reader.read(kernel.assembly);
  return CpuListing{.lines = reader.take(),
                    .code_bytes = kernel.code.size(),
                    .code = sha256(kernel.code),
                    .method = kernel.row.method};
}

}  // namespace smelt::aot
