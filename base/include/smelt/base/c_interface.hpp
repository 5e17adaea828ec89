// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the C interfaces are made of: what a handle is, how a Result becomes a status, and how info structs of any age
// are read and filled. Statuses are the numbers of errc.def.
#pragma once

#include "smelt/base/result.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

namespace smelt::c_api {

/// A counted reference to a C++ object.
template <class Ref>
struct Handle {
  explicit Handle(Ref r) : ref(std::move(r)) {}
  std::atomic<size_t> references{1};
  Ref ref;
};

/// Keeps the failure as the thread's last error and returns its status. Defined by each library with a C interface.
int32_t remember(const Error& error) noexcept;
/// The same where there may be no memory for more than this.
int32_t remember(Errc code, const char* message) noexcept;

/// Runs `body` (a Result<void>) and lets nothing escape. Out-parameters are cleared before this is called.
template <class Body>
int32_t guard(const Body& body) noexcept {
  try {
    const Result<void> result = body();
    return result ? 0 : remember(result.error());
  } catch (const std::bad_alloc&) {
    return remember(Errc::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return remember(Errc::invalid_argument, error.what());
  } catch (...) {
    return remember(Errc::invalid_argument, "a callback threw");
  }
}

inline tl::unexpected<Error> null_argument(const char* function, const char* what) {
  return fail(Errc::invalid_argument, "{}: {} is null", function, what);
}

template <class T>
void clear(T* out) {
  if (out != nullptr) *out = T{};
}

/// Hands a fresh reference to the caller.
template <class H, class Ref>
Result<void> give(H** out, Result<Ref> result) {
  if (!result) return tl::unexpected(std::move(result).error());
  *out = new H(std::move(*result));
  return {};
}

template <class H>
void retain(H* handle) {
  if (handle != nullptr) handle->references.fetch_add(1, std::memory_order_relaxed);
}
template <class H>
void release(H* handle) {
  if (handle != nullptr && handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete handle;
}

inline void set_text(std::string_view text, const char*& to, size_t& length) {
  to = text.data() != nullptr ? text.data() : "";
  length = text.size();
}

/// Reads the caller's struct, which may be older (shorter) or newer (longer) than ours.
template <class Options>
Result<Options> read_options(const Options* given, const char* function) {
  Options options{};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof(size_t))
    return fail(Errc::invalid_argument, "{}: struct_size of the options is {}; set it to sizeof", function,
                given->struct_size);
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(Options)));
  return options;
}

/// Fills as much of the caller's struct as it has.
template <class Info>
Result<void> write_info(Info* out, Info info, const char* function) {
  if (out == nullptr) return null_argument(function, "info");
  const size_t size = out->struct_size;
  if (size < sizeof(size_t))
    return fail(Errc::invalid_argument, "{}: struct_size of the info is {}; set it to sizeof", function, size);
  info.struct_size = size;
  std::memcpy(out, &info, std::min(size, sizeof(Info)));
  return {};
}

}  // namespace smelt::c_api
