// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emptying a pack: what still lives in it moves to the open pack, 2 MB per transaction so that writers wait
// milliseconds; then its row and its file go.
#include "store_state.hpp"

namespace smelt::cache {
namespace {

constexpr uint64_t kBytesPerTransaction = uint64_t{2} << 20;

class PackMove {
 public:
  PackMove(StoreState& state, uint64_t pack) : state_(state), tables_(state.tables), pack_(pack) {}

  /// One transaction's worth. True when nothing is left and the pack's row is gone.
  Result<bool> some() {
    moved_.clear();
    for (uint64_t done = 0; done < kBytesPerTransaction;) {
      SMELT_TRY(const auto blob, tables_.blob.any_in(pack_));
      if (blob) {
        SMELT_TRY_VOID(move_blob(*blob));
        done += blob->stored;
        continue;
      }
      SMELT_TRY(const auto entry, tables_.entry.any_in(pack_));
      if (!entry) {
        SMELT_TRY_VOID(tables_.pack.erase(pack_));
        return true;
      }
      SMELT_TRY_VOID(rewrite_record(*entry, nullptr, {}));
      done += entry->bytes;
    }
    return false;
  }

  const std::vector<StoreState::Published>& moved() const { return moved_; }

 private:
  Result<void> move_blob(const BlobRow& blob) {
    SMELT_TRY(const auto users, tables_.entry.users_of(blob.id));
    std::shared_ptr<MappedPack> owner;
    const auto bytes = state_.view(pack_, blob.at, blob.stored, owner);
    if (!bytes || checksum(*bytes) != blob.sum) {  // damage is not carried along
      for (const EntryRow& user : users) SMELT_TRY_VOID(state_.delete_entry(user));
      return tables_.blob.erase(blob.id);
    }
    SMELT_TRY(const auto place, state_.append(*bytes));
    SMELT_TRY_VOID(tables_.blob.move(blob.id, place.pack, place.at));
    for (const EntryRow& user : users) SMELT_TRY_VOID(rewrite_record(user, &blob, place));
    return {};
  }

  /// Writes the record of an entry anew; with `blob`, its part there points to the new place.
  Result<void> rewrite_record(EntryRow row, const BlobRow* blob, const StoreState::Append& to) {
    std::shared_ptr<MappedPack> owner;
    const auto old = state_.view(row.pack, row.at, row.bytes, owner);
    auto record = old ? decode_record(*old, row.key) : tl::unexpected(Error{Errc::corrupt, "record is gone", {}});
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
  std::vector<StoreState::Published> moved_;
};

}  // namespace

Result<void> StoreState::empty_pack(uint64_t pack) {
  PackMove move(*this, pack);
  for (bool empty = false; !empty;) {
    SMELT_TRY_VOID(write(
        [&]() -> Result<void> {
          SMELT_TRY(empty, move.some());
          return {};
        },
        [&]() -> Result<void> {
          Result<void> indexed;
          for (const Published& entry : move.moved())
            if (indexed = insert_index(entry); !indexed) break;
          if (empty) {
            forget_pack(pack);
            packs.remove(pack);
          }
          return indexed;
        }));
  }
  return {};
}

}  // namespace smelt::cache
