// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does the store stay as fast when it is large? Entries of 1 kB, a transaction each: the store beside LMDB, SQLite with
// the bytes in its rows, and files in Triton's layout. Prints CSV, which bench/scale.py reads.
// The worst put is also given in processor time of its thread, which a busy machine does not change.
// Usage: bench_store_scale [--folder DIR] [--store smelt] [ENTRIES...]    (1000 10000 100000)
#include "smelt/cache/store.hpp"

#include "../bench.hpp"
#include "rivals.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

using namespace smelt;
using namespace smelt::bench;
using cache::Store;

namespace {

constexpr size_t kBytes = 1000;
constexpr uint64_t kSamples = 1000;  // different keys, as many at each size: a processor's caches hold them or do not
constexpr uint64_t kMostFiles = 10000;  // of the rival that makes three per entry
constexpr std::string_view kMetadata = R"({"hash":"x","name":"kernel"})";

Digest key_of(uint64_t id) {
  Hasher hasher;
  hasher.field(id);
  return hasher.finish();
}

Bytes payload(uint64_t id) {
  Bytes bytes(kBytes);
  std::mt19937_64 random(id);
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) store_le<uint64_t>(bytes.data() + at, random());
  return bytes;
}

void must(bool fine, std::string_view what) {
  if (fine) return;
  fmt::print(stderr, "{} failed\n", what);
  std::exit(1);
}

/// A store that is measured. A get copies the bytes.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void put(uint64_t id, ByteView bytes) = 0;
  virtual bool get(const Digest& key, Bytes& into) = 0;
};

class Ours : public Contender {
 public:
  explicit Ours(const std::filesystem::path& folder) {
    cache::StoreOptions options;
    options.max_bytes = 0;
    auto opened = Store::open(folder, options);
    must(opened.has_value(), "open");
    store = *opened;
  }
  void put(uint64_t id, ByteView bytes) override {
    must(store->put(key_of(id), {{"kernel.metallib", bytes}}, signing::Provenance::made_here()).has_value(), "put");
  }
  bool get(const Digest& key, Bytes& into) override {
    const auto found = store->find(key);
    must(found.has_value(), "find");
    if (!*found) return false;
    const ByteView bytes = (*found)->part("kernel.metallib").value();
    std::memcpy(into.data(), bytes.data(), bytes.size());
    return true;
  }
  std::shared_ptr<Store> store;
};

class TheirLmdb : public Contender {
 public:
  explicit TheirLmdb(const std::filesystem::path& folder) : lmdb_(folder, false, false) {}
  void put(uint64_t id, ByteView bytes) override { lmdb_.put(key_of(id), bytes); }
  bool get(const Digest& key, Bytes& into) override {
    lmdb_.begin();
    const auto bytes = lmdb_.look(key);
    if (bytes) std::memcpy(into.data(), bytes->data(), bytes->size());
    lmdb_.end();
    return bytes.has_value();
  }

 private:
  Lmdb lmdb_;
};

class TheirSqlite : public Contender {
 public:
  explicit TheirSqlite(const std::filesystem::path& folder) : sqlite_(folder) {}
  void put(uint64_t id, ByteView bytes) override { sqlite_.put(key_of(id), bytes); }
  bool get(const Digest& key, Bytes& into) override { return sqlite_.get(key, into); }

 private:
  Sqlite sqlite_;
};

class TheirFiles : public Contender {
 public:
  explicit TheirFiles(const std::filesystem::path& folder) : files_(folder), folder_(folder) {}
  void put(uint64_t id, ByteView bytes) override { files_.put(key_of(id), bytes, kMetadata); }
  bool get(const Digest& key, Bytes& into) override {
    if (::access((folder_ / to_hex(key).substr(0, 52)).c_str(), F_OK) != 0) return false;
    files_.get(key, into);
    return true;
  }

 private:
  TritonFiles files_;
  std::filesystem::path folder_;
};

std::unique_ptr<Contender> make(std::string_view name, const std::filesystem::path& folder) {
  if (name == "smelt") return std::make_unique<Ours>(folder);
  if (name == "LMDB") return std::make_unique<TheirLmdb>(folder);
  if (name == "SQLite") return std::make_unique<TheirSqlite>(folder);
  return std::make_unique<TheirFiles>(folder);
}

/// On the disk, holes not counted.
double megabytes_of(const std::filesystem::path& folder) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) == 0) bytes += static_cast<double>(status.st_blocks) * 512;
  }
  return bytes / 1e6;
}

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Memory at this moment, without pages that are shared with the disk's cache, as those of the index are.
double own_megabytes() {
  double kilobytes = 0;
  if (std::FILE* const file = std::fopen("/proc/self/status", "re"); file != nullptr) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "RssAnon: %lf", &kilobytes);
    std::fclose(file);
  }
  return kilobytes / 1024;
}

double peak_megabytes() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// In a process of its own, so that nothing is open and nothing was seen.
void in_child(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  must(status == 0, "child");
}

class Series {
 public:
  Series(std::string_view name, uint64_t entries, const std::filesystem::path& folder)
      : name_(name), entries_(entries), folder_(folder) {}

  void run() {
    in_child([&] { puts(); });
    say("disk", "MB", megabytes_of(folder_));
    in_child([&] { gets(); });
    if (name_ != "smelt") return;
    in_child([&] { list(); });
    in_child([&] { verify(); });
    in_child([&] { first_open(); });
    in_child([&] { trim(); });
  }

 private:
  void say(std::string_view what, std::string_view unit, double value) const {
    fmt::print("{},{},{},{},{:.4g}\n", name_, entries_, what, unit, value);
    std::fflush(stdout);
  }
  void quantiles(const std::string& what, std::string_view unit, double scale, const std::vector<double>& times) const {
    say(what + " p50", unit, percentile(times, .5) * scale);
    say(what + " p99", unit, percentile(times, .99) * scale);
  }

  void puts() const {
    auto on = make(name_, folder_);
    std::vector<double> times;
    double worst = 0;
    for (uint64_t id = 0; id < entries_; ++id) {
      const Bytes bytes = payload(id);
      const double before = thread_seconds();
      times.push_back(timed([&] { on->put(id, bytes); }));
      worst = std::max(worst, thread_seconds() - before);
    }
    quantiles("put", "us", 1e6, times);
    say("put worst of processor", "ms", worst * 1e3);
    say("put worst", "ms", *std::max_element(times.begin(), times.end()) * 1e3);
    // The last tenth: what the next one costs at that size.
    say("put p50 at the end", "us",
        percentile({times.end() - static_cast<std::ptrdiff_t>(entries_ / 10), times.end()}, .5) * 1e6);
  }

  void gets() const {
    std::unique_ptr<Contender> on;
    say("open", "ms", timed([&] { on = make(name_, folder_); }) * 1e3);
    Bytes into(kBytes);
    std::mt19937_64 random(7);
    std::vector<Digest> keys, others;
    std::set<uint64_t> ids;
    while (ids.size() < std::min(kSamples, entries_)) ids.insert(random() % entries_);
    for (const uint64_t id : ids) {
      keys.push_back(key_of(id));
      others.push_back(key_of(entries_ + id));
    }
    std::shuffle(keys.begin(), keys.end(), random);
    std::shuffle(others.begin(), others.end(), random);
    std::vector<double> cold, hot, first_misses, misses;
    for (const Digest& key : keys) cold.push_back(timed([&] { must(on->get(key, into), "get"); }));
    for (const Digest& key : keys) hot.push_back(timed([&] { must(on->get(key, into), "get"); }));
    for (const Digest& key : others) first_misses.push_back(timed([&] { must(!on->get(key, into), "miss"); }));
    for (const Digest& key : others) misses.push_back(timed([&] { must(!on->get(key, into), "miss"); }));
    quantiles("first get", "us", 1e6, cold);
    quantiles("get", "us", 1e6, hot);
    quantiles("first miss", "us", 1e6, first_misses);
    quantiles("miss", "us", 1e6, misses);
    say("memory after gets", "MB", peak_megabytes());
  }

  void list() const {
    Ours on(folder_);
    uint64_t count = 0;
    double most = 0;
    say("list", "ms", timed([&] {
                        for (std::optional<Digest> last;;) {
                          const auto some = on.store->list(last, 4096).value();
                          if (some.empty()) break;
                          count += some.size();
                          last = some.back().key;
                          most = std::max(most, own_megabytes());
                        }
                      }) * 1e3);
    must(count == entries_, "list");
    say("memory of list", "MB", most);
  }

  void verify() const {
    Ours on(folder_);
    say("verify", "ms", timed([&] { must(on.store->verify()->damage.empty(), "verify"); }) * 1e3);
    say("memory of verify", "MB", peak_megabytes());
  }

  /// The index is gone, as after a reboot.
  void first_open() const {
    std::filesystem::remove(folder_ / "index");
    std::unique_ptr<Ours> on;
    say("open without index", "ms", timed([&] { on = std::make_unique<Ours>(folder_); }) * 1e3);
    Bytes into(kBytes);
    std::vector<double> times;
    std::mt19937_64 random(8);
    for (uint64_t i = 0; i < kSamples; ++i) {
      const Digest key = key_of(random() % entries_);
      times.push_back(timed([&] { must(on->get(key, into), "get"); }));
    }
    quantiles("get without index", "us", 1e6, times);
    double worst = 0;
    for (uint64_t id = entries_; id < entries_ + kSamples; ++id) {
      const Bytes bytes = payload(id);
      const double before = thread_seconds();
      on->put(id, bytes);
      worst = std::max(worst, thread_seconds() - before);
    }
    say("put worst without index", "ms", worst * 1e3);
  }

  void trim() const {
    Ours on(folder_);
    const uint64_t bytes = on.store->stat()->pack_bytes;
    say("trim of a tenth", "ms", timed([&] { must(on.store->trim(bytes).has_value(), "trim"); }) * 1e3);
  }

  std::string name_;
  uint64_t entries_;
  std::filesystem::path folder_;
};

}  // namespace

int main(int count, char** arguments) {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("smelt-bench-scale-{}", ::getpid());
  std::vector<uint64_t> sizes;
  std::string only;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--folder" && i + 1 < count)
      folder = arguments[++i];
    else if (std::string_view(arguments[i]) == "--store" && i + 1 < count)
      only = arguments[++i];
    else
      sizes.push_back(std::strtoull(arguments[i], nullptr, 10));
  }
  if (sizes.empty()) sizes = {1000, 10000, 100000};
  fmt::print("store,entries,what,unit,value\n");
  for (const uint64_t size : sizes)
    for (const char* name : {"smelt", "LMDB", "SQLite", "files"}) {
      if (std::string_view(name) == "files" && size > kMostFiles) continue;
      if (!only.empty() && only != name) continue;
      const auto where = folder / fmt::format("{}-{}", name, size);
      std::filesystem::create_directories(folder);
      Series(name, size, where).run();
      std::filesystem::remove_all(where);
    }
  std::filesystem::remove_all(folder);
  return 0;
}
