// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emptying a pack: what still lives in it moves to the open pack, 2 MB per transaction so that writers wait
// milliseconds; then its row and its file go.
#include "store_state.hpp"

namespace smelt::cache {
namespace {

constexpr uint64_t kBytesPerTransaction = uint64_t{2} << 20;
constexpr uint64_t kBytesOfALook = 512;  // what could have been copied in the time of a query that finds nothing

class PackMove {
 public:
  PackMove(StoreState& state, uint64_t pack, PackContents::Rows& rows)
      : state_(state), tables_(state.tables), pack_(pack), rows_(rows) {}

  /// One transaction's worth. True when nothing is left and the pack's row is gone.
  Result<bool> some() {
    moved_.clear();
    reached_ = rows_.done;
    done_bytes_ = 0;
    for (uint64_t& done = done_bytes_; done < kBytesPerTransaction;) {
      if (reached_ < rows_.blobs.size()) {
        SMELT_TRY(const auto blob, tables_.blob.at(rows_.blobs[reached_++]));
        done += kBytesOfALook;
        if (!blob || blob->pack != pack_) continue;  // gone since; the number may be another's now
        SMELT_TRY_VOID(move_blob(*blob));
        done += blob->stored;
      } else if (reached_ < rows_.blobs.size() + rows_.entries.size()) {
        SMELT_TRY(const auto entry, tables_.entry.at(rows_.entries[reached_++ - rows_.blobs.size()]));
        done += kBytesOfALook;
        if (!entry || entry->pack != pack_) continue;  // often: its blob was moved, and its record with it
        SMELT_TRY_VOID(rewrite_record(*entry, nullptr, {}));
        done += entry->bytes;
      } else {
        SMELT_TRY_VOID(tables_.pack.erase(pack_));
        return true;
      }
    }
    return false;
  }

  /// After the commit: the next transaction goes on from there, one that is tried again does not.
  void keep() { rows_.done = reached_; }
  uint64_t bytes() const { return done_bytes_; }

  const std::vector<StoreState::Published>& moved() const { return moved_; }

 private:
  Result<void> move_blob(const BlobRow& blob) {
    SMELT_TRY(const auto users, tables_.entry.users_of(blob.id));
    const auto copy = state_.packs.copy_whole(pack_, blob.at, blob.stored, blob.sum);
    if (!copy) {  // damage is not carried along
      for (const EntryRow& user : users) SMELT_TRY_VOID(state_.delete_entry(user));
      return tables_.blob.erase(blob.id);
    }
    SMELT_TRY(const auto place, state_.append(copy->bytes));
    SMELT_TRY_VOID(tables_.blob.move(blob.id, place.pack, place.at));
    for (const EntryRow& user : users) SMELT_TRY_VOID(rewrite_record(user, &blob, place));
    return {};
  }

  /// Writes the record of an entry anew; with `blob`, its part there points to the new place.
  Result<void> rewrite_record(EntryRow row, const BlobRow* blob, const StoreState::Append& to) {
    // A record that is written anew gets a new checksum: what it says must be what was put.
    const auto old = state_.packs.copy_whole(row.pack, row.at, row.bytes, row.sum);
    auto record = old ? decode_record(old->bytes, row.key) : tl::unexpected(Error{Errc::corrupt, "damaged", {}});
    if (!record) return state_.delete_entry(row);  // damaged: absent from now on
    for (RecordPart& part : record->parts)
      if (blob && !part.is_inline && part.pack == pack_ && part.at == blob->at) {
        part.pack = to.pack;
        part.at = to.at;
      }
    const Bytes fresh = encode_record(row.key, *record);
    // Moving is not using: the hour and the hits stay those that are known.
    auto hour = static_cast<uint32_t>(row.used_hour);
    uint32_t hits = 0;
    if (Index* shared = state_.index.load()) {
      hits = shared->hits_of(row.key);
      hour = std::max(hour, shared->hour_of(row.key));
      shared->erase(row.key);
    }
    SMELT_TRY_VOID(tables_.pack.give_back(row.pack, aligned(row.bytes)));
    SMELT_TRY(const auto place, state_.append(fresh));
    row.pack = place.pack;
    row.at = place.at;
    row.bytes = fresh.size();
    row.sum = checksum(fresh);
    SMELT_TRY_VOID(tables_.entry.update(row));
    moved_.push_back({row.key, row.place(), hour, hour == row.used_hour, hits});
    return {};
  }

  StoreState& state_;
  Tables& tables_;
  uint64_t pack_;
  PackContents::Rows& rows_;
  size_t reached_ = 0;  // of the blobs, then of the entries
  uint64_t done_bytes_ = 0;
  std::vector<StoreState::Published> moved_;
};

}  // namespace

Result<bool> StoreState::read_contents(PackContents& contents, WorkSlice& slice) {
  constexpr size_t kRows = 2048;
  const std::lock_guard lock(mutex);
  SMELT_TRY_VOID(open_database());
  if (contents.store_id != store_id) contents = {};
  if (contents.sealed.empty()) {
    contents.store_id = store_id;
    // The packs first: what is sealed by now gets no more rows while the other tables are read.
    SMELT_TRY(const auto all, tables.pack.all());
    for (const PackRow& pack : all)
      if (pack.sealed) contents.sealed[pack.id];
  }
  const auto read = [&](auto& table, int64_t& last, std::vector<int64_t> PackContents::Rows::* where) -> Result<bool> {
    for (;;) {
      if (slice.is_over()) return false;
      SMELT_TRY(const auto rows, table.packs_after(last, kRows));
      if (!rows.empty()) last = rows.back().id;
      for (const InPack& row : rows)
        if (const auto found = contents.sealed.find(row.pack); found != contents.sealed.end())
          (found->second.*where).push_back(row.id);
      slice.add(std::chrono::microseconds(rows.size() / 2));
      if (rows.size() < kRows) return true;
    }
  };
  SMELT_TRY(const bool all_blobs, read(tables.blob, contents.last_blob, &PackContents::Rows::blobs));
  if (!all_blobs) return false;
  SMELT_TRY(contents.complete, read(tables.entry, contents.last_entry, &PackContents::Rows::entries));
  return contents.complete;
}

Result<bool> StoreState::empty_pack(uint64_t pack, PackContents& contents, WorkSlice& slice) {
  if (contents.complete && !contents.sealed.contains(pack)) contents = {};
  if (!contents.complete) {
    SMELT_TRY(const bool read, read_contents(contents, slice));
    if (!read) return false;
  }
  const auto rows = contents.sealed.find(pack);
  if (rows == contents.sealed.end()) return true;
  PackMove move(*this, pack, rows->second);
  for (bool empty = false; !empty;) {
    if (slice.is_over()) return false;
    bool other_store = false;
    SMELT_TRY_VOID(write(
        [&]() -> Result<void> {
          // Another took the folder: its pack of that number holds what was not listed.
          other_store = store_id != contents.store_id;
          if (other_store) return {};
          SMELT_TRY(empty, move.some());
          return {};
        },
        [&]() -> Result<void> {
          Result<void> indexed;
          if (other_store) return indexed;
          move.keep();
          for (const Published& entry : move.moved())
            if (indexed = insert_index(entry); !indexed) break;
          if (empty) packs.remove(pack);
          return indexed;
        }));
    if (other_store) {
      contents = {};
      return true;
    }
    slice.add(std::chrono::microseconds(move.bytes() / 1000));
  }
  contents.sealed.erase(rows);
  return true;
}

}  // namespace smelt::cache
