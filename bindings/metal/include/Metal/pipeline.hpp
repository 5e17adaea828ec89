// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compute pipelines: a function with its constants, ready to run; and what it says about its arguments.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

/// Visible functions that a kernel may reach through tables: of the kernel's own library, and without function
/// constants. Others are an error when the pipeline is made. Private ones have no handle. Groups say nothing here.
class SMELT_METAL_API LinkedFunctions : public NS::Copying<LinkedFunctions> {
 public:
  static LinkedFunctions* linkedFunctions();
  static LinkedFunctions* alloc();
  LinkedFunctions* init();
  NS::Array* functions() const;
  void setFunctions(const NS::Array* functions);
  NS::Array* binaryFunctions() const;
  void setBinaryFunctions(const NS::Array* functions);
  NS::Array* privateFunctions() const;
  void setPrivateFunctions(const NS::Array* functions);
  NS::Dictionary* groups() const;
  void setGroups(const NS::Dictionary* groups);
};

class SMELT_METAL_API ComputePipelineDescriptor : public NS::Copying<ComputePipelineDescriptor> {
 public:
  static ComputePipelineDescriptor* alloc();
  ComputePipelineDescriptor* init();
  void reset();
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Function* computeFunction() const;
  void setComputeFunction(const Function* function);
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setThreadGroupSizeIsMultipleOfThreadExecutionWidth(bool multiple);
  /// 0: the function's own.
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger count);
  NS::UInteger maxCallStackDepth() const;
  void setMaxCallStackDepth(NS::UInteger depth);
  /// True is an error when the pipeline is made: there are no indirect command buffers.
  bool supportIndirectCommandBuffers() const;
  void setSupportIndirectCommandBuffers(bool support);
  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* archives);
  LinkedFunctions* linkedFunctions() const;
  void setLinkedFunctions(const LinkedFunctions* functions);
};

/// Immutable, for any thread.
class SMELT_METAL_API ComputePipelineState : public NS::Referencing<ComputePipelineState> {
 public:
  NS::String* label() const;
  Device* device() const;
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  NS::UInteger threadExecutionWidth() const;
  NS::UInteger staticThreadgroupMemoryLength() const;
  NS::UInteger imageblockMemoryLength(Size) const { return 0; }
  bool supportIndirectCommandBuffers() const { return false; }
  ComputePipelineReflection* reflection() const;
  /// Of one of the descriptor's linked functions; null for any other. It belongs to the innermost pool.
  FunctionHandle* functionHandle(const Function* function) const;
  VisibleFunctionTable* newVisibleFunctionTable(const VisibleFunctionTableDescriptor* descriptor) const;
};

class SMELT_METAL_API Binding : public NS::Referencing<Binding> {
 public:
  NS::String* name() const;
  BindingType type() const;
  BindingAccess access() const;
  NS::UInteger index() const;
  bool used() const;
  bool isUsed() const { return used(); }
  /// Exists always, not only with some value of a function constant.
  bool argument() const;
  bool isArgument() const { return argument(); }
};
class SMELT_METAL_API BufferBinding : public NS::Referencing<BufferBinding, Binding> {
 public:
  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  DataType bufferDataType() const;
};
class SMELT_METAL_API ThreadgroupBinding : public NS::Referencing<ThreadgroupBinding, Binding> {
 public:
  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;
};
/// The older form of a Binding.
class SMELT_METAL_API Argument : public NS::Referencing<Argument> {
 public:
  NS::String* name() const;
  ArgumentType type() const;
  BindingAccess access() const;
  NS::UInteger index() const;
  bool active() const;
  bool isActive() const { return active(); }
  NS::UInteger bufferAlignment() const;
  NS::UInteger bufferDataSize() const;
  DataType bufferDataType() const;
  NS::UInteger threadgroupMemoryAlignment() const;
  NS::UInteger threadgroupMemoryDataSize() const;
  NS::UInteger arrayLength() const;
};
class SMELT_METAL_API ComputePipelineReflection : public NS::Referencing<ComputePipelineReflection> {
 public:
  /// BufferBinding and ThreadgroupBinding.
  NS::Array* bindings() const;
  /// The same as Argument.
  NS::Array* arguments() const;
};

class SMELT_METAL_API BinaryArchiveDescriptor : public NS::Copying<BinaryArchiveDescriptor> {
 public:
  static BinaryArchiveDescriptor* alloc();
  BinaryArchiveDescriptor* init();
  NS::URL* url() const;
  void setUrl(const NS::URL* url);
};
/// Compiled kernels in a file: a package of smelt that any of its tools reads.
class SMELT_METAL_API BinaryArchive : public NS::Referencing<BinaryArchive> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  bool addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error);
  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

}  // namespace MTL
