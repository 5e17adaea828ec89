// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/limits.hpp"
#include "smelt/base/files.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>

using namespace smelt;
using service::CompileResult;
using service::Request;
using service::Session;
using service::SessionOptions;
using test::TemporaryFolder;

namespace {

// x[i] *= 2 (or another number), as plain GPU-style IR.
std::string scale_ir(std::string_view factor, std::string_view comment = "") {
  return fmt::format(R"(; {}
target triple = "spir64-unknown-unknown"
declare i64 @_Z13get_global_idj(i32)
define spir_kernel void @scale(ptr addrspace(1) %x) {{
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %id
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, {}
  store float %w, ptr addrspace(1) %p, align 4
  ret void
}}
)",
                     comment, factor);
}

Request request_for(const std::string& ir) {
  Request request;
  request.sources.push_back({"scale.ll", as_bytes(ir)});
  return request;
}

SessionOptions in(const std::filesystem::path& store) {
  SessionOptions options;
  options.store = store;
  options.threads = 1;
  return options;
}

CompileResult must(Result<CompileResult> made) {
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

// Runs `scale` over 1, 2, 3 and returns what it made of them.
std::vector<float> run_scale(const loader::LibraryRef& library) {
  const auto pipeline = library->function("scale").value()->pipeline().value();
  const auto buffer = library->device()->make_buffer(12).value();
  const float input[3] = {1, 2, 3};
  std::memcpy(buffer->contents().data(), input, sizeof input);
  auto encoder = loader::Encoder::create(library->device()).value();
  REQUIRE(encoder->set_pipeline(pipeline));
  REQUIRE(encoder->set_buffer(0, buffer));
  REQUIRE(encoder->dispatch_threads({3, 1, 1}));
  std::vector<float> output(3);
  std::memcpy(output.data(), buffer->contents().data(), sizeof input);
  return output;
}

}  // namespace

TEST_CASE("find, else compile and publish: the second time is a hit, in this session and the next") {
  TemporaryFolder folder;
  const std::string ir = scale_ir("2.0");
  const auto session = Session::open(in(folder / "s"));
  const CompileResult first = must(session->make(request_for(ir)));
  CHECK_FALSE(first.hit);
  const CompileResult second = must(session->make(request_for(ir)));
  CHECK(second.hit);
  CHECK(std::equal(first.package.begin(), first.package.end(), second.package.begin(), second.package.end()));
  const CompileResult third = must(Session::open(in(folder / "s"))->make(request_for(ir)));
  CHECK(third.hit);
  CHECK(third.key == first.key);
}

TEST_CASE("another comment or name hits; whatever changes code misses") {
  TemporaryFolder folder;
  const auto session = Session::open(in(folder / "s"));
  CHECK_FALSE(must(session->make(request_for(scale_ir("2.0")))).hit);
  const std::string commented = scale_ir("2.0", "the same, said differently");
  Request renamed = request_for(commented);
  renamed.sources[0].name = "other/folder/kernel.ll";
  CHECK(must(session->make(renamed)).hit);
  CHECK(must(session->make(renamed)).hit);
  CHECK_FALSE(must(session->make(request_for(scale_ir("3.0")))).hit);
  const std::string ir = scale_ir("2.0");
  Request other = request_for(ir);
  other.options.math = aot::kFastMath;
  CHECK_FALSE(must(session->make(other)).hit);
  other = request_for(ir);
  other.options.targets = {aot::parse_target("macos26").value()};
  CHECK_FALSE(must(session->make(other)).hit);
  other = request_for(ir);
  other.checked = true;
  CHECK_FALSE(must(session->make(other)).hit);
  other = request_for(ir);
  other.version = "1.0";
  CHECK_FALSE(must(session->make(other)).hit);
}

TEST_CASE("a made library runs, with and without a store") {
  TemporaryFolder folder;
  const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
  const std::string ir = scale_ir("2.0");
  SessionOptions without;
  without.use_store = false;
  for (const auto& session : {Session::open(in(folder / "s")), Session::open(without)}) {
    const auto library = session->load(request_for(ir), device);
    if (!library) FAIL(library.error().message);
    CHECK(run_scale(*library) == std::vector<float>{2, 4, 6});
  }
}

TEST_CASE("offline, a miss is an error and a hit is not") {
  TemporaryFolder folder;
  const std::string ir = scale_ir("2.0");
  SessionOptions offline = in(folder / "s");
  offline.offline = true;
  const auto missed = Session::open(offline)->make(request_for(ir));
  REQUIRE_FALSE(missed);
  CHECK(missed.error().code == Errc::not_cached);
  must(Session::open(in(folder / "s"))->make(request_for(ir)));
  CHECK(must(Session::open(offline)->make(request_for(ir))).hit);
}

TEST_CASE("a store that does not open is said once and worked without") {
  TemporaryFolder folder;
  REQUIRE(write_file(folder / "s", as_bytes("a file, not a folder")));
  SessionOptions options = in(folder / "s");
  int warnings = 0;
  options.warn = [&](std::string_view) { ++warnings; };
  const auto session = Session::open(options);
  const std::string ir = scale_ir("2.0");
  CHECK_FALSE(must(session->make(request_for(ir))).hit);
  CHECK_FALSE(must(session->make(request_for(ir))).hit);
  CHECK(warnings == 1);
}

TEST_CASE("a damaged entry is compiled again") {
  TemporaryFolder folder;
  const std::string ir = scale_ir("2.0");
  Bytes before;
  {
    const CompileResult made = must(Session::open(in(folder / "s"))->make(request_for(ir)));
    before = to_bytes(made.package);
  }
  for (const auto& pack : test::files_below(folder / "s/packs", ".pack")) {
    const auto size = std::filesystem::file_size(pack);
    std::filesystem::resize_file(pack, 0);
    std::filesystem::resize_file(pack, size);
  }
  const CompileResult made = must(Session::open(in(folder / "s"))->make(request_for(ir)));
  CHECK_FALSE(made.hit);
  CHECK(std::equal(made.package.begin(), made.package.end(), before.begin(), before.end()));
}

TEST_CASE("versions by name; what is exported is found again where it is imported") {
  TemporaryFolder folder;
  const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
  const auto session = Session::open(in(folder / "a"));
  for (const char* version : {"1.0", "1.5", "2.0"}) {
    const std::string ir = scale_ir(std::string(version));
    Request request = request_for(ir);
    request.version = version;
    const CompileResult made = must(session->make(request));
    REQUIRE(session->tag("scale", version, made.key));
  }
  const auto runs = [&](Session& from, const char* query) {
    const CompileResult made = must(from.resolve(query, device));
    return run_scale(loader::Library::load(device, made.package).value())[0];
  };
  CHECK(runs(*session, "scale@1") == doctest::Approx(1.5));
  CHECK(runs(*session, "scale") == doctest::Approx(2.0));
  CHECK_FALSE(session->resolve("scale@3", device));
  const std::vector<std::string> names{"scale@1.5"};
  const Bytes package = session->export_package(names).value();
  const auto other = Session::open(in(folder / "b"));
  CHECK(other->import_package(package)->keys.size() == 1);
  CHECK(runs(*other, "scale@1.5") == doctest::Approx(1.5));
  // A tag that points elsewhere stays unless its move is asked for; either way it is said.
  const std::string ir = scale_ir("7.0");
  const Digest mine = must(other->make(request_for(ir))).key;
  REQUIRE(other->tag("scale", "1.5", mine, true));
  for (const bool move : {false, true}) {
    const auto imported = other->import_package(package, move).value();
    REQUIRE(imported.moves.size() == 1);
    CHECK(imported.moves[0].name == "scale");
    CHECK(imported.moves[0].version == "1.5");
    CHECK(imported.moves[0].from == mine);
    CHECK(imported.moves[0].to == imported.keys[0]);
    CHECK(runs(*other, "scale@1.5") == doctest::Approx(move ? 1.5 : 7.0));
  }
  CHECK(other->import_package(package)->moves.empty());
  Bytes flipped = package;
  flipped[flipped.size() / 2] ^= std::byte{1};
  CHECK_FALSE(other->import_package(flipped));
  CHECK_FALSE(session->export_package(std::vector<std::string>{"nothing@1"}));
}

TEST_CASE("a plain Metal library gets its CPU code once") {
  const auto folder = test::shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  TemporaryFolder temporary;
  const auto device = loader::Device::open(loader::DeviceKind::cpu).value();
  const Bytes file = test::must_read(*folder / "kernel.14.metallib");
  const auto bare = loader::Library::load(device, file);
  if (bare) {
    const auto function = (*bare)->function((*bare)->function_names()[0]);
    const auto pipeline = (*function)->pipeline();
    CHECK_FALSE(pipeline);
  }
  const auto session = Session::open(in(temporary / "s"));
  for (const bool hit : {false, true}) {
    const auto library = session->load_bytes(loader::copy_of(file), "kernel.14.metallib", device);
    if (!library) FAIL(library.error().message);
    CHECK((*library)->function((*library)->function_names()[0]).value()->pipeline());
    const auto counters = session->store().value()->counters();
    CHECK((counters.hits > 0) == hit);
  }
}

TEST_CASE("threads that want one thing compile it once") {
  TemporaryFolder folder;
  const auto session = Session::open(in(folder / "s"));
  const std::string ir = scale_ir("2.0");
  std::atomic<int> compiled{0}, failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      const auto made = session->make(request_for(ir));
      if (!made) ++failed;
      if (made && !made->hit) ++compiled;
    });
  for (auto& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(compiled == 1);
}

TEST_CASE("a compile that is ended at any moment leaves nothing half made") {
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (int i = 0; i < 12; ++i)
    source += fmt::format(
        "kernel void k{0}(device float* x, uint i [[thread_position_in_grid]]) {{\n"
        "  x[i] = precise::sin(x[i] * {0}.5f) + precise::log2(x[i] + {0}.25f) + simd_sum(x[i + {0}]);\n}}\n",
        i);
  Request request;
  request.sources.push_back({"many.metal", as_bytes(source)});
  request.levels = {aot::CpuLevel::x86_64_v3};
  SessionOptions options;
  options.use_store = false;
  options.threads = 2;
  const auto began = std::chrono::steady_clock::now();
  const Bytes whole = to_bytes(must(Session::open(options)->make(request)).package);
  const auto takes = std::chrono::steady_clock::now() - began;

  const TemporaryFolder folder;
  options.use_store = true;
  options.store = folder / "store";
  int ended = 0;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    // A store of its own in every second round; in the others each goes on where the one before it was ended.
    if (round % 2 == 0) options.store = folder / fmt::format("store-{}", round);
    const auto cancel = std::make_shared<std::atomic<bool>>(round == 0);  // one at least is ended
    std::thread killer([&] {
      std::this_thread::sleep_for(takes * round / kRounds);
      cancel->store(true);
    });
    {
      const aot::Limited limited({.cancel = cancel});
      const auto made = Session::open(options)->make(request);
      if (!made) CHECK(made.error().code == Errc::cancelled);
      if (made) CHECK(to_bytes(made->package) == whole);
      ended += !made;
    }
    killer.join();
  }
  CHECK(ended > 0);
  CHECK(to_bytes(must(Session::open(options)->make(request)).package) == whole);

  const aot::Limited limited({.time = std::chrono::milliseconds(1)});
  options.use_store = false;
  const auto late = Session::open(options)->make(request);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::cancelled);
  CHECK(late.error().message.find("limit of 0.001 s") != std::string::npos);
}
