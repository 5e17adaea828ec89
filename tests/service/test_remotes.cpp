// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler on several machines with one remote: each has a store folder of its own.
#include "smelt/base/files.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"
#include "smelt/service/stored.hpp"

#include "files.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>

using namespace smelt;
using service::CompileResult;
using service::Request;
using service::Session;
using service::SessionOptions;
using test::TemporaryFolder;

namespace {

const std::string kSource = R"(
target triple = "spir64-unknown-unknown"
declare i64 @_Z13get_global_idj(i32)
define spir_kernel void @twice(ptr addrspace(1) %x) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %id
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, 2.0
  store float %w, ptr addrspace(1) %p, align 4
  ret void
}
)";

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

struct Machines {
  TemporaryFolder stores, mirror;
  std::vector<std::string> warnings;

  std::shared_ptr<Session> session(const std::string& machine) {
    SessionOptions options;
    options.store = stores / machine;
    options.threads = 1;
    options.remotes = {"file://" + mirror.path().string()};
    options.warn = [this](std::string_view text) { warnings.emplace_back(text); };
    return Session::open(options);
  }
};

Request request() {
  Request made;
  made.sources.push_back({"twice.ll", as_bytes(kSource)});
  return made;
}

CompileResult must(Result<CompileResult> made) {
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

Bytes bytes_of(const CompileResult& made) {
  return to_bytes(made.package);
}

float run_twice(const loader::LibraryRef& library, float value) {
  const auto& device = library->device();
  const auto pipeline = library->function("twice").value()->pipeline().value();
  const auto buffer = device->make_buffer(sizeof(float)).value();
  std::memcpy(buffer->contents().data(), &value, sizeof(value));
  auto encoder = loader::Encoder::create(device).value();
  REQUIRE(encoder->set_pipeline(pipeline));
  REQUIRE(encoder->set_buffer(0, buffer));
  REQUIRE(encoder->dispatch_threads({1, 1, 1}));
  std::memcpy(&value, buffer->contents().data(), sizeof(value));
  return value;
}

float run_twice(const CompileResult& made, float value) {
  const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
  loader::LoadOptions options;
  options.policy = signing::Policy::all();  // the session has decided
  auto library = loader::Library::load(device, loader::OwnedBytes{made.package, made.owner}, options);
  if (!library) FAIL(library.error().message);
  return run_twice(*library, value);
}

/// A package made by another: right digests, right Metal library, CPU code that does something else.
Bytes poisoned(ByteView package) {
  schema::Library library = schema::Package::open(package)->copy_library(0).value();
  bool changed = false;
  for (schema::Slice& slice : library.slices) {
    if (slice.kind != schema::SliceKind::cpu) continue;
    const std::string other =
        "target triple = \"spir64-unknown-unknown\"\n"
        "define spir_kernel void @twice(ptr addrspace(1) %x) {\n"
        "  store float 666.0, ptr addrspace(1) %x, align 4\n  ret void\n}\n";
    Request wrong;
    wrong.sources.push_back({"wrong.ll", as_bytes(other)});
    const Bytes other_package = service::build_package(wrong, 1, {}).value();
    const schema::Library evil = schema::Package::open(other_package)->copy_library(0).value();
    for (const schema::Slice& from : evil.slices)
      if (from.kind == schema::SliceKind::cpu) slice.bytes = from.bytes, changed = true;
  }
  REQUIRE(changed);
  return schema::write_package(std::span(&library, 1)).value();
}

}  // namespace

TEST_CASE("a library compiled on one machine is found by another, signed or where all is trusted") {
  Machines machines;
  const signing::SecretKey key = signing::new_key("ci").value();
  REQUIRE(signing::write_secret_key(machines.stores / "key", key));
  Bytes compiled;
  {
    const Variable signing("SMELT_SIGNING_KEY", (machines.stores / "key").string());
    const CompileResult made = must(machines.session("a")->make(request()));
    CHECK_FALSE(made.hit);
    compiled = bytes_of(made);
  }
  const Variable trusted("SMELT_TRUSTED_KEYS", signing::to_text(signing::public_key(key)));
  for (const char* level : {"signed", "local", "any"}) {
    const Variable trust("SMELT_TRUST", level);
    const CompileResult made = must(machines.session(std::string("b-") + level)->make(request()));
    CHECK(made.hit);
    CHECK_FALSE(made.remade);
    CHECK(bytes_of(made) == compiled);
  }
  CHECK(machines.warnings.empty());
}

TEST_CASE("native code that nobody trusted signed is made anew from its AIR, and is the same") {
  Machines machines;
  const Bytes compiled = bytes_of(must(machines.session("a")->make(request())));
  const CompileResult made = must(machines.session("b")->make(request()));
  CHECK(made.hit);
  CHECK(made.remade);
  CHECK(bytes_of(made) == compiled);
  CHECK(run_twice(made, 21) == 42);
  REQUIRE(machines.warnings.size() == 1);
  CHECK(machines.warnings[0].find("nobody signed it") != std::string::npos);
  // It is kept as one's own: found without a word.
  machines.warnings.clear();
  const CompileResult again = must(machines.session("b")->make(request()));
  CHECK(again.hit);
  CHECK_FALSE(again.remade);
  CHECK(machines.warnings.empty());
}

TEST_CASE("poisoned native code never runs") {
  Machines machines;
  const CompileResult made = must(machines.session("a")->make(request()));
  // Somebody who may write to the server files other code under the key: as a whole package with right digests.
  const Bytes planted = poisoned(made.package);
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  const remote::Outgoing entry{made.key, "", {}, {{"library.smelt", planted}}, {}};
  REQUIRE(server->put(std::span(&entry, 1)));

  // Where everything is trusted it would run; this is what the other levels are for.
  {
    const Variable any("SMELT_TRUST", "any");
    CHECK(run_twice(must(machines.session("any")->make(request())), 21) == 666);
  }
  for (const char* level : {"local", "signed"}) {
    const Variable trust("SMELT_TRUST", level);
    CHECK(run_twice(must(machines.session(level)->make(request())), 21) == 42);
  }
  // Nor does it run later on the machine that once trusted all.
  CHECK(run_twice(must(machines.session("any")->make(request())), 21) == 42);
}

namespace {

/// What `twice` is in a stranger's hands.
const std::string kStrangers = R"(
target triple = "spir64-unknown-unknown"
define spir_kernel void @twice(ptr addrspace(1) %x) {
  store float 666.0, ptr addrspace(1) %x, align 4
  ret void
}
)";

/// Entries of a store that only compiled `text`: those of whole libraries, and of one kernel.
struct Compiled {
  std::vector<Digest> libraries;
  Digest kernel;
  Bytes library_package, kernel_package;
};

Compiled compiled(Machines& machines, const std::string& machine, const std::string& text) {
  SessionOptions options;
  options.store = machines.stores / machine;
  options.threads = 1;
  options.remotes.emplace();
  const auto session = Session::open(options);
  Request wanted;
  wanted.sources.push_back({"twice.ll", as_bytes(text)});
  must(session->make(wanted));
  const auto store = session->store().value();
  Compiled all;
  const std::vector<cache::EntryInfo> entries = store->list().value();
  for (const cache::EntryInfo& info : entries) {
    const cache::Entry entry = store->find(info.key).value().value();
    if (const auto library = entry.part("library.smelt")) {
      all.libraries.push_back(info.key);
      all.library_package = to_bytes(*library);
    } else {
      all.kernel = info.key;
      all.kernel_package = to_bytes(*entry.part("kernel.smelt"));
    }
  }
  REQUIRE(!all.kernel_package.empty());
  REQUIRE(!all.library_package.empty());
  return all;
}

/// The mirror has a stranger's kernel under the genuine one's key, and `libraries` of his under genuine keys.
void plant(Machines& machines, bool kernel, size_t libraries) {
  const Compiled genuine = compiled(machines, "genuine", kSource), evil = compiled(machines, "evil", kStrangers);
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  std::vector<remote::Outgoing> entries;
  if (kernel) entries.push_back({genuine.kernel, "", {}, {{"kernel.smelt", evil.kernel_package}}, {}});
  // What a package says of its source is the genuine one's: whoever plants it knows that.
  schema::Library library = schema::Package::open(evil.library_package)->copy_library(0).value();
  library.source = schema::Package::open(genuine.library_package)->library(0).source;
  const Bytes planted = schema::write_package(std::span(&library, 1)).value();
  for (size_t i = 0; i < std::min(libraries, genuine.libraries.size()); ++i)
    entries.push_back({genuine.libraries[i], "", {}, {{"library.smelt", planted}}, {}});
  REQUIRE(server->put(entries));
}

}  // namespace

TEST_CASE("a machine that signs never signs what a stranger wrote") {
  for (const bool takes_unsigned : {false, true})
    for (const bool kernel : {true, false}) {
      CAPTURE(takes_unsigned);
      CAPTURE(kernel);
      Machines machines;
      plant(machines, kernel, kernel ? 0 : 2);
      const signing::SecretKey key = signing::new_key("ci").value();
      REQUIRE(signing::write_secret_key(machines.stores / "key", key));
      {
        const Variable signing("SMELT_SIGNING_KEY", (machines.stores / "key").string());
        const Variable taking("SMELT_TAKE_UNSIGNED", takes_unsigned ? "1" : "");
        const auto session = machines.session("ci");
        const CompileResult made = must(session->make(request()));
        CHECK(run_twice(made, 21) == (takes_unsigned ? 666 : 42));
        // Nor when it is asked to.
        const std::string name = to_hex(made.key);
        CHECK(session->push(std::span(&name, 1)).has_value() == !takes_unsigned);
        CHECK(session->tiers().value()->remotes().drain(std::chrono::milliseconds(5000)));
      }
      // The key is set when the stranger's code is here already.
      if (takes_unsigned) {
        const Variable signing("SMELT_SIGNING_KEY", (machines.stores / "key").string());
        CHECK(run_twice(must(machines.session("ci")->make(request())), 21) == 42);
      }
      const Variable trusted("SMELT_TRUSTED_KEYS", signing::to_text(signing::public_key(key)));
      const Variable trust("SMELT_TRUST", "signed");
      const CompileResult read = must(machines.session("reader")->make(request()));
      CHECK(run_twice(read, 21) == 42);
      CHECK(read.hit);  // what the machine compiled itself was signed and sent
    }
}

TEST_CASE("what was taken under `any` stays a stranger's, whatever it was joined into or copied to") {
  for (const bool kernel : {true, false}) {
    CAPTURE(kernel);
    Machines machines;
    plant(machines, kernel, kernel ? 0 : 2);
    {
      const Variable any("SMELT_TRUST", "any");
      CHECK(run_twice(must(machines.session("machine")->make(request())), 21) == 666);
    }
    SessionOptions options;
    options.store = machines.stores / "machine";
    options.remotes.emplace();
    options.warn = [](std::string_view) {};
    const Variable trust("SMELT_TRUST", "signed");
    const CompileResult made = must(Session::open(options)->make(request()));
    CHECK_FALSE(made.hit);
    CHECK(run_twice(made, 21) == 42);
    CHECK(must(Session::open(options)->make(request())).hit);
  }
}

TEST_CASE("a Metal library that does not pass verify is not used at all") {
  Machines machines;
  const CompileResult made = must(machines.session("a")->make(request()));
  schema::Library library = schema::Package::open(made.package)->copy_library(0).value();
  for (schema::Slice& slice : library.slices)
    if (slice.kind == schema::SliceKind::metallib) slice.bytes.resize(slice.bytes.size() / 2);
  const Bytes planted = schema::write_package(std::span(&library, 1)).value();
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  const remote::Outgoing entry{made.key, "", {}, {{"library.smelt", planted}}, {}};
  REQUIRE(server->put(std::span(&entry, 1)));
  const CompileResult again = must(machines.session("b")->make(request()));
  CHECK(run_twice(again, 21) == 42);
  bool said = false;
  for (const std::string& text : machines.warnings) said = said || text.find("smelt verify") != std::string::npos;
  CHECK(said);
}

TEST_CASE("tags are pushed and pulled") {
  Machines machines;
  const signing::SecretKey key = signing::new_key("ci").value();
  REQUIRE(signing::write_secret_key(machines.stores / "key", key));
  const std::string name = "twice@2.1.0", unknown = "twice@9";
  Digest pushed;
  {
    const Variable signing("SMELT_SIGNING_KEY", (machines.stores / "key").string());
    pushed = must(machines.session("a")->make(request())).key;
    REQUIRE(machines.session("a")->tag("twice", "2.1.0", pushed));
    REQUIRE(machines.session("a")->push(std::span(&name, 1)));
  }
  for (const char* level : {"local", "signed"}) {
    const Variable trust("SMELT_TRUST", level);
    const Variable trusted("SMELT_TRUSTED_KEYS", signing::to_text(signing::public_key(key)));
    const auto pulled = machines.session(level)->pull(std::span(&name, 1));
    REQUIRE_MESSAGE(pulled, pulled.error().message);
    CHECK(pulled->at(0) == pushed);
    CHECK(machines.session(level)->store().value()->resolve("twice@2").value().front().key == pushed);
    CHECK(machines.session(level)->pull(std::span(&unknown, 1)).error().code == Errc::not_cached);
  }
  const Variable strict("SMELT_TRUST", "signed");
  CHECK(machines.session("d")->pull(std::span(&name, 1)).error().code == Errc::untrusted);
}

TEST_CASE("a key is pulled when a signature or the content proves it, and else files nothing") {
  Machines machines;
  plant(machines, true, 2);
  const Compiled genuine = compiled(machines, "genuine", kSource);
  std::vector<Digest> keys = genuine.libraries;
  keys.push_back(genuine.kernel);
  for (const Digest& key : keys) {
    const std::string name = to_hex(key);
    CHECK_FALSE(machines.session("machine")->pull(std::span(&name, 1)));
    CHECK(machines.session("machine")->store().value()->list().value().empty());
  }
  // Nor under a name that the same stranger wrote.
  const auto attacker = machines.session("attacker");
  {
    const Variable any("SMELT_TRUST", "any");
    const std::string name = to_hex(keys[0]);
    REQUIRE(attacker->pull(std::span(&name, 1)));
    REQUIRE(attacker->tag("twice", "1.0", keys[0]));
    const std::string tag = "twice@1.0";
    CHECK_FALSE(attacker->push(std::span(&tag, 1)));  // what came from others goes on only as they signed it
  }
  // An imported package is filed under its digest.
  Machines other;
  const auto owner = other.session("owner");
  const std::string imported = to_hex(owner->import_package(genuine.library_package)->keys.front());
  REQUIRE(owner->push(std::span(&imported, 1)));
  REQUIRE(other.session("machine")->pull(std::span(&imported, 1)));
  CHECK(other.session("machine")->store().value()->list().value().size() == 1);
}

TEST_CASE("a damaged package is not pulled, even where all is trusted") {
  // A compile that found it in the store later would hand it out.
  Machines machines;
  const Compiled genuine = compiled(machines, "genuine", kSource);
  const schema::Package package = schema::Package::open(genuine.library_package).value();
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  const Variable any("SMELT_TRUST", "any");
  const std::string name = to_hex(genuine.libraries[0]);
  const schema::LibraryView library = package.library(0);
  for (uint32_t k = 0; k < library.slices.count; ++k) {
    const ByteView part = package.slice(library.slices.first + k).part.bytes;
    const auto at = static_cast<size_t>(part.data() - package.bytes().data());
    Bytes damaged = genuine.library_package;
    damaged[at + part.size() / 2] ^= std::byte{1};
    const remote::Outgoing entry{genuine.libraries[0], "", {}, {{"library.smelt", damaged}}, {}};
    REQUIRE(server->put(std::span(&entry, 1)));
    CHECK_FALSE(machines.session("machine")->pull(std::span(&name, 1)));
    CHECK(machines.session("machine")->store().value()->list().value().empty());
    CHECK(run_twice(must(machines.session(fmt::format("asks{}", k))->make(request())), 21) == 42);
  }
  // Nor one whose parts are what it lists, and whose CPU code is none.
  schema::Library forged = package.copy_library(0).value();
  for (schema::Slice& slice : forged.slices)
    if (slice.kind == schema::SliceKind::cpu)
      slice.bytes[slice.bytes.size() - 1] ^= std::byte{1}, slice.bytes[40] ^= std::byte{1};
  if (const auto written = schema::write_package(std::span(&forged, 1))) {
    const remote::Outgoing entry{genuine.libraries[0], "", {}, {{"library.smelt", *written}}, {}};
    REQUIRE(server->put(std::span(&entry, 1)));
    CHECK_FALSE(machines.session("machine")->pull(std::span(&name, 1)));
  }
  const remote::Outgoing whole{genuine.libraries[0], "", {}, {{"library.smelt", genuine.library_package}}, {}};
  REQUIRE(server->put(std::span(&whole, 1)));
  CHECK(machines.session("machine")->pull(std::span(&name, 1)));
}

TEST_CASE("a remote's answer is held to what was asked, and no remote makes a compile fail") {
  const std::string two = "\ndefine spir_kernel void @other(ptr addrspace(1) %x) { ret void }\n";
  Machines machines;
  const Compiled genuine = compiled(machines, "genuine", kSource);
  const Compiled more = compiled(machines, "more", kSource + two);
  std::string renamed = kSource;
  renamed.replace(renamed.find("@twice"), 6, "@thrice");
  const Compiled another = compiled(machines, "another", renamed);  // whole, and a kernel that nobody asked for
  schema::Library library = schema::Package::open(genuine.kernel_package)->copy_library(0).value();
  std::vector<Bytes> wrong = {more.kernel_package, another.kernel_package,
                              to_bytes(ByteView(genuine.kernel_package).first(genuine.kernel_package.size() / 2))};
  const auto add = [&](const std::function<void(schema::Library&)>& change) {
    schema::Library made = library;
    change(made);
    wrong.push_back(schema::write_package(std::span(&made, 1)).value());
  };
  add([](schema::Library& one) { one.slices.pop_back(); });
  add([](schema::Library& one) { one.slices.erase(one.slices.begin()); });
  add([](schema::Library& one) { one.functions[0].name = "another"; });
  add([](schema::Library& one) { one.slices.back().checked = true; });
  add([](schema::Library& one) { one.slices.back().level ^= 7; });
  add([](schema::Library& one) { one.slices.front().target = "macos99"; });
  add([](schema::Library& one) { one.slices.front().bytes.resize(40); });
  add([](schema::Library& one) { one.slices.back().functions[0].missing = true; });
  add([](schema::Library& one) { one.compiler = "another"; });
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  // With two kernels in a library, whose other one is fine.
  Request wanted = request();
  const std::string second =
      "target triple = \"spir64-unknown-unknown\"\n"
      "define spir_kernel void @second(ptr addrspace(1) %x) { store float 1.0, ptr addrspace(1) %x\n ret void }\n";
  wanted.sources.insert(wanted.sources.begin(), {"second.ll", as_bytes(second)});
  SessionOptions alone;
  alone.store = machines.stores / "alone";
  alone.remotes.emplace();
  alone.threads = 1;
  const Bytes right = bytes_of(must(Session::open(alone)->make(wanted)));
  size_t number = 0;
  for (const char* level : {"any", "local"})
    for (const Bytes& bytes : wrong) {
      CAPTURE(number);
      const remote::Outgoing entry{genuine.kernel, "", {}, {{"kernel.smelt", bytes}}, {}};
      REQUIRE(server->put(std::span(&entry, 1)));
      const Variable trust("SMELT_TRUST", level);
      const std::string machine = fmt::format("machine{}", number++);
      CHECK(bytes_of(must(machines.session(machine)->make(wanted))) == right);
      CHECK(run_twice(must(machines.session(machine)->make(wanted)), 21) == 42);
      // It may lie in the store already, of an older smelt.
      SessionOptions options;
      options.store = machines.stores / (machine + "-old");
      options.remotes.emplace();
      options.threads = 1;
      options.warn = [](std::string_view) {};
      REQUIRE(Session::open(options)->store().value()->put(genuine.kernel, {{"kernel.smelt", bytes}},
                                                           signing::Provenance::unknown()));
      CHECK(run_twice(must(Session::open(options)->make(wanted)), 21) == 42);
    }
}

TEST_CASE("checked code is asked for, and is what comes") {
  Machines machines;
  Request checked = request();
  checked.checked = true;
  const auto keys_of = [&](const std::string& machine, const Request& wanted) {
    SessionOptions options;
    options.store = machines.stores / machine;
    options.remotes.emplace();
    options.threads = 1;
    const auto session = Session::open(options);
    must(session->make(wanted));
    return session->store().value()->list().value();
  };
  const auto wanted = keys_of("genuine-checked", checked);
  const Compiled open = compiled(machines, "genuine", kSource);
  const auto server =
      remote::Remote::open(remote::parse_address("file://" + machines.mirror.path().string()).value()).value();
  for (const char* part : {"library.smelt", "kernel.smelt"})
    for (const char* level : {"any", "local"}) {
      for (const cache::EntryInfo& info : wanted) {
        const Bytes& bytes = std::string_view(part) == "library.smelt" ? open.library_package : open.kernel_package;
        const remote::Outgoing entry{info.key, "", {}, {{part, bytes}}, {}};
        REQUIRE(server->put(std::span(&entry, 1)));
      }
      const Variable trust("SMELT_TRUST", level);
      const CompileResult made = must(machines.session(std::string(part) + level)->make(checked));
      const auto library = schema::Package::open(made.package)->copy_library(0).value();
      for (const schema::Slice& slice : library.slices)
        if (slice.kind == schema::SliceKind::cpu) CHECK(slice.checked);
      loader::LoadOptions options;
      options.checked = true;
      options.policy = signing::Policy::all();
      const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
      const auto loaded = loader::Library::load(device, loader::OwnedBytes{made.package, made.owner}, options);
      REQUIRE(loaded);
      CHECK(run_twice(*loaded, 21) == 42);
    }
}

TEST_CASE("a setting that cannot be meant is an error, not a silence") {
  const TemporaryFolder folder;
  SessionOptions options;
  options.store = folder.path();
  options.remotes = {"htps://typo"};
  const auto session = Session::open(options);
  for (int i = 0; i < 2; ++i) CHECK(session->make(request()).error().message.find("htps") != std::string::npos);
  const Variable trust("SMELT_TRUST", "sigend");
  options.remotes.reset();
  CHECK(Session::open(options)->make(request()).error().message.find("any, local or signed") != std::string::npos);
}

TEST_CASE("a package's own CPU code is left alone where the caller says so or nobody trusted signed it") {
  Machines machines;
  const Bytes package = poisoned(must(machines.session("a")->make(request())).package);
  const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
  const auto run = [&](const loader::LoadOptions& options) {
    auto library = machines.session("b")->load_bytes(loader::copy_of(package), "planted.smelt", device, options);
    if (!library) FAIL(library.error().message);
    return run_twice(*library, 21);
  };
  CHECK(run({}) == 666);  // what the user names runs, unless he says otherwise
  loader::LoadOptions options;
  options.native = false;
  CHECK(run(options) == 42);
  CHECK(run(options) == 42);  // from the store
  options.expect = schema::Package::open(package)->digest();
  CHECK(run(options) == 42);
  options.expect->bytes[0] ^= std::byte{1};
  const auto other = machines.session("b")->load_bytes(loader::copy_of(package), "planted.smelt", device, options);
  REQUIRE(!other);
  CHECK(other.error().code == Errc::digest_mismatch);
  const Variable trust("SMELT_TRUST", "signed");
  const auto unsigned_one = machines.session("b")->load_bytes(loader::copy_of(package), "planted.smelt", device, {});
  REQUIRE(!unsigned_one);
  CHECK(unsigned_one.error().code == Errc::untrusted);
  // Nor does it get into a store that way.
  const auto imported = machines.session("b")->import_package(package);
  REQUIRE(!imported);
  CHECK(imported.error().code == Errc::untrusted);
}

TEST_CASE("a broken file of trusted keys stops no import where a signature does not count") {
  Machines machines;
  const Bytes package = bytes_of(must(machines.session("a")->make(request())));
  const TemporaryFolder folder;
  REQUIRE(write_file(folder / "keys", as_bytes("no key at all\n")));
  const auto store = cache::Store::open(folder / "store", {});
  REQUIRE(store);
  const Variable keys("SMELT_TRUSTED_KEYS", (folder / "keys").string());
  const auto imported = service::import_package(**store, package, false);
  REQUIRE_MESSAGE(imported, imported.error().message);
  CHECK(imported->keys.size() == 1);
  const Variable trust("SMELT_TRUST", "signed");
  const auto refused = service::import_package(**store, package, false);
  REQUIRE(!refused);
  CHECK(refused.error().message.find((folder / "keys").string()) != std::string::npos);
}

TEST_CASE("a broken file of trusted keys stops no session without remotes, and is told to one that has them") {
  Machines machines;
  const Bytes package = bytes_of(must(machines.session("a")->make(request())));
  const TemporaryFolder folder;
  REQUIRE(write_file(folder / "keys", as_bytes("no key at all\n")));
  const Variable keys("SMELT_TRUSTED_KEYS", (folder / "keys").string());
  SessionOptions options;
  options.store = folder / "store";
  options.remotes.emplace();
  {
    const auto session = Session::open(options);
    CHECK(session->import_package(package));
    CHECK(must(session->make(request())).package.size() > 0);
    CHECK(must(session->make(request())).hit);
  }
  options.remotes = {"file://" + machines.mirror.path().string()};
  const auto told = Session::open(options)->store();
  REQUIRE(!told);
  CHECK(told.error().message.find((folder / "keys").string()) != std::string::npos);
  // What came out of a remote before is used when its signer is trusted: who that is, has to be read.
  SessionOptions other = options;
  other.store = folder / "other";
  {
    const Variable none("SMELT_TRUSTED_KEYS", "");
    const Variable any("SMELT_TRUST", "any");
    CHECK(must(Session::open(other)->make(request())).hit);
  }
  const Variable again("SMELT_TRUSTED_KEYS", (folder / "keys").string());
  other.remotes.emplace();
  std::string warning;
  other.warn = [&](std::string_view text) { warning = text; };
  CHECK_FALSE(must(Session::open(other)->make(request())).hit);
  CHECK(warning.find((folder / "keys").string()) != std::string::npos);
}

TEST_CASE("a package whose version is no tag's leaves the store as it was") {
  Machines machines;
  const Bytes package = bytes_of(must(machines.session("a")->make(request())));
  const auto library = schema::Package::open(package).value().copy_library(0).value();
  std::vector<schema::Library> libraries(2, library);
  libraries[0].version = "1.0.0";
  libraries[1].name = "second";
  libraries[1].version = "1.0.0\n2";
  const TemporaryFolder folder;
  const auto store = cache::Store::open(folder / "store", {}).value();
  const auto imported = service::import_package(*store, schema::write_package(libraries).value(), false);
  REQUIRE(!imported);
  CHECK(imported.error().message.find("second@1.0.0 2") != std::string::npos);
  CHECK(store->list().value().empty());
  CHECK(store->tags().value().empty());
}
