// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and hashing everything a store holds.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

namespace smelt::cache {
namespace {

class Verification {
 public:
  explicit Verification(StoreState& state) : state_(state) {}

  Result<VerifyReport> run(OnDamage what) {
    SMELT_TRY_VOID(read_tables());
    for (const BlobRow& blob : blobs_) look_at(blob);
    for (const EntryRow& row : entries_) SMELT_TRY_VOID(look_at(row));
    if (what == OnDamage::drop) SMELT_TRY_VOID(drop());
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
    return {};
  }

  void look_at(const BlobRow& blob) {
    ++report_.blobs;
    std::shared_ptr<MappedPack> owner;
    const auto bytes = state_.view(blob.pack, blob.at, blob.stored, owner);
    if (bytes) report_.bytes += bytes->size();
    if (bytes && hashes_to_its_name(blob, *bytes)) return;
    ++report_.damaged_blobs;
    damaged_blobs_.push_back(blob);
    report_.damage.push_back(fmt::format("{}: blob {} at {} {}", state_.packs.path(blob.pack), to_hex(blob.sha),
                                         blob.at, bytes ? "does not hash to its name" : "is past the file's end"));
  }

  static bool hashes_to_its_name(const BlobRow& blob, ByteView raw) {
    Bytes plain;
    if (blob.codec == kCodecZstd && ZSTD_getFrameContentSize(raw.data(), raw.size()) == blob.raw) {
      plain.resize(blob.raw);
      const size_t size = ZSTD_decompress(plain.data(), plain.size(), raw.data(), raw.size());
      raw = ByteView(plain).first(ZSTD_isError(size) ? 0 : size);
    }
    return sha256(raw) == blob.sha;
  }

  Result<void> look_at(const EntryRow& row) {
    ++report_.entries;
    EntryData data;
    if (state_.read(row.key, row.place(), data, true) == StoreState::Loaded::ok) return {};
    // Moved by a trim since the list was made?
    SMELT_TRY(const auto again, state_.place_in_database(row.key));
    EntryData second;
    if (!again || state_.read(row.key, *again, second, true) == StoreState::Loaded::ok) return {};
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
    if (damaged_blobs_.empty()) return {};
    return state_.write([&]() -> Result<void> {
      for (const BlobRow& blob : damaged_blobs_) {
        SMELT_TRY(const auto row, state_.tables.blob.find(blob.sha));
        if (!row || row->pack != blob.pack || row->at != blob.at) continue;
        SMELT_TRY(const auto users, state_.tables.entry.users_of(row->id));
        for (const EntryRow& user : users) SMELT_TRY_VOID(state_.delete_entry(user));
        report_.dropped += users.size();
        if (users.empty()) SMELT_TRY_VOID(state_.drop_unused({*row}));
      }
      return {};
    });
  }

  StoreState& state_;
  VerifyReport report_;
  std::vector<EntryRow> entries_;
  std::vector<BlobRow> blobs_;
  std::vector<Digest> damaged_entries_;
  std::vector<BlobRow> damaged_blobs_;
};

}  // namespace

Result<VerifyReport> Store::verify(OnDamage what) {
  return Verification(*state_).run(what);
}

}  // namespace smelt::cache
