// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening and closing a store, and the calls that only look.
#include "smelt/cache/store.hpp"

#include "smelt/base/platform.hpp"
#include "smelt/base/sizes.hpp"

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
#include <initializer_list>

namespace smelt::cache {
namespace {

constexpr std::string_view kDamagedPrefix = "store.db.damaged-";
constexpr int kMostRebuilds = 3;
constexpr std::chrono::milliseconds kFillAtOpen{50};

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
      packs(file_of(folder, "packs"), *files) {
  options.segment_bytes = segment_for(options);
  writer_wait.most = options.writer_wait;
  writer_wait.waits = [this] {
    warn("waits", fmt::format("store {}: another process holds its write lock; waiting for it, {} s at most",
                              folder.string(), options.writer_wait.count() / 1000));
  };
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

tl::unexpected<Error> StoreState::writer_is_stuck() const {
  return fail(Errc::store_locked,
              "store {}: another process has held its write lock for {} s, and may be stopped; nothing is written",
              folder.string(), options.writer_wait.count() / 1000);
}

Result<Inode> StoreState::check_folder() {
  if (folder.empty())
    return fail(Errc::invalid_argument,
                "no folder for the store: neither SMELT_STORE nor, as absolute paths, XDG_CACHE_HOME and HOME are set");
  FolderStatus status;
  int missing = status_of(folder, status);
  if (missing != 0 && errno == ENOENT && !options.read_only) {
    std::error_code ignored;
    std::filesystem::create_directories(folder.parent_path().empty() ? "." : folder.parent_path(), ignored);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return fail(Errc::io, "store {}: cannot create: {}", folder.string(), std::strerror(errno));
    missing = status_of(folder, status);
  }
  if (missing != 0)
    return fail(errno == ENOENT ? Errc::file_not_found : Errc::io, "store {}: {}", folder.string(),
                std::strerror(errno));
  if (!S_ISDIR(status.folder.st_mode)) return fail(Errc::io, "store {}: is not a folder", folder.string());
  if (!options.trust_any_owner) SMELT_TRY_VOID(check_owner(folder, status));
  return Inode::of(status.folder);
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
  packs.close_writer();
  forget_seen();
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
  // Not while a writer of this process waits for another one: a miss waits for nobody.
  std::unique_lock lock(mutex, std::try_to_lock);
  return lock && moved() && keep_ground();
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
    SMELT_TRY_VOID(prepare_to_write());
    if (database.is_open()) return {};
    // One at a time: SQLite does not wait for its lock when it turns a new database to WAL.
    std::optional<WriterLock> writer;
    if (!options.read_only && !writer.emplace(lock_fd, writer_wait).held()) return writer_is_stuck();
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
    if (!options.read_only) {
      SMELT_TRY(secret, keep_secret(folder, *files));
    }
    return {};
  };
  auto done = try_open();
  if (!done && done.error().code == Errc::store_corrupt && !options.read_only) {
    const Error why = done.error();
    SMELT_TRY(const std::string aside, set_aside(why));
    done = try_open();
    if (done) done = make_anew(why, aside);
  }
  if (done) {
    database_inode.reset();  // SQLite knows which file it has
    if (Index* shared = index.load(); shared && shared->store_id() != store_id) index = nullptr;
    return {};
  }
  database.close();
  return tl::unexpected(std::move(done).error().in(folder.string()));
}

Result<std::string> StoreState::set_aside(const Error& why) {
  database.close();
  database_inode.reset();
  if (Index* shared = index.load()) shared->supersede();
  index = nullptr;
  files->unlink((folder / "index").c_str());
  remove_set_aside();
  const std::string aside = (folder / fmt::format("{}{}", kDamagedPrefix, ::time(nullptr))).string();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string from = (folder / "store.db").string() + suffix;
    if (files->rename(from.c_str(), (aside + suffix).c_str()) != 0 && errno != ENOENT)
      return fail(Errc::store_corrupt, "{}; and it cannot be set aside: {}", why.message, std::strerror(errno));
  }
  return aside;
}

namespace {

void remove_beginning_with(StoreState& state, std::initializer_list<std::string_view> beginnings) {
  std::error_code error;
  std::filesystem::directory_iterator entries(state.folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    for (const std::string_view beginning : beginnings)
      if (name.starts_with(beginning)) state.files->unlink(entries->path().c_str());
  }
}

}  // namespace

void StoreState::remove_set_aside() {
  remove_beginning_with(*this, {kDamagedPrefix});
}

void StoreState::remove_debris() {
  remove_beginning_with(*this, {kDamagedPrefix, "index.", "secret."});
}

Result<StoreState::TableBytes> StoreState::table_bytes() {
  constexpr uint64_t kFree = uint64_t{2} << 20;
  SMELT_TRY(const Database::Size size, database.size());
  const Index* const shared = index.load();
  // Pages that do not come back are no reason to remove entries: the next ones use them.
  TableBytes bytes;
  bytes.taken = size.used + (database.gives_back() ? size.unused : 0) + (shared ? shared->used_bytes() : 0);
  bytes.needed = size.used + (shared ? shared->needed_bytes() : 0);
  return TableBytes{bytes.taken - std::min(bytes.taken, kFree), bytes.needed - std::min(bytes.needed, kFree)};
}

Result<void> StoreState::make_anew(const Error& why, const std::string& aside) {
  SMELT_TRY(const uint64_t kept, rebuild_database(aside));
  warn("damaged database", fmt::format("store {}: the database was damaged ({}); it was rebuilt from the packs with {} "
                                       "entries; others are compiled again. The damaged one is kept as {}",
                                       folder.string(), why.message, kept, aside));
  return make_index();
}

Result<void> StoreState::recover(const Error& why) {
  WriterLock writer(lock_fd, writer_wait);
  if (!writer.held()) return writer_is_stuck();
  const bool replaced = moved();  // another process was faster
  database.close();
  if (replaced) return {};
  // Once is damage; again and again is something that a new database does not mend.
  if (++rebuilt > kMostRebuilds) return tl::unexpected(why);
  SMELT_TRY(const std::string aside, set_aside(why));
  SMELT_TRY_VOID(open_database_locked());
  return make_anew(why, aside);
}

std::filesystem::path default_store_folder() {
  if (const char* folder = std::getenv("SMELT_STORE"); folder && *folder) return folder;
  // A relative path would be a folder of whoever made the current one; the XDG specification has it ignored.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::filesystem::path(cache) / "smelt";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::filesystem::path(home) / ".cache" / "smelt";
  return {};
}

Result<uint64_t> default_max_bytes() {
  const char* const size = std::getenv("SMELT_STORE_MAX_SIZE");
  if (size == nullptr || *size == 0) return kDefaultMaxBytes;
  auto bytes = parse_size(size);
  if (!bytes) return tl::unexpected(std::move(bytes).error().in("SMELT_STORE_MAX_SIZE"));
  return bytes;
}

bool may_be_store(const std::filesystem::path& folder) {
  if (folder.empty()) return false;
  FolderStatus status;
  if (status_of(folder, status) != 0) return errno == ENOENT;
  return check_owner(folder, status) && check_ours(folder);
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
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.open_database());
    if (!state.options.read_only) {
      WriterLock writer(state.lock_fd, state.writer_wait);
      if (!writer.held()) return state.writer_is_stuck();
      // A derived file that cannot be made costs speed, not correctness.
      if (auto made = state.make_index(); !made) state.warn("index", made.error().message);
    }
  }
  state.is_open = true;
  state.go_on_filling(kFillAtOpen);
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

Result<std::vector<EntryInfo>> Store::list(const std::optional<Digest>& after, size_t most) {
  StoreState& state = *state_;
  Index* shared = state.current_index();
  SMELT_TRY(const auto rows, state.ask<std::vector<EntryRow>>([&] { return state.tables.entry.after(after, most); }));
  std::vector<EntryInfo> entries;
  entries.reserve(rows.size());
  // A clock may have been ahead.
  const auto now = static_cast<uint64_t>(::time(nullptr));
  const uint64_t this_hour = current_hour();
  for (const EntryRow& row : rows) {
    const uint64_t hour = std::max<uint64_t>(row.used_hour, shared ? shared->hour_of(row.key) : 0);
    const uint64_t hits = row.hits + (shared ? shared->hits_of(row.key) : 0);
    entries.push_back({row.key, row.size, std::min(row.created, now), std::min(hour, this_hour), row.cost_us, hits});
  }
  return entries;
}

Result<std::vector<EntryInfo>> Store::list() {
  constexpr size_t kRows = 4096;
  std::vector<EntryInfo> all;
  for (;;) {
    SMELT_TRY(const auto some, list(all.empty() ? std::nullopt : std::optional(all.back().key), kRows));
    all.insert(all.end(), some.begin(), some.end());
    if (some.size() < kRows) return all;
  }
}

Result<void> Store::reset_counters() {
  StoreState& state = *state_;
  return state.write([&]() -> Result<void> {
    SMELT_TRY_VOID(state.tables.counter.clear());
    if (Index* shared = state.index.load()) shared->reset_counters();
    for (auto& counter : state.counted) counter.store(0, std::memory_order_relaxed);
    return {};
  });
}

Result<StoreStat> Store::stat() {
  StoreState& state = *state_;
  Index* shared = state.current_index();
  return state.ask<StoreStat>([&]() -> Result<StoreStat> {
    StoreStat stat;
    Tables& tables = state.tables;
    SMELT_TRY(stat.entries, tables.entry.count());
    SMELT_TRY(stat.raw_bytes, tables.entry.total_size());
    SMELT_TRY(stat.blobs, tables.blob.count());
    SMELT_TRY(const auto tags, tables.tag.newest({}));
    stat.tags = tags.size();
    SMELT_TRY(const auto packs, tables.pack.all());
    stat.packs = packs.size();
    for (const PackRow& pack : packs) {
      stat.live_bytes += pack.live;
      stat.pack_bytes += pack.bytes;
    }
    stat.schema_version = state.database.version();
    stat.max_bytes = state.options.max_bytes;
    std::error_code error, gone;
    std::filesystem::recursive_directory_iterator files(state.folder, error);
    for (; !error && files != std::filesystem::recursive_directory_iterator(); files.increment(error))
      if (struct stat status{}; files->is_regular_file(gone) && ::stat(files->path().c_str(), &status) == 0)
        stat.disk_bytes += static_cast<uint64_t>(status.st_blocks) * 512;  // the index has holes
    SMELT_TRY(auto total, tables.counter.all());
    const auto others = shared ? shared->counters() : std::array<uint64_t, kIndexCounters>{};
    for (size_t i = 0; i < total.size(); ++i) total[i] += others[i] + state.counted[i].load(std::memory_order_relaxed);
    stat.counters = {total[0], total[1], total[2], total[3], total[4], total[5], total[6], total[7]};
    return stat;
  });
}

}  // namespace smelt::cache
