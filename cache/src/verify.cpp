// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and hashing everything a store holds: from each key to its record, from there to the bytes, which hash to
// what the record says was put. The tables are held to the records, and taken at their word in nothing.
//
// Tables are read a thousand rows at a time, so that a store of any size takes little memory and other threads go on.
// Of each blob 24 bytes are kept: entries that share one do not hash it again. What the tables say may change in
// between, so that nothing is called damaged before its row was read once more.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <xxhash.h>

#include <algorithm>

namespace smelt::cache {
namespace {

constexpr size_t kRowsOfPiece = 1024;

/// Copies values out of packs into one buffer, and keeps the pack open from one to the next.
class PackReader {
 public:
  explicit PackReader(const Packs& packs) : packs_(packs) {}

  /// Valid until the next one.
  std::optional<ByteView> read(uint64_t pack, uint64_t at, uint64_t bytes) {
    if (!file_ || pack_ != pack || !file_->reaches(at, bytes)) {
      file_.emplace(packs_.path(pack), packs_.files());
      pack_ = pack;
    }
    if (!file_->reaches(at, bytes)) return std::nullopt;
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    const std::span<std::byte> into = std::span(buffer_).first(bytes);
    if (!file_->read(at, into)) return std::nullopt;
    return into;
  }
  /// Another file may have the pack's name by now.
  void close() { file_.reset(); }

 private:
  const Packs& packs_;
  std::optional<PackFile> file_;
  uint64_t pack_ = 0;
  Bytes buffer_;
};

class Verification {
 public:
  Verification(StoreState& state, OnDamage what)
      : state_(state),
        drops_(what == OnDamage::drop && !state.options.read_only),
        records_(state.packs),
        blobs_(state.packs) {}

  Result<VerifyReport> run() {
    SMELT_TRY_VOID(look_at_all());
    if (drops_ && database_damage_) {  // made anew from what is sound, and looked at again
      const Error why = *std::exchange(database_damage_, std::nullopt);
      report_ = {};
      {
        const std::lock_guard lock(state_.mutex);
        SMELT_TRY_VOID(state_.open_database());
        SMELT_TRY_VOID(state_.recover(why));
      }
      SMELT_TRY_VOID(look_at_all());
      report_.rebuilt = true;
    }
    if (drops_) SMELT_TRY_VOID(drop());
    return std::move(report_);
  }

 private:
  /// Asks the tables; verifying makes no damaged database anew by itself.
  template <class T>
  Result<T> ask(const std::function<Result<T>()>& body) {
    const std::lock_guard lock(state_.mutex);
    SMELT_TRY_VOID(state_.open_database());
    return body();
  }

  Result<void> note(const Error& error) {
    if (error.code != Errc::store_corrupt) return tl::unexpected(error);
    if (!database_damage_) database_damage_ = error;
    report_.damage.push_back(error.message);
    return {};
  }
  Result<void> note_database(std::string message) {
    return note({Errc::store_corrupt, fmt::format("store.db: {}", message), {}});
  }

  Result<void> look_at_all() {
    sound_.clear();
    damaged_entries_.clear();
    damaged_blobs_.clear();
    if (const auto checked = check_database(); !checked) SMELT_TRY_VOID(note(checked.error()));
    if (drops_ && database_damage_) return {};
    size_t unreadable = 0;
    const auto look_at_table = [&](auto& table) -> Result<void> {
      using Rows = typename decltype(table.piece_after(0, 0))::value_type;
      for (int64_t last = 0;;) {
        SMELT_TRY(const Rows piece, ask<Rows>([&] { return table.piece_after(last, kRowsOfPiece); }));
        for (const auto& row : piece.rows) SMELT_TRY_VOID(look_at(row));
        unreadable += piece.unreadable;
        last = piece.last;
        if (piece.at_end) return {};
      }
    };
    if (const auto read = look_at_table(state_.tables.blob); !read) SMELT_TRY_VOID(note(read.error()));
    std::sort(sound_.begin(), sound_.end());
    if (const auto read = look_at_table(state_.tables.entry); !read) SMELT_TRY_VOID(note(read.error()));
    if (unreadable == 0) return {};
    return note_database(fmt::format("{} rows whose key or checksum has the wrong size", unreadable));
  }

  Result<void> check_database() {
    SMELT_TRY(const auto problems, ask<std::vector<std::string>>(
                                       [&] { return state_.database.all<std::string>("PRAGMA integrity_check(20)"); }));
    for (const std::string& problem : problems)
      if (problem != "ok") SMELT_TRY_VOID(note_database(problem));
    SMELT_TRY_VOID(ask<std::vector<TagRow>>([&] { return state_.tables.tag.all(); }));
    if (database_damage_) return {};
    SMELT_TRY(const uint64_t blobs, ask<uint64_t>([&] { return state_.tables.blob.count(); }));
    sound_.reserve(blobs);
    return {};
  }

  Result<void> look_at(BlobRow blob) {
    ++report_.blobs;
    for (;;) {
      if (is_sound(blob)) {
        report_.bytes += blob.stored;
        if (Sound::has_room_for(blob)) sound_.emplace_back(blob);
        return {};
      }
      SMELT_TRY(const auto now, ask<std::optional<BlobRow>>([&] { return state_.tables.blob.at(blob.id); }));
      if (!now) return {};
      if (now->pack == blob.pack && now->at == blob.at) break;
      blob = *now;  // moved by a trim
    }
    ++report_.damaged_blobs;
    const bool there = blobs_.read(blob.pack, blob.at, blob.stored).has_value();
    report_.bytes += there ? blob.stored : 0;
    report_.damage.push_back(fmt::format("{}: blob {} at {} {}", state_.packs.path(blob.pack), to_hex(blob.sha),
                                         blob.at, there ? "does not hash to its name" : "cannot be read"));
    damaged_blobs_.push_back(blob);
    return {};
  }

  Result<void> look_at(EntryRow row) {
    ++report_.entries;
    for (;;) {
      SMELT_TRY(const bool sound, is_sound(row.key, row.place()));
      if (sound) return {};
      SMELT_TRY(const auto now, ask<std::optional<EntryRow>>([&] { return state_.tables.entry.at(row.id); }));
      if (!now) return {};
      if (now->pack == row.pack && now->at == row.at) break;
      row = *now;  // moved by a trim, or put anew
    }
    ++report_.damaged_entries;
    damaged_entries_.push_back(row.key);
    report_.damage.push_back(fmt::format("entry {}: damaged, reads as absent", to_hex(row.key)));
    return {};
  }

  bool is_sound(const BlobRow& blob) {
    const auto is = [&] {
      const auto bytes = blobs_.read(blob.pack, blob.at, blob.stored);
      return bytes && checksum(*bytes) == blob.sum && blob.has_sizes_of_codec() &&
             sha_of_stored(*bytes, blob.codec, blob.raw) == blob.sha;
    };
    if (is()) return true;
    blobs_.close();
    return is();
  }

  /// The record is the key's, and each of its blobs is one that hashes to what was put.
  Result<bool> is_sound(const Digest& key, const Place& place) {
    const auto bytes = records_.read(place.pack, place.at, place.bytes);
    const auto record = bytes && half(checksum(*bytes)) == place.check ? decode_record(*bytes, key)
                                                                       : tl::unexpected(Error{Errc::corrupt, "", {}});
    if (!record) {
      records_.close();
      return false;
    }
    for (const RecordPart& part : record->parts) {
      if (part.is_inline || is_known(part, record->format)) continue;
      SMELT_TRY(const bool sound, is_sound(part, record->format));
      if (!sound) return false;
    }
    return true;
  }

  bool is_known(const RecordPart& part, uint16_t format) const {
    const Sound wanted(part);
    const auto [first, last] = std::equal_range(sound_.begin(), sound_.end(), wanted);
    return Sound::has_room_for(part) && std::any_of(first, last, [&](const Sound& blob) {
             return blob.sum == wanted.sum && (format == 1 || blob.sha == wanted.sha);
           });
  }

  /// A blob that was written since their table was read, or is damaged.
  Result<bool> is_sound(const RecordPart& part, uint16_t format) {
    std::optional<Digest> sha = part.sha;
    if (format == 1) {
      const auto bytes = blobs_.read(part.pack, part.at, part.stored);
      sha = bytes ? sha_of_stored(*bytes, part.codec, part.raw) : std::nullopt;
    }
    if (!sha) return false;
    const auto found = ask<std::optional<BlobRow>>([&] { return state_.tables.blob.find(*sha); });
    if (!found && found.error().code != Errc::store_corrupt) return tl::unexpected(found.error());
    const auto row = found.value_or(std::nullopt);
    return row && row->pack == part.pack && row->at == part.at && row->sum == part.sum && is_sound(*row);
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

  /// A blob that hashes to its name, in few bytes: where it lies, and halves of its checksum and of its hash's.
  struct Sound {
    uint64_t place, sum, sha;
    template <class Blob>
    explicit Sound(const Blob& blob)
        : place(blob.pack << kAtBits | blob.at),
          sum(half(blob.sum)),
          sha(XXH3_64bits(blob.sha.bytes.data(), blob.sha.bytes.size())) {}
    template <class Blob>
    static bool has_room_for(const Blob& blob) {
      return blob.at >> kAtBits == 0 && blob.pack >> (64 - kAtBits) == 0;
    }
    bool operator<(const Sound& other) const { return place < other.place; }
    static constexpr int kAtBits = 40;
  };

  StoreState& state_;
  const bool drops_;
  VerifyReport report_;
  std::optional<Error> database_damage_;  // the first
  PackReader records_, blobs_;
  std::vector<Sound> sound_;  // by place
  std::vector<Digest> damaged_entries_;
  std::vector<BlobRow> damaged_blobs_;
};

}  // namespace

Result<VerifyReport> Store::verify(OnDamage what) {
  return Verification(*state_, what).run();
}

}  // namespace smelt::cache
