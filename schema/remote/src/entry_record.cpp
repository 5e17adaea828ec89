// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/schema/entry_record.hpp"

#include <algorithm>
#include <charconv>

namespace smelt::schema {
namespace {

constexpr std::string_view kFirstLine = "smelt-entry 1";
constexpr std::string_view kFamily = "smelt-entry ";

std::string_view to_word(Codec codec) {
  return codec == Codec::zstd ? "zstd" : "none";
}

bool is_line_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_signature_text(std::string_view text) {
  return !text.empty() && text.size() <= 256 && text.find(':') != text.npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

/// What the format asks of values, whoever brings them. Null or the complaint.
const char* complaint(const EntryRecord& record) {
  if (record.parts.empty()) return "an entry without parts";
  if (record.parts.size() > kMostRecordParts) return "more than 4096 parts";
  if (record.signatures.size() > kMostRecordSignatures) return "more than 16 signatures";
  if (record.made_from.size() > kMostRecordMadeFrom || !is_line_text(record.made_from))
    return "'made-from' of more than 4096 bytes, or with control characters";
  uint64_t total = 0;
  for (size_t i = 0; i < record.parts.size(); ++i) {
    const EntryRecord::Part& part = record.parts[i];
    if (part.name.empty() || part.name.size() > kMostRecordName || !is_line_text(part.name))
      return "a part's name is empty, longer than 255 bytes or has control characters";
    if (i > 0 && record.parts[i - 1].name >= part.name) return "parts are not in the order of their names";
    if (part.bytes > kMostRecordPart || part.blob_bytes > kMostRecordPart) return "a part of more than 256 MiB";
    if (part.codec == Codec::none && (part.bytes != part.blob_bytes || part.digest != part.blob))
      return "a part that is kept as it is differs from its blob";
    total += part.bytes;
  }
  if (total > kMostRecordEntry) return "parts of more than 512 MiB in all";
  for (const std::string& signature : record.signatures)
    if (!is_signature_text(signature)) return "a signature that does not read NAME:BASE64";
  return nullptr;
}

std::string signed_lines(const EntryRecord& record, bool with_blobs) {
  std::string text = fmt::format("{}\nkey {}\nmade-from{}{}\n", kFirstLine, to_hex(record.key),
                                 record.made_from.empty() ? "" : " ", record.made_from);
  if (with_blobs) text += fmt::format("cost {}\n", record.cost_us);
  for (const EntryRecord::Part& part : record.parts) {
    text += fmt::format("part {} {} {}\n", part.bytes, to_hex(part.digest), part.name);
    if (with_blobs) text += fmt::format("blob {} {} {}\n", to_word(part.codec), part.blob_bytes, to_hex(part.blob));
  }
  return text;
}

/// Reads line by line; spelling is not policed here, because the whole is written again and compared.
class RecordParser {
 public:
  explicit RecordParser(std::string_view text) : left_(text) {}

  Result<EntryRecord> parse() {
    SMELT_TRY(const std::string_view first, line());
    if (first != kFirstLine) {
      if (first.starts_with(kFamily))
        return fail(Errc::format_newer, "entry record: '{}' was written by a newer smelt; this one knows '{}'",
                    first.substr(0, 40), kFirstLine);
      return corrupt("does not begin with '{}'", kFirstLine);
    }
    EntryRecord record;
    SMELT_TRY(const auto key, field("key"));
    SMELT_TRY(record.key, digest(key));
    SMELT_TRY(record.made_from, field("made-from"));
    SMELT_TRY(const auto cost, field("cost"));
    SMELT_TRY(record.cost_us, number(cost));
    while (left_.starts_with("part ")) SMELT_TRY_VOID(part(record));
    while (left_.starts_with("signed ")) {
      if (record.signatures.size() == kMostRecordSignatures) return corrupt("more than 16 signatures");
      SMELT_TRY(record.signatures.emplace_back(), field("signed"));
    }
    SMELT_TRY_VOID(field("sum"));
    if (!left_.empty()) return corrupt("{} bytes after its end", left_.size());
    return record;
  }

 private:
  template <class... Args>
  static tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return fail(Errc::corrupt, "entry record: {}", fmt::format(format, std::forward<Args>(args)...));
  }

  Result<std::string_view> line() {
    const size_t end = left_.find('\n');
    if (end == left_.npos) return corrupt("its last line is cut");
    const std::string_view found = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return found;
  }

  Result<std::string> field(std::string_view name) {
    SMELT_TRY(std::string_view found, line());
    if (!found.starts_with(name)) return corrupt("'{}' where a line '{}' should be", found.substr(0, 40), name);
    found.remove_prefix(name.size());
    if (!found.empty()) found.remove_prefix(1);
    return std::string(found);
  }

  static Result<uint64_t> number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      return corrupt("'{}' is not a number", text.substr(0, 40));
    return value;
  }

  static Result<Digest> digest(std::string_view text) {
    auto parsed = digest_from_hex(text);
    if (!parsed) return corrupt("'{}' is not a SHA-256", text.substr(0, 80));
    return parsed;
  }

  static std::string_view word(std::string_view& text) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return found;
  }

  Result<void> part(EntryRecord& record) {
    if (record.parts.size() == kMostRecordParts) return corrupt("more than 4096 parts");
    EntryRecord::Part made;
    SMELT_TRY(const std::string line, field("part"));
    std::string_view rest = line;
    SMELT_TRY(made.bytes, number(word(rest)));
    SMELT_TRY(made.digest, digest(word(rest)));
    made.name = rest;
    SMELT_TRY(const std::string blob, field("blob"));
    rest = blob;
    const std::string_view codec = word(rest);
    if (codec != "zstd" && codec != "none") return corrupt("codec '{}'; want none or zstd", codec.substr(0, 40));
    made.codec = codec == "zstd" ? Codec::zstd : Codec::none;
    SMELT_TRY(made.blob_bytes, number(word(rest)));
    SMELT_TRY(made.blob, digest(rest));
    record.parts.push_back(std::move(made));
    return {};
  }

  std::string_view left_;
};

}  // namespace

std::string statement(const EntryRecord& record) {
  return signed_lines(record, false);
}

Result<std::string> write_entry_record(const EntryRecord& record) {
  if (const char* why = complaint(record)) return fail(Errc::invalid_argument, "writing an entry record: {}", why);
  std::string text = signed_lines(record, true);
  for (const std::string& signature : record.signatures) text += fmt::format("signed {}\n", signature);
  text += fmt::format("sum {}\n", to_hex(sha256(as_bytes(text))));
  if (text.size() > kMostRecordBytes)
    return fail(Errc::invalid_argument, "writing an entry record: {} bytes, more than {}", text.size(),
                kMostRecordBytes);
  return text;
}

Result<EntryRecord> parse_entry_record(ByteView bytes) {
  if (bytes.size() > kMostRecordBytes)
    return fail(Errc::corrupt, "entry record: {} bytes, more than {}", bytes.size(), kMostRecordBytes);
  SMELT_TRY(EntryRecord record, RecordParser(as_text(bytes)).parse());
  if (const char* why = complaint(record)) return fail(Errc::corrupt, "entry record: {}", why);
  SMELT_TRY(const std::string again, write_entry_record(record));
  if (again != as_text(bytes))
    return fail(Errc::corrupt, "entry record: its bytes do not add up to its 'sum', or are spelled another way");
  return record;
}

}  // namespace smelt::schema
