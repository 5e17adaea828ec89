// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binary archives: packages of kernels that were compiled for this CPU, each a library named by the key that the store
// has it under.
#pragma once

#include "smelt/loader/library.hpp"

#include "Metal/MTLBinaryArchive.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"

#include <map>
#include <mutex>

namespace smelt::metal {

class ArchiveObject final : public MTL::BinaryArchive {
 public:
  std::string_view class_name() const override { return "MTLBinaryArchive"; }

  DeviceObject* device = nullptr;
  Label label;

  /// Code from here; nothing when it has none under the key.
  std::optional<Result<loader::LibraryRef>> find(const Digest& key) const;
  void add(const Digest& key, const loader::OwnedBytes& package);
  /// All of it as one package.
  Result<Bytes> package() const;

  loader::PackageRef opened;  ///< of a file; null for a new archive
  loader::OwnedBytes bytes;   ///< of that file

 private:
  mutable std::mutex mutex_;
  std::map<Digest, loader::OwnedBytes> added_;
};

inline ArchiveObject& from(const MTL::BinaryArchive* archive) {
  return const_cast<ArchiveObject&>(static_cast<const ArchiveObject&>(*archive));
}

}  // namespace smelt::metal
