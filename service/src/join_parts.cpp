// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "join_parts.hpp"

#include "smelt/aot/plan.hpp"
#include "smelt/schema/cpu_slice.hpp"

#include <algorithm>

namespace smelt::service {
namespace {

Result<Bytes> join_cpu_slices(const std::vector<ByteView>& slices) {
  schema::CpuSlice joined;
  std::vector<Bytes> code;
  for (const ByteView bytes : slices) {
    SMELT_TRY(schema::CpuSlice slice, schema::read_cpu_slice(bytes));
    if (!code.empty() && (slice.arch != joined.arch || slice.level != joined.level))
      return fail(Errc::corrupt, "joining kernels: their CPU code is of several levels");
    joined.arch = slice.arch;
    joined.level = slice.level;
    for (schema::CpuKernel& kernel : slice.kernels) {
      code.push_back(to_bytes(bytes.subspan(kernel.code_offset, kernel.code_bytes)));
      joined.kernels.push_back(std::move(kernel));
    }
  }
  return schema::write_cpu_slice(std::move(joined), code);
}

/// Whether a part has what the first one has, slice by slice.
bool same_slices(const schema::Library& first, const schema::Library& part) {
  const auto same = [&](const schema::Slice& a, const schema::Slice& b) {
    return a.kind == b.kind && a.target == b.target && a.checked == b.checked &&
           b.functions.size() == part.functions.size();
  };
  return std::equal(first.slices.begin(), first.slices.end(), part.slices.begin(), part.slices.end(), same);
}

}  // namespace

Result<schema::Library> join_parts(const std::vector<aot::Target>& targets,
                                   const std::vector<const schema::Library*>& parts) {
  const schema::Library& first = *parts.front();
  for (const schema::Library* const part : parts)
    if (part->functions.empty() || !same_slices(first, *part))
      return fail(Errc::corrupt, "joining kernels: they were made for other targets or CPU code than each other");
  schema::Library joined;
  joined.name = first.name;
  joined.compiler = first.compiler;
  for (const schema::Library* const part : parts)
    joined.functions.insert(joined.functions.end(), part->functions.begin(), part->functions.end());
  for (size_t s = 0; s < first.slices.size(); ++s) {
    schema::Slice slice;
    static_cast<schema::BasicSlice<std::string>&>(slice) = first.slices[s];
    std::vector<ByteView> pieces;
    for (const schema::Library* const part : parts) {
      pieces.push_back(part->slices[s].bytes);
      slice.functions.insert(slice.functions.end(), part->slices[s].functions.begin(), part->slices[s].functions.end());
    }
    if (slice.kind == schema::SliceKind::cpu) {
      SMELT_TRY(slice.bytes, join_cpu_slices(pieces));
    } else if (s >= targets.size()) {
      return fail(Errc::corrupt, "joining kernels: they have more Metal libraries than there are targets");
    } else {
      SMELT_TRY(slice.bytes, aot::join_libraries(targets[s], pieces));
      // The lowest that any function needs: the loader checks each function on its own.
      slice.metal = slice.functions.empty() ? targets[s].language : slice.functions.front().metal;
      for (const schema::Presence& presence : slice.functions) slice.metal = std::min(slice.metal, presence.metal);
    }
    joined.slices.push_back(std::move(slice));
  }
  return joined;
}

}  // namespace smelt::service
