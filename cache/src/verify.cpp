// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and hashing everything a store holds: from each key to its record, from there to the bytes, which hash to
// what the record says was put. The tables are held to the records, and taken at their word in nothing.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <map>

namespace smelt::cache {
namespace {

class Verification {
 public:
  explicit Verification(StoreState& state) : state_(state) {}

  Result<VerifyReport> run(OnDamage what) {
    const bool drops = what == OnDamage::drop && !state_.options.read_only;
    if (auto read = read_tables(); !read) {
      if (read.error().code != Errc::store_corrupt) return tl::unexpected(read.error());
      report_.damage.push_back(read.error().message);
    }
    if (drops && !report_.damage.empty()) {  // the database: made anew from what is sound, and looked at again
      const Error why{Errc::store_corrupt, report_.damage.front(), {}};
      report_ = {};
      entries_.clear();
      blobs_.clear();
      {
        const std::lock_guard lock(state_.mutex);
        SMELT_TRY_VOID(state_.open_database());
        SMELT_TRY_VOID(state_.recover(why));
      }
      SMELT_TRY_VOID(read_tables());
      report_.rebuilt = true;
    }
    for (const BlobRow& blob : blobs_) look_at(blob);
    for (const EntryRow& row : entries_) SMELT_TRY_VOID(look_at(row));
    if (drops) SMELT_TRY_VOID(drop());
    return std::move(report_);
  }

 private:
  Result<void> read_tables() {
    std::lock_guard lock(state_.mutex);
    SMELT_TRY_VOID(state_.open_database());
    SMELT_TRY(const auto problems, state_.database.all<std::string>("PRAGMA integrity_check(20)"));
    for (const std::string& problem : problems)
      if (problem != "ok") report_.damage.push_back(fmt::format("store.db: {}", problem));
    size_t unreadable = 0;
    SMELT_TRY(entries_, state_.tables.entry.all(&unreadable));
    SMELT_TRY(blobs_, state_.tables.blob.all(&unreadable));
    if (unreadable != 0)
      report_.damage.push_back(fmt::format("store.db: {} rows whose key or checksum has the wrong size", unreadable));
    SMELT_TRY_VOID(state_.tables.tag.all());
    return {};
  }

  void look_at(const BlobRow& blob) {
    ++report_.blobs;
    const auto copy = state_.packs.copy(blob.pack, blob.at, blob.stored);
    if (copy) report_.bytes += copy->bytes.size();
    if (copy && checksum(copy->bytes) == blob.sum && hashes_to_its_name(blob, copy->bytes)) {
      sound_[{blob.pack, blob.at}] = {blob.sha, blob.sum};
      return;
    }
    ++report_.damaged_blobs;
    damaged_blobs_.push_back(blob);
    report_.damage.push_back(fmt::format("{}: blob {} at {} {}", state_.packs.path(blob.pack), to_hex(blob.sha),
                                         blob.at, copy ? "does not hash to its name" : "cannot be read"));
  }

  static bool hashes_to_its_name(const BlobRow& blob, ByteView raw) {
    if (!blob.has_sizes_of_codec()) return false;
    Bytes plain;
    if (blob.codec == kCodecZstd) {
      if (ZSTD_getFrameContentSize(raw.data(), raw.size()) != blob.raw) return false;
      plain.resize(blob.raw);
      const size_t size = ZSTD_decompress(plain.data(), plain.size(), raw.data(), raw.size());
      raw = ByteView(plain).first(ZSTD_isError(size) ? 0 : size);
    }
    return raw.size() == blob.raw && sha256(raw) == blob.sha;
  }

  /// The record is the key's, and each of its blobs is one that hashes to what was put.
  bool is_sound(const Digest& key, const Place& place) const {
    const auto copy = state_.packs.copy(place.pack, place.at, place.bytes);
    if (!copy || half(checksum(copy->bytes)) != place.check) return false;
    const auto record = decode_record(copy->bytes, key);
    if (!record) return false;
    for (const RecordPart& part : record->parts) {
      if (part.is_inline) continue;
      const auto blob = sound_.find({part.pack, part.at});
      if (blob == sound_.end() || blob->second.sum != part.sum) return false;
      if (record->format > 1 && blob->second.sha != part.sha) return false;
    }
    return true;
  }

  Result<void> look_at(const EntryRow& row) {
    ++report_.entries;
    if (is_sound(row.key, row.place())) return {};
    // Moved by a trim since the list was made, or put anew?
    SMELT_TRY(const auto again, state_.place_in_database(row.key));
    EntryData data;
    if (!again) return {};
    if ((again->pack != row.pack || again->at != row.at) &&
        state_.read(row.key, *again, data) == StoreState::Loaded::ok)
      return {};
    ++report_.damaged_entries;
    damaged_entries_.push_back(row.key);
    report_.damage.push_back(fmt::format("entry {}: damaged, reads as absent", to_hex(row.key)));
    return {};
  }

  /// What was damaged a moment ago is made again when it is asked for, so a put in between costs no more than that.
  Result<void> drop() {
    for (const Digest& key : damaged_entries_) {
      SMELT_TRY(const uint64_t dropped, state_.drop_damaged(key));
      report_.dropped += dropped;
    }
    // Entries whose record vouches for other bytes than the blob's name does, and blobs that no entry has.
    return state_.write([&]() -> Result<void> {
      for (const BlobRow& blob : damaged_blobs_) {
        SMELT_TRY(const auto row, state_.tables.blob.find(blob.sha));
        if (!row || row->pack != blob.pack || row->at != blob.at) continue;
        SMELT_TRY(const uint64_t dropped, state_.drop_damaged(*row));
        report_.dropped += dropped;
      }
      return {};
    });
  }

  struct Sound {
    Digest sha;
    Checksum sum{};
  };

  StoreState& state_;
  VerifyReport report_;
  std::vector<EntryRow> entries_;
  std::vector<BlobRow> blobs_;
  std::map<std::pair<uint64_t, uint64_t>, Sound> sound_;  // by pack and place
  std::vector<Digest> damaged_entries_;
  std::vector<BlobRow> damaged_blobs_;
};

}  // namespace

Result<VerifyReport> Store::verify(OnDamage what) {
  return Verification(*state_).run(what);
}

}  // namespace smelt::cache
