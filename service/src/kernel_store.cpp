// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_store.hpp"

#include "smelt/schema/package.hpp"

#include "entry_parts.hpp"

namespace smelt::service {
namespace {

Result<std::optional<KeptKernel>> read_entry(const cache::Entry& entry) {
  const auto bytes = entry.part(kKernelPart);
  if (!bytes) return std::optional<KeptKernel>();
  SMELT_TRY(const schema::Package package, schema::Package::open(*bytes));
  KeptKernel kernel(entry.origin());
  kernel.kept = true;
  SMELT_TRY(kernel.library, package.copy_library(0));
  kernel.warnings = unpack_warnings(as_text(entry.part(kWarningsPart).value_or(ByteView())));
  return std::optional(std::move(kernel));
}

}  // namespace

Digest kernel_key(const Digest& part, const std::vector<aot::CpuLevel>& levels, Checks checked, aot::CpuEffort effort) {
  Hasher hasher;
  hasher.field("kernel 1");
  hasher.field(ByteView(part.bytes));
  hasher.field(uint64_t{checked.bits()});
  hasher.field(aot::to_string(effort));
  hasher.field(uint64_t{levels.size()});
  for (const aot::CpuLevel level : levels) hasher.field(aot::to_string(level));
  return hasher.finish();
}

std::vector<std::optional<KeptKernel>> KernelStore::find(const std::vector<Digest>& keys,
                                                         const std::vector<Asked>& asked) const {
  std::vector<std::optional<KeptKernel>> kernels(keys.size());
  if (!store_) return kernels;
  std::vector<remote::Question> questions;
  for (const Asked& one : asked) questions.push_back(question(kKernelPart, one, recompile_));
  const auto entries = store_->find_all(keys, false, questions);
  if (!entries) {
    warn_(entries.error().message);
    return kernels;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!(*entries)[i]) continue;
    auto kernel = read_entry(*(*entries)[i]);
    if (kernel)
      kernels[i] = std::move(*kernel);
    else
      warn_(kernel.error().message);
  }
  return kernels;
}

void KernelStore::keep(const std::vector<Digest>& keys, const std::vector<std::optional<KeptKernel>>& parts,
                       const std::vector<size_t>& which, std::chrono::microseconds cost) const {
  if (!store_ || store_->local().read_only() || which.empty()) return;
  struct Kept {
    Bytes package;
    std::string warnings;
  };
  std::vector<Kept> kept;
  kept.reserve(which.size());  // the entries point into it
  std::vector<cache::Store::Put> entries;
  for (const size_t i : which) {
    if (parts[i]->library.functions.empty()) continue;
    auto package = schema::write_package(std::span(&parts[i]->library, 1));
    if (!package) continue;  // an error of the whole library too, which is told when that is written
    kept.push_back({std::move(*package), pack_warnings(parts[i]->warnings)});
    cache::Store::Put entry{
        keys[i], {{kKernelPart, kept.back().package}}, parts[i]->origin, cost / static_cast<int64_t>(which.size())};
    if (!kept.back().warnings.empty()) entry.parts.push_back({kWarningsPart, as_bytes(kept.back().warnings)});
    entries.push_back(std::move(entry));
  }
  if (auto put = store_->put_all(entries); !put) warn_(put.error().message);
}

}  // namespace smelt::service
