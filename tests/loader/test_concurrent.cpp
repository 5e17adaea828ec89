// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatches between begin_concurrent() and end_concurrent().
#include "support.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::test;

namespace {

/// y = a x + y with a cost that is known, so that short dispatches of it are kept.
struct Saxpy : Kernel {
  explicit Saxpy(const DeviceRef& device) : Kernel(device, "saxpy") {
    std::vector<float> x(64), y(64);
    for (int i = 0; i < 50; ++i) add(2, x, y);
  }
  void add(float a, std::span<float> x, std::span<float> y) {
    must(encoder->set_memory(0, std::as_writable_bytes(x)));
    must(encoder->set_memory(1, std::as_writable_bytes(y)));
    must(encoder->set_bytes(2, bytes_of(a)));
    must(encoder->dispatch_threads({y.size()}));
  }
};

}  // namespace

TEST_CASE("concurrent dispatches have run at their end, each with its own arguments") {
  for (const unsigned threads : {1u, 2u, 5u})
    for (const size_t dispatches : {size_t{1}, size_t{7}, size_t{300}, size_t{2500}}) {
      CAPTURE(threads);
      CAPTURE(dispatches);
      Saxpy saxpy(cpu_device(threads));
      constexpr size_t kEach = 37;
      std::vector<float> x(kEach * dispatches, 3), y(kEach * dispatches, 1);
      saxpy.encoder->begin_concurrent();
      for (size_t i = 0; i < dispatches; ++i)
        saxpy.add(float(i), std::span(x).subspan(i * kEach, kEach), std::span(y).subspan(i * kEach, kEach));
      CHECK(y.back() == 1);  // the last are kept
      must(saxpy.encoder->end_concurrent());
      size_t wrong = 0;
      for (size_t i = 0; i < y.size(); ++i) wrong += y[i] != float(i / kEach) * 3 + 1;
      CHECK(wrong == 0);
      saxpy.add(1, std::span(x).first(kEach), std::span(y).first(kEach));
      CHECK(y[0] == 4);  // one after the other again
    }
}

TEST_CASE("a slot that held bytes is the memory that it was bound to last") {
  Saxpy saxpy(cpu_device(2));
  std::vector<float> x(32, 3), y(32, 1), before(32, 100);
  must(saxpy.encoder->set_bytes(0, std::as_bytes(std::span(before))));
  must(saxpy.encoder->set_bytes(1, std::as_bytes(std::span(before))));
  saxpy.encoder->begin_concurrent();
  saxpy.add(2, x, y);
  must(saxpy.encoder->set_bytes(1, std::as_bytes(std::span(before))));  // after the dispatch: not its business
  must(saxpy.encoder->end_concurrent());
  CHECK(y == std::vector<float>(32, 7));
}

TEST_CASE("long and short dispatches are concurrent together") {
  Saxpy saxpy(cpu_device(3));
  std::vector<float> x(400000, 1), y(400000, 1), few(10, 1);
  saxpy.encoder->begin_concurrent();
  saxpy.add(2, x, few);
  saxpy.add(2, x, y);
  must(saxpy.encoder->wait());
  CHECK(few == std::vector<float>(10, 3));
  CHECK(y == std::vector<float>(400000, 3));
}

TEST_CASE("behind a barrier dispatches see what those before it wrote") {
  for (const unsigned threads : {1u, 4u}) {
    Saxpy saxpy(cpu_device(threads));
    std::vector<std::vector<float>> rows(50, std::vector<float>(100));
    std::vector<float> ones(100, 1);
    saxpy.encoder->begin_concurrent();
    for (std::vector<float>& row : rows) saxpy.add(1, ones, row);
    must(saxpy.encoder->barrier());
    for (size_t i = 0; i + 1 < rows.size(); i += 2) saxpy.add(10, rows[i + 1], rows[i]);
    must(saxpy.encoder->barrier());
    for (size_t i = 1; i < rows.size(); i += 2) saxpy.add(100, rows[i - 1], rows[i]);
    must(saxpy.encoder->end_concurrent());
    for (size_t i = 0; i < rows.size(); ++i) CHECK(rows[i] == std::vector<float>(100, i % 2 == 0 ? 11.0f : 1101.0f));
  }
}

TEST_CASE("what is kept runs when its encoder begins anew or ends, and holds its buffers") {
  const DeviceRef device = cpu_device(2);
  std::vector<float> y(32, 1);
  {
    Saxpy saxpy(device);
    bool released = false;
    std::vector<float> ones(32, 1);
    saxpy.encoder->begin_concurrent();
    must(saxpy.encoder->set_buffer(
        0, must(device->wrap(memory(ones), std::shared_ptr<void>(nullptr, [&](void*) { released = true; })))));
    must(saxpy.encoder->set_memory(1, memory(y)));
    must(saxpy.encoder->dispatch_threads({32}));
    saxpy.encoder->reset();
    CHECK_FALSE(released);
    must(saxpy.encoder->wait());
    CHECK(released);
    CHECK(y[31] == 3);
    must(saxpy.encoder->set_pipeline(must(must(saxpy.library->function("saxpy"))->pipeline())));
    saxpy.encoder->begin_concurrent();
    saxpy.add(5, ones, y);
    CHECK(y[31] == 3);
  }
  CHECK(y[31] == 8);
}

TEST_CASE("the first error of concurrent dispatches is the barrier's, and the others run") {
  KernelSpec checked = kernel_spec("saxpy");
  checked.function.name = checked.row.name = "checked_next";
  checked.function.arguments.pop_back();
  checked.row.checked = true;
  schema::Library model = kernel_library("kernels", {checked});
  model.slices[0].checked = true;
  model.slices[0].target = "cpu-checked";
  LoadOptions options;
  options.checked = true;
  const DeviceRef device = cpu_device(2);
  const LibraryRef library = must(Library::load(device, must(schema::write_package(std::vector{model})), options));
  const auto encoder = must(Encoder::create(device));
  must(encoder->set_pipeline(must(must(library->function("checked_next"))->pipeline())));
  std::vector<float> x(101, 7);
  std::vector<std::vector<float>> out(3, std::vector<float>(101));
  must(encoder->set_memory(0, memory(x)));
  const auto dispatch = [&](size_t row, size_t threads) {
    must(encoder->set_memory(1, memory(out[row])));
    must(encoder->dispatch_threads({threads}));
  };
  dispatch(0, 100);
  encoder->begin_concurrent();
  dispatch(0, 100);
  dispatch(1, 101);
  dispatch(2, 100);
  const auto done = encoder->barrier();
  CHECK(code_of(done) == Errc::buffer_bounds);
  CHECK(message_of(done) ==
        "kernel 'checked_next': thread (100, 0, 0) reads 4 bytes at offset 404 (index 101) of buffer 0 'x', which has "
        "404 bytes");
  CHECK(out[2][99] == 7);
  dispatch(1, 100);
  CHECK(code_of(encoder->end_concurrent()) == Errc::ok);
  CHECK(code_of(encoder->dispatch_threads({101})) == Errc::buffer_bounds);  // at once again
}
