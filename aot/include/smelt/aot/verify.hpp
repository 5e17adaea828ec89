// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every check of a finished Metal library, or of one AIR module, that can be made without a Mac. The container's own
// half is smelt/metallib/check.hpp; this adds what lies in the bitcode, and whether the two agree.
//
// Bounded: for bytes from anywhere. Deterministic order: container first, then functions as they lie in the file, then
// the checks as listed here.
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// One check, by subject. The names are part of what `smelt verify` prints.
enum class Check : uint8_t {
  container,  ///< bounds, shape, hashes, emptiness of the library
  bitcode,    ///< can be read, and LLVM's verifier has no objection
  record,     ///< records, types and attributes that this AIR version does not have
  versions,   ///< versions that disagree: container, VERS, triple, !air.version, !air.language_version
  entry,      ///< the entry point's node, and its name and kind in the container
  argument,   ///< argument metadata against the function's signature
  operation,  ///< names and typed signatures of air.* against the table
  limit,      ///< 31 buffers, 32 KiB of threadgroup memory, 1024 threads, ...
  foreign,    ///< what AIR does not have at all: intrinsics of processors, other address spaces, inline assembly, ...
};
std::string_view to_string(Check check);

struct Finding {
  enum class Severity : uint8_t {
    error,  ///< Apple's loader or compiler refuses it, or miscompiles it
    note,   ///< loads as far as is known, but Apple's own tools write it differently, or no pipeline is made of it
  };
  Severity severity = Severity::error;
  Check check = Check::container;
  std::string place;    ///< "function 'saxpy', argument 2"; empty for the file as a whole
  std::string message;  ///< what was found, and what would be right

  /// "error: argument: function 'saxpy', argument 2: ..."
  std::string to_line() const;
};

/// What the container says about a module; checked against what the module says.
struct ModuleContext {
  std::string function;              ///< entry point; empty: whatever the module has
  std::string stage;                 ///< "kernel", ...; empty: any
  std::optional<Version> air;        ///< VERS
  std::optional<Version> language;   ///< VERS
  std::optional<Platform> platform;  ///< of the header
  std::optional<Version> os;         ///< deployment target of the header
};

/// One AIR module: raw or wrapped bitcode.
std::vector<Finding> verify_module(ByteView bitcode, const ModuleContext& context = {});

/// A Metal library, or a universal file of them: container and every module.
std::vector<Finding> verify_metallib(ByteView file);

}  // namespace smelt::aot
