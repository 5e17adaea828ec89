// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir_reader/text/spelling.hpp"

#include "smelt/base/sort.hpp"

#include "ir_reader/text/respeller.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace smelt::aot::input {
namespace {

/// Longest vector type that is read: AIR's longest is the 64 elements of a matrix, and a splat of a longer one could
/// make LLVM allocate gigabytes from a few bytes of text.
constexpr uint64_t kMaxVectorLength = 4096;

/// Access kinds of memory(...), as bits.
std::optional<unsigned> access_bits(std::string_view word) {
  if (word == "none") return 0;
  if (word == "read") return 1;
  if (word == "write") return 2;
  if (word == "readwrite") return 3;
  return std::nullopt;
}

bool is_fast_flag(std::string_view word) {
  constexpr std::string_view kFlags[] = {"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"};
  return std::find(std::begin(kFlags), std::end(kFlags), word) != std::end(kFlags);
}

}  // namespace

Result<Respelled> respell(const TokenList& list) {
  return Respeller(list).run();
}

size_t Respelled::original_offset(size_t offset) const {
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](size_t value, const Piece& candidate) { return value < candidate.at; });
  if (piece == pieces_.begin()) return offset;
  --piece;
  return piece->verbatim ? piece->original + (offset - piece->at) : piece->original;
}

Result<Respelled> Respeller::run() {
  for (const Token& comment : list_.block_comments) {
    std::string blank(list_.text(comment));
    for (char& c : blank)
      if (c != '\n') c = ' ';
    edits_.push_back({comment.begin, comment.end, std::move(blank)});
    use(Rule::block_comment);
  }
  for (size_t at = 0; at < count();) {
    SMELT_TRY(at, step(at));
  }
  return rebuild();
}

Respeller::Next Respeller::step(size_t at) {
  switch (list_.tokens[at].kind) {
    case TokenKind::word:
      return word(at);
    case TokenKind::global:
      return global(at);
    case TokenKind::metadata:
      return debug_node(at);
    case TokenKind::punctuation:
      if (text(at) == "<") SMELT_TRY_VOID(check_vector(at));
      return at + 1;
    default:
      return at + 1;
  }
}

// Sorted by first letter so that the common words (i32, float, br, to, ...) leave after one comparison or none.
Respeller::Next Respeller::word(size_t at) {
  const std::string_view it = text(at);
  switch (it[0]) {
    case 'a':
      if (it == "atomicrmw") return atomicrmw(at);
      if (it == "amdgpu_gfx_whole_wave")
        return stop(at, "calling convention '{}' belongs to a processor, not to kernels", it);
      break;
    case 'c':
      if (it == "captures") return captures(at);
      if (it == "coro_elide_safe") return drop(at, Rule::coro_elide_safe);
      if (it.starts_with("cheriot_")) return stop(at, "calling convention '{}' belongs to another machine", it);
      break;
    case 'd':
      if (it == "dead_on_return") return drop(at, Rule::dead_on_return);
      if (it == "dbg_declare_value" && at > 0 && is(at - 1, "#")) {
        replace(at, at, "dbg_value", Rule::debug_record);
        return at + 1;
      }
      if (it == "declare") {
        // The parameter list of what is declared: the first '(' after its name.
        for (size_t i = at + 1; i + 1 < count() && !is(i, "declare") && !is(i, "define"); ++i) {
          if (list_.tokens[i].kind != TokenKind::global || !is(i + 1, "(")) continue;
          declaration_end_ = closing(i + 1);
          break;
        }
        strip_immarg_ = false;
      }
      break;
    case 'f':
      if (it == "fptrunc" || it == "fpext") return cast_flags(at);
      break;
    case 'i':
      if (it == "immarg" && strip_immarg_ && at < declaration_end_) {
        replace(at, at, "", Rule::amdgcn_intrinsic);
        return at + 1;
      }
      if (it == "inrange" && !is(at + 1, "(")) return drop(at, Rule::inrange_index);
      break;
    case 'm':
      if (it == "memory" && is(at + 1, "(")) return memory(at);
      break;
    case 'n':
      if (it == "nocreateundeforpoison") return drop(at, Rule::nocreateundeforpoison);
      if (it == "nodivergencesource") return drop(at, Rule::nodivergencesource);
      if (it == "noext") return drop(at, Rule::noext);
      break;
    case 'p':
      if (it == "ptrtoaddr") {
        replace(at, at, "ptrtoint", Rule::ptrtoaddr);
        return at + 1;
      }
      break;
    case 'r':
      if (it == "riscv_vls_cc") return stop(at, "calling convention '{}' belongs to another machine", it);
      break;
    case 's':
      if (it == "samesign") return drop(at, Rule::samesign);
      if (it == "sanitize_alloc_token" || it == "sanitize_realtime" || it == "sanitize_realtime_blocking" ||
          it == "sanitize_type")
        return drop(at, Rule::sanitize);
      break;
    case 'v':
      if (it == "vscale") return stop(at, "'vscale': vectors of unknown length do not exist on GPUs");
      break;
    case 'D':
      return debug_word(at);
    default:
      break;
  }
  return at + 1;
}

Respeller::Next Respeller::drop(size_t at, Rule rule) {
  const size_t last = is(at + 1, "(") ? closing(at + 1) : at;
  replace(at, last, "", rule);
  return last + 1;
}

Respeller::Next Respeller::captures(size_t at) {
  if (!is(at + 1, "(")) return at + 1;
  if (!is(at + 2, "none") || !is(at + 3, ")")) return drop(at, Rule::captures);
  replace(at, at + 3, "nocapture", Rule::captures_none);
  return at + 4;
}

// memory(read, argmem: none, errnomem: write): a kind for everything not named, then kinds by location. LLVM 19 has
// three locations. Errno was part of "other" before it had a name; target memory is inaccessible to the module. Simply
// dropping a location would promise too much.
Respeller::Next Respeller::memory(size_t at) {
  const size_t close = closing(at + 1);
  bool newer = false;
  unsigned other = 0;
  std::optional<unsigned> argmem, inaccessible, errnomem, target[2];
  for (const auto& [first, last] : parts(at + 1, close)) {
    const std::string_view head = text(first);
    const auto kind = access_bits(text(last - 1));
    if (!kind) return at + 1;  // not the grammar we know: the reader will say so
    const size_t words = last - first;
    if (words == 1) {
      other = *kind;
    } else if (head == "argmem:" && words == 2) {
      argmem = kind;
    } else if (head == "inaccessiblemem:" && words == 2) {
      inaccessible = kind;
    } else if (head == "errnomem:" && words == 2) {
      errnomem = kind;
      newer = true;
    } else if ((head == "target_mem0:" || head == "target_mem1:") && words == 2) {
      target[head == "target_mem1:"] = kind;
      newer = true;
    } else {
      return at + 1;
    }
  }
  if (!newer) return at + 1;
  const auto name = [](unsigned bits) {
    constexpr std::string_view kNames[] = {"none", "read", "write", "readwrite"};
    return kNames[bits & 3];
  };
  const unsigned everything_else = other | errnomem.value_or(other);
  const unsigned hidden = inaccessible.value_or(other) | target[0].value_or(other) | target[1].value_or(other);
  replace(at, close,
          fmt::format("memory({}, argmem: {}, inaccessiblemem: {})", name(everything_else),
                      name(argmem.value_or(other)), name(hidden)),
          Rule::memory_locations);
  return close + 1;
}

Respeller::Next Respeller::cast_flags(size_t at) {
  size_t next = at + 1;
  for (; next < count() && is_fast_flag(text(next)); ++next) replace(next, next, "", Rule::cast_fast_flags);
  return next;
}

Result<void> Respeller::check_vector(size_t at) {
  if (!is(at + 2, "x") || list_.tokens[at + 1].kind != TokenKind::number) return {};
  const std::string_view digits = text(at + 1);
  uint64_t length = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (parsed.ec == std::errc() && length <= kMaxVectorLength) return {};
  return stop(at, "a vector of {} elements; at most {} are read", digits, kMaxVectorLength);
}

size_t Respeller::closing(size_t open) const {
  size_t depth = 0;
  for (size_t i = open; i < count(); ++i) {
    if (list_.tokens[i].kind != TokenKind::punctuation) continue;
    const char c = text(i)[0];
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && --depth == 0) return i;
  }
  return count() - 1;
}

std::vector<std::pair<size_t, size_t>> Respeller::parts(size_t open, size_t close) const {
  std::vector<std::pair<size_t, size_t>> result;
  if (close <= open + 1) return result;
  size_t first = open + 1;
  size_t depth = 0;
  for (size_t i = open + 1; i <= close; ++i) {
    const char c = list_.tokens[i].kind == TokenKind::punctuation ? text(i)[0] : '\0';
    if (i == close || (c == ',' && depth == 0)) {
      if (i > first) result.emplace_back(first, i);
      first = i + 1;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
  }
  return result;
}

std::string_view Respeller::between(size_t first, size_t last) const {
  const uint32_t begin = list_.tokens[first].begin;
  return list_.source.substr(begin, list_.tokens[last].end - begin);
}

void Respeller::replace(size_t first, size_t last, std::string with, Rule rule) {
  const std::string_view old = between(first, last);
  with.append(static_cast<size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
  edits_.push_back({list_.tokens[first].begin, list_.tokens[last].end, std::move(with)});
  use(rule);
}

void Respeller::insert_after(size_t token, std::string with, Rule rule) {
  edits_.push_back({list_.tokens[token].end, list_.tokens[token].end, std::move(with)});
  use(rule);
}

Respelled Respeller::rebuild() {
  Respelled result;
  sort_stably(edits_, [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  result.text_.reserve(list_.source.size() + appendix_.size() + 64);
  size_t at = 0;
  const auto copy_to = [&](size_t end) {
    result.pieces_.push_back({result.text_.size(), at, true});
    result.text_.append(list_.source.substr(at, end - at));
    at = end;
  };
  for (const Edit& edit : edits_) {
    if (edit.begin < at) continue;  // inside something already replaced
    copy_to(edit.begin);
    result.pieces_.push_back({result.text_.size(), edit.begin, false});
    result.text_ += edit.text;
    at = edit.end;
  }
  copy_to(list_.source.size());
  result.text_ += appendix_;
  for (size_t i = 0; i < used_.size(); ++i)
    if (used_[i]) result.used_.push_back(spelling_rules()[i].name);
  return result;
}

}  // namespace smelt::aot::input
