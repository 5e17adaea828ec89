// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// docs/design/loader.md 3.8 and 5.2: what a dispatch means.
#include "support.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cfenv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <numeric>
#include <thread>

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::test;

TEST_CASE("a kernel from a package runs, on one thread and on several") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Kernel kernel(cpu_device(threads), "saxpy");
    for (const size_t n : {size_t{1}, size_t{7}, size_t{1000}, size_t{300001}}) {
      std::vector<float> x(n), y(n);
      for (size_t i = 0; i < n; ++i) x[i] = float(i % 1000), y[i] = 1;
      must(kernel.encoder->set_memory(0, memory(x)));
      must(kernel.encoder->set_memory(1, memory(y)));
      must(kernel.encoder->set_bytes(2, bytes_of(2.0f)));
      must(kernel.encoder->dispatch_threads({n}));
      size_t wrong = 0;
      for (size_t i = 0; i < n; ++i) wrong += y[i] != 2.0f * float(i % 1000) + 1;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("every thread of a grid runs exactly once, none outside") {
  const Size3 grids[] = {{1}, {1023}, {100003}, {31, 17}, {1, 4099}, {700, 301}, {5, 7, 11}, {1, 1, 999}, {65, 33, 40}};
  for (const unsigned threads : {1u, 3u}) {
    Kernel kernel(cpu_device(threads), "count");
    for (const Size3& grid : grids) {
      CAPTURE(grid.x);
      CAPTURE(grid.y);
      CAPTURE(grid.z);
      const size_t inside = grid.x * grid.y * grid.z;
      std::vector<uint32_t> counts(inside + 64);
      must(kernel.encoder->set_memory(0, memory(counts)));
      for (uint32_t launch = 1; launch <= 3; ++launch) {  // later launches are cut by what the first one cost
        must(kernel.encoder->dispatch_threads(grid, Size3{8, 4, 2}, 3));
        CHECK(std::count(counts.begin(), counts.begin() + std::ptrdiff_t(inside), launch) == std::ptrdiff_t(inside));
        CHECK(std::count(counts.begin() + std::ptrdiff_t(inside), counts.end(), 0u) == 64);
      }
    }
  }
}

TEST_CASE("edge groups are trimmed to the grid") {
  for (const unsigned threads : {1u, 4u}) {
    Kernel kernel(cpu_device(threads), "count_groups");
    const Size3 grid{13, 9, 5}, group{4, 4, 2};
    std::vector<uint32_t> counts(13 * 9 * 5), sizes(counts.size());
    must(kernel.encoder->set_memory(0, memory(counts)));
    must(kernel.encoder->set_memory(1, memory(sizes)));
    must(kernel.encoder->dispatch_threads(grid, group, 3));
    CHECK(std::count(counts.begin(), counts.end(), 1u) == 13 * 9 * 5);
    CHECK(sizes[0] == 32);
    CHECK(sizes[12] == 1 * 4 * 2);          // x = 12 is alone in its group
    CHECK(sizes[8 * 13] == 4 * 1 * 2);      // y = 8 too
    CHECK(sizes[4 * 9 * 13] == 4 * 4 * 1);  // and z = 4
    CHECK(sizes.back() == 1);
  }
}

TEST_CASE("sizes are given in braces, and every component counts") {
  Kernel kernel(cpu_device(), "count");
  std::vector<uint32_t> counts(64 * 9);
  must(kernel.encoder->set_memory(0, memory(counts)));
  const auto ran = [&] {
    const auto threads = std::accumulate(counts.begin(), counts.end(), 0u);
    std::fill(counts.begin(), counts.end(), 0u);
    return threads;
  };
  const uint64_t n = 32;
  must(kernel.encoder->dispatch_threads({n, 1, 1}, {n, 1, 1}));
  CHECK(ran() == 32);
  must(kernel.encoder->dispatch_threads({64, 9}, {8, 4}));
  CHECK(ran() == 64 * 9);
  must(kernel.encoder->dispatch_threads({4, 3, 2}));
  CHECK(ran() == 4 * 3 * 2);
  must(kernel.encoder->dispatch_threads({64, 9}, std::nullopt, 1));
  CHECK(ran() == 64);
}

TEST_CASE("group sizes: default, limit, zero, required") {
  const DeviceRef device = cpu_device();
  Kernel kernel(device, "count_groups");
  std::vector<uint32_t> counts(4096), sizes(4096);
  must(kernel.encoder->set_memory(0, memory(counts)));
  must(kernel.encoder->set_memory(1, memory(sizes)));
  must(kernel.encoder->dispatch_threads({100}));
  CHECK(sizes[0] == 100);  // min(threads, limit)
  must(kernel.encoder->dispatch_threads({4096}));
  CHECK(sizes[0] == 1024);
  must(kernel.encoder->dispatch_threads({64, 64}, {}, 2));
  CHECK(sizes[0] == 64);  // (min(limit, x), 1, 1)

  CHECK(code_of(kernel.encoder->dispatch_threads({64}, Size3{0})) == Errc::group_zero);
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, Size3{1024})) == Errc::ok);
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, Size3{1025})) == Errc::group_too_large);
  CHECK(code_of(kernel.encoder->dispatch_threads({64, 64}, Size3{32, 33}, 2)) == Errc::group_too_large);
  const uint64_t huge = uint64_t{1} << 32;  // the product of two wraps to 0
  CHECK(code_of(kernel.encoder->dispatch_threads({64, 64}, Size3{huge, huge}, 2)) == Errc::group_too_large);
  const uint64_t quarter = uint64_t{1} << 62;  // times 4 wraps to 0
  for (const Size3& wraps : {Size3{quarter, 4, 1}, Size3{4, quarter, 1}, Size3{1, 4, quarter}})
    CHECK(code_of(kernel.encoder->dispatch_threads({4, 4, 4}, wraps, 3)) == Errc::group_too_large);
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, {}, 0)) == Errc::invalid_argument);
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, {}, 4)) == Errc::invalid_argument);
  CHECK(code_of(kernel.encoder->dispatch_threads({huge}, {}, 1)) == Errc::invalid_argument);

  // A kernel's own limit is below the device's: it passes at the limit and fails one above, before anything runs.
  Kernel limited(device, "group_sum");
  CHECK(limited.pipeline->max_threads_per_threadgroup() == 256);
  std::vector<uint32_t> values(1024, 1), sums(1024, 77);
  must(limited.encoder->set_memory(0, memory(values)));
  must(limited.encoder->set_memory(1, memory(sums)));
  must(limited.encoder->set_threadgroup_memory(3, 64));
  const auto refused = limited.encoder->dispatch_threads({1024}, Size3{257});
  CHECK(code_of(refused) == Errc::group_too_large);
  CHECK(contains(message_of(refused), "256"));
  CHECK(sums[0] == 77);
  CHECK(code_of(limited.encoder->dispatch_threads({1024}, Size3{256})) == Errc::ok);

  KernelSpec fixed = kernel_spec("count_groups");
  fixed.function.required_group[0] = 8;
  fixed.function.required_group[1] = fixed.function.required_group[2] = 4;
  const LibraryRef library = must(Library::load(device, kernel_package({fixed})));
  must(kernel.encoder->set_pipeline(must(must(library->function("count_groups"))->pipeline())));
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, Size3{8, 4, 4}, 3)) == Errc::ok);
  CHECK(code_of(kernel.encoder->dispatch_threads({64}, Size3{8, 4, 2}, 3)) == Errc::group_too_large);
  CHECK(code_of(kernel.encoder->dispatch_threads({64})) == Errc::ok);  // the default is what it requires
}

TEST_CASE("an empty grid is a no-op that succeeds and is counted") {
  Kernel kernel(cpu_device(), "count");
  std::vector<uint32_t> counts(16);
  must(kernel.encoder->set_memory(0, memory(counts)));
  must(kernel.encoder->dispatch_threads({0}));
  must(kernel.encoder->dispatch_threads({4, 0}, {}, 2));
  must(kernel.encoder->dispatch_threads({4, 4, 0}, Size3{1, 1, 1}, 3));
  CHECK(kernel.encoder->empty_dispatches() == 3);
  CHECK(std::count(counts.begin(), counts.end(), 0u) == 16);
}

TEST_CASE("static and dynamic threadgroup memory") {
  for (const unsigned threads : {1u, 3u}) {
    Kernel kernel(cpu_device(threads), "group_sum");
    const size_t n = 100000, group = 64, groups = (n + group - 1) / group;
    std::vector<uint32_t> values(n, 1), sums(groups);
    must(kernel.encoder->set_memory(0, memory(values)));
    must(kernel.encoder->set_memory(1, memory(sums)));
    const auto unset = kernel.encoder->dispatch_threads({n}, Size3{group});
    CHECK(code_of(unset) == Errc::argument_mismatch);
    CHECK(contains(message_of(unset), "'dynamic'"));
    must(kernel.encoder->set_threadgroup_memory(3, 4096));
    must(kernel.encoder->dispatch_threads({n}, Size3{group}));
    size_t wrong = 0;
    for (size_t i = 0; i < groups; ++i) wrong += sums[i] != std::min(group, n - i * group) + i;
    CHECK(wrong == 0);

    CHECK(code_of(kernel.encoder->set_threadgroup_memory(3, 40000)) == Errc::threadgroup_memory_too_large);
    must(kernel.encoder->set_threadgroup_memory(3, 32768 - 16));  // all that there is, with 16 static bytes
    must(kernel.encoder->dispatch_threads({n}, Size3{group}));
    must(kernel.encoder->set_threadgroup_memory(3, 32768));  // with 16 static bytes it is too much
    const auto large = kernel.encoder->dispatch_threads({n}, Size3{group});
    CHECK(code_of(large) == Errc::threadgroup_memory_too_large);
    CHECK(contains(message_of(large), "(32784)"));
    CHECK(contains(message_of(large), "(32768)"));
  }
}

TEST_CASE("a buffer that a kernel uses must be bound") {
  Kernel kernel(cpu_device(), "saxpy");
  std::vector<float> x(4);
  must(kernel.encoder->set_memory(0, memory(x)));
  must(kernel.encoder->set_bytes(2, bytes_of(1.0f)));
  const auto unbound = kernel.encoder->dispatch_threads({4});
  CHECK(code_of(unbound) == Errc::argument_mismatch);
  CHECK(contains(message_of(unbound), "buffer 1 'y'"));
  CHECK(code_of(kernel.encoder->set_memory(30, memory(x))) == Errc::ok);
  CHECK(code_of(kernel.encoder->set_memory(31, memory(x))) == Errc::buffer_index);
  CHECK(code_of(kernel.encoder->set_bytes(31, bytes_of(1))) == Errc::buffer_index);
  CHECK(code_of(kernel.encoder->set_threadgroup_memory(31, 16)) == Errc::buffer_index);
  must(kernel.encoder->set_memory(1, memory(x)));
  must(kernel.encoder->dispatch_threads({4}));
  kernel.encoder->clear_bindings();
  CHECK(code_of(kernel.encoder->dispatch_threads({4})) == Errc::argument_mismatch);

  // One that exists only under a function constant may be left out; so may one that the body ignores.
  KernelSpec spare = kernel_spec("count");
  schema::Argument ghost = spare.function.arguments[0];
  ghost.location = 5;
  ghost.conditional = true;
  spare.function.arguments.push_back(ghost);
  ghost.location = 6;
  ghost.conditional = false;
  ghost.unused = true;
  spare.function.arguments.push_back(ghost);
  const DeviceRef& device = kernel.encoder->device();
  const LibraryRef library = must(Library::load(device, kernel_package({spare})));
  must(kernel.encoder->set_pipeline(must(must(library->function("count"))->pipeline())));
  std::vector<uint32_t> counts(4);
  must(kernel.encoder->set_memory(0, memory(counts)));
  must(kernel.encoder->dispatch_threads({4}));
  CHECK(counts[3] == 1);
}

TEST_CASE("what is bound is held to the declared type's length, whichever way it is bound") {
  // saxpy, whose factor is declared as a structure of eight bytes in constant memory; the arrays are of floats.
  KernelSpec spec = kernel_spec("saxpy");
  schema::Argument& params = spec.function.arguments[2];
  params.type_name = "Params";
  params.size = params.align = 8;
  params.address_space = 2;
  const DeviceRef device = cpu_device();
  const auto load = [&](const KernelSpec& kernel) {
    const LibraryRef library = must(Library::load(device, kernel_package({kernel})));
    return must(must(library->function("saxpy"))->pipeline());
  };
  const auto encoder = must(Encoder::create(device));
  must(encoder->set_pipeline(load(spec)));
  std::vector<float> x(4, 1.0f), y(4);
  const float factors[] = {2.0f, 0.0f};
  must(encoder->set_memory(0, memory(x)));
  must(encoder->set_memory(1, memory(y)));
  const std::string message = "kernel 'saxpy': buffer 2 'a' has {} bytes, and the kernel reads Params of 8 bytes";
  const auto refused = [&](uint64_t bytes) {
    const auto launched = encoder->dispatch_threads({4});
    CHECK(code_of(launched) == Errc::argument_mismatch);
    CHECK(message_of(launched) == fmt::format(fmt::runtime(message), bytes));
    CHECK(y[0] == 0.0f);  // before anything ran
  };

  must(encoder->set_bytes(2, bytes_of(factors).first(4)));
  refused(4);
  must(encoder->set_bytes(2, bytes_of(factors).first(7)));
  refused(7);
  std::vector<float> one(1, 2.0f), two(2, 2.0f);
  must(encoder->set_memory(2, memory(one)));
  refused(4);
  const BufferRef buffer = must(device->make_buffer(12));
  must(encoder->set_buffer(2, buffer, 8));  // what is left behind the offset counts
  refused(4);
  must(encoder->set_memory(2, {}));  // constant memory is never nothing
  refused(0);

  must(encoder->set_buffer(2, buffer, 4));
  must(encoder->dispatch_threads({4}));
  must(encoder->set_memory(2, memory(two)));
  must(encoder->dispatch_threads({4}));
  must(encoder->set_bytes(2, bytes_of(factors)));
  must(encoder->dispatch_threads({4}));
  CHECK(y[3] == 4.0f);

  // An array in device memory has at least one element.
  must(encoder->set_memory(0, memory(x).first(3)));
  CHECK(message_of(encoder->dispatch_threads({1})) ==
        "kernel 'saxpy': buffer 0 'x' has 3 bytes, and the kernel reads float of 4 bytes");

  // A function constant may remove this argument, so that no length is required.
  spec.function.arguments[2].conditional = true;
  must(encoder->set_pipeline(load(spec)));
  must(encoder->set_memory(0, memory(x)));
  must(encoder->set_bytes(2, bytes_of(factors).first(4)));
  must(encoder->dispatch_threads({4}));
  CHECK(y[3] == 6.0f);
}

TEST_CASE("buffers, offsets and bytes of any length") {
  const DeviceRef device = cpu_device();
  Kernel kernel(device, "saxpy");
  const BufferRef x = must(device->make_buffer(4 * 100)), y = must(device->make_buffer(4 * 50));
  auto* xs = reinterpret_cast<float*>(x->contents().data());
  auto* ys = reinterpret_cast<float*>(y->contents().data());
  CHECK(ys[49] == 0);
  CHECK(y->gpu_address() == reinterpret_cast<uintptr_t>(ys));
  std::iota(xs, xs + 100, 0.0f);
  must(kernel.encoder->set_buffer(0, x, 4 * 50));
  must(kernel.encoder->set_buffer(1, y));
  Bytes large(100000);  // above Metal's limit for inline bytes: copied, not an error
  const float two = 2;
  std::memcpy(large.data(), &two, 4);
  must(kernel.encoder->set_bytes(2, large));
  large.assign(large.size(), std::byte{0});  // they were copied when they were set
  must(kernel.encoder->dispatch_threads({50}));
  CHECK(ys[0] == 100);
  CHECK(ys[49] == 198);
  CHECK(code_of(kernel.encoder->set_buffer(0, x, 401)) == Errc::invalid_argument);
  CHECK(code_of(kernel.encoder->set_buffer(0, nullptr, 1)) == Errc::invalid_argument);
  must(kernel.encoder->set_buffer(30, nullptr));  // "none" counts as bound, wherever it is

  std::vector<float> own(50, 1.0f);
  bool released = false;
  {
    const BufferRef wrapped =
        must(device->wrap(memory(own), std::shared_ptr<void>(nullptr, [&](void*) { released = true; })));
    must(kernel.encoder->set_buffer(1, wrapped));
  }
  CHECK_FALSE(released);  // the encoder keeps what is bound
  must(kernel.encoder->dispatch_threads({50}));
  CHECK(own[0] == 101);
  kernel.encoder->clear_bindings();
  CHECK(released);
}

TEST_CASE("private copies of a contended buffer add up") {
  for (const unsigned threads : {1u, 2u, 4u}) {
    Kernel kernel(cpu_device(threads), "histogram");
    const size_t n = 500000;
    std::vector<uint32_t> values(n), bins(256);
    for (size_t i = 0; i < n; ++i) values[i] = uint32_t(i) * 2654435761u >> 24;
    std::vector<uint32_t> expected(256, 5);
    for (const uint32_t value : values) ++expected[value];
    bins.assign(256, 5);  // what was there stays
    must(kernel.encoder->set_memory(0, memory(values)));
    must(kernel.encoder->set_memory(1, memory(bins)));
    std::vector<uint32_t> copies(1);
    must(kernel.encoder->set_memory(2, memory(copies)));
    must(kernel.encoder->dispatch_threads({n}));
    CHECK(bins == expected);
    CHECK(copies[0] == 2);
  }
}

TEST_CASE("a launch has copies however fast the last one was, if they are small beside its threads") {
  Kernel kernel(cpu_device(1), "histogram");
  std::vector<uint32_t> values(4096), bins(256), copies(1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = uint32_t(i) * 2654435761u >> 24;
  must(kernel.encoder->set_memory(0, memory(values)));
  must(kernel.encoder->set_memory(1, memory(bins)));
  must(kernel.encoder->set_memory(2, memory(copies)));
  for (const auto& [threads, copied] : {std::pair{4096u, 2u}, {1024u, 0u}, {2048u, 2u}}) {
    CAPTURE(threads);
    for (unsigned i = 0; i < 100; ++i) {
      bins.assign(256, i);
      std::vector<uint32_t> expected = bins;
      for (uint32_t j = 0; j < threads; ++j) ++expected[values[j]];
      must(kernel.encoder->dispatch_threads({threads}));
      CHECK(bins == expected);
    }
    CHECK(copies[0] == copied);
  }
}

TEST_CASE("denormals are flushed in kernels, and the caller's float mode is put back") {
  for (const unsigned threads : {1u, 3u}) {
    Kernel kernel(cpu_device(threads), "halve");
    const size_t n = 100000;
    std::vector<float> values(n, std::numeric_limits<float>::min());
    must(kernel.encoder->set_memory(0, memory(values)));
    must(kernel.encoder->set_bytes(1, bytes_of(0.5f)));
    std::fesetround(FE_UPWARD);
    must(kernel.encoder->dispatch_threads({n}));
    CHECK(std::fegetround() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    CHECK(std::count(values.begin(), values.end(), 0.0f) == std::ptrdiff_t(n));
    volatile float smallest = std::numeric_limits<float>::min();
    CHECK(smallest * 0.5f != 0.0f);
  }
}

TEST_CASE("a checked kernel reports the buffer, the place and the thread") {
  KernelSpec checked = kernel_spec("saxpy");
  checked.function.name = checked.row.name = "checked_next";
  checked.function.arguments.pop_back();
  checked.row.checked = true;
  schema::Library model = kernel_library("kernels", {checked});
  model.slices[0].checked = true;
  model.slices[0].target = "cpu-checked";
  const Bytes package = must(schema::write_package(std::vector{model}));
  const DeviceRef device = cpu_device();
  CHECK(code_of(Library::load(device, package)) == Errc::unsupported_family);  // only when asked for
  LoadOptions options;
  options.checked = true;
  const LibraryRef library = must(Library::load(device, package, options));
  const auto encoder = must(Encoder::create(device));
  must(encoder->set_pipeline(must(must(library->function("checked_next"))->pipeline())));
  std::vector<float> x(101), out(101);
  must(encoder->set_memory(0, memory(x)));
  must(encoder->set_memory(1, memory(out)));
  CHECK(code_of(encoder->dispatch_threads({100})) == Errc::ok);
  const auto outside = encoder->dispatch_threads({101});
  REQUIRE(code_of(outside) == Errc::buffer_bounds);
  CHECK(message_of(outside) ==
        "kernel 'checked_next': thread (100, 0, 0) reads 4 bytes at offset 404 (index 101) of buffer 0 'x', which has "
        "404 bytes");
  CHECK(code_of(encoder->dispatch_threads({100})) == Errc::ok);  // the next launch starts clean

  // Elements are counted where there are any: not of single bytes, nor where one begins in the middle of another.
  for (const uint32_t element : {1u, 3u}) {
    model.functions[0].arguments[0].size = element;
    const LibraryRef bytes = must(Library::load(device, must(schema::write_package(std::vector{model})), options));
    must(encoder->set_pipeline(must(must(bytes->function("checked_next"))->pipeline())));
    CHECK(message_of(encoder->dispatch_threads({101})) ==
          "kernel 'checked_next': thread (100, 0, 0) reads 4 bytes at offset 404 of buffer 0 'x', which has 404 bytes");
  }
}

TEST_CASE("lines that kernels log reach the caller") {
  std::vector<std::string> lines;
  DeviceOptions options;
  options.threads = 2;
  options.log = [&](std::string_view kernel, std::string_view line) {
    lines.push_back(fmt::format("{}|{}", kernel, line));
  };
  const DeviceRef device = must(Device::open(DeviceKind::cpu, options));
  const auto encoder = must(Encoder::create(device));
  const LibraryRef library = must(Library::load(device, kernel_package({logging_kernel()})));
  must(encoder->set_pipeline(must(must(library->function("logs"))->pipeline())));
  must(encoder->set_bytes(1, bytes_of(0.5f)));
  const auto log = [&](std::string_view format) {
    lines.clear();
    const std::string text(format);
    must(encoder->set_bytes(0, as_bytes(std::string_view(text.c_str(), text.size() + 1))));
    must(encoder->dispatch_threads({4}));
    return lines.size() == 4 ? lines[3] : "lines missing";
  };
  CHECK(log("%u: %f") == "logs|3: 1.500000");
  CHECK(log("%04x %.2e 100%%") == "logs|0003 1.50e+00 100%");
  CHECK(log("%v2u") == "logs|3,1069547520");
  CHECK(log("%d %f %d") == "logs|3 1.500000 <?>");  // more conversions than operands
  CHECK(log("%ld") == "logs|4593671619917905923");
  CHECK(log("%n %") == "logs|%n %");  // not ours
  CHECK(log("%99999d").size() == 5 + 256);
  CHECK(log("%256d").size() == 5 + 256);
  CHECK(log("%.99999d").size() == 5 + 256);
  CHECK(log("%5d|%-5.0f|") == "logs|    3|2    |");
  CHECK(log("%+d %.f") == "logs|+3 2");
  CHECK(log("%hd %i") == "logs|3 1069547520");
  CHECK(log("%lx") == "logs|3fc0000000000003");
  CHECK(log("%p %s %d") == "logs|0x3fc0000000000003 0x3ff8000000000000 <?>");
  CHECK(log("%d %lx") == "logs|3 3ff8000000000000");  // the second begins at 8 bytes
  CHECK(log("%d %f %ld") == "logs|3 1.500000 <?>");
  CHECK(log("%lf") == "logs|0.125000");
  CHECK(log("%c%c") == std::string("logs|\3") + '\0');
  CHECK(log("%v4x") == "logs|3,3fc00000,0,3ff80000");
  CHECK(log("%v3x %d") == "logs|3,3fc00000,0 <?>");  // of the size of four
  CHECK(log("%d %v2hlf") == "logs|3 0.000000,1.937500");
  CHECK(log("%v2hf %v2hlf") == "logs|0.000000,0.000000 0.000000,1.937500");
  CHECK(log("%v4hhx %v2hd") == "logs|3,0,0,0 0,16320");
  CHECK(log("%v4hlx %v4hlx") == "logs|3,3fc00000,0,3ff80000 <?>,<?>,<?>,<?>");
  CHECK(log("%v5x") == "logs|%v5x");
  CHECK(log("%v1x %v") == "logs|%v1x %v");
  CHECK(log("%12") == "logs|%12");
  CHECK(log("") == "logs|");
  // The longest line of one operand: a double near 1e306 with all the digits that may be asked for.
  must(encoder->set_bytes(1, bytes_of(std::numeric_limits<float>::max() / 3)));
  CHECK(log("%.256lf").size() == 5 + 307 + 1 + 256);
}

TEST_CASE("a device has as many threads as were asked for, the caller's among them") {
  const std::filesystem::path tasks("/proc/self/task");
  if (!std::filesystem::exists(tasks)) return;
  const auto running = [&] {
    return std::distance(std::filesystem::directory_iterator(tasks), std::filesystem::directory_iterator());
  };
  const auto with = [&](unsigned threads) {
    Kernel kernel(cpu_device(threads), "count");
    std::vector<uint32_t> counts(1000000);
    must(kernel.encoder->set_memory(0, memory(counts)));
    for (int launch = 0; launch < 3; ++launch) must(kernel.encoder->dispatch_threads({counts.size()}));
    return running();
  };
  const auto alone = with(1);
  CHECK(with(2) == alone + 1);
  CHECK(with(7) == alone + 6);
  const unsigned usable = static_cast<unsigned>(std::thread::hardware_concurrency());
  CHECK(with(0) <= alone + std::max(usable, 1u) - 1);
}

TEST_CASE("a launch that is to end says so, and leaves the rest undone") {
  for (const bool by_limit : {false, true}) {
    size_t lines = 0;
    DeviceOptions options;
    options.threads = 1;
    if (by_limit)
      options.launch_limit = std::chrono::milliseconds(1);
    else
      options.interrupted = [] { return true; };
    options.log = [&](std::string_view, std::string_view) {
      if (++lines % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(12));
    };
    const DeviceRef device = must(Device::open(DeviceKind::cpu, options));
    const LibraryRef library = must(Library::load(device, kernel_package({logging_kernel()})));
    const auto encoder = must(Encoder::create(device));
    must(encoder->set_pipeline(must(must(library->function("logs"))->pipeline())));
    must(encoder->set_bytes(0, as_bytes(std::string_view("x", 2))));
    must(encoder->set_bytes(1, bytes_of(0.5f)));
    const auto ended = encoder->dispatch_threads({64 * 500});
    CHECK(code_of(ended) == Errc::cancelled);
    CHECK(contains(message_of(ended), by_limit ? "limit of 0.001 s" : "interrupted"));
    CHECK(lines > 0);
    CHECK(lines < 64 * 500);
  }
}

TEST_CASE("encoders on several threads share a device and its pipelines") {
  const DeviceRef device = cpu_device(3);
  const LibraryRef library = must(Library::load(device, kernel_package()));
  std::vector<std::thread> users;
  std::atomic<size_t> wrong{0};
  for (int user = 0; user < 4; ++user)
    users.emplace_back([&] {
      const auto encoder = must(Encoder::create(device));
      for (int round = 0; round < 20; ++round) {
        must(encoder->set_pipeline(must(must(library->function("count"))->pipeline())));
        std::vector<uint32_t> counts(50000);
        must(encoder->set_memory(0, memory(counts)));
        must(encoder->dispatch_threads({counts.size()}));
        wrong += size_t(std::count_if(counts.begin(), counts.end(), [](uint32_t count) { return count != 1; }));
      }
    });
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
}

TEST_CASE("handles keep what they stand on") {
  std::unique_ptr<Encoder> encoder;
  {
    const DeviceRef device = cpu_device();
    encoder = must(Encoder::create(device));
    must(encoder->set_pipeline(
        must(must(must(Library::load(device, kernel_package()))->function("count"))->pipeline())));
  }
  std::vector<uint32_t> counts(10);
  must(encoder->set_memory(0, memory(counts)));
  must(encoder->dispatch_threads({10}));
  CHECK(counts[9] == 1);
  const auto other = must(Encoder::create(cpu_device()));
  Kernel kernel(cpu_device(), "count");
  CHECK(code_of(other->set_pipeline(kernel.pipeline)) == Errc::invalid_argument);  // another device's
  CHECK(code_of(other->dispatch_threads({1})) == Errc::invalid_argument);          // no pipeline yet
}
