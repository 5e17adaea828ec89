// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packages made of the hand-written kernels in kernels/kernels.c.
#pragma once

#include "smelt/loader/encoder.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include <string>
#include <vector>

namespace smelt::test {

/// The level of this build's processor family that every test machine has.
schema::CpuArch built_arch();
uint32_t built_level();

/// Machine code of one function of kernels.c.
Bytes kernel_code(const std::string& name);

/// One kernel: how it is listed, and how its row in the slice looks.
struct KernelSpec {
  schema::Function function;
  schema::CpuKernel row;
};
/// All of kernels.c.
std::vector<KernelSpec> all_kernels();
KernelSpec kernel_spec(const std::string& name);
/// Not among them, since it takes its format from a buffer.
KernelSpec logging_kernel();
KernelSpec texture_kernel();
KernelSpec tensor_kernel();

Bytes cpu_slice(const std::vector<KernelSpec>& kernels, schema::CpuArch arch, uint32_t level);
/// One library with one slice for this processor.
schema::Library kernel_library(const std::string& name, const std::vector<KernelSpec>& kernels);
/// A slice entry for `library`, all functions present.
schema::Slice cpu_slice_entry(const schema::Library& library, Bytes slice, schema::CpuArch arch, uint32_t level);
Bytes kernel_package(const std::vector<KernelSpec>& kernels = all_kernels());

/// Checks a result and gives its value; a failure prints its message and ends the test.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(std::string(to_string(result.error().code)) + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace smelt::test
