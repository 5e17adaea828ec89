// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries by key, on disk: key -> named parts, published together or not at all. Never looks inside the bytes. Each
// entry has where it came from, which signing::Policy reads.
//
// Layout of a store folder (docs/formats/store.md):
//   store.db      SQLite, the truth            packs/NNNNNN.pack   append-only bytes
//   index         derived; may be deleted      locks               byte-range locks between processes
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/signing/origin.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smelt::cache {

class FileLayer;
struct StoreState;

/// One named value of an entry, on its way in. The bytes are borrowed for the call.
struct PartIn {
  std::string_view name;
  ByteView bytes;
  bool compress = false;  ///< zstd; for text that is seldom read, since a compressed part is copied at each find
};

struct EntryData;

/// The result of a find. It shares ownership of a copy of the bytes: views stay valid as long as any copy lives,
/// whatever trim or another process does meanwhile. Immutable; safe to share between threads; cheap to copy.
class Entry {
 public:
  struct Part {
    std::string_view name;
    ByteView bytes;
  };
  /// In the order of their names.
  const std::vector<Part>& parts() const;
  /// The part's bytes, if there is such a part.
  std::optional<ByteView> part(std::string_view name) const;
  /// Where it came from; `unknown` of an entry that a store of an older smelt kept. It is none of the parts.
  const signing::Provenance& origin() const;

  /// One that no store holds (yet): names and bytes from elsewhere, which it takes over.
  static Entry of(std::vector<std::pair<std::string, Bytes>> parts, signing::Provenance origin);

 private:
  friend struct StoreState;
  explicit Entry(std::shared_ptr<const EntryData> data) : data_(std::move(data)) {}
  std::shared_ptr<const EntryData> data_;
};

/// When a blob's checksum is compared with its bytes.
enum class Verify : uint8_t {
  never,      ///< the caller checks
  first_use,  ///< once in this process
  always,     ///< at every find
};

inline constexpr uint64_t kDefaultMaxBytes = uint64_t{5} << 30;

struct StoreOptions {
  bool read_only = false;
  uint64_t max_bytes = kDefaultMaxBytes;  ///< trimmed to 90 % of this once a put passes it; 0: unbounded
  /// A put that passes it trims for so long, where nobody else works; those after it go on.
  std::chrono::microseconds trim_slice{10000};
  uint64_t segment_bytes = uint64_t{64} << 20;  ///< a pack is sealed at this size
  bool durable =
      false;  ///< sync packs and commits; otherwise a power cut may lose the newest entries, never corrupt one
  Verify verify = Verify::first_use;
  /// How long a put waits for other processes' writes; then it fails with `store_locked`. Said after a second.
  std::chrono::milliseconds writer_wait{10000};
  bool trust_any_owner = false;  ///< otherwise a folder of another user, or writable by others, is refused
  /// Called at most once per kind of trouble, e.g. when a damaged database was made anew. Any thread.
  std::function<void(std::string_view)> warn;
  FileLayer* files = nullptr;  ///< tests: fails file calls on purpose. Not owned.
};

struct StoreCounters {
  uint64_t hits = 0, misses = 0, puts = 0, damaged = 0, evicted = 0;
  uint64_t bytes_read = 0, bytes_written = 0, microseconds_saved = 0;
};

struct StoreStat {
  uint64_t entries = 0, blobs = 0, packs = 0, tags = 0;
  uint64_t live_bytes = 0;  ///< referenced bytes in packs
  uint64_t pack_bytes = 0;  ///< committed pack bytes, dead ones included
  uint64_t disk_bytes = 0;  ///< packs, database, index
  uint64_t raw_bytes = 0;   ///< sum of entries as their users see them (before sharing and compression)
  uint64_t max_bytes = 0;   ///< the budget of who asks
  int schema_version = 0;
  StoreCounters counters;  ///< all processes so far, this one included
};

struct EntryInfo {
  Digest key;
  uint64_t bytes = 0;
  uint64_t created = 0;    ///< seconds since 1970
  uint64_t used_hour = 0;  ///< hours since 1970
  uint64_t cost_us = 0;
  uint64_t hits = 0;  ///< finds that gave it
};

struct TagInfo {
  std::string name, version;
  Digest key;
  uint64_t moved = 0;  ///< seconds since 1970
};

struct VerifyReport {
  uint64_t entries = 0, blobs = 0, bytes = 0;
  uint64_t damaged_entries = 0, damaged_blobs = 0;
  uint64_t dropped = 0;             ///< entries, if that was asked for
  bool rebuilt = false;             ///< the database was damaged and is made anew, if that was asked for
  std::vector<std::string> damage;  ///< one line each, of what was found; empty means sound
};

/// What verify does about damaged entries, besides saying so.
enum class OnDamage : uint8_t { report, drop };

struct TrimOptions {
  std::optional<uint64_t>
      max_bytes;  ///< at most these stay on disk; none: the store's budget, or any with `unused_for`
  std::optional<std::chrono::hours> unused_for;  ///< entries that nobody has used for so long go
  bool tagged = false;                           ///< removes tagged entries and all tags, too
};

struct TrimReport {
  uint64_t entries_removed = 0;
  uint64_t bytes_before = 0, bytes_after = 0;  ///< of packs
  std::optional<uint64_t> bytes_wanted;        ///< at most these were to stay; none: any number
  uint64_t bytes_tagged = 0;                   ///< of what is left, what tagged entries hold on to
  bool busy = false;                           ///< another process is trimming; nothing was done
};

/// $SMELT_STORE, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt; the latter two as absolute paths. Empty: none is set,
/// and there is no store.
std::filesystem::path default_store_folder();
/// $SMELT_STORE_MAX_SIZE, else kDefaultMaxBytes. Errors: invalid_argument for a value that is not a size.
Result<uint64_t> default_max_bytes();
/// True when the folder is this user's or root's, and a store, or absent or empty and may become one; Store::open says
/// why not.
bool may_be_store(const std::filesystem::path& folder);

/// A store folder. Threads: every method may be called from any thread. Processes: any number per folder, on a local
/// file system. Not to be used across fork(): open it in the child. Forking while other threads use it is fine: the
/// fork waits for what is being written.
class Store {
 public:
  /// Opens, creating the folder (mode 0700) unless read_only. A damaged database is made anew from the packs, now or
  /// when it is noticed (one warning). Errors: untrusted (owner or mode), unsupported (network file system),
  /// store_newer, io.
  static Result<std::shared_ptr<Store>> open(const std::filesystem::path& folder, StoreOptions options = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& folder() const;
  bool read_only() const;

  /// The entry, or nothing. A damaged entry is dropped, counted and reported as absent.
  Result<std::optional<Entry>> find(const Digest& key);

  /// The index's word alone, for those who wait for a key (Flight): never opens the database, counts nothing. True: a
  /// find will hit, unless the bytes are damaged. False: absent, or only the database knows.
  bool indexed(const Digest& key);

  /// The entry for somebody who only looks at the store: no use of it, nothing is counted and nothing dropped. A
  /// damaged entry is an error, `store_corrupt`.
  Result<std::optional<Entry>> peek(const Digest& key);

  /// Several at once, in the order of the keys: what the index does not have is looked up in one read transaction.
  Result<std::vector<std::optional<Entry>>> find_all(const std::vector<Digest>& keys);

  /// Publishes all parts in one transaction. Same key and bytes again: nothing happens. Same key, other bytes:
  /// replaced. `cost` is what it took to make them. After success any process finds it. A part called
  /// signing::kOriginPart is refused.
  Result<void> put(const Digest& key, const std::vector<PartIn>& parts, const signing::Provenance& origin,
                   std::chrono::microseconds cost = {});

  struct Put {
    Digest key;
    std::vector<PartIn> parts;
    signing::Provenance origin;
    std::chrono::microseconds cost{};
  };
  /// Several entries in one transaction: all or none.
  Result<void> put_all(const std::vector<Put>& entries);

  /// True when there was one.
  Result<bool> remove(const Digest& key);

  Result<std::vector<EntryInfo>> list();
  /// The next `most` of them in the order of their keys, behind `after`; none: from the first. For stores of any size.
  Result<std::vector<EntryInfo>> list(const std::optional<Digest>& after, size_t most);
  Result<StoreStat> stat();
  /// Reads and hashes everything, from each key to its bytes. With `drop`, a damaged database is made anew and entries
  /// that are damaged go, which finds would do one by one; else the store stays as it is.
  Result<VerifyReport> verify(OnDamage what = OnDamage::report);
  /// Evicts least recently used and cheapest entries. Tagged ones stay, and those in use are not hurt. To 0 bytes it
  /// empties the store, and its tables shrink.
  Result<TrimReport> trim(const TrimOptions& options = {});
  Result<TrimReport> trim(uint64_t max_bytes) { return trim(TrimOptions{max_bytes, {}, false}); }
  /// Sets the counters of stat() and those of this process, counters(), to zero.
  Result<void> reset_counters();

  /// Points name@version at `key`, which must exist. Moving an existing tag needs `move`.
  Result<void> tag(std::string_view name, std::string_view version, const Digest& key, bool move = false);
  /// Newest state of every tag, by name, then by version (numeric).
  Result<std::vector<TagInfo>> tags(std::string_view name = {});
  /// Where the tag pointed over time, newest first.
  Result<std::vector<TagInfo>> tag_history(std::string_view name, std::string_view version);
  /// "name@2.1.0" exactly, "name@2" or "name@2.1" the newest below that prefix, "name" the newest of all, and ranges
  /// "name@>=2.1,<3". Candidates newest first, so that a caller may pass over what its device cannot run.
  Result<std::vector<TagInfo>> resolve(std::string_view query);

  StoreCounters counters() const;  ///< of this process

 private:
  Store();
  std::unique_ptr<StoreState> state_;
};

/// Compares dotted numeric versions ("2.10" > "2.9"); other text sorts after numbers, by bytes.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace smelt::cache
