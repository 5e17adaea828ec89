// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions as arguments: what a kernel's visible_function_table<S> [[buffer(index)]] is.
#pragma once

#include "Metal/resource.hpp"
#include "Metal/types.hpp"

namespace MTL {

/// A function of a pipeline's linked functions. Immutable, for any thread.
class SMELT_METAL_API FunctionHandle : public NS::Referencing<FunctionHandle> {
 public:
  FunctionType functionType() const;
  NS::String* name() const;
  Device* device() const;
};

class SMELT_METAL_API VisibleFunctionTableDescriptor : public NS::Copying<VisibleFunctionTableDescriptor> {
 public:
  static VisibleFunctionTableDescriptor* visibleFunctionTableDescriptor();
  static VisibleFunctionTableDescriptor* alloc();
  VisibleFunctionTableDescriptor* init();
  NS::UInteger functionCount() const;
  void setFunctionCount(NS::UInteger count);
};

/// Its entries are empty at first. A dispatch reads them when it runs. A kernel that calls an empty entry, or a
/// function of another type, ends its command buffer with an error. Any thread.
class SMELT_METAL_API VisibleFunctionTable : public NS::Referencing<VisibleFunctionTable, Resource> {
 public:
  /// A handle of the pipeline that made the table; null: an empty entry.
  void setFunction(const FunctionHandle* function, NS::UInteger index);
  void setFunctions(const FunctionHandle* const functions[], NS::Range range);
};

}  // namespace MTL
