// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "records.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Bitstream/BitstreamWriter.h"

namespace smelt::test {
namespace {

using Nodes = std::vector<BitcodeNode>;
namespace codes = llvm::bitc;

bool is_metadata(unsigned block) {
  return block == codes::METADATA_BLOCK_ID || block == codes::METADATA_ATTACHMENT_ID ||
         block == codes::METADATA_KIND_BLOCK_ID;
}

/// Where something else lies in the stream: LLVM finds it without.
bool is_offset(unsigned block, unsigned code) {
  return (block == codes::MODULE_BLOCK_ID && code == codes::MODULE_CODE_VSTOFFSET) ||
         (block == codes::METADATA_BLOCK_ID &&
          (code == codes::METADATA_INDEX_OFFSET || code == codes::METADATA_INDEX)) ||
         (block == codes::VALUE_SYMTAB_BLOCK_ID && code == codes::VST_CODE_FNENTRY);
}

class Reading {
 public:
  explicit Reading(ByteView bitcode)
      : cursor_(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bitcode.data()), bitcode.size())) {
    cursor_.setBlockInfo(&info_);
  }

  Result<Nodes> run() {
    if (auto magic = cursor_.Read(32); !magic) return failed(magic.takeError());
    Nodes top;
    while (!cursor_.AtEndOfStream()) SMELT_TRY_VOID(read_one(~0u, top, nullptr));
    return top;
  }

 private:
  static tl::unexpected<Error> failed(llvm::Error error) {
    return fail(Errc::corrupt, "{}", llvm::toString(std::move(error)));
  }

  Result<void> read_block(unsigned id, Nodes& into) {
    if (id == codes::BLOCKINFO_BLOCK_ID) {
      auto info = cursor_.ReadBlockInfoBlock();
      if (!info) return failed(info.takeError());
      if (*info) info_ = std::move(**info);
      return {};
    }
    if (auto error = cursor_.EnterSubBlock(id)) return failed(std::move(error));
    BitcodeNode& block = into.emplace_back();
    block.is_block = true;
    block.id = id;
    for (bool end = false; !end;) SMELT_TRY_VOID(read_one(id, block.children, &end));
    return {};
  }

  Result<void> read_one(unsigned inside, Nodes& into, bool* end) {
    auto entry = cursor_.advance();
    if (!entry) return failed(entry.takeError());
    switch (entry->Kind) {
      case llvm::BitstreamEntry::Error:
        return fail(Errc::corrupt, "no bitstream");
      case llvm::BitstreamEntry::EndBlock:
        if (end == nullptr) return fail(Errc::corrupt, "an end of nothing");
        *end = true;
        return {};
      case llvm::BitstreamEntry::SubBlock:
        return read_block(entry->ID, into);
      case llvm::BitstreamEntry::Record:
        break;
    }
    llvm::SmallVector<uint64_t, 64> operands;
    llvm::StringRef blob;
    auto code = cursor_.readRecord(entry->ID, operands, &blob);
    if (!code) return failed(code.takeError());
    if (is_offset(inside, *code)) return {};
    BitcodeNode& record = into.emplace_back();
    record.id = *code;
    record.operands.assign(operands.begin(), operands.end());
    record.has_blob = blob.data() != nullptr;
    record.blob = blob.str();
    return {};
  }

  llvm::BitstreamBlockInfo info_;
  llvm::BitstreamCursor cursor_;
};

void write_one(const BitcodeNode& node, llvm::BitstreamWriter& out) {
  if (node.is_block) {
    out.EnterSubblock(node.id, 6);  // wide enough for an abbreviation for every blob
    for (const BitcodeNode& child : node.children) write_one(child, out);
    out.ExitBlock();
    return;
  }
  if (!node.has_blob) {
    out.EmitRecord(node.id, node.operands);
    return;
  }
  auto shape = std::make_shared<llvm::BitCodeAbbrev>();
  shape->Add(llvm::BitCodeAbbrevOp(node.id));
  for (size_t i = 0; i < node.operands.size(); ++i) shape->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::VBR, 6));
  shape->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::Blob));
  std::vector<uint64_t> values{node.id};
  values.insert(values.end(), node.operands.begin(), node.operands.end());
  out.EmitRecordWithBlob(out.EmitAbbrev(std::move(shape)), llvm::ArrayRef(values), node.blob);
}

struct Site {
  Nodes* list;
  size_t at;
};

void collect(Nodes& list, bool metadata, std::vector<Site>& all, std::vector<Site>& of_metadata) {
  for (size_t i = 0; i < list.size(); ++i) {
    all.push_back({&list, i});
    if (metadata) of_metadata.push_back({&list, i});
    if (list[i].is_block) collect(list[i].children, metadata || is_metadata(list[i].id), all, of_metadata);
  }
}

uint64_t hostile_number(uint64_t was, std::mt19937_64& random) {
  static constexpr uint64_t kNumbers[] = {
      0,          1,          2,          3,          0x7f,        0xff,         0xffff,
      0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x100000000, ~uint64_t{0}, uint64_t{1} << 63,
      0x10000000, 0xdeadbeef};
  switch (random() % 5) {
    case 0:
      return was + 1;
    case 1:
      return was - 1;
    case 2:
      return was ^ (uint64_t{1} << (random() % 33));
    case 3:
      return random() % 64;
    default:
      return kNumbers[random() % std::size(kNumbers)];
  }
}

std::string change_operands(BitcodeNode& record, std::mt19937_64& random) {
  if (record.has_blob && !record.blob.empty() && random() % 2 == 0) {
    record.blob[random() % record.blob.size()] ^= static_cast<char>(1 << (random() % 8));
    return "blob";
  }
  auto& operands = record.operands;
  if (operands.empty() || random() % 8 == 0) {
    if (!record.has_blob)
      operands.insert(operands.begin() + static_cast<ptrdiff_t>(random() % (operands.size() + 1)),
                      hostile_number(0, random));
    return "operand more";
  }
  uint64_t& one = operands[random() % operands.size()];
  if (random() % 8 == 0) {
    if (!record.has_blob) operands.erase(operands.begin() + static_cast<ptrdiff_t>(&one - operands.data()));
    return "operand less";
  }
  one = random() % 3 == 0 ? operands[random() % operands.size()] : hostile_number(one, random);
  return "operand";
}

std::string change_one(const std::vector<Site>& sites, std::mt19937_64& random) {
  const Site site = sites[random() % sites.size()];
  Nodes& list = *site.list;
  BitcodeNode& node = list[site.at];
  const auto place = list.begin() + static_cast<ptrdiff_t>(site.at);
  switch (random() % 16) {
    case 0:
      list.erase(place);
      return "left out";
    case 1: {
      const BitcodeNode copy = node;
      list.insert(place, copy);
      return "twice";
    }
    case 2:
      std::swap(node, list[random() % list.size()]);
      return "swapped";
    case 3:
      node.id = node.is_block ? static_cast<unsigned>(8 + random() % 20) : static_cast<unsigned>(random() % 64);
      return "another code";
    default:
      return node.is_block ? std::string() : change_operands(node, random);
  }
}

}  // namespace

Result<Nodes> read_records(ByteView bitcode) {
  return Reading(bitcode).run();
}

Bytes write_records(const Nodes& blocks) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitstreamWriter out(bytes);
  for (const unsigned byte : {0x42u, 0x43u, 0xC0u, 0xDEu}) out.Emit(byte, 8);  // BC C0 DE
  for (const BitcodeNode& block : blocks) write_one(block, out);
  out.FlushToWord();
  return to_bytes(as_bytes(std::string_view(bytes.data(), bytes.size())));
}

std::string change_records(Nodes& blocks, std::mt19937_64& random) {
  std::string story;
  for (uint64_t left = 1 + random() % 3; left != 0; --left) {
    // Anew each time: a change may move what the sites point at.
    std::vector<Site> all, of_metadata;
    collect(blocks, false, all, of_metadata);
    if (all.empty()) break;
    const std::string said = change_one(random() % 2 == 0 && !of_metadata.empty() ? of_metadata : all, random);
    if (!said.empty()) story += (story.empty() ? "" : ", ") + said;
  }
  return "records: " + story;
}

}  // namespace smelt::test
