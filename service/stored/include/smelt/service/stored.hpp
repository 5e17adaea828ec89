// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled libraries that a store holds, for programs without a compiler: found by key or name, exported as a package,
// imported from one. What makes them: smelt/service/session.hpp.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/cache/store.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::service {

/// The part of an entry that holds its package.
constexpr std::string_view kPackagePart = "library.smelt";

/// What the CPU code of a plain Metal library is filed under: its bytes, the level ("x86-64-v3"), the effort ("fast",
/// "balanced", "best"), and the compiler that was built together with this, so that code of another one is a miss.
Digest cpu_code_key(ByteView metallib, std::string_view level, Checks checked, std::string_view effort = "balanced");

/// What the store has under the key, when it may be used as it is now: for those who read a store without the remotes
/// behind it. `why_not` is told of what may not, which counts as absent. Errors also: $SMELT_TRUST and the keys.
Result<std::optional<cache::Entry>> find_usable(cache::Store& store, const Digest& key,
                                                const std::function<void(std::string_view)>& why_not = {});
/// In the order of the keys.
Result<std::vector<std::optional<cache::Entry>>> find_usable(cache::Store& store, const std::vector<Digest>& keys,
                                                             const std::function<void(std::string_view)>& why_not = {});

/// The key that a text stands for: itself in hex, NAME@VERSION, NAME (of several versions the newest), or the beginning
/// of the key of one entry, 8 digits at least.
Result<Digest> find_key(cache::Store& store, const std::string& name);
/// The same for several.
Result<std::vector<Digest>> find_keys(cache::Store& store, std::span<const std::string> names);
/// The packages under the keys as one. `not_cached` names the first that is missing.
Result<Bytes> export_package(cache::Store& store, std::span<const Digest> keys);
/// What a library of an imported package is filed under: the digest of it, as a package of its own.
Digest imported_key(ByteView package);

/// A tag of an imported package that pointed elsewhere before.
struct TagMove {
  std::string name, version;
  Digest from, to;
};

struct Imported {
  std::vector<Digest> keys;    ///< in the order of the package's libraries
  std::vector<TagMove> moves;  ///< done if that was asked for; else what was not done
};

/// Libraries of a package that may be filed.
struct Importable {
  std::vector<Digest> keys;
  std::vector<std::pair<std::string, std::string>> tags;  ///< name and version of each; the version may be empty
  std::vector<Bytes> packages;                            ///< of one library each
  std::optional<signing::PublicKey> signer;
};
/// Checks each digest, and whether a package that the user names may run. Needs no store.
Result<Importable> read_import(ByteView package);

/// Files every library of a package under a key of its own. Libraries with a version are tagged
/// NAME@VERSION; a tag that points elsewhere is left alone unless `move_tags`.
Result<Imported> import_libraries(cache::Store& store, const Importable& libraries, bool move_tags = false);
/// Both.
Result<Imported> import_package(cache::Store& store, ByteView package, bool move_tags = false);

}  // namespace smelt::service
