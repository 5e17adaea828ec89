// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries and their functions.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

/// How Metal source is compiled. Defaults are Metal's: fast math, the newest language version.
class SMELT_METAL_API CompileOptions : public NS::Copying<CompileOptions> {
 public:
  static CompileOptions* alloc();
  CompileOptions* init();
  /// Names to strings or numbers, as -D.
  NS::Dictionary* preprocessorMacros() const;
  void setPreprocessorMacros(const NS::Dictionary* macros);
  bool fastMathEnabled() const;
  void setFastMathEnabled(bool enabled);
  MathMode mathMode() const;
  void setMathMode(MathMode mode);
  MathFloatingPointFunctions mathFloatingPointFunctions() const;
  void setMathFloatingPointFunctions(MathFloatingPointFunctions functions);
  LanguageVersion languageVersion() const;
  void setLanguageVersion(LanguageVersion version);
  /// LibraryTypeDynamic is an error when the library is made.
  LibraryType libraryType() const;
  void setLibraryType(LibraryType type);
  LibraryOptimizationLevel optimizationLevel() const;
  void setOptimizationLevel(LibraryOptimizationLevel level);
  bool preserveInvariance() const;
  void setPreserveInvariance(bool preserve);
  /// Messages of kernels (os_log, Metal 3.2) are kept, and written to standard error.
  bool enableLogging() const;
  void setEnableLogging(bool enabled);
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger count);
};

class SMELT_METAL_API FunctionConstant : public NS::Referencing<FunctionConstant> {
 public:
  NS::String* name() const;
  DataType type() const;
  NS::UInteger index() const;
  bool required() const;
};

class SMELT_METAL_API FunctionConstantValues : public NS::Copying<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init();
  /// The value is copied.
  void setConstantValue(const void* value, DataType type, NS::UInteger index);
  void setConstantValue(const void* value, DataType type, const NS::String* name);
  /// One value of `type` after the other, for indexes of the range.
  void setConstantValues(const void* values, DataType type, const NS::Range& range);
  void reset();
};

class SMELT_METAL_API FunctionDescriptor : public NS::Copying<FunctionDescriptor> {
 public:
  static FunctionDescriptor* functionDescriptor();
  static FunctionDescriptor* alloc();
  FunctionDescriptor* init();
  NS::String* name() const;
  void setName(const NS::String* name);
  NS::String* specializedName() const;
  void setSpecializedName(const NS::String* name);
  FunctionConstantValues* constantValues() const;
  void setConstantValues(const FunctionConstantValues* values);
  FunctionOptions options() const;
  void setOptions(FunctionOptions options);
  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* archives);
};

class SMELT_METAL_API Function : public NS::Referencing<Function> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  FunctionType functionType() const;
  /// The specialised name, if one was given.
  NS::String* name() const;
  FunctionOptions options() const;
  /// By name.
  NS::Dictionary* functionConstantsDictionary() const;
  /// For the kernel's argument buffer at [[buffer(bufferIndex)]], laid out as the kernel reads it. Null, which is
  /// misuse, when there is none.
  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex);
  /// `reflection`, if not null, gets what the pipeline says about that argument.
  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex, const AutoreleasedArgument* reflection);
};

class SMELT_METAL_API Library : public NS::Referencing<Library> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  /// Null when the library has none of that name.
  Function* newFunction(const NS::String* functionName);
  Function* newFunction(const NS::String* functionName, const FunctionConstantValues* constantValues,
                        NS::Error** error);
  void newFunction(const NS::String* functionName, const FunctionConstantValues* constantValues,
                   const NewFunctionCompletionHandler& completionHandler);
  Function* newFunction(const FunctionDescriptor* descriptor, NS::Error** error);
  void newFunction(const FunctionDescriptor* descriptor, const NewFunctionCompletionHandler& completionHandler);
  NS::Array* functionNames() const;
  LibraryType type() const { return LibraryTypeExecutable; }
  NS::String* installName() const { return nullptr; }
  /// The bytes of its Metal library, which Objective-C programs ask for by this name. For a library of source, this
  /// call compiles them. Returns null if that fails.
  NS::Data* libraryDataContents() const;
};

}  // namespace MTL
