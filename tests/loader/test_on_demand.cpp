// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// docs/design/loader.md 3.9: code that is made when it is needed, and replaced while it is used.
#include "smelt/loader/code_source.hpp"
#include "smelt/metallib/cut.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::test;
using namespace std::chrono_literals;

namespace {

/// A Metal library with functions of these names, in whose modules nobody looks.
Bytes metallib_of(const std::vector<std::string>& names) {
  metallib::NewLibrary library;
  library.os_major = 14;
  std::vector<Bytes> modules;
  for (const std::string& name : names) {
    // Magic, then one block of as many words as the name has.
    Bytes content = to_bytes(as_bytes(name));
    content.resize(round_up<size_t>(content.size(), 4));
    ByteWriter module;
    module.put(uint32_t{0xdec04342});
    module.put(uint32_t{1 | 8 << 2 | 3 << 10});
    module.put(static_cast<uint32_t>(content.size() / 4));
    module.put_bytes(content);
    modules.push_back(module.take());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    metallib::NewFunction function;
    function.name = names[i];
    function.bitcode = modules[i];
    function.versions = {2, 6, 3, 1};
    library.functions.push_back(std::move(function));
  }
  return must(metallib::write(must(metallib::make_library(library))));
}

OwnedBytes owned(Bytes bytes) {
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return {*owner, owner};
}

/// Packages of the kernels of kernels.c, as if they had been compiled.
class Compiler final : public CodeSource {
 public:
  Result<KernelCode> code_for(std::string_view kernel, const OwnedBytes& metallib) override {
    const auto read = metallib::read(metallib.bytes);
    {
      const std::lock_guard lock(mutex);
      ++calls[std::string(kernel)];
      alone = alone && read && read->functions.size() == 1 && read->functions[0].name == kernel;
    }
    if (kernel == broken) return fail(Errc::compile_failed, "'{}' does not compile", kernel);
    std::this_thread::sleep_for(2ms);  // so that others want it meanwhile
    const std::string name(kernel);
    return KernelCode{owned(kernel_package({kernel_spec(name)})), tier};
  }

  std::mutex mutex;
  std::map<std::string, int> calls;
  bool alone = true;
  std::string broken;
  std::shared_ptr<const CodeTier> tier;
};

struct OnDemand {
  explicit OnDemand(std::vector<std::string> names, std::shared_ptr<const CodeTier> tier = {}) {
    compiler->tier = std::move(tier);
    LoadOptions options;
    options.code_source = compiler;
    library = must(Library::load(device, metallib_of(names), options));
  }
  DeviceRef device = cpu_device(2);
  std::shared_ptr<Compiler> compiler = std::make_shared<Compiler>();
  LibraryRef library;
};

/// A library whose kernel `name` has the code of another.
LibraryRef with_code_of(const DeviceRef& device, const std::string& name, const std::string& other) {
  schema::Library library = kernel_library("kernels", {kernel_spec(name)});
  schema::CpuSlice slice;
  slice.arch = built_arch();
  slice.level = built_level();
  slice.kernels.push_back(kernel_spec(other).row);
  slice.kernels.back().name = name;
  library.slices.front().bytes = must(schema::write_cpu_slice(std::move(slice), {kernel_code(other)}));
  return must(Library::load(device, must(schema::write_package(std::span(&library, 1)))));
}

std::vector<uint32_t> run_counting(const DeviceRef& device, const PipelineRef& pipeline, size_t places = 4) {
  const auto encoder = must(Encoder::create(device));
  must(encoder->set_pipeline(pipeline));
  std::vector<uint32_t> values(4 * places, 5);
  must(encoder->set_memory(0, memory(values)));
  must(encoder->dispatch_threads({places}));
  return values;
}

}  // namespace

TEST_CASE("a function is cut out of a library, the same bytes whatever is beside it") {
  const Bytes all = metallib_of({"saxpy", "count", "halve"}), one = metallib_of({"count"});
  const auto read = must(metallib::read(all)), alone = must(metallib::read(one));
  const Bytes cut = must(metallib::cut(read, read.functions[1]));
  CHECK(cut == must(metallib::cut(alone, alone.functions[0])));
  const auto again = must(metallib::read(cut));
  CHECK(again.functions[0].name == "count");
  CHECK(again.functions[0].hash == read.functions[1].hash);
  CHECK(again.functions[0].versions == read.functions[1].versions);
  CHECK(again.os_major == 14);
}

TEST_CASE("code is made for the kernels that are wanted, once, however many threads want it") {
  OnDemand made({"saxpy", "count", "halve"});
  CHECK(made.library->function_names().size() == 3);
  CHECK(made.library->target().name == made.device->target().name);
  const auto& notes = made.library->slice_report().notes;
  REQUIRE(notes.size() == 2);
  CHECK((!notes[0].chosen && notes[1].chosen && notes[1].target == made.device->target().name));
  CHECK(made.compiler->calls.empty());
  std::vector<std::thread> threads;
  std::set<const PipelineState*> pipelines;
  std::mutex mutex;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto pipeline = must(must(made.library->function("count"))->pipeline());
      const std::lock_guard lock(mutex);
      pipelines.insert(pipeline.get());
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(pipelines.size() == 1);
  CHECK(made.compiler->calls == std::map<std::string, int>{{"count", 1}});
  CHECK(made.compiler->alone);
  const FunctionRef function = must(made.library->function("saxpy"));
  CHECK(function->args().empty());
  CHECK(must(function->with_code())->args().size() == 3);
  CHECK(code_of(made.library->function("none")) == Errc::function_not_found);
  CHECK(run_counting(made.device, must(must(made.library->function("count"))->pipeline()), 2) ==
        std::vector<uint32_t>{6, 6, 5, 5, 5, 5, 5, 5});
}

TEST_CASE("prepare() makes the code of all kernels, but for those that want values") {
  OnDemand made({"saxpy", "count", "constants", "halve"});
  size_t last = 0;
  CHECK(must(made.library->prepare({}, [&](size_t done, size_t total) {
          last = done;
          return total == 4;
        })) == 3);
  CHECK(last == 4);
  CHECK(made.compiler->calls.size() == 4);
  const std::string_view named[] = {"constants"};
  CHECK(code_of(made.library->prepare(named)) == Errc::constant_missing);
  CHECK(must(made.library->prepare()) == 3);
  for (const auto& [name, calls] : made.compiler->calls) CHECK(calls == 1);
}

TEST_CASE("an error is that of whoever wants the kernel, and the next one tries again") {
  OnDemand made({"saxpy", "count"});
  made.compiler->broken = "count";
  const FunctionRef function = must(made.library->function("count"));
  CHECK(function->usable());
  CHECK(code_of(function->pipeline()) == Errc::compile_failed);
  CHECK(code_of(made.library->prepare()) == Errc::compile_failed);
  CHECK(must(made.library->function("saxpy"))->pipeline());
  made.compiler->broken.clear();
  CHECK(function->pipeline());
}

TEST_CASE("values of constants reach the code that replaces other code") {
  OnDemand made({"constants"}, std::make_shared<const CodeTier>(CodeTier{"fast", {}, {}}));
  ConstantValues values;
  values.set("size", int64_t{7}).set(uint32_t{7}, 2.5);
  const PipelineRef pipeline = must(must(made.library->function("constants"))->pipeline(values));
  CHECK(pipeline->effort() == "fast");
  const auto before = run_counting(made.device, pipeline, 1);
  CHECK(before[0] == 7);
  CHECK(before[3] == 1);
  must(replace_code(*pipeline, *with_code_of(made.device, "constants", "constants"), "balanced"));
  CHECK(pipeline->effort() == "balanced");
  CHECK(run_counting(made.device, pipeline, 1) == before);
}

TEST_CASE("launches run the code that is there when they begin") {
  OnDemand made({"count"});
  const PipelineRef pipeline = must(must(made.library->function("count"))->pipeline());
  CHECK(pipeline->effort().empty());
  const LibraryRef other = with_code_of(made.device, "count", "constants");
  const LibraryRef same = with_code_of(made.device, "count", "count");
  CHECK(run_counting(made.device, pipeline, 1) == std::vector<uint32_t>{6, 5, 5, 5});
  must(replace_code(*pipeline, *other, "other"));
  CHECK(run_counting(made.device, pipeline, 1) == std::vector<uint32_t>{0, UINT32_MAX, 0, 0});
  // One or the other, never a mixture, while threads launch and others replace.
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, counted{0}, others{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        const auto values = run_counting(made.device, pipeline, 1);
        const bool is_count = values == std::vector<uint32_t>{6, 5, 5, 5};
        const bool is_other = values == std::vector<uint32_t>{0, UINT32_MAX, 0, 0};
        counted += is_count ? 1 : 0;
        others += is_other ? 1 : 0;
        wrong += is_count == is_other ? 1 : 0;
      }
    });
  for (int i = 0; i < 2000 && (i < 20 || counted == 0 || others == 0); ++i) {
    must(replace_code(*pipeline, i % 2 == 0 ? *same : *other, "either"));
    std::this_thread::sleep_for(1ms);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(counted > 0);
  CHECK(others > 0);
}

TEST_CASE("code that does not fit leaves the pipeline as it was") {
  OnDemand made({"count"});
  const PipelineRef pipeline = must(must(made.library->function("count"))->pipeline());
  const DeviceRef elsewhere = cpu_device(1);
  CHECK(code_of(replace_code(*pipeline, *with_code_of(elsewhere, "count", "count"), "x")) == Errc::invalid_argument);
  CHECK(code_of(replace_code(*pipeline, *with_code_of(made.device, "saxpy", "saxpy"), "x")) ==
        Errc::function_not_found);
  CHECK(pipeline->effort().empty());
  CHECK(run_counting(made.device, pipeline, 1) == std::vector<uint32_t>{6, 5, 5, 5});
}

TEST_CASE("a pipeline that has run for long is told of once, and one that has not is not") {
  std::atomic<int> told{0};
  std::atomic<bool> fits{true};
  PipelineRef pipeline;
  CodeTier tier{"fast", 200us, [&](const PipelineRef& which) {
                  ++told;
                  fits = fits && which == pipeline;
                }};
  OnDemand made({"count", "saxpy"}, std::make_shared<const CodeTier>(tier));
  pipeline = must(must(made.library->function("count"))->pipeline());
  const PipelineRef other = must(must(made.library->function("saxpy"))->pipeline());
  run_counting(made.device, pipeline, 1);
  CHECK(told == 0);
  // Short launches, of which few are timed, and long ones.
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 30'000; ++k) run_counting(made.device, pipeline, 1);
      for (int k = 0; k < 3; ++k) run_counting(made.device, pipeline, 1'000'000);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(told == 1);
  CHECK(fits);
}

TEST_CASE("what better code is worth grows with the code") {
  CHECK(worth_after(0) > 0ns);
  CHECK(worth_after(1 << 20) > worth_after(1 << 10));
}
