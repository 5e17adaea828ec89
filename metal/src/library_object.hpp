// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/loader/library.hpp"

#include "Metal/library.hpp"
#include "Metal/pipeline.hpp"
#include "compiler.hpp"
#include "constant_values.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"
#include "stored_code.hpp"

#include <map>
#include <mutex>

namespace smelt::metal {

class LibraryObject final : public MTL::Library {
 public:
  LibraryObject(DeviceObject& on, loader::LibraryRef names, loader::OwnedBytes metallib)
      : device(on), library(std::move(names)), metallib_(std::move(metallib)) {}
  std::string_view class_name() const override { return "MTLLibrary"; }

  /// A library that has code for the kernel: this one, or one with that kernel alone, found in the archives or made at
  /// the first call. `archives`, of BinaryArchive, may be null; `only` there: else `not_cached`.
  Result<loader::LibraryRef> with_code(const std::string& kernel, const NS::Array* archives = nullptr,
                                       bool only = false);
  /// What that asks the compiler for, with the effort of code that is made ahead; nothing when the library brings its
  /// code.
  std::optional<KernelRequest> request_for(const std::string& kernel) const;

  DeviceObject& device;
  const loader::LibraryRef library;  ///< all names
  Label label;

 private:
  struct Slot {
    std::once_flag once;
    Result<loader::LibraryRef> library;
  };
  const loader::OwnedBytes metallib_;  ///< empty when `library` has its code
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> kernels_;
};

class FunctionObject final : public MTL::Function {
 public:
  std::string_view class_name() const override { return "MTLFunction"; }

  NS::SharedPtr<LibraryObject> library;
  loader::FunctionRef function;
  std::string specialised;               ///< empty: the function's own name
  std::optional<ConstantSet> constants;  ///< nothing: made without
  MTL::FunctionOptions options = MTL::FunctionOptionNone;
  Label label;
};

inline LibraryObject& from(const MTL::Library* library) {
  return const_cast<LibraryObject&>(static_cast<const LibraryObject&>(*library));
}
inline FunctionObject& from(const MTL::Function* function) {
  return const_cast<FunctionObject&>(static_cast<const FunctionObject&>(*function));
}

/// A metallib or a package, told apart by its bytes. `path`: where it was found, for messages and for whose native code
/// is used; empty for bytes.
Result<NS::SharedPtr<LibraryObject>> load_library(DeviceObject& device, const loader::OwnedBytes& bytes,
                                                  const std::string& path);

/// The function with its constants, ready to run. `archives` and `only` as in with_code.
Result<loader::PipelineRef> build_pipeline(const FunctionObject& function, const NS::Array* archives, bool only);

/// Sets *out to an error in MTLLibraryErrorDomain whose code fits.
std::nullptr_t library_error(NS::Error** out, const Error& error);

}  // namespace smelt::metal
