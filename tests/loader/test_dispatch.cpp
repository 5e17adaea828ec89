#include "files.hpp"
#include "kernel_packages.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::loader;
using test::must;

namespace {

DeviceRef cpu(unsigned threads) {
  DeviceOptions options;
  options.threads = threads;
  return must(Device::open(DeviceKind::cpu, options));
}

template <class T>
std::span<std::byte> memory(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}
template <class T>
ByteView bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

struct Kernel {
  Kernel(const DeviceRef& device, const char* name, const ConstantValues& constants = {})
      : library(must(Library::load(device, test::kernel_package()))),
        pipeline(must(must(library->function(name))->pipeline(constants))),
        encoder(must(Encoder::create(device))) {
    must(encoder->set_pipeline(pipeline));
  }
  LibraryRef library;
  PipelineRef pipeline;
  std::unique_ptr<Encoder> encoder;
};

}  // namespace

TEST_CASE("a kernel from a package runs") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    const DeviceRef device = cpu(threads);
    Kernel kernel(device, "saxpy");
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
