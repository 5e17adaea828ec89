// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small things that the loader's tests share.
#pragma once

#include "files.hpp"
#include "kernel_packages.hpp"

namespace smelt::test {

inline loader::DeviceRef cpu_device(unsigned threads = 2) {
  loader::DeviceOptions options;
  options.threads = threads;
  return must(loader::Device::open(loader::DeviceKind::cpu, options));
}

template <class T>
std::span<std::byte> memory(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}
template <class T>
ByteView bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// A kernel of kernels.c, ready to dispatch.
struct Kernel {
  Kernel(const loader::DeviceRef& device, const char* name, const loader::ConstantValues& constants = {})
      : library(must(loader::Library::load(device, kernel_package()))),
        pipeline(must(must(library->function(name))->pipeline(constants))),
        encoder(must(loader::Encoder::create(device))) {
    must(encoder->set_pipeline(pipeline));
  }
  loader::LibraryRef library;
  loader::PipelineRef pipeline;
  std::unique_ptr<loader::Encoder> encoder;
};

/// The code of a failure; ok when it was none.
template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc::ok : result.error().code;
}
template <class T>
std::string message_of(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}
inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace smelt::test
