// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file may be a mapping that somebody else can write, so what is hashed is the copy, and what runs is that copy:
// there is no moment at which checked bytes can still change. Blobs of one call share a region, because a mapping and
// its protection cost more than hashing a kernel.
#include "code.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smelt::loader {
namespace {

#if defined(__aarch64__)
constexpr size_t kAlignment = 4096;  // its code addresses data by page, so a blob keeps its place within one
#else
constexpr size_t kAlignment = 64;
#endif

}  // namespace

CodeRegion::~CodeRegion() {
  ::munmap(at_, size_);
}

std::vector<Result<CodePlace>> load_code(std::span<const CodeBlob> blobs) {
  std::vector<Result<CodePlace>> places(blobs.size());
  if (blobs.empty()) return places;
  const auto fail_all = [&places](const char* what) {
    const int error = errno;
    for (auto& place : places)
      place = fail(Errc::io, "CPU code: cannot {}: {}. A policy may forbid it (SELinux execmem)", what,
                   std::strerror(error));
    return places;
  };

  size_t size = 0;
  for (const CodeBlob& blob : blobs) size += round_up(blob.bytes.size(), kAlignment);
  size = round_up(size, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_POPULATE
  flags |= MAP_POPULATE;  // one call instead of a fault per page
#endif
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return fail_all("get memory for it");
  auto* base = static_cast<std::byte*>(mapped);
  const auto region = std::make_shared<const CodeRegion>(base, size);

  std::byte* at = base;
  for (size_t i = 0; i < blobs.size(); ++i) {
    const CodeBlob& blob = blobs[i];
    std::memcpy(at, blob.bytes.data(), blob.bytes.size());
    if (const Digest found = sha256({at, blob.bytes.size()}); found != blob.digest) {
      std::memset(at, 0, blob.bytes.size());
      places[i] = fail(Errc::digest_mismatch,
                       "kernel '{}': its {} bytes of code hash to {}, the slice lists {}; it will not be executed. The "
                       "package was changed after it was built: copy or build it again",
                       blob.name, blob.bytes.size(), to_hex(found), to_hex(blob.digest));
    } else {
      places[i] = CodePlace{region, at};
    }
    at += round_up(blob.bytes.size(), kAlignment);
  }
  if (::mprotect(base, size, PROT_READ | PROT_EXEC) != 0) return fail_all("make it executable");
  __builtin___clear_cache(reinterpret_cast<char*>(base), reinterpret_cast<char*>(base + size));
  return places;
}

}  // namespace smelt::loader
