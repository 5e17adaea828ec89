// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A database that is damaged is made anew from the packs: each record says whose it is, that it is whole, and where its
// blobs lie. Rows of the damaged one that can still be read add what no record has: hours of use, hits, tags, and the
// places of records that an older smelt wrote. A record that was replaced or removed is marked in its pack, so that it
// does not come back.
#include "store_state.hpp"

#include <algorithm>
#include <ctime>

namespace smelt::cache {
namespace {

constexpr uint64_t kWindow = uint64_t{4} << 20, kSector = 4096;

struct Lying {
  uint64_t pack = 0, at = 0, bytes = 0;
  auto order() const { return std::pair(pack, at); }
};

class Rebuild {
 public:
  explicit Rebuild(StoreState& state) : state_(state), tables_(state.tables) {}

  void read_old(const std::string& database) {
    Database old;
    if (!old.open(database, true, false)) return;
    Tables tables(old);
    for (EntryRow& row : tables.entry.salvage()) {
      const auto copy = state_.packs.copy_whole(row.pack, row.at, row.bytes, row.sum);
      if (copy && decode_record(copy->bytes, row.key)) found(row.key, {row.pack, row.at, row.bytes});
      old_rows_.insert_or_assign(row.key, row);
    }
    tags_ = tables.tag.salvage();
  }

  void read_packs() {
    std::vector<uint64_t> ids = state_.packs.ids();
    std::sort(ids.begin(), ids.end());
    for (const uint64_t pack : ids) scan(pack);
  }

  /// Into the empty database, in the caller's transaction. How many entries.
  Result<uint64_t> keep() {
    std::vector<std::pair<Digest, Lying>> order(records_.begin(), records_.end());
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.second.order() < b.second.order(); });
    uint64_t kept = 0;
    for (const auto& [key, where] : order) {
      SMELT_TRY(const bool whole, keep(key, where));
      kept += whole;
    }
    for (const uint64_t pack : state_.packs.ids()) {
      SMELT_TRY_VOID(tables_.pack.insert(pack));
      SMELT_TRY_VOID(tables_.pack.grow(pack, aligned(state_.packs.size(pack)), live_[pack]));
      SMELT_TRY_VOID(tables_.pack.seal(pack));
    }
    for (const TagRow& tag : tags_) SMELT_TRY_VOID(tables_.tag.insert(tag));
    return kept;
  }

 private:
  struct Kept {
    int64_t id = 0;
    Lying where;
  };

  void found(const Digest& key, const Lying& where) {
    // The record that was appended later counts.
    const auto [record, fresh] = records_.try_emplace(key, where);
    if (!fresh && record->second.order() < where.order()) record->second = where;
  }

  void scan(uint64_t pack) {
    const PackFile file(state_.packs.path(pack), state_.packs.files());
    Bytes window(kWindow);
    for (uint64_t from = 0; from < file.size();) {
      uint64_t size = std::min(kWindow, file.size() - from);
      bool read = file.read(from, std::span(window).first(size));
      if (!read && size > kSector) {  // somewhere in it is a sector that cannot be read
        size = kSector;
        read = file.read(from, std::span(window).first(size));
      }
      uint64_t next = size;
      for (uint64_t at = 0; read && at < size; at += kPackAlignment)
        if (as_text(ByteView(window).subspan(at, 4)) == kRecordMagic)
          if (const uint64_t bytes = look_at(file, pack, from + at); bytes != 0) {
            next = std::max(next, at + aligned(bytes));
            at += aligned(bytes) - kPackAlignment;
          }
      from += next;
    }
  }

  /// The size of the record that lies there, 0 when there is none.
  uint64_t look_at(const PackFile& file, uint64_t pack, uint64_t at) {
    std::array<std::byte, kRecordHead> head{};
    if (!file.read(at, head)) return 0;
    const uint64_t size = record_size(head, state_.secret);
    if (size == 0 || !file.reaches(at, size)) return 0;
    Bytes bytes(size);
    if (!file.read(at, bytes)) return 0;
    const auto key = whole_record(bytes);
    if (!key) return 0;
    found(*key, {pack, at, size});
    return size;
  }

  /// False: something of it is damaged.
  Result<bool> keep(const Digest& key, const Lying& where) {
    const auto copy = state_.packs.copy(where.pack, where.at, where.bytes);
    const auto record = copy ? decode_record(copy->bytes, key) : tl::unexpected(Error{Errc::corrupt, "gone", {}});
    if (!record) return false;
    std::vector<BlobRow> blobs;
    EntryRow row;
    for (const RecordPart& part : record->parts) {
      if (part.name != signing::kOriginPart) row.size += part.is_inline ? part.bytes.size() : part.raw;
      if (part.is_inline) continue;
      const auto bytes = state_.packs.copy_whole(part.pack, part.at, part.stored, part.sum);
      if (!bytes) return false;
      const auto sha =
          record->format == 1 ? sha_of_stored(bytes->bytes, part.codec, part.raw) : std::optional(part.sha);
      if (!sha) return false;
      const auto known = blobs_.find(*sha);
      // The same bytes twice, after damage: one row can say of one place only.
      if (known != blobs_.end() && known->second.where.order() != std::pair(part.pack, part.at)) return false;
      blobs.push_back({0, *sha, part.pack, part.at, part.stored, part.raw, part.codec, part.sum});
    }
    const auto now = static_cast<uint64_t>(::time(nullptr));
    row.key = key;
    row.pack = where.pack;
    row.at = where.at;
    row.bytes = where.bytes;
    row.sum = checksum(copy->bytes);
    row.created = now;
    row.used_hour = current_hour();
    row.cost_us = record->cost_us;
    const auto old = old_rows_.find(key);
    if (old != old_rows_.end()) {
      row.created = std::min(old->second.created, now);
      row.used_hour = std::min<uint64_t>(old->second.used_hour, current_hour());
    }
    SMELT_TRY(const int64_t id, tables_.entry.insert(row));
    if (old != old_rows_.end())
      SMELT_TRY_VOID(tables_.entry.used(key, 0, static_cast<uint32_t>(std::min<uint64_t>(old->second.hits, 1 << 30))));
    live_[row.pack] += aligned(row.bytes);
    for (BlobRow& blob : blobs) {
      auto known = blobs_.find(blob.sha);
      if (known == blobs_.end()) {
        SMELT_TRY(blob.id, tables_.blob.insert(blob));
        known = blobs_.insert({blob.sha, {blob.id, {blob.pack, blob.at, blob.stored}}}).first;
        live_[blob.pack] += aligned(blob.stored);
      }
      SMELT_TRY_VOID(tables_.blob.link(id, known->second.id));
    }
    return true;
  }

  StoreState& state_;
  Tables& tables_;
  std::map<Digest, Lying> records_;
  std::map<Digest, EntryRow> old_rows_;
  std::vector<TagRow> tags_;
  std::map<Digest, Kept> blobs_;
  std::map<uint64_t, uint64_t> live_;
};

}  // namespace

Result<uint64_t> StoreState::rebuild_database(const std::string& aside) {
  Rebuild rebuild(*this);
  rebuild.read_old(aside);
  rebuild.read_packs();
  SMELT_TRY(auto transaction, Transaction::begin(database));
  SMELT_TRY(const uint64_t kept, rebuild.keep());
  SMELT_TRY_VOID(transaction.commit());
  return kept;
}

}  // namespace smelt::cache
