// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt._store: the store for Python, and what it knows of compiled libraries without a compiler. A module of its own,
// without LLVM: a compiler that only keeps its results with us (smelt.compat.triton) starts in milliseconds.
//
// Compiled a second time as smelt._remote, where finds and puts go through remote::TieredStore: half of the code, which
// only those load who have remotes.
#include "smelt/cache/store.hpp"

#include "smelt/cache/flight.hpp"
#include "smelt/service/stored.hpp"
#ifdef SMELT_WITH_REMOTES
#include "smelt/remote/tiered_store.hpp"
#endif

#include "buffers.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "gil.hpp"

#include <pybind11/chrono.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace smelt::python {
namespace {

using namespace pybind11::literals;
using cache::Entry;

/// What a program puts is its own.
const signing::Provenance kPutHere = signing::Provenance::made_here();

Digest key_from(const std::string& hex) {
  if (hex.size() != 64) raise(Errc::invalid_argument, "key '{}': want the 64 hex digits of a SHA-256", hex);
  return unwrap(digest_from_hex(hex));
}

#ifdef SMELT_WITH_REMOTES
using Entries = remote::TieredStore;
#else
/// Without remotes, what once came from one is still held to those who are trusted now: else it is a miss.
class Entries {
 public:
  Entries(std::shared_ptr<cache::Store> store, std::function<void(std::string_view)> warn)
      : store_(std::move(store)), warn_(std::move(warn)) {}

  Result<std::optional<Entry>> find(const Digest& key) { return service::find_usable(*store_, key, warn_); }
  Result<std::vector<std::optional<Entry>>> find_all(const std::vector<Digest>& keys) {
    return service::find_usable(*store_, keys, warn_);
  }
  Result<void> put_all(const std::vector<cache::Store::Put>& puts) { return store_->put_all(puts); }
  bool flush(std::chrono::milliseconds) { return true; }  // nothing is sent anywhere

 private:
  std::shared_ptr<cache::Store> store_;
  std::function<void(std::string_view)> warn_;
};
#endif

/// A store, and what finds and puts go through.
struct Opened {
  std::shared_ptr<cache::Store> store;
  std::shared_ptr<Entries> entries;
};

Result<Opened> open_both(const std::string& folder, const cache::StoreOptions& options,
                         [[maybe_unused]] const std::vector<std::string>& remotes) {
  Opened opened;
  SMELT_TRY(opened.store, cache::Store::open(folder, options));
#ifdef SMELT_WITH_REMOTES
  SMELT_TRY(auto with, remote::TierOptions::from_environment());
  with.remotes.clear();
  for (const std::string& url : remotes) {
    SMELT_TRY(with.remotes.emplace_back(), remote::parse_address(url));
  }
  with.warn = options.warn;
  SMELT_TRY(opened.entries, remote::TieredStore::open(opened.store, std::move(with)));
#else
  opened.entries = std::make_shared<Entries>(opened.store, options.warn);
#endif
  return opened;
}

cache::Verify verify_from(std::string_view word) {
  if (word == "never") return cache::Verify::never;
  if (word == "first_use") return cache::Verify::first_use;
  if (word == "always") return cache::Verify::always;
  raise(Errc::invalid_argument, "verify: '{}'; want never, first_use or always", word);
}

/// A store that survives fork(): the child opens its own and leaves the parent's as it is, since closing a database
/// that another process has open through the same descriptors is not ours to do.
class StoreHandle {
 public:
  StoreHandle(std::string folder, cache::StoreOptions options, std::vector<std::string> remotes)
      : folder_(std::move(folder)), options_(std::move(options)), remotes_(std::move(remotes)) {
    const GilReleased released;
    auto opened = open_both(folder_, options_, remotes_);
    if (opened) {
      here_ = new OfProcess{::getpid(), {}, std::move(*opened)};
      return;
    }
    const GilTaken gil;
    raise(opened.error());
  }
  ~StoreHandle() {
    // Entries on their way to remotes are waited for, by a thread that may warn.
    const GilReleased released;
    if (OfProcess* const here = here_; here && here->process == ::getpid()) delete here;
  }
  StoreHandle(const StoreHandle&) = delete;
  StoreHandle& operator=(const StoreHandle&) = delete;

  /// Call with the GIL held; `work` runs without it, however short it is: a store that warns takes the GIL while it
  /// holds locks of its own.
  template <class Work>
  auto with(Work&& work) {
    return without_gil([&](const Opened& on) { return work(*on.store); });
  }

  /// The same for finds and puts, which remotes take part in.
  template <class Work>
  auto with_entries(Work&& work) {
    return without_gil([&](const Opened& on) { return work(*on.entries); });
  }

  const std::string& folder() const { return folder_; }
  bool read_only() const { return options_.read_only; }

 private:
  /// What one process has opened. A child's copy of its parent's is left as it is, mutex and all: whoever held that
  /// when the child was forked is not there.
  struct OfProcess {
    const pid_t process;
    std::mutex mutex;
    Opened opened;  // empty in a child that has not used it
  };

  OfProcess& of_process() {
    OfProcess* found = here_.load();
    if (found->process == ::getpid()) return *found;
    auto* const fresh = new OfProcess{::getpid(), {}, {}};
    if (here_.compare_exchange_strong(found, fresh)) return *fresh;
    delete fresh;
    return *found;
  }

  template <class Work>
  auto without_gil(Work&& work) {
    auto result = [&] {
      const GilReleased released;
      return on_opened(work);
    }();
    return unwrap(std::move(result));
  }
  template <class Work>
  auto on_opened(Work&& work) -> decltype(work(std::declval<const Opened&>())) {
    Opened opened;
    {
      OfProcess& here = of_process();
      const std::lock_guard lock(here.mutex);
      if (!here.opened.store) {
        SMELT_TRY(here.opened, open_both(folder_, options_, remotes_));
      }
      opened = here.opened;
    }
    return work(opened);
  }

  std::string folder_;
  cache::StoreOptions options_;
  std::vector<std::string> remotes_;
  std::atomic<OfProcess*> here_{nullptr};
};

/// Parts of a Python mapping; `borrowed` keeps the bytes.
struct PartsIn {
  std::vector<std::string> names;
  std::vector<std::shared_ptr<const BorrowedBuffer>> borrowed;
  std::vector<cache::PartIn> parts;

  explicit PartsIn(const py::dict& from, bool compress) {
    names.reserve(from.size());
    for (const auto& [name, value] : from) {
      if (!py::isinstance<py::str>(name)) raise(Errc::invalid_argument, "part names are text; got {}", type_name(name));
      names.push_back(py::cast<std::string>(name));
      borrowed.push_back(BorrowedBuffer::from(value, fmt::format("part '{}'", names.back())));
    }
    for (size_t i = 0; i < names.size(); ++i) parts.push_back({names[i], borrowed[i]->bytes(), compress});
  }
};

py::dict to_dict(const cache::StoreCounters& from) {
  return py::dict("hits"_a = from.hits, "misses"_a = from.misses, "puts"_a = from.puts, "damaged"_a = from.damaged,
                  "evicted"_a = from.evicted, "bytes_read"_a = from.bytes_read, "bytes_written"_a = from.bytes_written,
                  "microseconds_saved"_a = from.microseconds_saved);
}

py::dict to_dict(const cache::StoreStat& from) {
  return py::dict("entries"_a = from.entries, "blobs"_a = from.blobs, "packs"_a = from.packs, "tags"_a = from.tags,
                  "live_bytes"_a = from.live_bytes, "pack_bytes"_a = from.pack_bytes, "disk_bytes"_a = from.disk_bytes,
                  "raw_bytes"_a = from.raw_bytes, "schema_version"_a = from.schema_version,
                  "counters"_a = to_dict(from.counters));
}

py::tuple to_tuple(const cache::TagInfo& tag) {
  return py::make_tuple(tag.name, tag.version, to_hex(tag.key), tag.moved);
}

py::list to_list(const std::vector<cache::TagInfo>& tags) {
  py::list list;
  for (const cache::TagInfo& tag : tags) list.append(to_tuple(tag));
  return list;
}

void bind_entry(py::module_& module) {
  py::class_<Entry>(module, "Entry", py::module_local())
      .def("names",
           [](const Entry& entry) {
             py::list names;
             for (const Entry::Part& part : entry.parts()) names.append(py::str(part.name.data(), part.name.size()));
             return names;
           })
      .def("get",
           [](const Entry& entry, const std::string& name) -> py::object {
             const auto bytes = entry.part(name);
             if (!bytes) return py::none();
             return to_python(*bytes);
           })
      .def("view",
           [](const Entry& entry, const std::string& name) -> py::object {
             const auto bytes = entry.part(name);
             if (!bytes) return py::none();
             return memory_over(*bytes, std::make_shared<Entry>(entry));
           })
      .def("files", [](const Entry& entry, const std::string& folder) {
        auto paths = [&] {
          const GilReleased released;
          return materialise(entry, folder);
        }();
        py::dict dict;
        for (const auto& [name, path] : unwrap(std::move(paths))) dict[py::str(name)] = py::str(path);
        return dict;
      });
}

void bind_flight(py::module_& module) {
  py::class_<cache::Flight>(module, "Flight", py::module_local())
      .def_property_readonly("held", &cache::Flight::held)
      .def_property_readonly("waited", &cache::Flight::waited);
}

void bind_store(py::module_& module) {
  py::class_<StoreHandle>(module, "Store", py::module_local())
      .def(py::init([](std::string folder, bool read_only, std::optional<uint64_t> max_bytes, bool durable,
                       const std::string& verify, py::object warn, std::vector<std::string> remotes) {
             cache::StoreOptions options;
             options.verify = verify_from(verify);
             options.read_only = read_only;
             options.max_bytes = max_bytes ? *max_bytes : unwrap(cache::default_max_bytes());
             options.durable = durable;
             if (!warn.is_none()) options.warn = warns_by(std::move(warn), "smelt store warning");
             return std::make_unique<StoreHandle>(std::move(folder), std::move(options), std::move(remotes));
           }),
           "folder"_a, py::kw_only(), "read_only"_a = false, "max_bytes"_a = py::none(), "durable"_a = false,
           "verify"_a = "first_use", "warn"_a = py::none(), "remotes"_a = std::vector<std::string>())
      .def_property_readonly("folder", &StoreHandle::folder)
      .def_property_readonly("read_only", &StoreHandle::read_only)
      .def("find",
           [](StoreHandle& store, const std::string& key) {
             const Digest digest = key_from(key);
             return store.with_entries([&](Entries& on) { return on.find(digest); });
           })
      .def("find_all",
           [](StoreHandle& store, const std::vector<std::string>& keys) {
             std::vector<Digest> digests;
             for (const std::string& key : keys) digests.push_back(key_from(key));
             return store.with_entries([&](Entries& on) { return on.find_all(digests); });
           })
      .def(
          "put",
          [](StoreHandle& store, const std::string& key, const py::dict& parts, uint64_t cost, bool compress) {
            const Digest digest = key_from(key);
            const PartsIn in(parts, compress);
            const cache::Store::Put put{digest, in.parts, kPutHere, std::chrono::microseconds(cost)};
            store.with_entries([&](Entries& on) { return on.put_all({put}); });
          },
          "key"_a, "parts"_a, "cost"_a = 0, "compress"_a = false)
      .def(
          "put_all",
          [](StoreHandle& store, const std::vector<std::pair<std::string, py::dict>>& entries, uint64_t cost) {
            std::vector<PartsIn> in;
            in.reserve(entries.size());
            std::vector<cache::Store::Put> puts;
            for (const auto& [key, parts] : entries) {
              in.emplace_back(parts, false);
              puts.push_back({key_from(key), in.back().parts, kPutHere, std::chrono::microseconds(cost)});
            }
            store.with_entries([&](Entries& on) { return on.put_all(puts); });
          },
          "entries"_a, "cost"_a = 0)
      .def(
          "put_files",
          [](StoreHandle& store, const std::string& key, const py::dict& parts, uint64_t cost,
             const std::string& also_key, const py::dict& also) {
            const std::chrono::microseconds took(cost);
            PartsIn in(parts, false);
            std::sort(in.parts.begin(), in.parts.end(),
                      [](const cache::PartIn& a, const cache::PartIn& b) { return a.name < b.name; });
            const PartsIn in_also(also, false);
            std::vector<cache::Store::Put> puts{{key_from(key), in.parts, kPutHere, took}};
            if (!also_key.empty()) puts.push_back({key_from(also_key), in_also.parts, kPutHere});
            store.with_entries([&](Entries& on) {
              const Bytes stamps = stamps_of(in.parts);
              puts[0].parts.push_back({kStampsPart, stamps});
              return on.put_all(puts);
            });
          },
          "key"_a, "parts"_a, "cost"_a = 0, "also_key"_a = "", "also"_a = py::dict())
      .def("remove",
           [](StoreHandle& store, const std::string& key) {
             const Digest digest = key_from(key);
             return store.with([&](cache::Store& on) { return on.remove(digest); });
           })
      .def(
          "entries",
          [](StoreHandle& store, const std::string& after, size_t most) {
            const auto behind = after.empty() ? std::nullopt : std::optional(key_from(after));
            py::list list;
            for (const cache::EntryInfo& entry : store.with([&](cache::Store& on) { return on.list(behind, most); }))
              list.append(
                  py::make_tuple(to_hex(entry.key), entry.bytes, entry.created, entry.used_hour, entry.cost_us));
            return list;
          },
          "after"_a, "most"_a)
      .def("stat", [](StoreHandle& store) { return to_dict(store.with([](cache::Store& on) { return on.stat(); })); })
      .def("counters",
           [](StoreHandle& store) {
             return to_dict(store.with([](cache::Store& on) -> Result<cache::StoreCounters> { return on.counters(); }));
           })
      .def("verify", [](StoreHandle& store) { return store.with([](cache::Store& on) { return on.verify(); }).damage; })
      .def("flush",
           [](StoreHandle& store, uint64_t milliseconds) {
             return store.with_entries(
                 [&](Entries& on) -> Result<bool> { return on.flush(std::chrono::milliseconds(milliseconds)); });
           })
      .def(
          "trim",
          [](StoreHandle& store, std::optional<uint64_t> max_bytes, std::optional<uint64_t> unused_hours, bool tagged) {
            cache::TrimOptions options{max_bytes, {}, tagged};
            if (unused_hours) options.unused_for = std::chrono::hours(std::min<uint64_t>(*unused_hours, 1 << 30));
            const auto report = store.with([&](cache::Store& on) { return on.trim(options); });
            return py::make_tuple(report.entries_removed, report.bytes_before, report.bytes_after, report.busy);
          },
          "max_bytes"_a = py::none(), "unused_hours"_a = py::none(), "tagged"_a = false)
      .def("reset_counters",
           [](StoreHandle& store) { store.with([](cache::Store& on) { return on.reset_counters(); }); })
      .def("tag",
           [](StoreHandle& store, const std::string& name, const std::string& version, const std::string& key,
              bool move) {
             const Digest digest = key_from(key);
             store.with([&](cache::Store& on) { return on.tag(name, version, digest, move); });
           })
      .def("tags",
           [](StoreHandle& store, const std::string& name) {
             return to_list(store.with([&](cache::Store& on) { return on.tags(name); }));
           })
      .def("tag_history",
           [](StoreHandle& store, const std::string& name, const std::string& version) {
             return to_list(store.with([&](cache::Store& on) { return on.tag_history(name, version); }));
           })
      .def("resolve",
           [](StoreHandle& store, const std::string& query) {
             return to_list(store.with([&](cache::Store& on) { return on.resolve(query); }));
           })
      .def(
          "flight",
          [](StoreHandle& store, const std::string& key, uint64_t milliseconds) {
            const Digest digest = key_from(key);
            return store.with([&](cache::Store& on) {
              const auto ready = [&] { return on.indexed(digest); };
              return cache::Flight::acquire(on.folder(), digest, std::chrono::milliseconds(milliseconds), ready);
            });
          },
          "key"_a, "milliseconds"_a)
      .def("export_package",
           [](StoreHandle& store, const std::vector<std::string>& names) {
             return to_python(store.with([&](cache::Store& on) -> Result<Bytes> {
               SMELT_TRY(const auto keys, service::find_keys(on, names));
               return service::export_package(on, keys);
             }));
           })
      .def("import_package", [](StoreHandle& store, const py::object& source, bool move) {
        const auto borrowed = BorrowedBuffer::from(source, "package");
        const service::Imported imported =
            store.with([&](cache::Store& on) { return service::import_package(on, borrowed->bytes(), move); });
        py::list keys, moves;
        for (const Digest& key : imported.keys) keys.append(to_hex(key));
        for (const service::TagMove& tag : imported.moves)
          moves.append(py::make_tuple(tag.name + "@" + tag.version, to_hex(tag.from), to_hex(tag.to)));
        return py::make_tuple(keys, moves);
      });
}

}  // namespace

PYBIND11_MODULE(SMELT_STORE_MODULE, module) {
  module.doc() = "The store of smelt: entries by key. Use smelt.Store.";
  bind_memory(module);
  bind_entry(module);
  bind_flight(module);
  bind_store(module);
#ifdef SMELT_WITH_REMOTES
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    const GilReleased released;
    remote::end_all();
  }));
  module.def("statistics", [](const std::string& folder) {
    py::list list;
    for (const auto& [name, counts] : remote::read_statistics(folder))
      list.append(py::dict("remote"_a = name, "hits"_a = counts.hits, "misses"_a = counts.misses,
                           "damaged"_a = counts.damaged, "errors"_a = counts.errors, "resting"_a = counts.resting,
                           "puts"_a = counts.puts, "dropped"_a = counts.dropped, "bytes_read"_a = counts.bytes_read,
                           "bytes_written"_a = counts.bytes_written, "round_trips"_a = counts.round_trips,
                           "microseconds"_a = counts.microseconds));
    return list;
  });
#endif
  module.def("write_file", [](const std::string& folder, const std::string& name, const py::object& value) {
    const auto bytes = BorrowedBuffer::from(value, name);
    auto path = [&] {
      const GilReleased released;
      return write_stamped(folder, name, bytes->bytes());
    }();
    return unwrap(std::move(path));
  });
  module.def(
      "cpu_code_key",
      [](const py::object& metallib, const std::string& level, unsigned checked, const std::string& effort) {
        return to_hex(service::cpu_code_key(BorrowedBuffer::from(metallib, "metallib")->bytes(), level,
                                            Checks::from_bits(checked), effort));
      },
      "metallib"_a, "level"_a, "checked"_a, "effort"_a = "balanced");
  module.def("sha256", [](const py::args& fields) {
    // Length-prefixed, so that ("ab", "c") and ("a", "bc") differ.
    Hasher hasher;
    for (const py::handle field : fields) {
      if (py::isinstance<py::str>(field))
        hasher.field(py::cast<std::string>(field));
      else
        hasher.field(BorrowedBuffer::from(field, "sha256")->bytes());
    }
    return to_hex(hasher.finish());
  });
}

}  // namespace smelt::python
