// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a CPU slice, its digest put right first: what is read lies inside the slice.
#include "smelt/schema/cpu_slice.hpp"

#include <cstdlib>

using namespace smelt;
using namespace smelt::schema;

namespace {

void seal(Bytes& bytes) {
  if (bytes.size() < kCpuSliceHeaderBytes) return;
  const uint64_t offset = load_le<uint64_t>(bytes.data() + 24), size = load_le<uint64_t>(bytes.data() + 32);
  if (offset > bytes.size() || size > bytes.size() - offset) return;
  constexpr size_t kDigestAt = kCpuSliceHeaderBytes - sizeof(Digest::bytes);
  Hasher hasher;
  hasher.update(ByteView(bytes).first(kDigestAt));
  hasher.update(ByteView(bytes).subspan(offset, size));
  const Digest digest = hasher.finish();
  std::memcpy(bytes.data() + kDigestAt, digest.bytes.data(), digest.bytes.size());
}

void check(ByteView bytes) {
  const auto slice = read_cpu_slice(bytes);
  if (!slice) return;
  for (const CpuKernel& kernel : slice->kernels) {
    if (kernel.code_offset > bytes.size() || kernel.code_bytes > bytes.size() - kernel.code_offset) std::abort();
    if (kernel.entry_offset >= kernel.code_bytes || kernel.threadgroup_bytes > kernel.fixed_bytes) std::abort();
    for (const CpuConstant& constant : kernel.constants)
      if (uint64_t{constant.offset} + constant.bytes > kernel.constants_bytes ||
          constant.defined_offset >= kernel.constants_bytes)
        std::abort();
    for (const CpuPrivateBuffer& buffer : kernel.private_buffers)
      if (buffer.buffer >= SMELT_CPU_MAX_BUFFERS) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  check(bytes);
  seal(bytes);
  check(bytes);
  return 0;
}
