// Reading and hashing everything a store holds.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

namespace smelt::cache {

Result<VerifyReport> Store::verify() {
  StoreState& state = *state_;
  VerifyReport report;
  struct BlobRow {
    Digest sha;
    uint64_t pack, at, stored, raw;
    int codec;
  };
  std::vector<std::pair<Digest, Place>> entries;
  std::vector<BlobRow> blobs;
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.open_database());
    SMELT_TRY(auto check, state.database.prepare("PRAGMA integrity_check(20)"));
    for (;;) {
      SMELT_TRY(const bool row, check.step());
      if (!row) break;
      if (check.text(0) != "ok") report.damage.push_back(fmt::format("store.db: {}", check.text(0)));
    }
    SMELT_TRY(auto rows, state.database.prepare("SELECT key,pack,at,bytes,xxh FROM entry"));
    for (;;) {
      SMELT_TRY(const bool row, rows.step());
      if (!row) break;
      Digest key;
      const ByteView sum = rows.blob(4);
      if (!rows.digest(0, key) || sum.size() != sizeof(Checksum)) {
        report.damage.push_back("store.db: an entry's key or checksum has the wrong size");
        continue;
      }
      entries.emplace_back(key, Place{static_cast<uint64_t>(rows.integer(1)), static_cast<uint64_t>(rows.integer(2)),
                                      static_cast<uint64_t>(rows.integer(3)), load_le<uint64_t>(sum.data())});
    }
    SMELT_TRY(auto all, state.database.prepare("SELECT sha256,pack,at,stored,raw,codec FROM blob"));
    for (;;) {
      SMELT_TRY(const bool row, all.step());
      if (!row) break;
      BlobRow blob{{},
                   static_cast<uint64_t>(all.integer(1)),
                   static_cast<uint64_t>(all.integer(2)),
                   static_cast<uint64_t>(all.integer(3)),
                   static_cast<uint64_t>(all.integer(4)),
                   static_cast<int>(all.integer(5))};
      if (all.digest(0, blob.sha)) blobs.push_back(blob);
    }
  }
  for (const BlobRow& blob : blobs) {
    ++report.blobs;
    std::shared_ptr<MappedPack> owner;
    const auto bytes = state.view(blob.pack, blob.at, blob.stored, owner);
    if (!bytes) {
      report.damage.push_back(fmt::format("{}: blob {} at {} is past the file's end",
                                          state.packs.path(blob.pack).string(), to_hex(blob.sha), blob.at));
      continue;
    }
    report.bytes += bytes->size();
    Bytes plain;
    ByteView raw = *bytes;
    if (blob.codec == kCodecZstd && ZSTD_getFrameContentSize(raw.data(), raw.size()) == blob.raw) {
      plain.resize(blob.raw);
      const size_t size = ZSTD_decompress(plain.data(), plain.size(), raw.data(), raw.size());
      raw = ByteView(plain).first(ZSTD_isError(size) ? 0 : size);
    }
    if (sha256(raw) != blob.sha)
      report.damage.push_back(fmt::format("{}: blob {} at {} does not hash to its name",
                                          state.packs.path(blob.pack).string(), to_hex(blob.sha), blob.at));
  }
  for (const auto& [key, place] : entries) {
    ++report.entries;
    EntryData data;
    if (state.read(key, place, data, true) == StoreState::Loaded::ok) continue;
    // Moved by a trim since the list was made?
    SMELT_TRY(const auto again, state.place_in_database(key));
    EntryData second;
    if (again && state.read(key, *again, second, true) != StoreState::Loaded::ok)
      report.damage.push_back(fmt::format("entry {}: damaged, reads as absent", to_hex(key)));
  }
  return report;
}

}  // namespace smelt::cache
