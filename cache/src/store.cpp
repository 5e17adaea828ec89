// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening and closing a store, and the calls that only look.
#include "smelt/cache/store.hpp"

#include "smelt/base/platform.hpp"

#include "fork_safety.hpp"
#include "store_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace smelt::cache {
namespace {

uint64_t segment_for(const StoreOptions& options) {
  // A small budget needs small segments, or one pack would be all of it and nothing could be given back.
  if (options.max_bytes == 0) return options.segment_bytes;
  return std::min(options.segment_bytes, std::max<uint64_t>(options.max_bytes / 8, uint64_t{1} << 20));
}

}  // namespace

const std::vector<Entry::Part>& Entry::parts() const {
  return data_->parts;
}

std::optional<ByteView> Entry::part(std::string_view name) const {
  for (const Part& part : data_->parts)
    if (part.name == name) return part.bytes;
  return std::nullopt;
}

const signing::Provenance& Entry::origin() const {
  return data_->origin;
}

Entry Entry::of(std::vector<std::pair<std::string, Bytes>> parts, signing::Provenance origin) {
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto owned = std::make_shared<const std::vector<std::pair<std::string, Bytes>>>(std::move(parts));
  auto data = std::make_shared<EntryData>();
  data->origin = std::move(origin);
  for (const auto& [name, bytes] : *owned) {
    data->parts.push_back({name, bytes});
    data->bytes += bytes.size();
  }
  data->owners.push_back(std::move(owned));
  return Entry(std::move(data));
}

StoreState::StoreState(std::filesystem::path where, StoreOptions wanted)
    : folder(std::move(where)),
      options(std::move(wanted)),
      files(options.files ? options.files : &FileLayer::system()),
      packs(file_of(folder, "packs"), segment_for(options), *files) {
  options.segment_bytes = segment_for(options);
  add_store(*this);
}

StoreState::~StoreState() {
  remove_store(*this);
  // What a find noted that cannot be saved now is saved by another process, or lost: it only orders evictions.
  if (is_open) (void)close();
  close_lock_file(lock_fd);
}

void StoreState::before_fork() {
  if (!database.is_open()) return;
  database.close();
  database_inode = Inode::of(file_of(folder, "store.db").c_str());
}

void StoreState::warn(std::string_view kind, std::string_view message) {
  if (options.warn && warned.insert(std::string(kind)).second) options.warn(message);
}

Result<Inode> StoreState::check_folder() {
  struct stat status{};
  int missing = ::stat(folder.c_str(), &status);
  if (missing != 0 && errno == ENOENT && !options.read_only) {
    std::error_code ignored;
    std::filesystem::create_directories(folder.parent_path().empty() ? "." : folder.parent_path(), ignored);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return fail(Errc::io, "store {}: cannot create: {}", folder.string(), std::strerror(errno));
    missing = ::stat(folder.c_str(), &status);
  }
  if (missing != 0)
    return fail(errno == ENOENT ? Errc::file_not_found : Errc::io, "store {}: {}", folder.string(),
                std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) return fail(Errc::io, "store {}: is not a folder", folder.string());
  if (!options.trust_any_owner) {
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
      return fail(Errc::untrusted,
                  "store {}: belongs to user {}, this is user {}; kernels from it would run as you. Use "
                  "a folder of your own (SMELT_STORE)",
                  folder.string(), status.st_uid, ::geteuid());
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return fail(Errc::untrusted, "store {}: others may write to it (mode {:o}); make it mode 0700", folder.string(),
                  status.st_mode & 07777);
  }
  return Inode::of(status);
}

Result<void> StoreState::take_ground() {
  SMELT_TRY_VOID(check_ours(folder));
  SMELT_TRY_VOID(check_file_system());
  if (options.read_only) return {};
  // Without a marker it is still known by its database.
  if (auto marked = mark(folder, *files); !marked) warn("marker", marked.error().message);
  return {};
}

bool StoreState::moved() const {
  if (lock_fd >= 0 && Inode::of(lock_file_path(folder).c_str()) != lock_inode) return true;
  // Two files that lie where we opened them lie in the folder that we opened.
  const bool both_files = lock_fd >= 0 && database.is_open();
  if (!both_files && Inode::of(folder.c_str()) != folder_inode) return true;
  if (database.is_open()) return database.moved();
  return database_inode && Inode::of(file_of(folder, "store.db").c_str()) != database_inode;
}

Result<void> StoreState::keep_ground() {
  if (!moved()) return {};
  database.close();
  close_lock_file(std::exchange(lock_fd, -1));
  index = nullptr;
  store_id = 0;
  packs.clear();
  {
    std::unique_lock lock(seen_mutex);
    seen.clear();
  }
  SMELT_TRY(const Inode inode, check_folder());
  SMELT_TRY_VOID(take_ground());
  folder_inode = inode;
  database_inode = Inode::of(file_of(folder, "store.db").c_str());
  if (database_inode) current_index_locked();
  warn("replaced", fmt::format("store {}: was replaced or deleted while it was open; going on with what is there now",
                               folder.string()));
  return {};
}

bool StoreState::ground_changed() {
  const int64_t milliseconds = platform::coarse_milliseconds();
  if (milliseconds - ground_looked_at.load(std::memory_order_relaxed) < kGroundMilliseconds) return false;
  ground_looked_at.store(milliseconds, std::memory_order_relaxed);
  std::lock_guard lock(mutex);
  return moved() && keep_ground();
}

Result<void> StoreState::check_file_system() {
  if (const char* name = platform::network_file_system(folder))
    return fail(Errc::unsupported,
                "store {}: is on {}, where locks and shared memory do not reach other machines; use a "
                "folder on a local disk (SMELT_STORE)",
                folder.string(), name);
  if (!options.read_only && ::access(folder.c_str(), W_OK) != 0)
    return fail(Errc::io, "store {}: cannot write: {}; open it read-only or choose another (SMELT_STORE)",
                folder.string(), std::strerror(errno));
  return {};
}

Result<void> StoreState::prepare_to_write() {
  if (options.read_only || lock_fd >= 0) return {};
  if (::mkdir((folder / "packs").c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Errc::io, "store {}: cannot create packs: {}", folder.string(), std::strerror(errno));
  SMELT_TRY(lock_fd, open_lock_file(folder));
  struct stat status{};
  lock_inode = ::fstat(lock_fd, &status) == 0 ? std::optional(Inode::of(status)) : std::nullopt;
  keep_reserve();
  return {};
}

void StoreState::keep_reserve() {
  const auto path = folder / "reserve";
  if (::access(path.c_str(), F_OK) == 0) return;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool kept = fd >= 0 && platform::reserve_file(fd, kReserveBytes) == 0;
  if (fd >= 0) ::close(fd);
  if (!kept) ::unlink(path.c_str());
}

void StoreState::give_up_reserve() {
  ::unlink((folder / "reserve").c_str());
  std::lock_guard lock(mutex);
  // Moves the log into the database, which has the pages already. That it cannot be, is said by the next write.
  if (open_database()) (void)database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

Result<void> StoreState::open_database() {
  for (int attempt = 1;; ++attempt) {
    const Inode before = folder_inode;
    SMELT_TRY_VOID(keep_ground());
    if (database.is_open()) return {};
    SMELT_TRY_VOID(prepare_to_write());
    // One at a time: SQLite does not wait for its lock when it turns a new database to WAL.
    ByteLock writer(lock_fd, kWriterByte, !options.read_only);
    // While we waited the lock file may have become that of a folder that is gone.
    if (moved() && attempt < kAttempts) continue;
    auto done = open_database_locked();
    // Whoever makes the new database this moment may be in our way, too.
    if (done || attempt == kAttempts || (!moved() && before == folder_inode)) return done;
  }
}

Result<void> StoreState::open_database_locked() {
  if (database.is_open()) return {};
  const auto try_open = [&]() -> Result<void> {
    SMELT_TRY_VOID(database.open(folder / "store.db", options.read_only, options.durable));
    SMELT_TRY(store_id, database.number("SELECT value FROM meta WHERE name='id'"));
    return {};
  };
  auto done = try_open();
  if (!done && done.error().code == Errc::store_corrupt && !options.read_only) {
    SMELT_TRY_VOID(set_aside(done.error()));
    done = try_open();
  }
  if (done) {
    database_inode.reset();  // SQLite knows which file it has
    if (Index* shared = index.load(); shared && shared->store_id() != store_id) index = nullptr;
    return {};
  }
  database.close();
  return tl::unexpected(std::move(done).error().in(folder.string()));
}

Result<void> StoreState::set_aside(const Error& why) {
  database.close();
  database_inode.reset();
  if (Index* shared = index.load()) shared->supersede();
  index = nullptr;
  files->unlink((folder / "index").c_str());
  const std::string aside = (folder / fmt::format("store.db.damaged-{}", ::time(nullptr))).string();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string from = (folder / "store.db").string() + suffix;
    if (files->rename(from.c_str(), (aside + suffix).c_str()) != 0 && errno != ENOENT)
      return fail(Errc::store_corrupt, "{}; and it cannot be set aside: {}", why.message, std::strerror(errno));
  }
  warn("damaged database",
       fmt::format("store {}: the database was damaged ({}); it was set aside as {} and an empty one "
                   "opened, so kernels will be compiled again",
                   folder.string(), why.message, aside));
  return {};
}

Result<void> StoreState::recover(const Error& why) {
  database.close();
  ByteLock writer(lock_fd, kWriterByte, true);
  auto healthy = [&]() -> Result<void> {
    SMELT_TRY_VOID(database.open(folder / "store.db", false, options.durable));
    SMELT_TRY(const auto answer, database.first<std::string>("PRAGMA quick_check(1)"));
    if (answer && *answer == "ok") return {};
    return fail(Errc::store_corrupt, "quick_check: {}", answer.value_or("no answer"));
  }();
  if (healthy) return {};  // another process has set it aside already, or the trouble passed
  if (healthy.error().code != Errc::store_corrupt) return healthy;
  return set_aside(why);
}

std::filesystem::path default_store_folder() {
  if (const char* folder = std::getenv("SMELT_STORE"); folder && *folder) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::filesystem::path(cache) / "smelt";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/tmp") / ".cache" / "smelt";
}

bool may_be_store(const std::filesystem::path& folder) {
  return ::access(folder.c_str(), F_OK) != 0 || check_ours(folder);
}

Store::Store() = default;
Store::~Store() = default;

Result<std::shared_ptr<Store>> Store::open(const std::filesystem::path& folder, StoreOptions options) {
  std::shared_ptr<Store> store(new Store);
  store->state_ = std::make_unique<StoreState>(folder, std::move(options));
  StoreState& state = *store->state_;
  SMELT_TRY(state.folder_inode, state.check_folder());
  // With a sound index an all-hit process never opens SQLite, which is most of the cost of opening a store. Such an
  // index was made since this machine started, by someone who has looked at the file system and whose folder it is.
  state.database_inode = Inode::of(file_of(folder, "store.db").c_str());
  if (state.database_inode) {
    if (auto shared = Index::open(file_of(folder, "index"), !state.options.read_only)) {
      state.store_id = shared->store_id();
      state.use_index(std::move(shared));
      state.is_open = true;
      return store;
    }
  }
  SMELT_TRY_VOID(state.take_ground());
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  if (!state.options.read_only) {
    ByteLock writer(state.lock_fd, kWriterByte, true);
    // A derived file that cannot be made costs speed, not correctness.
    if (auto rebuilt = state.rebuild_index(); !rebuilt) state.warn("index", rebuilt.error().message);
  }
  state.is_open = true;
  return store;
}

const std::filesystem::path& Store::folder() const {
  return state_->folder;
}
bool Store::read_only() const {
  return state_->options.read_only;
}

StoreCounters Store::counters() const {
  const auto value = [&](Counter counter) { return state_->counted[counter].load(std::memory_order_relaxed); };
  return {value(kHits),    value(kMisses),    value(kPuts),         value(kDamaged),
          value(kEvicted), value(kBytesRead), value(kBytesWritten), value(kMicrosecondsSaved)};
}

Result<std::vector<EntryInfo>> Store::list() {
  StoreState& state = *state_;
  Index* shared = state.current_index();
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  SMELT_TRY(const auto rows, state.tables.entry.all());
  std::vector<EntryInfo> entries;
  entries.reserve(rows.size());
  for (const EntryRow& row : rows) {
    const uint64_t hour = std::max<uint64_t>(row.used_hour, shared ? shared->hour_of(row.key) : 0);
    const uint64_t hits = row.hits + (shared ? shared->hits_of(row.key) : 0);
    entries.push_back({row.key, row.size, row.created, hour, row.cost_us, hits});
  }
  return entries;
}

Result<StoreStat> Store::stat() {
  StoreState& state = *state_;
  Index* shared = state.current_index();
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  StoreStat stat;
  Tables& tables = state.tables;
  SMELT_TRY(stat.entries, tables.entry.count());
  SMELT_TRY(stat.raw_bytes, tables.entry.total_size());
  SMELT_TRY(stat.blobs, tables.blob.count());
  SMELT_TRY(stat.tags, tables.tag.count());
  SMELT_TRY(const auto packs, tables.pack.all());
  stat.packs = packs.size();
  for (const PackRow& pack : packs) {
    stat.live_bytes += pack.live;
    stat.pack_bytes += pack.bytes;
  }
  stat.schema_version = state.database.version();
  std::error_code error, gone;
  std::filesystem::recursive_directory_iterator files(state.folder, error);
  for (; !error && files != std::filesystem::recursive_directory_iterator(); files.increment(error))
    if (const uint64_t bytes = files->is_regular_file(gone) ? files->file_size(gone) : 0; !gone)
      stat.disk_bytes += bytes;
  SMELT_TRY(auto total, tables.counter.all());
  const auto others = shared ? shared->counters() : std::array<uint64_t, kIndexCounters>{};
  for (size_t i = 0; i < total.size(); ++i) total[i] += others[i] + state.counted[i].load(std::memory_order_relaxed);
  stat.counters = {total[0], total[1], total[2], total[3], total[4], total[5], total[6], total[7]};
  return stat;
}

}  // namespace smelt::cache
