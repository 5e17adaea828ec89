// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to bytes; the grammar is in text.hpp. A line belongs to the block opened last: "function" opens one for function
// tags, "extension" one for extension tags, and so on. Nothing is checked that would keep a broken file from being
// made.
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include "text_lines.hpp"

#include <algorithm>

namespace smelt::metallib {
namespace {

/// A change to the finished bytes.
struct Patch {
  enum class Kind { set, poke, truncate, append } kind = Kind::set;
  std::string where;
  uint64_t number = 0;
  Bytes bytes;
  size_t line = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(text) {}

  Result<Bytes> parse() {
    SMELT_TRY(bool more, lines_.next_line());
    if (!more) return fail(Errc::invalid_argument, "empty text; want 'metallib text 1'");
    SMELT_TRY_VOID(parse_first_line());
    for (;;) {
      SMELT_TRY(more, lines_.next_line());
      if (!more) break;
      SMELT_TRY_VOID(parse_line());
      SMELT_TRY_VOID(lines_.expect_line_end());
    }
    for (const size_t index : computed_hashes_) {
      Function& function = library_.functions[index];
      if (function.module < library_.modules.size()) function.hash = sha256(library_.module_of(function).blob);
    }
    std::vector<Field> fields;
    SMELT_TRY(Bytes bytes, write(library_, patches_.empty() ? nullptr : &fields));
    for (const Patch& patch : patches_) SMELT_TRY_VOID(apply(patch, fields, bytes));
    return bytes;
  }

 private:
  enum class Block { top, function, tags };

  Result<void> parse_first_line();
  Result<void> parse_line();
  Result<bool> parse_header_word(std::string_view keyword);
  Result<bool> parse_block_word(std::string_view keyword);
  Result<bool> parse_raw_section(std::string_view keyword);
  Result<bool> parse_patch_word(std::string_view keyword);
  Result<void> parse_version();
  Result<void> parse_place();
  Result<void> open_group(std::vector<TagGroup>& groups);
  Result<void> parse_module();
  Result<void> parse_sources();
  Result<void> parse_tag(const Word& word);
  Result<void> parse_function_tag(Fourcc name);
  Result<Fourcc> tag_name(const Word& word);
  Result<ByteView> take_kept_payload();
  Result<void> apply(const Patch& patch, const std::vector<Field>& fields, Bytes& bytes) const;
  template <class T, class Parse>
  Result<void> take_named(T& value, Parse parse_name, std::string_view what);

  TextLines lines_;
  Library library_;
  std::vector<size_t> computed_hashes_;
  std::vector<Patch> patches_;
  Block block_ = Block::top;
  std::vector<Tag>* tags_ = nullptr;  ///< where tag lines go; valid until the next block opens
};

Result<void> Parser::parse_first_line() {
  SMELT_TRY_VOID(lines_.expect("metallib"));
  SMELT_TRY_VOID(lines_.expect("text"));
  SMELT_TRY_VOID(lines_.expect("1"));
  return lines_.expect_line_end();
}

Result<void> Parser::parse_line() {
  SMELT_TRY(const Word word, lines_.take("a statement"));
  if (!word.quoted) {
    SMELT_TRY(bool done, parse_header_word(word.text));
    if (!done) {
      SMELT_TRY(done, parse_block_word(word.text));
    }
    if (!done) {
      SMELT_TRY(done, parse_raw_section(word.text));
    }
    if (!done) {
      SMELT_TRY(done, parse_patch_word(word.text));
    }
    if (done) return {};
  }
  return parse_tag(word);
}

template <class T, class Parse>
Result<void> Parser::take_named(T& value, Parse parse_name, std::string_view what) {
  SMELT_TRY(const Word word, lines_.take(what));
  const auto parsed = parse_name(word.text);
  if (!parsed) return lines_.fail_here("unknown {} '{}'", what, word.text);
  value = *parsed;
  return {};
}

Result<void> Parser::parse_version() {
  SMELT_TRY(const Word word, lines_.take("a container version"));
  constexpr std::string_view kPrefix = "1.2.";
  const auto patch = word.text.starts_with(kPrefix)
                         ? TextLines::to_number(std::string_view(word.text).substr(kPrefix.size()))
                         : std::nullopt;
  if (!patch || *patch > 0xFFFF) return lines_.fail_here("want a container 1.2.N, found '{}'", word.text);
  library_.patch = static_cast<uint16_t>(*patch);
  return {};
}

Result<bool> Parser::parse_header_word(std::string_view keyword) {
  if (keyword == "container") {
    SMELT_TRY_VOID(parse_version());
  } else if (keyword == "built_for_macos") {
    SMELT_TRY(library_.built_for_macos, lines_.take_yes_or_no());
  } else if (keyword == "stub") {
    SMELT_TRY(library_.stub, lines_.take_yes_or_no());
  } else if (keyword == "64_bit") {
    SMELT_TRY(library_.is_64bit, lines_.take_yes_or_no());
  } else if (keyword == "file_type") {
    SMELT_TRY_VOID(take_named(library_.file_type, parse_file_type, "file type"));
  } else if (keyword == "platform") {
    SMELT_TRY_VOID(take_named(library_.platform, parse_platform, "platform"));
  } else if (keyword == "os") {
    SMELT_TRY(const Word word, lines_.take("an OS version"));
    unsigned major = 0, minor = 0, patch = 0;
    char more = 0;
    if (std::sscanf(word.text.c_str(), "%5u.%3u.%3u%c", &major, &minor, &patch, &more) != 3 || major > 0xFFFF ||
        minor > 0xFF || patch > 0xFF)
      return lines_.fail_here("want an OS version such as 14.0.0, found '{}'", word.text);
    library_.os_major = static_cast<uint16_t>(major);
    library_.os_minor = static_cast<uint8_t>(minor);
    library_.os_patch = static_cast<uint8_t>(patch);
  } else if (keyword == "place") {
    SMELT_TRY_VOID(parse_place());
  } else if (keyword == "pad_after") {
    SMELT_TRY(const uint64_t zeros, lines_.take_number("zero bytes", kMaxPadding));
    library_.padding_after = static_cast<uint32_t>(zeros);
  } else {
    return false;
  }
  return true;
}

Result<void> Parser::parse_place() {
  library_.order.clear();
  uint32_t padding = 0;
  while (!lines_.at_end()) {
    SMELT_TRY(const Word word, lines_.take("a section"));
    if (word.text.starts_with("pad:")) {
      const auto zeros = TextLines::to_number(std::string_view(word.text).substr(4));
      if (!zeros || *zeros > kMaxPadding)
        return lines_.fail_here("'{}': want at most {} zeros", word.text, kMaxPadding);
      padding = static_cast<uint32_t>(*zeros);
      continue;
    }
    const auto section = parse_section(word.text);
    if (!section) return lines_.fail_here("unknown section '{}'", word.text);
    library_.order.push_back({*section, std::exchange(padding, 0)});
  }
  return {};
}

Result<bool> Parser::parse_block_word(std::string_view keyword) {
  if (keyword == "function") {
    Function function;
    SMELT_TRY(function.name, lines_.take_quoted("a function name"));
    library_.functions.push_back(std::move(function));
    block_ = Block::function;
    tags_ = &library_.functions.back().tags;
  } else if (keyword == "extension") {
    block_ = Block::tags;
    tags_ = &library_.extension.emplace();
  } else if (keyword == "public") {
    SMELT_TRY_VOID(open_group(library_.public_metadata));
  } else if (keyword == "private") {
    SMELT_TRY_VOID(open_group(library_.private_metadata));
  } else if (keyword == "module") {
    SMELT_TRY_VOID(parse_module());
  } else if (keyword == "sources") {
    SMELT_TRY_VOID(parse_sources());
  } else if (keyword == "archive") {
    if (!library_.sources) return lines_.fail_here("an archive outside of sources");
    block_ = Block::tags;
    tags_ = &library_.sources->archives.emplace_back();
  } else if (keyword == "dynamic") {
    block_ = Block::tags;
    tags_ = &library_.dynamic_header.emplace();
  } else if (keyword == "reflection") {
    block_ = Block::top;
    library_.reflection.emplace();
  } else if (keyword == "entry") {
    if (!library_.reflection) return lines_.fail_here("an entry outside of reflection");
    block_ = Block::tags;
    tags_ = &library_.reflection->entries.emplace_back();
  } else {
    return false;
  }
  return true;
}

Result<bool> Parser::parse_raw_section(std::string_view keyword) {
  std::optional<ByteView>* section = keyword == "variables" ? &library_.variables
                                     : keyword == "imports" ? &library_.imports
                                     : keyword == "scripts" ? &library_.scripts
                                                            : nullptr;
  if (!section) return false;
  block_ = Block::top;
  SMELT_TRY(*section, take_kept_payload());
  return true;
}

Result<void> Parser::open_group(std::vector<TagGroup>& groups) {
  SMELT_TRY(const Word dialect, lines_.take("linker or tool"));
  if (!dialect.is("linker") && !dialect.is("tool"))
    return lines_.fail_here("want linker or tool, found '{}'", dialect.text);
  groups.push_back({{}, dialect.is("linker")});
  block_ = Block::tags;
  tags_ = &groups.back().tags;
  return {};
}

Result<void> Parser::parse_module() {
  block_ = Block::top;
  SMELT_TRY(const Word form, lines_.take("wrapped or blob"));
  if (!form.is("wrapped") && !form.is("blob")) return lines_.fail_here("want wrapped or blob, found '{}'", form.text);
  SMELT_TRY(Bytes bytes, lines_.take_payload());
  library_.modules.push_back({library_.keep(form.is("blob") ? std::move(bytes) : wrap_bitcode(bytes))});
  return {};
}

Result<void> Parser::parse_sources() {
  block_ = Block::top;
  Sources sources;
  // A NUL inside would end the text early in the file; that is a way to break one, so it is let through.
  SMELT_TRY(const std::string command, lines_.take_quoted("the link command"));
  sources.command = as_text(library_.keep(to_bytes(as_bytes(command))));
  if (!lines_.at_end()) {
    SMELT_TRY(const std::string directory, lines_.take_quoted("the working directory"));
    sources.directory = as_text(library_.keep(to_bytes(as_bytes(directory))));
  }
  library_.sources = std::move(sources);
  return {};
}

Result<Fourcc> Parser::tag_name(const Word& word) {
  std::string letters = word.text;
  if (word.is("tag")) {
    SMELT_TRY(letters, lines_.take_quoted("a tag name"));
  }
  if (letters.size() != 4) return lines_.fail_here("unknown statement '{}'", letters);
  Fourcc name;
  std::copy(letters.begin(), letters.end(), name.letters.begin());
  return name;
}

Result<ByteView> Parser::take_kept_payload() {
  SMELT_TRY(Bytes bytes, lines_.take_payload());
  return library_.keep(std::move(bytes));
}

Result<void> Parser::parse_tag(const Word& word) {
  SMELT_TRY(const Fourcc name, tag_name(word));
  if (block_ == Block::top) return lines_.fail_here("'{}' outside of a block that holds tags", name.text());
  if (block_ == Block::function) return parse_function_tag(name);
  SMELT_TRY(const ByteView payload, take_kept_payload());
  tags_->push_back({name, payload});
  return {};
}

Result<void> Parser::parse_function_tag(Fourcc name) {
  Function& f = library_.functions.back();
  const auto index = [&](std::string_view keyword, uint32_t& value) -> Result<void> {
    SMELT_TRY_VOID(lines_.expect(keyword));
    SMELT_TRY(const uint64_t number, lines_.take_number("an index", 0xFFFFFFFF));
    value = static_cast<uint32_t>(number);
    return {};
  };
  const auto version = [&](std::string_view keyword, uint16_t& major, uint16_t& minor) -> Result<void> {
    SMELT_TRY_VOID(lines_.expect(keyword));
    SMELT_TRY(const Word word, lines_.take("a version"));
    const size_t dot = std::min(word.text.find('.'), word.text.size());
    const auto first = TextLines::to_number(std::string_view(word.text).substr(0, dot));
    const auto second = TextLines::to_number(std::string_view(word.text).substr(std::min(dot + 1, word.text.size())));
    if (!first || !second || *first > 0xFFFF || *second > 0xFFFF)
      return lines_.fail_here("want a version such as 2.6, found '{}'", word.text);
    major = static_cast<uint16_t>(*first);
    minor = static_cast<uint16_t>(*second);
    return {};
  };

  ByteView payload;
  if (name == tag::type) {
    uint8_t type = 0;
    SMELT_TRY_VOID(take_named(type, parse_function_type, "function type"));
    f.type = type;
  } else if (name == tag::hash) {
    SMELT_TRY(const Word word, lines_.take("a hash"));
    if (word.is("computed")) {
      computed_hashes_.push_back(library_.functions.size() - 1);
    } else if (const auto digest = digest_from_hex(word.text)) {
      f.hash = *digest;
    } else {
      return lines_.fail_here("want 'computed' or 64 hexadecimal digits, found '{}'", word.text);
    }
  } else if (name == tag::offsets) {
    SMELT_TRY_VOID(index("public", f.public_group));
    SMELT_TRY_VOID(index("private", f.private_group));
    SMELT_TRY_VOID(index("module", f.module));
  } else if (name == tag::versions) {
    SMELT_TRY_VOID(version("air", f.versions.air_major, f.versions.air_minor));
    SMELT_TRY_VOID(version("language", f.versions.language_major, f.versions.language_minor));
  } else if (name == tag::source_offset) {
    SMELT_TRY(f.source, lines_.take_number("a source archive", ~uint64_t{0}));
  } else if (name == tag::reflection_offset) {
    SMELT_TRY(const uint64_t entry, lines_.take_number("a reflection entry", 0xFFFFFFFF));
    f.reflection = static_cast<uint32_t>(entry);
  } else if (name == tag::tessellation || name == tag::layer) {
    SMELT_TRY(const uint64_t value, lines_.take_number("a byte", 0xFF));
    (name == tag::layer ? f.layer_type : f.tessellation) = static_cast<uint8_t>(value);
  } else if (name != tag::name && name != tag::module_size) {
    SMELT_TRY(payload, take_kept_payload());
  }
  f.tags.push_back({name, payload});
  return {};
}

Result<bool> Parser::parse_patch_word(std::string_view keyword) {
  Patch patch{.line = lines_.number()};
  if (keyword == "set") {
    SMELT_TRY(Word where, lines_.take("a field's name"));
    patch.where = std::move(where.text);
    SMELT_TRY(patch.number, lines_.take_number("a value", ~uint64_t{0}));
  } else if (keyword == "poke") {
    patch.kind = Patch::Kind::poke;
    SMELT_TRY(Word where, lines_.take("a field's name or an offset"));
    patch.where = std::move(where.text);
    SMELT_TRY(patch.bytes, lines_.take_payload());
  } else if (keyword == "truncate") {
    patch.kind = Patch::Kind::truncate;
    SMELT_TRY(patch.number, lines_.take_number("a size", ~uint64_t{0}));
  } else if (keyword == "append") {
    patch.kind = Patch::Kind::append;
    SMELT_TRY(patch.bytes, lines_.take_payload());
  } else {
    return false;
  }
  patches_.push_back(std::move(patch));
  return true;
}

Result<void> Parser::apply(const Patch& patch, const std::vector<Field>& fields, Bytes& bytes) const {
  if (patch.kind == Patch::Kind::append) {
    bytes.insert(bytes.end(), patch.bytes.begin(), patch.bytes.end());
    return {};
  }
  if (patch.kind == Patch::Kind::truncate) {
    bytes.resize(std::min<uint64_t>(bytes.size(), patch.number));
    return {};
  }

  // NAME, NAME+N or a plain offset.
  const size_t plus = std::min(patch.where.find('+'), patch.where.size());
  const std::string name = patch.where.substr(0, plus);
  uint64_t offset = 0, size = patch.bytes.size();
  if (const auto number = TextLines::to_number(name)) {
    offset = *number;
  } else {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.path == name; });
    if (field == fields.end())
      return fail(Errc::invalid_argument, "line {}: the file has no field '{}'", patch.line, name);
    offset = field->offset;
    if (patch.kind == Patch::Kind::set) size = field->size;
  }
  if (plus != patch.where.size()) {
    const auto more = TextLines::to_number(std::string_view(patch.where).substr(plus + 1));
    if (!more || *more > bytes.size())
      return fail(Errc::invalid_argument, "line {}: want NAME+N inside the file, found '{}'", patch.line, patch.where);
    offset += *more;
  }
  if (patch.kind == Patch::Kind::set && (size == 0 || size > 8 || (size < 8 && patch.number >> (8 * size) != 0)))
    return fail(Errc::invalid_argument, "line {}: {} does not fit '{}', which has {} bytes", patch.line, patch.number,
                name, size);
  if (offset > bytes.size() || size > bytes.size() - offset)
    return fail(Errc::invalid_argument, "line {}: {} bytes at {} are outside the file of {} bytes", patch.line, size,
                offset, bytes.size());
  for (uint64_t i = 0; i < size; ++i)
    bytes[offset + i] =
        patch.kind == Patch::Kind::set ? static_cast<std::byte>(patch.number >> (8 * i)) : patch.bytes[i];
  return {};
}

}  // namespace

Result<Bytes> from_text(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace smelt::metallib
