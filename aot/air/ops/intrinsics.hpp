// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one table of AIR's operations (docs/formats/air.md 3), which ops.def holds: the exact signature of each air.*
// name, from which AIR version it exists and until which, its attributes, and how well we know it. The legaliser
// declares from it, verify checks against it, the writer takes pointees from it, and tests hold it against every
// declaration found in Apple's own bitcode (air-harvest.tsv).
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/entry_interface.hpp"
#include "smelt/base/result.hpp"

#include "ops/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Function;
class FunctionType;
class LLVMContext;
class Module;
}  // namespace llvm

namespace smelt::aot::air {

/// Where a signature was seen.
enum class Evidence : uint8_t {
  harvested,  ///< in bitcode that Apple's compiler wrote and somebody distributed
  sourced,    ///< in published compiler output, or emitted by a maintained project that runs on Macs
  inferred,   ///< by analogy with its neighbours in the table
};

/// What a call may do; decides the attributes that Apple's compiler puts on the declaration.
enum class Effect : uint8_t {
  pure,            ///< nothing but its result
  lanes,           ///< talks to other lanes, or waits for them: convergent
  atomic,          ///< reads and writes memory, alone
  matrix_load,     ///< convergent, only reads
  matrix_store,    ///< convergent, only writes
  out_argument,    ///< writes through a pointer argument
  texture_sample,  ///< convergent (implicit derivatives), reads through its handles
  texture_read,    ///< reads through its handles
  texture_write,   ///< reads and writes through its handle
  texture_atomic,  ///< the same, in memory that others touch too
  hidden_read,     ///< reads what no pointer of the module reaches
  tile_read,       ///< reads the tile, which pointers of the module reach too
  tile_write,      ///< writes it
  unknown,         ///< nothing is promised
};

/// The stages whose functions may call an operation: a bit each. Visible functions may be called by any.
using Stages = unsigned;
constexpr Stages bit_of(Stage stage) {
  return 1U << static_cast<unsigned>(stage);
}
inline constexpr Stages kEverywhere = ~0U;
inline constexpr Stages kInFragments = bit_of(Stage::fragment) | bit_of(Stage::visible);
inline constexpr Stages kInMeshes = bit_of(Stage::mesh) | bit_of(Stage::visible);
inline constexpr Stages kInObjects = bit_of(Stage::object) | bit_of(Stage::visible);
/// What works on imageblocks; tile functions are kernels to Metal.
inline constexpr Stages kInTiles =
    bit_of(Stage::tile) | bit_of(Stage::kernel) | bit_of(Stage::fragment) | bit_of(Stage::visible);

struct Parameter {
  enum class Access : uint8_t { any, reads, writes };
  AirType type;
  Access access = Access::any;  ///< of a pointer
};

/// One form of one operation.
struct Signature {
  std::string name;  ///< whole: "air.simd_sum.f32"
  AirType result;
  std::vector<Parameter> parameters;
  Effect effect = Effect::unknown;
  Evidence evidence = Evidence::inferred;
  Version since;             ///< 0.0: always
  Version until;             ///< last AIR version with this form; 0.0: still there
  bool family_only = false;  ///< recognised by its name; result and parameters are not judged, or not known at all
};

/// The form of `name` at this AIR version. Errors: `compile_failed` for a name that is no AIR operation (with the
/// nearest names), `unsupported` for one that this version does not have (with the targets that do).
Result<Signature> lookup(std::string_view name, Version air);

/// Every form that `name` had or has, oldest first; empty for an unknown name.
std::vector<Signature> forms(std::string_view name);

/// Where `name` may be called: as its row says, or its family; everywhere for an unknown name.
Stages stages_of(std::string_view name);
/// "fragment" of kInFragments: which functions alone may.
std::string_view word_of(Stages stages);

/// What operand `index`, a pointer in that address space, points to, as a pointer; nothing where no row tells. Rows
/// tell of operand lists and types that they do not take, too: pointees follow from the name and the space.
std::optional<AirType> pointer_operand(std::string_view name, unsigned index, unsigned space);
/// Likewise, of a result.
std::optional<AirType> pointer_result(std::string_view name, unsigned space);

/// The LLVM 19 type of a form that is not family_only.
llvm::FunctionType* function_type(const Signature& signature, llvm::LLVMContext& context);

/// "half (half addrspace(1)*, i64)": as in air-harvest.tsv, without attributes.
std::string typed_text(const Signature& signature);

/// Whether a declaration has this form (always true for family_only).
bool agrees(const Signature& signature, const llvm::FunctionType* type);

/// The declaration of `name` in `module` with the attributes of its row; made if it is not there yet.
Result<llvm::Function*> declare(llvm::Module& module, std::string_view name, Version air);

/// Puts the attributes of `signature` on a declaration.
void annotate(llvm::Function& function, const Signature& signature);

/// "air.<operation>.<type>" with the signedness that the name wants, e.g. mangle("simd_sum", u32, 'u').
std::string mangle(std::string_view operation, const AirType& type, char signedness = 0);

/// One line of the table that can be declared, for documentation and for tests that walk all of it.
struct OperationRow {
  std::string_view name;  ///< without "air." and without type suffix
  std::string_view signature;
  Evidence evidence;
  Version since, until;
  std::vector<std::string> examples;  ///< full names that must resolve
};
std::vector<OperationRow> operation_rows();

/// The scope operand of air.simdgroup.barrier: Apple writes 1 up to AIR 2.5 and 4 from AIR 2.6
/// (docs/formats/air.md 3.7).
int simdgroup_barrier_scope(Version air);

}  // namespace smelt::aot::air
