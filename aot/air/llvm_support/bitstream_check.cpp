// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/bitstream_check.hpp"

#include "llvm_support/metadata_numbers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>
#include <vector>

namespace smelt::aot {
namespace {

// Numbers from LLVM's bitcode format (LangRef "LLVM Bitcode File Format"); stable since LLVM 3.
enum BlockId : uint64_t {
  kBlockInfo = 0,
  kModule = 8,
  kAttributeGroups = 10,
  kConstants = 11,
  kFunction = 12,
  kIdentification = 13,
  kValueSymbols = 14,
  kMetadata = 15,
  kMetadataAttachments = 16,
  kTypes = 17,
};
enum AbbreviationId : uint64_t { kEndBlock = 0, kEnterSubblock = 1, kDefine = 2, kUnabbreviated = 3, kFirstOwn = 4 };

constexpr unsigned kMaxDepth = 16;            // LLVM nests 4 deep
constexpr uint64_t kMaxAbbreviations = 4096;  // per block; LLVM defines a dozen
constexpr uint64_t kMaxParameters = 65536;
constexpr uint64_t kFunctionAttributes = 0xFFFFFFFF;  // in the place of a parameter's number
constexpr uint64_t kMaxVectorLength = 4096;           // as in text (spelling.cpp)

class Bits {
 public:
  explicit Bits(ByteView bytes) : bytes_(bytes), end_(bytes.size() * 8) {}
  uint64_t at() const { return at_; }
  uint64_t end() const { return end_; }
  bool at_end() const { return at_ >= end_; }

  Result<uint64_t> fixed(unsigned width) {
    if (width > end_ - at_) return short_of(width);
    uint64_t value = 0;
    for (unsigned got = 0; got < width;) {
      const unsigned shift = at_ % 8;
      const unsigned count = std::min(8 - shift, width - got);
      const auto byte = static_cast<uint64_t>(bytes_[at_ / 8]);
      value |= ((byte >> shift) & ((uint64_t{1} << count) - 1)) << got;
      got += count;
      at_ += count;
    }
    return value;
  }

  Result<uint64_t> vbr(unsigned width) {
    const uint64_t more = uint64_t{1} << (width - 1);
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += width - 1) {
      SMELT_TRY(const uint64_t piece, fixed(width));
      const uint64_t payload = piece & (more - 1);
      if (shift >= 64) return fail(Errc::corrupt, "bit {}: a number longer than 64 bits", at_);
      value |= payload << shift;
      if ((piece & more) == 0) return value;
    }
  }

  Result<void> align() {
    const uint64_t next = (at_ + 31) & ~uint64_t{31};
    if (next > end_) return short_of(next - at_);
    at_ = next;
    return {};
  }

  Result<void> skip(uint64_t count) {
    if (count > end_ - at_) return short_of(count);
    at_ += count;
    return {};
  }

 private:
  tl::unexpected<Error> short_of(uint64_t count) const {
    return fail(Errc::truncated, "bit {}: {} more bits are needed, the bitcode has {}", at_, count, end_ - at_);
  }

  ByteView bytes_;
  uint64_t end_;
  uint64_t at_ = 0;
};

struct Operand {
  enum Kind : uint8_t { literal, fixed, vbr, array, char6, blob } kind = literal;
  uint64_t value = 0;
};
using Abbreviation = std::vector<Operand>;
using Abbreviations = std::vector<Abbreviation>;

/// The first operands of a record: no check needs more.
struct Record {
  uint64_t code = 0;
  uint64_t count = 0;
  std::array<uint64_t, 4> head{};
  void add(uint64_t value) {
    if (count < head.size()) head[count] = value;
    ++count;
  }
};

class Walk {
 public:
  explicit Walk(ByteView bitcode) : bits_(bitcode) {}

  Result<void> run() {
    SMELT_TRY(const uint64_t magic, bits_.fixed(32));
    if (magic != 0xDEC04342) return fail(Errc::corrupt, "the bitcode does not start with 'BC' 0xC0DE");
    while (bits_.end() - bits_.at() >= 64) {  // what is left over is padding
      const uint64_t start = bits_.at();
      SMELT_TRY(const uint64_t id, bits_.fixed(2));
      if (id != kEnterSubblock) {
        if (modules_ > 0 && id == 0) return {};  // zero padding
        return fail(Errc::corrupt, "bit {}: a block should start here", start);
      }
      SMELT_TRY_VOID(block(0, kBlockInfo, 2));
    }
    if (modules_ == 0) return fail(Errc::truncated, "there is no module in the bitcode");
    for (const uint64_t target : function_targets_)
      if (!function_starts_.contains(target))
        return fail(Errc::corrupt, "the symbol table places a function at bit {}, where none starts", target);
    if (symbols_target_ != 0 && !symbols_starts_.contains(symbols_target_))
      return fail(Errc::corrupt, "the module places its symbol table at bit {}, where none starts", symbols_target_);
    return {};
  }

  BitcodeFacts facts;

 private:
  /// Just past ENTER_SUBBLOCK. `parent_width` is how that was written.
  Result<void> block(unsigned depth, uint64_t parent, unsigned parent_width) {
    const uint64_t start = bits_.at() - parent_width;
    if (depth >= kMaxDepth) return fail(Errc::corrupt, "bit {}: blocks are nested more than {} deep", start, kMaxDepth);
    SMELT_TRY(const uint64_t id, bits_.vbr(8));
    SMELT_TRY(const uint64_t width, bits_.vbr(4));
    SMELT_TRY_VOID(bits_.align());
    SMELT_TRY(const uint64_t words, bits_.fixed(32));
    if (width < 2 || width > 32) return fail(Errc::corrupt, "bit {}: abbreviation width {}", start, width);
    const uint64_t body = bits_.at();
    if (words * 32 > bits_.end() - body)
      return fail(Errc::truncated, "bit {}: block {} claims {} bytes, the file has {} more", start, id, words * 4,
                  (bits_.end() - body) / 8);
    const uint64_t end = body + words * 32;
    if (id == kModule && depth == 0 && ++modules_ > 1)
      return fail(Errc::unsupported, "bit {}: a second module; pass one module a file", start);
    if (id == kFunction && parent == kModule) function_starts_.insert(start & ~uint64_t{31});
    if (id == kValueSymbols && parent == kModule) symbols_starts_.insert(start & ~uint64_t{31});

    const bool names_metadata = id == kMetadata || id == kMetadataAttachments;
    if (id == kFunction && parent == kModule) metadata_.enter_function();
    if (names_metadata) metadata_.enter_block(parent == kFunction);

    Abbreviations abbreviations;
    if (const auto known = block_info_.find(id); known != block_info_.end()) abbreviations = known->second;
    uint64_t described = ~uint64_t{0};  // inside BLOCKINFO: the block that is being described
    for (;;) {
      const uint64_t at = bits_.at();
      if (at >= end) return fail(Errc::corrupt, "bit {}: block {} runs past its end", at, id);
      SMELT_TRY(const uint64_t what, bits_.fixed(static_cast<unsigned>(width)));
      if (what == kEndBlock) {
        SMELT_TRY_VOID(bits_.align());
        if (names_metadata) SMELT_TRY_VOID(metadata_.check(at));
        if (bits_.at() == end) return {};
        return fail(Errc::corrupt, "bit {}: block {} ends {} bits before its length says", at, id, end - bits_.at());
      }
      if (what == kEnterSubblock) {
        SMELT_TRY_VOID(block(depth + 1, id, static_cast<unsigned>(width)));
        continue;
      }
      if (what == kDefine) {
        SMELT_TRY(Abbreviation added, define());
        if (id == kBlockInfo && described == ~uint64_t{0})
          return fail(Errc::corrupt, "bit {}: an abbreviation for no block", at);
        Abbreviations& list = id == kBlockInfo ? block_info_[described] : abbreviations;
        if (list.size() == kMaxAbbreviations) return fail(Errc::corrupt, "bit {}: too many abbreviations", at);
        list.push_back(std::move(added));
        continue;
      }
      Record record;
      operands_.clear();
      keeps_operands_ = names_metadata;
      if (what == kUnabbreviated) {
        SMELT_TRY(record, unabbreviated());
      } else if (what - kFirstOwn < abbreviations.size()) {
        SMELT_TRY(record, abbreviated(abbreviations[what - kFirstOwn]));
      } else {
        return fail(Errc::corrupt, "bit {}: abbreviation {} is not defined in block {}", at, what, id);
      }
      ++facts.records;
      if (id == kMetadata) metadata_.add(record.code, operands_);
      if (id == kMetadataAttachments) metadata_.add_attachments(operands_);
      if (id == kBlockInfo && record.code == 1) {
        if (record.count < 1) return fail(Errc::corrupt, "bit {}: SETBID without a block", at);
        described = record.head[0];
        if (block_info_.size() > 64) return fail(Errc::corrupt, "bit {}: too many kinds of block", at);
      }
      SMELT_TRY_VOID(check(id, record, at, words * 32));
    }
  }

  Result<Abbreviation> define() {
    const uint64_t at = bits_.at();
    SMELT_TRY(const uint64_t count, bits_.vbr(5));
    if (count == 0 || count > 512) return fail(Errc::corrupt, "bit {}: an abbreviation of {} operands", at, count);
    Abbreviation result;
    for (uint64_t i = 0; i < count; ++i) {
      SMELT_TRY(const uint64_t is_literal, bits_.fixed(1));
      Operand operand;
      if (is_literal != 0) {
        SMELT_TRY(operand.value, bits_.vbr(8));
        result.push_back(operand);
        continue;
      }
      SMELT_TRY(const uint64_t encoding, bits_.fixed(3));
      if (encoding < 1 || encoding > 5) return fail(Errc::corrupt, "bit {}: operand encoding {}", at, encoding);
      operand.kind = static_cast<Operand::Kind>(encoding);
      if (operand.kind == Operand::fixed || operand.kind == Operand::vbr) {
        SMELT_TRY(operand.value, bits_.vbr(5));
        if (operand.value > 64 || (operand.kind == Operand::vbr && operand.value == 1))
          return fail(Errc::corrupt, "bit {}: an operand of {} bits", at, operand.value);
        if (operand.value == 0) operand.kind = Operand::literal;
      }
      result.push_back(operand);
    }
    for (size_t i = 0; i < result.size(); ++i) {
      const Operand::Kind kind = result[i].kind;
      const bool scalar = kind != Operand::array && kind != Operand::blob;
      const bool in_place = kind == Operand::array  ? i + 2 == result.size()
                            : kind == Operand::blob ? i + 1 == result.size()
                                                    : true;
      if ((i == 0 && !scalar) || !in_place || (!scalar && i > 0 && result[i - 1].kind == Operand::array))
        return fail(Errc::corrupt, "bit {}: an abbreviation with an array or blob out of place", at);
    }
    return result;
  }

  Result<uint64_t> scalar(const Operand& operand) {
    switch (operand.kind) {
      case Operand::fixed:
        return bits_.fixed(static_cast<unsigned>(operand.value));
      case Operand::vbr:
        return bits_.vbr(static_cast<unsigned>(operand.value));
      case Operand::char6: {
        SMELT_TRY(const uint64_t letter, bits_.fixed(6));
        return static_cast<uint64_t>("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"[letter]);
      }
      default:
        return operand.value;
    }
  }

  Result<Record> unabbreviated() {
    Record record;
    SMELT_TRY(record.code, bits_.vbr(6));
    SMELT_TRY(const uint64_t count, bits_.vbr(6));
    SMELT_TRY_VOID(plausible(count, 6));
    keeps_text_ = record.code == 1 || record.code == 2;
    for (uint64_t i = 0; i < count; ++i) {
      SMELT_TRY(const uint64_t value, bits_.vbr(6));
      note(record, value);
    }
    return record;
  }

  Result<Record> abbreviated(const Abbreviation& abbreviation) {
    Record record;
    SMELT_TRY(record.code, scalar(abbreviation[0]));
    keeps_text_ = record.code == 1 || record.code == 2;
    for (size_t i = 1; i < abbreviation.size(); ++i) {
      const Operand& operand = abbreviation[i];
      if (operand.kind == Operand::array) {
        SMELT_TRY(const uint64_t count, bits_.vbr(6));
        const Operand& element = abbreviation[++i];
        const uint64_t least = element.kind == Operand::char6 ? 6 : std::max<uint64_t>(element.value, 1);
        SMELT_TRY_VOID(plausible(count, element.kind == Operand::literal ? 1 : least));
        for (uint64_t k = 0; k < count; ++k) {
          SMELT_TRY(const uint64_t value, scalar(element));
          note(record, value);
        }
      } else if (operand.kind == Operand::blob) {
        SMELT_TRY(const uint64_t count, bits_.vbr(6));
        SMELT_TRY_VOID(bits_.align());
        SMELT_TRY_VOID(plausible(count, 8));
        SMELT_TRY_VOID(bits_.skip(count * 8));
        SMELT_TRY_VOID(bits_.align());
        record.count += count;
      } else {
        SMELT_TRY(const uint64_t value, scalar(operand));
        note(record, value);
      }
    }
    return record;
  }

  Result<void> plausible(uint64_t count, uint64_t bits_each) {
    const uint64_t left = bits_.end() - bits_.at();
    if (count <= left / bits_each) return {};
    return fail(Errc::truncated, "bit {}: {} operands of at least {} bits are claimed, {} bits are left", bits_.at(),
                count, bits_each, left);
  }

  void note(Record& record, uint64_t value) {
    record.add(value);
    if (keeps_operands_) operands_.push_back(value);
    if (keeps_text_ && text_.size() < 256) text_ += static_cast<char>(value & 0x7F);
  }

  /// The few records whose numbers LLVM trusts.
  Result<void> check(uint64_t block, const Record& record, uint64_t at, uint64_t block_bits) {
    const uint64_t first = record.count > 0 ? record.head[0] : 0;
    if (block == kIdentification && record.code == 1) facts.producer = text_;
    if (block == kModule && record.code == 2) facts.triple = text_;  // TRIPLE: [letter, ...]
    text_.clear();
    const auto refuse = [&](std::string_view what, uint64_t value) {
      return fail(Errc::corrupt, "bit {}: {} {} in a block of {} bytes", at, value, what, block_bits / 8);
    };
    if (block == kTypes && record.code == 1 && first > block_bits) return refuse("types", first);
    if (block == kTypes && record.code == 10) {  // VECTOR: [length, element, scalable]
      if (first > kMaxVectorLength)
        return fail(Errc::unsupported, "bit {}: a vector of {} elements; at most {} are read", at, first,
                    kMaxVectorLength);
      if (record.count > 2 && record.head[2] != 0)
        return fail(Errc::unsupported, "bit {}: vectors of unknown length do not exist on GPUs", at);
    }
    // ENTRY: [group, parameter, ...]; LLVM makes a list as long as the number.
    if (block == kAttributeGroups && record.code == 3 && record.head[1] > kMaxParameters &&
        record.head[1] != kFunctionAttributes)
      return refuse("is the number of a parameter with attributes", record.head[1]);
    if (block == kFunction && record.code == 1 && first > block_bits) return refuse("basic blocks", first);
    if (block == kMetadata && record.code == 35 && first > block_bits) return refuse("metadata strings", first);
    if (block == kModule && record.code == 13) symbols_target_ = first * 32;  // VSTOFFSET
    if (block == kValueSymbols && record.code == 3 && record.count >= 2)      // FNENTRY
      function_targets_.push_back(record.head[1] * 32);
    return {};
  }

  Bits bits_;
  std::map<uint64_t, Abbreviations> block_info_;
  std::unordered_set<uint64_t> function_starts_;
  std::unordered_set<uint64_t> symbols_starts_;
  std::vector<uint64_t> function_targets_;
  uint64_t symbols_target_ = 0;
  MetadataNumbers metadata_;
  std::vector<uint64_t> operands_;  // of the record at hand, in blocks that name metadata
  bool keeps_operands_ = false;
  std::string text_;
  bool keeps_text_ = false;  // of an IDENTIFICATION, or a TRIPLE
  unsigned modules_ = 0;
};

}  // namespace

Result<BitcodeFacts> check_bitstream(ByteView file) {
  if (file.size() > kMaxBitcodeBytes)
    return fail(Errc::unsupported, "the bitcode has {} bytes, at most {} are read", file.size(), kMaxBitcodeBytes);
  ByteView bitcode = file;
  if (file.size() >= 4 && load_le<uint32_t>(file.data()) == 0x0B17C0DE) {
    if (file.size() < 20) return fail(Errc::truncated, "a bitcode wrapper has 20 bytes, the file {}", file.size());
    const uint64_t offset = load_le<uint32_t>(file.data() + 8);
    const uint64_t size = load_le<uint32_t>(file.data() + 12);
    if (offset < 20 || offset > file.size() || size > file.size() - offset)
      return fail(Errc::truncated, "the wrapper places {} bytes of bitcode at {}, the file has {}", size, offset,
                  file.size());
    bitcode = file.subspan(offset, size);
  }
  if (bitcode.size() < 8) return fail(Errc::truncated, "{} bytes are too few for bitcode", bitcode.size());
  bitcode = bitcode.first(bitcode.size() & ~size_t{3});  // LLVM wants whole words
  Walk walk(bitcode);
  SMELT_TRY_VOID(walk.run());
  walk.facts.bitcode = bitcode;
  return std::move(walk.facts);
}

}  // namespace smelt::aot
