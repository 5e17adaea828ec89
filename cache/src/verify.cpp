// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and hashing everything a store holds.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

namespace smelt::cache {

Result<VerifyReport> Store::verify() {
  StoreState& state = *state_;
  VerifyReport report;
  std::vector<EntryRow> entries;
  std::vector<BlobRow> blobs;
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.open_database());
    SMELT_TRY(const auto problems, state.database.all<std::string>("PRAGMA integrity_check(20)"));
    for (const std::string& problem : problems)
      if (problem != "ok") report.damage.push_back(fmt::format("store.db: {}", problem));
    size_t unreadable = 0;
    SMELT_TRY(entries, state.tables.entry.all(&unreadable));
    SMELT_TRY(blobs, state.tables.blob.all(&unreadable));
    if (unreadable != 0)
      report.damage.push_back(fmt::format("store.db: {} rows whose key or checksum has the wrong size", unreadable));
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
  for (const EntryRow& row : entries) {
    const Digest& key = row.key;
    ++report.entries;
    EntryData data;
    if (state.read(key, row.place(), data, true) == StoreState::Loaded::ok) continue;
    // Moved by a trim since the list was made?
    SMELT_TRY(const auto again, state.place_in_database(key));
    EntryData second;
    if (again && state.read(key, *again, second, true) != StoreState::Loaded::ok)
      report.damage.push_back(fmt::format("entry {}: damaged, reads as absent", to_hex(key)));
  }
  return report;
}

}  // namespace smelt::cache
