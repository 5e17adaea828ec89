// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests' programs have in common: a device, kernels from source, buffers of numbers.
#pragma once

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace program {

/// Of the process, or the second one.
MTL::Device* device(size_t number = 0);

inline NS::String* text(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}
inline std::string text(const NS::String* string) {
  return string != nullptr ? string->utf8String() : "";
}
inline std::string text(const NS::Error* error) {
  return error != nullptr ? text(error->localizedDescription()) : "";
}

/// Compiled once for each source and device; a failed compile is a failed test.
MTL::Library* library(const std::string& source, MTL::Device* on = device());
NS::SharedPtr<MTL::ComputePipelineState> pipeline(const std::string& source, const std::string& kernel,
                                                  MTL::Device* on = device());

template <class T>
NS::SharedPtr<MTL::Buffer> buffer(const std::vector<T>& values, MTL::ResourceOptions options = 0,
                                  MTL::Device* on = device()) {
  return NS::TransferPtr(on->newBuffer(values.data(), values.size() * sizeof(T), options));
}
template <class T>
std::vector<T> values(MTL::Buffer* buffer) {
  std::vector<T> read(buffer->length() / sizeof(T));
  std::memcpy(read.data(), buffer->contents(), read.size() * sizeof(T));
  return read;
}

/// A pool for the length of a test.
struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

/// Kernels of most tests: add_one, double_it (uint, in place), copy_to (0 -> 1), slow_store (after a while 0 gets the
/// value of 1), saxpy, sum_groups.
extern const char* const kKernels;

}  // namespace program
