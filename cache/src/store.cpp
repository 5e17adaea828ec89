// Opening and closing a store, and the calls that only look.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smelt::cache {
namespace {

// Magic numbers of statfs(2) for file systems where locks or shared mappings do not hold between machines.
const char* network_file_system(const std::filesystem::path& folder) {
  struct statfs status{};
  if (::statfs(folder.c_str(), &status) != 0) return nullptr;
  switch (static_cast<uint64_t>(status.f_type) & 0xffffffff) {
    case 0x6969:
      return "NFS";
    case 0x517b:
      return "SMB";
    case 0xff534d42:
      return "CIFS";
    case 0xfe534d42:
      return "SMB2";
    case 0x65735546:
      return "FUSE";
    case 0x01021997:
      return "9p";
    case 0x5346414f:
      return "AFS";
    case 0x00c36400:
      return "Ceph";
    case 0x0bd00bd0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    default:
      return nullptr;
  }
}

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

StoreState::StoreState(std::filesystem::path where, StoreOptions wanted)
    : folder(std::move(where)),
      options(std::move(wanted)),
      files(options.files ? options.files : &FileLayer::system()),
      packs(folder / "packs", segment_for(options), *files) {
  options.segment_bytes = segment_for(options);
}

StoreState::~StoreState() {
  if (Index* shared = index.load()) {
    std::array<uint64_t, kIndexCounters> values{};
    for (size_t i = 0; i < values.size(); ++i) values[i] = counted[i].load(std::memory_order_relaxed);
    shared->add_counters(values);
  }
  if (lock_fd >= 0) ::close(lock_fd);
}

void StoreState::warn(std::string_view kind, std::string_view message) {
  if (options.warn && warned.insert(std::string(kind)).second) options.warn(message);
}

Result<void> StoreState::check_folder() {
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
  return {};
}

Result<void> StoreState::check_file_system() {
  if (const char* name = network_file_system(folder))
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
  return {};
}

Result<void> StoreState::open_database() {
  if (database.is_open()) return {};
  SMELT_TRY_VOID(prepare_to_write());
  const auto try_open = [&]() -> Result<void> {
    SMELT_TRY_VOID(database.open(folder / "store.db", options.read_only, options.durable));
    SMELT_TRY(auto statement, database.prepare("SELECT value FROM meta WHERE name='id'"));
    SMELT_TRY(const bool row, statement.step());
    store_id = row ? static_cast<uint64_t>(statement.integer(0)) : 0;
    return {};
  };
  // One at a time: SQLite does not wait for its lock when it turns a new database to WAL.
  ByteLock writer(lock_fd, kWriterByte, !options.read_only);
  auto opened = try_open();
  if (!opened && opened.error().code == Errc::store_corrupt && !options.read_only) {
    SMELT_TRY_VOID(set_aside(opened.error()));
    opened = try_open();
  }
  if (opened) return {};
  database.close();
  return tl::unexpected(std::move(opened).error().in(folder.string()));
}

Result<void> StoreState::set_aside(const Error& why) {
  database.close();
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
    SMELT_TRY(auto check, database.prepare("PRAGMA quick_check(1)"));
    SMELT_TRY(const bool row, check.step());
    if (row && check.text(0) == "ok") return {};
    return fail(Errc::store_corrupt, "quick_check: {}", row ? check.text(0) : "no answer");
  }();
  if (healthy) return {};  // another process has set it aside already, or the trouble passed
  if (healthy.error().code != Errc::store_corrupt) return healthy;
  return set_aside(why);
}

Index* StoreState::current_index() {
  Index* shared = index.load(std::memory_order_acquire);
  if (!shared || !shared->superseded()) return shared;
  std::lock_guard lock(mutex);
  return current_index_locked();
}

Index* StoreState::current_index_locked() {
  Index* const shared = index.load(std::memory_order_relaxed);
  if (shared && !shared->superseded()) return shared;
  auto opened = Index::open(folder / "index", !options.read_only);
  if (opened && store_id != 0 && opened->store_id() != store_id) opened = nullptr;
  index.store(opened.get(), std::memory_order_release);
  if (opened) indexes.push_back(std::move(opened));
  return index.load(std::memory_order_relaxed);
}

Store::Store() = default;
Store::~Store() = default;

Result<std::shared_ptr<Store>> Store::open(const std::filesystem::path& folder, StoreOptions options) {
  std::shared_ptr<Store> store(new Store);
  store->state_ = std::make_unique<StoreState>(folder, std::move(options));
  StoreState& state = *store->state_;
  SMELT_TRY_VOID(state.check_folder());
  // With a sound index an all-hit process never opens SQLite, which is most of the cost of opening a store. Such an
  // index was made since this machine started, by someone who has looked at the file system.
  if (::access((folder / "store.db").c_str(), F_OK) == 0) {
    if (auto shared = Index::open(folder / "index", !state.options.read_only)) {
      state.store_id = shared->store_id();
      state.index = shared.get();
      state.indexes.push_back(std::move(shared));
      return store;
    }
  }
  SMELT_TRY_VOID(state.check_file_system());
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  if (!state.options.read_only) {
    ByteLock writer(state.lock_fd, kWriterByte, true);
    // A derived file that cannot be made costs speed, not correctness.
    if (auto rebuilt = state.rebuild_index(); !rebuilt) state.warn("index", rebuilt.error().message);
  }
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
  SMELT_TRY(auto rows, state.database.prepare("SELECT key,size,created,used,cost_us FROM entry ORDER BY key"));
  std::vector<EntryInfo> entries;
  for (;;) {
    SMELT_TRY(const bool row, rows.step());
    if (!row) return entries;
    EntryInfo info;
    if (!rows.digest(0, info.key)) continue;
    info.bytes = static_cast<uint64_t>(rows.integer(1));
    info.created = static_cast<uint64_t>(rows.integer(2));
    info.used_hour = static_cast<uint64_t>(rows.integer(3));
    if (shared) info.used_hour = std::max<uint64_t>(info.used_hour, shared->hour_of(info.key));
    info.cost_us = static_cast<uint64_t>(rows.integer(4));
    entries.push_back(info);
  }
}

Result<StoreStat> Store::stat() {
  StoreState& state = *state_;
  Index* shared = state.current_index();
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  StoreStat stat;
  SMELT_TRY(auto sums,
            state.database.prepare(
                "SELECT (SELECT count(*) FROM entry),(SELECT count(*) FROM blob),(SELECT count(*) FROM pack),"
                "(SELECT count(DISTINCT name||'@'||version) FROM tag),(SELECT coalesce(sum(live),0) FROM pack),"
                "(SELECT coalesce(sum(bytes),0) FROM pack),(SELECT coalesce(sum(size),0) FROM entry)"));
  SMELT_TRY_VOID(sums.step());
  const auto number = [&](int column) { return static_cast<uint64_t>(sums.integer(column)); };
  stat.entries = number(0);
  stat.blobs = number(1);
  stat.packs = number(2);
  stat.tags = number(3);
  stat.live_bytes = number(4);
  stat.pack_bytes = number(5);
  stat.raw_bytes = number(6);
  stat.schema_version = state.database.version();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(state.folder, ignored))
    if (entry.is_regular_file(ignored)) stat.disk_bytes += entry.file_size(ignored);
  std::array<uint64_t, kIndexCounters> total{};
  SMELT_TRY(auto counters, state.database.prepare("SELECT name,value FROM counter"));
  for (;;) {
    SMELT_TRY(const bool row, counters.step());
    if (!row) break;
    const auto which = static_cast<size_t>(std::atoi(std::string(counters.text(0)).c_str()));
    if (which < total.size()) total[which] += static_cast<uint64_t>(counters.integer(1));
  }
  const auto others = shared ? shared->counters() : std::array<uint64_t, kIndexCounters>{};
  for (size_t i = 0; i < total.size(); ++i) total[i] += others[i] + state.counted[i].load(std::memory_order_relaxed);
  stat.counters = {total[0], total[1], total[2], total[3], total[4], total[5], total[6], total[7]};
  return stat;
}

}  // namespace smelt::cache
