// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/loader/library.hpp"

#include "Metal/MTLComputePipeline.hpp"
#include "constant_values.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"
#include "kernel_code.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <span>

namespace smelt::metal {

class LibraryObject final : public MTL::Library {
 public:
  using MakeMetallib = std::function<Result<loader::OwnedBytes>()>;
  /// Of a file or bytes. `code`: null when the library brings its own.
  LibraryObject(DeviceObject& on, loader::LibraryRef library, KernelCodeRef code, MakeMetallib make_metallib);
  /// Of source: nothing but the names is known until something is compiled.
  LibraryObject(DeviceObject& on, SourceKernels source, MakeMetallib make_metallib);
  std::string_view class_name() const override { return "MTLLibrary"; }

  std::span<const std::string_view> names() const { return names_; }
  /// `function_not_found` lists near names.
  Result<FunctionKind> kind_of(std::string_view function) const;
  /// The function with what it says of its constants. Of source it is compiled for that.
  Result<loader::FunctionRef> described(const std::string& function);

  /// A library that has code for the kernel: this one, or one with that kernel alone, found in the archives or made at
  /// the first call. `archives`, of BinaryArchive, may be null; `only` there: else `not_cached`.
  Result<loader::LibraryRef> with_code(const std::string& kernel, const NS::Array* archives = nullptr,
                                       bool only = false);
  /// Null when the library brings its own.
  KernelCode* code() const { return code_.get(); }

  DeviceObject& device;
  Label label;
  const MakeMetallib make_metallib;  ///< finds or compiles its Metal library

 private:
  struct Slot {
    std::once_flag once;
    Result<loader::LibraryRef> library;
  };
  const loader::LibraryRef library_;           // null for source
  const std::vector<std::string> name_texts_;  // of source
  std::vector<std::string_view> names_;
  const KernelCodeRef code_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> kernels_;
};

class FunctionObject final : public MTL::Function {
 public:
  std::string_view class_name() const override { return "MTLFunction"; }

  NS::SharedPtr<LibraryObject> library;
  std::string name;
  FunctionKind kind = FunctionKind::kernel;
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

struct BuiltPipeline {
  loader::PipelineRef pipeline;
  bool has_constants = false;  ///< whether the function has any, set or not
};
/// The function with its constants, ready to run. `archives` and `only` as in with_code.
Result<BuiltPipeline> build_pipeline(const FunctionObject& function, const NS::Array* archives, bool only);

/// Sets *out to an error in MTLLibraryErrorDomain whose code fits.
std::nullptr_t library_error(NS::Error** out, const Error& error);

}  // namespace smelt::metal
