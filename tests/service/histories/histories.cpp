// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random histories: machines with and without keys, of every trust, whose keys are withdrawn and whose trust changes;
// one remote, and an attacker who writes there what he likes. They compile, read their stores without remotes, pull,
// push and export, by the code that does it everywhere; only the compiler is played (material.hpp). After each step:
//
//   what a machine runs or exports was made there from what the user wrote, or was signed by a key that it trusts now;
//   under `local` it may be a stranger's AIR with code made there, under `any` everything, unless the machine signs;
//   it is what was asked for: that kernel, that level, checked if that was said;
//   nothing at the remote that bears the signature of a key whose secret nobody lost is a stranger's;
//   no compile fails.
//
//   service_histories --count 100000 --first 1
//
// A history is known by its number: --only N plays it alone and tells its steps. Exit status: 0 no finding, 1 findings.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/stored.hpp"

#include "asked.hpp"
#include "entry_parts.hpp"
#include "exchange.hpp"
#include "files.hpp"
#include "find_or_make.hpp"
#include "kernel_store.hpp"
#include "material.hpp"

#include <CLI/CLI.hpp>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <random>

using namespace smelt;
using namespace smelt::test;
using service::Asked;

namespace {

namespace fs = std::filesystem;
using Whose = Material::Whose;

/// What is compiled: kernels, in one source each. A comment changes the bytes and no code.
struct Wish {
  std::vector<size_t> kernels;
  bool comment = false, checked = false;
};

const Wish kWishes[] = {{{0, 1}, false, false}, {{0, 1}, true, false}, {{0, 2}, false, false}, {{0, 1}, false, true}};
constexpr size_t kWishCount = std::size(kWishes);

/// A wish with all that is computed of it once.
class Request {
 public:
  Request(const Wish& wish, const Material& material) : wish_(wish), material_(material) {
    for (const size_t kernel : wish.kernels) texts_.push_back(Material::text(kernel) + (wish.comment ? "; so\n" : ""));
    for (const std::string& text : texts_) request_.sources.push_back({"kernel.ll", as_bytes(text)});
    request_.levels = levels_ = {material.level()};
    request_.checked = wish.checked;
    plan_.emplace(must(service::make_plan(request_, 1, {})));
    for (size_t i = 0; i < plan_->part_count(); ++i) all_.push_back(i);
    kernel_keys_ = must(service::part_keys(*plan_, all_, request_, levels_));
    const std::vector<aot::FingerprintField> more = {{"checked", wish.checked ? "1" : "0"}};
    raw_ = aot::raw_fingerprint(request_.sources, request_.options, more);
    normal_ = must(aot::normalised_fingerprint(request_.sources, request_.options, more));
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  service::Work work(remote::TieredStore& store, const service::Recompile& recompile) const {
    service::Work work;
    work.name = "kernel.ll";
    work.raw = raw_;
    work.question = service::question(service::kPackagePart, service::asked_of(request_, levels_), recompile);
    work.normalised = [this]() -> Result<Digest> { return normal_; };
    work.build = [this, &store, recompile] {
      const service::KernelStore kernels(store, [](std::string_view) {}, recompile);
      return service::build_parts(*plan_, all_, request_, 1, {}, kernels, material_.compiler(wish_.checked));
    };
    return work;
  }

  /// What is wrong with an answer, whoever wrote it.
  std::string shape(ByteView package) const {
    const auto held = service::held_to(service::asked_of(request_, levels_), package, true);
    if (!held) return held.error().message;
    const auto opened = must(schema::Package::open(package));
    if (opened.library(0).functions.count != wish_.kernels.size()) return "another number of functions";
    const schema::LibraryView library = opened.library(0);
    for (uint32_t i = 0; i < library.slices.count; ++i)
      if (const auto slice = opened.slice(library.slices.first + i); slice.kind == schema::SliceKind::cpu) {
        // Looked at by itself: `held_to` is what is tried.
        if (slice.checked != wish_.checked) return "code that is checked, or not, against the wish";
      }
    for (const size_t kernel : wish_.kernels)
      if (!opened.find_function(opened.library(0), Material::name(kernel))) return "other functions";
    return {};
  }

  const Wish& wish() const { return wish_; }
  const Digest& raw() const { return raw_; }
  const Digest& normal() const { return normal_; }
  const std::vector<Digest>& kernel_keys() const { return kernel_keys_; }
  Digest source() const { return service::source_digest(request_); }

 private:
  const Wish& wish_;
  const Material& material_;
  std::vector<std::string> texts_;
  service::Request request_;
  std::vector<aot::CpuLevel> levels_;
  std::optional<aot::Plan> plan_;
  std::vector<size_t> all_;
  std::vector<Digest> kernel_keys_;
  Digest raw_, normal_;
};

struct Key {
  signing::SecretKey secret;
  std::string file;
  signing::PublicKey open() const { return signing::public_key(secret); }
};

struct Machine {
  std::string name;
  std::shared_ptr<cache::Store> store;
  signing::Level level = signing::Level::local;
  std::vector<size_t> trusted;
  std::optional<size_t> signing;
  bool takes_unsigned = false;
};

/// All that goes on from history to history: compiled kernels, keys, folders.
struct World {
  Material material;
  std::vector<std::unique_ptr<Request>> requests;
  TemporaryFolder folder;
  std::vector<Key> keys;  // the last is the attacker's own
  std::vector<Machine> machines;
  bool tells = false;

  World() {
    for (const Wish& wish : kWishes) requests.push_back(std::make_unique<Request>(wish, material));
    for (const char* name : {"first", "second", "mallory"}) {
      keys.push_back({must(signing::new_key(name)), folder / name});
      if (!signing::write_secret_key(keys.back().file, keys.back().secret)) std::exit(2);
    }
    for (const char* name : {"a", "b", "c"}) {
      cache::StoreOptions options;
      options.max_bytes = uint64_t{64} << 20;
      machines.push_back({name, must(cache::Store::open(folder / (std::string("store-") + name), options))});
    }
  }
  fs::path mirror() const { return folder / "mirror"; }
  std::vector<Digest> all_keys() const {
    std::vector<Digest> all;
    for (const auto& request : requests) {
      all.push_back(request->raw());
      all.push_back(request->normal());
      all.insert(all.end(), request->kernel_keys().begin(), request->kernel_keys().end());
    }
    return all;
  }
};

constexpr size_t kMallory = 2;

class History {
 public:
  History(World& world, uint64_t number) : world_(world), random_(number * 0x9E3779B97F4A7C15u + 1) {
    random_.discard(8);
    fs::remove_all(world.mirror());
    fs::create_directories(world.mirror());
    for (Machine& machine : world.machines) {
      for (const cache::EntryInfo& entry : must(machine.store->list())) must(machine.store->remove(entry.key));
      settle(machine);
    }
    if (one_in(3)) lost_ = 0;  // the attacker has the first key
  }

  /// What was found; empty: nothing.
  std::string play() {
    const size_t steps = 4 + random_() % 12;
    for (size_t i = 0; i < steps; ++i)
      if (std::string problem = step(); !problem.empty()) return problem;
    return look_at_remote();
  }

 private:
  bool one_in(size_t n) { return random_() % n == 0; }
  template <class... Args>
  void tell(fmt::format_string<Args...> text, Args&&... args) {
    if (world_.tells) fmt::print("  {}\n", fmt::format(text, std::forward<Args>(args)...));
  }

  /// New settings.
  void settle(Machine& machine) {
    machine.level = static_cast<signing::Level>(random_() % 3);
    machine.trusted.clear();
    for (const size_t key : {0, 1})
      if (one_in(2)) machine.trusted.push_back(key);
    machine.signing.reset();
    if (one_in(2)) machine.signing = random_() % 2;
    machine.takes_unsigned = one_in(3);
    tell("{}: trust {}, trusts {}, signs with {}{}", machine.name, signing::to_string(machine.level),
         fmt::join(machine.trusted, ", "), machine.signing ? std::to_string(*machine.signing) : "none",
         machine.takes_unsigned ? ", takes unsigned entries" : "");
  }

  std::string step() {
    Machine& machine = world_.machines[random_() % world_.machines.size()];
    switch (random_() % 10) {
      case 0:
      case 1:
        settle(machine);
        return read_without_remotes(machine);  // what is stricter holds at once
      case 2:
      case 3:
        attack();
        return {};
      case 4:
        return read_without_remotes(machine);
      case 5:
        return exchange(machine);
      default:
        return compile(machine);
    }
  }

  std::shared_ptr<remote::TieredStore> open(const Machine& machine) {
    remote::TierOptions options;
    options.remotes = must(remote::parse_addresses("file://" + world_.mirror().string() + "?remember-misses=0s"));
    options.policy.level = machine.level;
    for (const size_t key : machine.trusted) options.policy.keys.push_back(world_.keys[key].open());
    if (machine.signing) options.signing = world_.keys[*machine.signing].secret;
    options.takes_unsigned = machine.takes_unsigned;
    options.warn = [](std::string_view) {};
    options.recompile = [this](const std::vector<cache::Entry::Part>& parts) {
      return service::recompile_entry(parts,
                                      [this](ByteView package) { return world_.material.recompile(package, {}); });
    };
    return must(remote::TieredStore::open(machine.store, std::move(options)));
  }

  /// Whether a stranger's entry may be used by its signature: the key was lost, and is trusted.
  bool believes_attacker(const Machine& machine) const {
    return lost_ && std::find(machine.trusted.begin(), machine.trusted.end(), *lost_) != machine.trusted.end();
  }

  std::string judge(const Machine& machine, ByteView package, std::string_view what) {
    const auto seen = world_.material.look(package);
    if (!seen) return fmt::format("{} on {}: {}", what, machine.name, seen.error().message);
    if (believes_attacker(machine)) return {};
    const bool strict = machine.signing && !machine.takes_unsigned;
    if (machine.level == signing::Level::any && !strict) return {};
    const bool takes_air = machine.level == signing::Level::local && !strict;
    if (seen->planted_code) return fmt::format("{} on {}: a stranger's code runs", what, machine.name);
    if (seen->strangers_air && !takes_air) return fmt::format("{} on {}: a stranger's kernel runs", what, machine.name);
    return {};
  }

  std::string compile(Machine& machine) {
    const Request& request = *world_.requests[random_() % kWishCount];
    const auto store = open(machine);
    const service::Recompile recompile = [this](ByteView package, const std::vector<service::CpuCode>& codes) {
      return world_.material.recompile(package, codes);
    };
    const service::StoreAccess access{store.get(), false, std::chrono::milliseconds(0), [](std::string_view) {},
                                      [](const Digest&) {}};
    const auto made = service::find_or_make(access, request.work(*store, recompile));
    tell("{} compiles kernels {}{}{}: {}", machine.name, fmt::join(request.wish().kernels, ", "),
         request.wish().comment ? " with a comment" : "", request.wish().checked ? ", checked" : "",
         !made       ? made.error().message
         : made->hit ? "hit"
                     : fmt::format("{} of 2 kept", made->kernels_kept));
    if (!made) return fmt::format("a compile on {} fails: {}", machine.name, made.error().message);
    if (std::string wrong = request.shape(made->package); !wrong.empty())
      return fmt::format("a compile on {} is answered by something else: {}", machine.name, wrong);
    return judge(machine, made->package, "a compile");
  }

  /// Settings as programs without TieredStore read them.
  void speak(const Machine& machine) {
    std::string words;
    for (const size_t key : machine.trusted) words += signing::to_text(world_.keys[key].open()) + " ";
    ::setenv("SMELT_TRUST", std::string(signing::to_string(machine.level)).c_str(), 1);
    ::setenv("SMELT_TRUSTED_KEYS", words.c_str(), 1);
    ::setenv("SMELT_SIGNING_KEY", machine.signing ? world_.keys[*machine.signing].file.c_str() : "", 1);
    ::setenv("SMELT_TAKE_UNSIGNED", machine.takes_unsigned ? "1" : "", 1);
  }

  /// All that is in its store, as libsmelt-metal and Python look at it, and as packages.
  std::string read_without_remotes(Machine& machine) {
    speak(machine);
    size_t hits = 0, exports = 0;
    for (const cache::EntryInfo& entry : entries_of(machine)) {
      if (const auto exported = service::export_package(*machine.store, std::span(&entry.key, 1))) {
        ++exports;
        if (std::string problem = judge(machine, *exported, "an export"); !problem.empty()) return problem;
      }
      const auto found = must(service::find_usable(*machine.store, entry.key));
      if (!found) continue;
      ++hits;
      const auto kernel = found->part(service::kKernelPart);
      const ByteView package = kernel ? *kernel : found->part(service::kPackagePart).value_or(ByteView());
      if (!world_.material.look(package)) continue;  // damage: no loader takes it
      if (std::string problem = judge(machine, package, "a read"); !problem.empty()) return problem;
    }
    tell("{} reads its store: {} entries may be used, {} exported", machine.name, hits, exports);
    return {};
  }

  static std::vector<cache::EntryInfo> entries_of(Machine& machine) { return must(machine.store->list()); }

  std::string exchange(Machine& machine) {
    const auto store = open(machine);
    if (one_in(2)) {
      size_t pushed = 0;
      for (const cache::EntryInfo& entry : entries_of(machine)) pushed += store->push({entry.key}).has_value();
      tell("{} pushes {} entries", machine.name, pushed);
      return {};
    }
    const bool strict = machine.signing && !machine.takes_unsigned;
    size_t pulled = 0;
    for (const Digest& key : world_.all_keys()) {
      if (must(machine.store->find(key))) continue;
      const auto found = must(store->find(key, true, service::pull_question()));
      if (!found) continue;
      ++pulled;
      if (believes_attacker(machine) || (machine.level == signing::Level::any && !strict)) continue;
      const auto kernel = found->part(service::kKernelPart);
      const auto package = kernel ? kernel : found->part(service::kPackagePart);
      const auto seen = package ? world_.material.look(*package) : fail(Errc::corrupt, "no package");
      if (!seen || seen->strangers_air || seen->planted_code)
        return fmt::format("a pull on {} files a stranger's library under a key of others", machine.name);
    }
    tell("{} pulls {} entries", machine.name, pulled);
    return {};
  }

  /// One entry under a genuine key.
  void attack() {
    const Request& request = *world_.requests[random_() % kWishCount];
    const bool checked = one_in(3) ? !request.wish().checked : request.wish().checked;
    const auto part = [&](size_t kernel) {
      const Whose whose = one_in(5) ? Whose::users : one_in(2) ? Whose::strangers : Whose::planted;
      schema::Library library = world_.material.library(kernel, whose, checked);
      if (one_in(8)) library.slices.pop_back();
      if (one_in(8)) library.functions[0].name = "another";
      return library;
    };
    std::vector<cache::Entry::Part> parts;
    Bytes bytes;
    Digest key;
    if (one_in(2)) {
      const size_t i = random_() % request.kernel_keys().size();
      key = request.kernel_keys()[i];
      schema::Library library = part(one_in(8) ? random_() % Material::kKernels : request.wish().kernels[i]);
      bytes = must(schema::write_package(std::span(&library, 1)));
      parts = {{service::kKernelPart, bytes}};
    } else {
      key = one_in(2) ? request.raw() : request.normal();
      std::vector<schema::Library> libraries;
      for (const size_t kernel : request.wish().kernels) {
        const Whose whose = one_in(4) ? Whose::users : one_in(2) ? Whose::strangers : Whose::planted;
        libraries.push_back(world_.material.library(kernel, whose, checked));
      }
      bytes = world_.material.package(libraries, one_in(4) ? Digest() : request.source());
      parts = {{service::kPackagePart, bytes}};
    }
    if (one_in(10) && !bytes.empty()) bytes[random_() % bytes.size()] ^= std::byte{1};
    Machine attacker{"the attacker", scratch(), signing::Level::any, {}, {}, true};
    if (one_in(2)) attacker.signing = lost_ && one_in(2) ? *lost_ : kMallory;
    tell("the attacker files a {}{}, signed by {}", parts[0].name, checked ? ", checked" : "",
         attacker.signing ? std::to_string(*attacker.signing) : "nobody");
    (void)open(attacker)->push(key, parts);
  }

  std::shared_ptr<cache::Store> scratch() {
    if (!attackers_) attackers_ = must(cache::Store::open(world_.folder / "store-attacker"));
    return attackers_;
  }

  std::string look_at_remote() {
    const auto server = must(remote::Remote::open(must(remote::parse_address("file://" + world_.mirror().string()))));
    const std::vector<Digest> keys = world_.all_keys();
    const auto found = server->find(keys, true);
    for (size_t i = 0; i < keys.size(); ++i)
      for (const size_t key : {0, 1}) {
        if (!found[i] || (lost_ && *lost_ == key)) continue;
        signing::Policy policy;
        policy.keys = {world_.keys[key].open()};
        const auto& record = found[i]->record;
        if (!policy.signer(as_bytes(schema::statement(record)), record.signatures)) continue;
        const auto seen = world_.material.look(found[i]->parts.front().bytes);
        if (!seen || seen->strangers_air || seen->planted_code)
          return fmt::format("key {} signed what a stranger wrote", key);
      }
    return {};
  }

  World& world_;
  std::mt19937_64 random_;
  std::optional<size_t> lost_;
  std::shared_ptr<cache::Store> attackers_;
};

}  // namespace

int main(int argc, char** argv) {
  uint64_t count = 1000, first = 1;
  std::optional<uint64_t> only;
  CLI::App app("Plays random histories of machines, keys and an attacker.", "service_histories");
  app.add_option("--count", count, "How many")->capture_default_str();
  app.add_option("--first", first, "Number of the first")->capture_default_str();
  app.add_option("--only", only, "This history alone, with its steps");
  CLI11_PARSE(app, argc, argv);

  ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  ::unsetenv("SMELT_REMOTE");
  World world;
  world.tells = only.has_value();
  uint64_t findings = 0;
  const auto began = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < (only ? 1 : count); ++i) {
    const uint64_t number = only.value_or(first + i);
    const std::string problem = History(world, number).play();
    if (problem.empty()) continue;
    if (++findings <= 20) fmt::print("FINDING: history {}: {}\n", number, problem);
    std::fflush(stdout);
  }
  fmt::print("{} histories in {:.1f} s, {} findings\n", only ? 1 : count,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), findings);
  return findings == 0 ? 0 : 1;
}
