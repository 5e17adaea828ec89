// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and typed signatures of air.* against the table. The types are those of the bits: LLVM 19 cannot see a wrong
// pointee.
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "kernel_ir/tensor_names.hpp"
#include "ops/intrinsics.hpp"
#include "verify/checks.hpp"

namespace smelt::aot::verify {
namespace {

/// Generic intrinsics that Apple's own modules contain, and Apple's runtime library.
bool is_known_external(std::string_view name) {
  return name.starts_with("llvm.") || name.starts_with("___metal_") || kernel_ir::is_tensor_operation(name) ||
         name.ends_with(std::string_view(kernel_ir::kControlPointSuffix));
}

void check_one(const RawFunction& function, Version version, bool made_by_apple, Findings& findings) {
  const std::string place = fmt::format("declaration of {}", function.name);
  const auto known = air::forms(function.name);
  if (known.empty()) {
    const auto missing = air::lookup(function.name, version);
    const std::string message = missing ? std::string() : missing.error().message;
    if (made_by_apple)
      findings.note(Check::operation, place, "not in the table: {}", message);
    else
      findings.error(Check::operation, place, "{}", message);
    return;
  }
  const auto current = air::lookup(function.name, version);
  if (!current) {
    findings.error(Check::operation, place, "{}", current.error().message);
    return;
  }
  if (current->family_only) return;
  const std::string wanted = air::typed_text(*current);
  if (function.typed_signature != wanted)
    findings.error(Check::operation, place, "declared as {}; AIR {}.{} has {}", function.typed_signature, version.major,
                   version.minor, wanted);
}

}  // namespace

bool has_known_operations(Version air) {
  return air >= Version{2, 3};
}

void note_unknown_operations(Version air, Findings& findings) {
  findings.note(Check::operation, "",
                "operations of AIR {}.{} are not judged: what Apple's compilers declare is known "
                "from AIR 2.3 on",
                air.major, air.minor);
}

void check_operations(const RawModule& raw, Version version, bool made_by_apple, Findings& findings) {
  for (const RawFunction& function : raw.functions) {
    if (!function.is_declaration) continue;
    if (function.name.starts_with("air.")) {
      if (has_known_operations(version)) check_one(function, version, made_by_apple, findings);
    } else if (!is_known_external(function.name) && !made_by_apple) {
      findings.error(Check::operation, fmt::format("declaration of {}", function.name), "{}",
                     llvm::StringRef(function.name).starts_with(kernel_ir::kCpuOnlyPrefix)
                         ? "an operation of kernels for the CPU alone, which no Metal device has"
                         : "neither an AIR operation nor defined in the module; the pipeline would not link");
    }
  }
}

}  // namespace smelt::aot::verify
