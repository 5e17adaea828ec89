// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Publishing: parts to blobs and a record, an entry's row, and the index.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <algorithm>
#include <ctime>

namespace smelt::cache {
namespace {

constexpr std::chrono::milliseconds kFillAfterPut{2};

// A part ready to be stored: what costs time is done before any lock is taken.
struct ReadyPart {
  std::string_view name;
  ByteView raw;
  bool is_inline = true;
  Bytes compressed;  // empty when stored as it is
  ByteView stored;
  uint8_t codec = kCodecRaw;
  Digest sha;
  Checksum sum{};
};

struct ReadyEntry {
  const Store::Put* put = nullptr;
  std::unique_ptr<const std::string> origin;  // the bytes of its part
  std::vector<ReadyPart> parts;
  uint64_t size = 0;
};

Result<ReadyEntry> prepare(const Store::Put& put) {
  ReadyEntry entry;
  entry.put = &put;
  if (put.parts.size() > 65534)
    return fail(Errc::invalid_argument, "store put: {} parts; at most 65534", put.parts.size());
  for (const PartIn& part : put.parts)
    if (part.name == signing::kOriginPart)
      return fail(Errc::invalid_argument, "store put: the name '{}' of a part is reserved for the store", part.name);
  entry.origin = std::make_unique<const std::string>(put.origin.to_text());
  std::vector<PartIn> parts = put.parts;
  parts.push_back({signing::kOriginPart, as_bytes(*entry.origin)});
  for (const PartIn& part : parts) {
    if (part.name.empty() || part.name.size() > 65535 || part.name.find('\0') != std::string_view::npos)
      return fail(Errc::invalid_argument, "store put: a part's name must have 1 to 65535 characters and no NUL");
    ReadyPart ready;
    ready.name = part.name;
    ready.raw = ready.stored = part.bytes;
    ready.is_inline = part.bytes.size() <= kInlineBytes;
    if (part.name != signing::kOriginPart) entry.size += part.bytes.size();
    if (!ready.is_inline) {
      if (part.compress) {
        ready.compressed.resize(ZSTD_compressBound(part.bytes.size()));
        const size_t size =
            ZSTD_compress(ready.compressed.data(), ready.compressed.size(), part.bytes.data(), part.bytes.size(), 3);
        // Not worth a copy at each find unless it saves an eighth.
        if (!ZSTD_isError(size) && size < part.bytes.size() - part.bytes.size() / 8) {
          ready.compressed.resize(size);
          ready.stored = ready.compressed;
          ready.codec = kCodecZstd;
        }
      }
      ready.sha = sha256(part.bytes);
      ready.sum = checksum(ready.stored);
    }
    entry.parts.push_back(std::move(ready));
  }
  std::sort(entry.parts.begin(), entry.parts.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < entry.parts.size(); ++i)
    if (entry.parts[i].name == entry.parts[i - 1].name)
      return fail(Errc::invalid_argument, "store put: part '{}' is given twice", entry.parts[i].name);
  return entry;
}

/// Puts entries into the tables, in the caller's transaction.
class Publication {
 public:
  explicit Publication(StoreState& state) : state_(state), tables_(state.tables) {}

  Result<void> put(const ReadyEntry& entry) {
    const Digest& key = entry.put->key;
    if (Index* shared = state_.index.load()) shared->note(key);
    lead_from_.reset();
    Record record;
    record.secret = state_.secret;
    record.cost_us = static_cast<uint64_t>(std::max<int64_t>(entry.put->cost.count(), 0));
    std::vector<int64_t> blobs;
    for (const ReadyPart& part : entry.parts) {
      SMELT_TRY(const RecordPart stored, keep(part, blobs));
      record.parts.push_back(stored);
    }
    const Bytes bytes = encode_record(key, record);
    const uint32_t hour = current_hour();
    EntryRow row;
    row.key = key;
    row.sum = checksum(bytes);
    SMELT_TRY(const auto old, tables_.entry.find(key));
    // Bytes that are not written again must be there.
    if (old && old->sum == row.sum && state_.packs.copy_whole(old->pack, old->at, old->bytes, old->sum)) {
      // The same entry, published before. Whoever makes it again did not find it: see that the index has it.
      published_.push_back({key, old->place(), hour, old->used_hour >= hour, 0});
      return {};
    }
    SMELT_TRY(const auto place, state_.append(bytes));
    row.pack = place.pack;
    row.at = place.at;
    row.bytes = bytes.size();
    row.size = entry.size;
    row.created = static_cast<uint64_t>(::time(nullptr));
    row.used_hour = hour;
    row.cost_us = record.cost_us;
    const Index* const shared = state_.index.load();
    const uint32_t hits = old && shared ? shared->hits_of(key) : 0;
    SMELT_TRY_VOID(old ? replace(*old, row, blobs) : insert(row, blobs));
    published_.push_back({key, row.place(), hour, true, hits});
    if (lead_from_ && lead_from_->pack == place.pack) published_.back().place.lead = place.at - lead_from_->at;
    ++added_;
    return {};
  }

  const std::vector<StoreState::Published>& published() const { return published_; }
  size_t added() const { return added_; }

 private:
  /// The part as a record has it; its bytes are appended unless they are there.
  Result<RecordPart> keep(const ReadyPart& part, std::vector<int64_t>& blobs) {
    RecordPart stored;
    stored.name = part.name;
    stored.is_inline = part.is_inline;
    stored.bytes = part.is_inline ? part.raw : ByteView();
    if (part.is_inline) return stored;
    stored.sha = part.sha;
    SMELT_TRY(auto blob, tables_.blob.find(part.sha));
    // The row is what was asked for only if it speaks of the same bytes.
    if (blob && (blob->raw != part.raw.size() || !blob->has_sizes_of_codec() ||
                 (blob->codec == part.codec && blob->sum != part.sum)))
      return fail(Errc::store_corrupt, "store database: the row of blob {} does not match its bytes", to_hex(part.sha));
    if (blob && !written_.contains(blob->id) &&
        !state_.packs.copy_whole(blob->pack, blob->at, blob->stored, blob->sum)) {
      SMELT_TRY_VOID(state_.drop_damaged(*blob));
      blob.reset();
    }
    if (!blob) {
      SMELT_TRY(const auto place, state_.append(part.stored));
      if (!lead_from_ || lead_from_->pack != place.pack) lead_from_ = place;
      blob = BlobRow{0, part.sha, place.pack, place.at, part.stored.size(), part.raw.size(), part.codec, part.sum};
      SMELT_TRY(blob->id, tables_.blob.insert(*blob));
      written_.insert(blob->id);
    }
    stored.pack = blob->pack;
    stored.at = blob->at;
    stored.stored = blob->stored;
    stored.raw = blob->raw;
    stored.codec = blob->codec;
    stored.sum = blob->sum;
    blobs.push_back(blob->id);
    return stored;
  }

  Result<void> insert(const EntryRow& row, const std::vector<int64_t>& blobs) {
    SMELT_TRY(const int64_t id, tables_.entry.insert(row));
    return link(id, blobs);
  }

  Result<void> replace(const EntryRow& old, EntryRow row, const std::vector<int64_t>& blobs) {
    if (Index* shared = state_.index.load()) shared->erase(old.key);
    SMELT_TRY(const auto before, tables_.blob.of_entry(old.id));
    row.id = old.id;
    SMELT_TRY_VOID(tables_.entry.update(row));
    SMELT_TRY_VOID(tables_.pack.give_back(old.pack, aligned(old.bytes)));
    state_.mark_lost(old);
    SMELT_TRY_VOID(tables_.blob.unlink_all(old.id));
    SMELT_TRY_VOID(link(old.id, blobs));
    return state_.drop_unused(before);
  }

  Result<void> link(int64_t entry, const std::vector<int64_t>& blobs) {
    for (const int64_t blob : blobs) SMELT_TRY_VOID(tables_.blob.link(entry, blob));
    return {};
  }

  StoreState& state_;
  Tables& tables_;
  std::optional<StoreState::Append> lead_from_;  // the first bytes written for this entry, in the record's pack
  std::vector<StoreState::Published> published_;
  std::set<int64_t> written_;  // blobs, by this transaction
  size_t added_ = 0;
};

}  // namespace

Result<void> Store::put(const Digest& key, const std::vector<PartIn>& parts, const signing::Provenance& origin,
                        std::chrono::microseconds cost) {
  return put_all({Put{key, parts, origin, cost}});
}

Result<void> Store::put_all(const std::vector<Put>& entries) {
  StoreState& state = *state_;
  std::vector<ReadyEntry> ready;
  for (const Put& put : entries) {
    SMELT_TRY(auto entry, prepare(put));
    ready.push_back(std::move(entry));
  }
  // An entry that cannot stay would push out everything else first.
  const uint64_t room = state.options.max_bytes - state.options.max_bytes / 10;
  uint64_t together = 0;
  for (const ReadyEntry& entry : ready) {
    for (const ReadyPart& part : entry.parts)
      together += part.is_inline ? part.raw.size() : aligned(part.stored.size());
    if (state.options.max_bytes != 0 && together > room)
      return fail(
          Errc::invalid_argument,
          "store {}: entry {}{} takes {} bytes, more than a store of {} bytes (max_bytes) can keep; it is not kept",
          state.folder.string(), to_hex(entry.put->key), entries.size() == 1 ? "" : " and those put with it", together,
          state.options.max_bytes);
  }
  std::optional<Publication> publication;
  bool over_budget = false, far_over = false;
  SMELT_TRY_VOID(state.write(
      [&]() -> Result<void> {
        publication.emplace(state);
        for (const ReadyEntry& entry : ready) SMELT_TRY_VOID(publication->put(entry));
        if (state.options.max_bytes == 0) return {};
        SMELT_TRY_VOID(state.keep_tail());
        SMELT_TRY(const uint64_t total, state.tables.pack.total_bytes());
        SMELT_TRY(const auto tables, state.table_bytes());
        over_budget = total + tables.taken > state.options.max_bytes && total > state.trim_again_above;
        far_over = total + tables.needed > state.options.max_bytes + state.options.max_bytes / 20;
        return {};
      },
      [&]() -> Result<void> {
        for (const StoreState::Published& entry : publication->published()) SMELT_TRY_VOID(state.insert_index(entry));
        return {};
      }));
  state.count(kPuts, publication->added());
  state.go_on_filling(kFillAfterPut);
  // Rows go first, and their pages make the store smaller than the budget long before the trim is at its end.
  if (over_budget || state.trim_begun) {
    // The entry is in; that the store could not shrink now is the next put's business too.
    if (auto trimmed = state.trim_after_put(far_over); !trimmed) {
      std::lock_guard lock(state.mutex);
      state.warn("trim", trimmed.error().message);
    }
  }
  return {};
}

}  // namespace smelt::cache
