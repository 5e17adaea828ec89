// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are kept one by one: an edit compiles what it changes, and the bytes are those of a compile without a store.
#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "compile_child.hpp"
#include "files.hpp"
#include "kernel_store.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace smelt;
using service::CompileResult;
using service::Request;
using service::Session;
using service::SessionOptions;
using test::TemporaryFolder;

namespace {

// Ten kernels. 0 and 1 call `helper`; 2 and 3 read a derived constant; all others stand alone. `edits` replaces text.
std::string source_with(const std::vector<std::pair<std::string, std::string>>& edits = {}) {
  std::string text = R"(#include <metal_stdlib>
using namespace metal;
constant uint width [[function_constant(0)]];
constant uint twice = is_function_constant_defined(width) ? width * 2 : 2;
float helper(float x) { return sin(x) + 1.0f; }
constant float table[4] = {1, 2, 3, 4};
)";
  for (int i = 0; i < 10; ++i) {
    const std::string value = i < 2 ? "helper(x[i])" : i < 4 ? "x[i] * float(twice)" : "x[i] * table[i & 3]";
    text += fmt::format(
        "kernel void k{0}(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
        "                 uint i [[thread_position_in_grid]]) {{\n"
        "  threadgroup float shared[32];\n"
        "  shared[i & 31] = {1};\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  y[i] = shared[(i + {0}) & 31] + {0}.0f;\n}}\n",
        i, value);
  }
  for (const auto& [from, to] : edits) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return text;
}

CompileResult make(Session& session, const std::string& text, const std::function<void(Request&)>& change = {}) {
  Request request;
  request.sources.push_back({"ten.metal", as_bytes(text)});
  if (change) change(request);
  auto made = session.make(request);
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::shared_ptr<Session> session_in(const std::filesystem::path& store) {
  SessionOptions options;
  options.store = store;
  options.threads = 2;
  return Session::open(options);
}

std::shared_ptr<Session> session_without_store() {
  SessionOptions options;
  options.use_store = false;
  options.threads = 1;
  return Session::open(options);
}

bool equal(const CompileResult& a, const CompileResult& b) {
  return std::equal(a.package.begin(), a.package.end(), b.package.begin(), b.package.end());
}

}  // namespace

TEST_CASE("an edit compiles the kernels that it changes, and the package is that of a fresh compile") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  const auto fresh = session_without_store();
  const auto without_cpu = [](Request& request) { request.cpu = false; };
  const CompileResult first = make(*session, source_with(), without_cpu);
  CHECK(first.kernels == 10);
  CHECK(first.kernels_kept == 0);
  CHECK(equal(first, make(*fresh, source_with(), without_cpu)));

  struct Case {
    const char* what;
    std::vector<std::pair<std::string, std::string>> edits;
    size_t kept;
  };
  const Case cases[] = {
      {"a kernel's body", {{"+ 7.0f", "+ 7.5f"}}, 9},
      {"another kernel's body, with a new type", {{"x[i] * table[i & 3]", "float(short3(x[i]).y)"}}, 9},
      {"a helper of two kernels", {{"+ 1.0f; }", "+ 1.5f; }"}}, 8},
      {"a helper that nobody calls", {{"float helper", "float unused(float x) { return x; }\nfloat helper"}}, 10},
      {"the name of a local variable",
       {{"float helper(float x) { return sin(x)", "float helper(float v) { return sin(v)"}},
       10},
      {"a table that six kernels read", {{"{1, 2, 3, 4}", "{1, 2, 3, 5}"}}, 4},
      {"a constant that two kernels read", {{"width * 2", "width * 3"}}, 8},
      {"a kernel's name", {{"void k9(", "void k10("}}, 9},
      {"a kernel in front of the others",
       {{"kernel void k0(", "kernel void added(device float4* v) { v[0] = v[1].wzyx; }\nkernel void k0("}},
       10},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.what));
    const std::string text = source_with(one.edits);
    const CompileResult edited = make(*session, text, without_cpu);
    CHECK_FALSE(edited.hit);
    CHECK(edited.kernels_kept == one.kept);
    CHECK(equal(edited, make(*fresh, text, without_cpu)));
  }
  const std::string commented =
      source_with({{"using namespace metal;", "using namespace metal;  // said differently"}});
  CHECK(make(*session, commented, without_cpu).hit);
}

TEST_CASE("CPU code is joined from kept kernels as it is made at once") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  make(*session, source_with());
  const std::string text = source_with({{"+ 7.0f", "+ 7.5f"}});
  const CompileResult edited = make(*session, text);
  CHECK(edited.kernels_kept == 9);
  CHECK(equal(edited, make(*session_without_store(), text)));
}

TEST_CASE("options and CPU levels that change code compile all kernels again") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  const std::string text = source_with();
  const auto make_with = [&](const std::function<void(Request&)>& change) {
    return make(*session, text, [&](Request& request) {
      request.cpu = false;
      change(request);
    });
  };
  make_with([](Request&) {});
  const auto kept_with = [&](const std::function<void(Request&)>& change) {
    const CompileResult made = make_with(change);
    CHECK_FALSE(made.hit);
    return made.kernels_kept;
  };
  CHECK(kept_with([](Request& request) { request.options.math = aot::kFastMath; }) == 0);
  CHECK(kept_with([](Request& request) { request.options.targets = {aot::parse_target("macos15").value()}; }) == 0);
  CHECK(kept_with([](Request& request) { request.cpu = true; }) == 0);
  // These change the package, and no code.
  CHECK(kept_with([](Request& request) { request.version = "2.0"; }) == 10);
  CHECK(kept_with([](Request& request) { request.options.functions = {"k3"}; }) == 1);
}

TEST_CASE("warnings come back with a kept kernel, and so does one of which no pipeline can be made") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  const std::string big =
      "kernel void big(device float* x, uint i [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float much[9000];\n  much[i] = x[i];\n  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  x[i] = much[8999 - i];\n}\n";
  for (const std::string edit : {"", "void nothing() {}\n"}) {
    const std::string text = source_with() + big + edit;
    const CompileResult made = make(*session, text, [](Request& request) { request.cpu = false; });
    CHECK(made.kernels == 11);
    CHECK(made.kernels_kept == (edit.empty() ? 0 : 11));
    REQUIRE(made.warnings.size() == 1);
    CHECK(made.warnings[0].find("kernel 'big' needs 36000 bytes of threadgroup memory") != std::string::npos);
  }
}

TEST_CASE("a warning of several lines comes back from the store as it was") {
  TemporaryFolder folder;
  auto local = cache::Store::open(folder / "s", {});
  REQUIRE(local);
  auto tiers = remote::TieredStore::open(std::move(*local), {});
  REQUIRE(tiers);
  const service::KernelStore store(**tiers, [](std::string_view text) { FAIL(std::string(text)); });
  service::KeptKernel kernel(signing::Provenance::made_here());
  const CompileResult made =
      make(*session_without_store(), source_with(), [](Request& request) { request.cpu = false; });
  kernel.library = schema::Package::open(made.package)->copy_library(0).value();
  kernel.warnings = {"x.metal:3:5: warning: unused\n  float y;\n        ^", "", "one line"};
  const Digest key = sha256(as_bytes("a kernel"));
  store.keep({key}, {kernel}, {0}, {});
  service::Asked asked;
  for (const schema::Function& function : kernel.library.functions) asked.functions.push_back(function.name);
  const auto found = store.find({key}, {asked});
  REQUIRE(found[0]);
  CHECK(found[0]->warnings == kernel.warnings);
}

TEST_CASE("kernels of a Metal library are kept one by one too") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  const auto library_of = [&](const std::string& text) {
    const aot::Source source{"ten.metal", as_bytes(text)};
    auto compiled = aot::compile(std::span(&source, 1));
    if (!compiled) FAIL(compiled.error().message);
    return std::move(compiled->targets[0].metallib);
  };
  const auto make_from = [&](const Bytes& library) {
    Request request;
    request.sources.push_back({"ten.metallib", library});
    request.cpu = false;
    return session->make(request).value();
  };
  CHECK(make_from(library_of(source_with())).kernels_kept == 0);
  const CompileResult edited = make_from(library_of(source_with({{"+ 7.0f", "+ 7.5f"}})));
  CHECK(edited.kernels == 10);
  CHECK(edited.kernels_kept == 9);
}

TEST_CASE("what a compiling child gives back is looked at before it is used") {
  const auto session = Session::open({.use_store = false});
  const auto package_of = [&](const std::string& text, bool cpu) {
    Request request;
    request.sources.push_back({"k.metal", as_bytes(text)});
    request.options.targets = {aot::parse_target("macos14").value()};
    request.cpu = cpu;
    return session->make(request).value();
  };
  const std::string one = "kernel void one(device float* x) { x[0] = 1; }\n";
  service::Asked asked;
  asked.targets = {"macos14"};
  asked.codes = {{aot::host_cpu_level().value()}};
  asked.functions = {"one"};
  asked.all_functions = asked.is_part = true;
  const auto other = [&](const std::function<void(service::Asked&)>& change) {
    service::Asked changed = asked;
    change(changed);
    return changed;
  };
  const CompileResult whole = package_of(one, true);
  const auto read = service::read_part(whole.package, asked);
  REQUIRE(read);
  CHECK(read->slices.size() == 2);
  const auto refused = [](const auto& result) { return !result && result.error().code == Errc::corrupt; };
  const auto two = [](service::Asked& to) { to.functions = {"two"}; };
  CHECK(refused(service::read_part(whole.package, other(two))));
  CHECK(refused(service::read_part(whole.package, other([](auto& to) { to.targets = {"macos15"}; }))));
  CHECK(refused(service::read_part(whole.package, other([](auto& to) { to.codes[0].checked = true; }))));
  CHECK(refused(service::read_part(whole.package, other([](auto& to) { to.codes.clear(); }))));
  CHECK(refused(service::read_part(package_of(one, false).package, asked)));
  const CompileResult both = package_of(one + "kernel void two(device float* x) { x[0] = 2; }\n", true);
  CHECK(refused(service::read_part(both.package, asked)));
  for (size_t size = 0; size < whole.package.size(); size += 7)
    CHECK(!service::read_part(whole.package.first(size), asked));
}

TEST_CASE("what a child remade is the package that it was given, with the code that was asked for") {
  const auto session = Session::open({.use_store = false});
  const auto package_of = [&](const std::string& text, bool checked) {
    Request request;
    request.sources.push_back({"k.metal", as_bytes(text)});
    request.checked = checked;
    request.options.debug_lines = true;  // as checked code has them
    return session->make(request).value();
  };
  const std::string one = "kernel void one(device float* x) { x[0] = 1; }\n";
  const CompileResult given = package_of(one, false), checked = package_of(one, true);
  const auto level = aot::host_cpu_level().value();
  const std::vector<service::CpuCode> open = {{level}}, bounded = {{level, true}};
  CHECK(service::held_to_recompile(given.package, std::nullopt, given.package));
  CHECK(service::held_to_recompile(given.package, open, given.package));
  CHECK(service::held_to_recompile(given.package, bounded, checked.package));
  CHECK_FALSE(service::held_to_recompile(given.package, bounded, given.package));
  CHECK_FALSE(service::held_to_recompile(given.package, std::vector<service::CpuCode>(), given.package));
  const CompileResult other = package_of("kernel void one(device float* x) { x[0] = 2; }\n", false);
  CHECK_FALSE(service::held_to_recompile(given.package, std::nullopt, other.package));
  const CompileResult more = package_of(one + "kernel void two(device float* x) { x[0] = 2; }\n", false);
  CHECK_FALSE(service::held_to_recompile(given.package, std::nullopt, more.package));
}

TEST_CASE("kernels of translated source come one by one, each as a request for it alone gives it") {
  TemporaryFolder folder;
  const auto session = session_in(folder / "s");
  const auto fresh = session_without_store();
  std::shared_ptr<const service::Translated> translated;
  {
    const std::string text = source_with();  // which nobody borrows afterwards
    Request request;
    request.sources.push_back({"ten.metal", as_bytes(text)});
    translated = session->translate(request).value();
  }
  REQUIRE(translated->kernels().size() == 10);
  CHECK(translated->kernels().front() == "k0");
  // Whichever comes first, and whatever was cut out before it.
  for (const std::string name : {"k7", "k2", "k0"}) {
    const CompileResult one = translated->make(name).value();
    CHECK_FALSE(one.hit);
    CHECK(equal(one, make(*fresh, source_with(), [&](Request& request) { request.options.functions = {name}; })));
    CHECK(translated->make(name)->hit);
  }
  // The kernel's own code counts, not where it comes from.
  CHECK(make(*session, source_with({{"+ 8.0f", "+ 8.5f"}})).kernels_kept == 3);
  const auto unknown = translated->make("k11");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == Errc::function_not_found);
  CHECK(unknown.error().message.find("'k1'") != std::string::npos);

  Request wrong;
  wrong.sources.push_back({"wrong.metal", as_bytes("kernel void f(device float* x) { x[0] = nothing; }")});
  CHECK(session->translate(wrong).error().code == Errc::compile_failed);
  Request library;
  const CompileResult compiled = make(*fresh, source_with());
  library.sources.push_back({"ten.metallib", service::metallib_of(compiled.package, "ten").value()});
  CHECK(session->translate(library).error().code == Errc::invalid_argument);
  SessionOptions options;
  options.store = folder / "s";
  options.offline = true;
  Request again;
  const std::string text = source_with();
  again.sources.push_back({"ten.metal", as_bytes(text)});
  CHECK(Session::open(options)->translate(again).error().code == Errc::not_cached);
}

TEST_CASE("threads and sessions that want kernels of one source at once compile each once") {
  TemporaryFolder folder;
  const std::string text = source_with();
  Request request;
  request.sources.push_back({"ten.metal", as_bytes(text)});
  std::atomic<size_t> compiled = 0;
  std::vector<std::thread> threads;
  for (int s = 0; s < 2; ++s) {
    const auto translated = session_in(folder / "s")->translate(request).value();
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&compiled, translated] {
        for (const std::string& name : translated->kernels()) {
          const auto made = translated->make(name);
          if (made && !made->hit) ++compiled;
        }
      });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(compiled == 10);
}
