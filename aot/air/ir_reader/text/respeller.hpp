// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk behind respell(): one pass over the tokens, a method a family of rules. Private to the spelling layer.
#pragma once

#include "ir_reader/text/spelling.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::input {

/// Index into spelling_rules().
enum class Rule : uint8_t {
  captures_none,
  captures,
  dead_on_return,
  coro_elide_safe,
  nocreateundeforpoison,
  nodivergencesource,
  noext,
  sanitize,
  memory_locations,
  samesign,
  cast_fast_flags,
  inrange_index,
  block_comment,
  ptrtoaddr,
  atomicrmw_operation,
  lifetime_size,
  masked_alignment,
  renamed_intrinsic,
  amdgcn_intrinsic,
  debug_field,
  debug_node,
  debug_word,
  debug_record,
  calling_convention,
  scalable_vector,
  count_
};

class Respeller {
 public:
  explicit Respeller(const TokenList& list) : list_(list) {}
  Result<Respelled> run();

 private:
  using Next = Result<size_t>;  ///< index of the next token to look at

  Next step(size_t at);
  Next word(size_t at);
  // spelling.cpp: attributes, flags, types
  Next drop(size_t at, Rule rule);
  Next captures(size_t at);
  Next memory(size_t at);
  Next cast_flags(size_t at);
  Result<void> check_vector(size_t at);
  // spelling_calls.cpp: intrinsics and atomic operations
  Next global(size_t at);
  void lifetime(size_t open);
  void masked(size_t open, std::string_view name);
  Next atomicrmw(size_t at);
  // spelling_debug.cpp
  Next debug_node(size_t at);
  void debug_fields(size_t node, size_t open, size_t close);
  Next debug_word(size_t at);

  std::string_view text(size_t at) const { return list_.text(at); }
  bool is(size_t at, std::string_view what) const { return list_.is(at, what); }
  size_t count() const { return list_.tokens.size(); }
  /// Index of the bracket that closes the one at `open` (the lexer has checked that there is one).
  size_t closing(size_t open) const;
  /// The parts between commas of `open` ... `close`, as [first, last) token indices; empty for ().
  std::vector<std::pair<size_t, size_t>> parts(size_t open, size_t close) const;
  /// Source text from one token to another, both included.
  std::string_view between(size_t first, size_t last) const;

  void use(Rule rule) { used_[static_cast<size_t>(rule)] = true; }
  /// Replaces tokens first..last by `text`; line breaks inside stay.
  void replace(size_t first, size_t last, std::string text, Rule rule);
  void insert_after(size_t token, std::string text, Rule rule);
  template <class... Args>
  tl::unexpected<Error> stop(size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Errc::unsupported, "line {}: {}", list_.tokens[at].line,
                fmt::format(format, std::forward<Args>(args)...));
  }
  Respelled rebuild();

  struct Edit {
    uint32_t begin;
    uint32_t end;
    std::string text;
  };

  const TokenList& list_;
  std::vector<Edit> edits_;
  std::array<bool, static_cast<size_t>(Rule::count_)> used_{};
  size_t declaration_end_ = 0;                  ///< inside the parameter list of a `declare` up to this token
  bool strip_immarg_ = false;                   ///< ... of a function that is an intrinsic no longer
  std::map<std::string, std::string> helpers_;  ///< atomic helper functions: key -> name
  std::string appendix_;                        ///< their text, added after the last line
};

}  // namespace smelt::aot::input
