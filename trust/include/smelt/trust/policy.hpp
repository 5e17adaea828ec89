// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose native code runs here: the one place that decides it, for the command line, Python and C.
//
// Native code of a package or entry is used when
//   any     always: for machines and servers that only you can write to
//   local   it was compiled here, or opened by a path that the user named, or a trusted key signed it
//   signed  a trusted key signed it, or it was compiled here
// Otherwise only its metallib is used, and CPU code is made here from that.
#pragma once

#include "smelt/trust/keys.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::trust {

enum class Level : uint8_t { any, local, signed_only };

/// "any", "local" or "signed".
Result<Level> parse_level(std::string_view word);
std::string_view to_string(Level level);
/// What SMELT_TRUST says; local when it says nothing.
Result<Level> level_from_environment();

/// Where bytes come from.
enum class Origin : uint8_t {
  compiled,    ///< on this machine, by this user
  named_path,  ///< a file that the user asked for
  remote,      ///< somebody else's machine
};

struct Policy {
  Level level = Level::local;
  std::vector<PublicKey> keys;  ///< whose signatures count

  /// SMELT_TRUST (a level); SMELT_TRUSTED_KEYS (public keys, or paths of files of them, separated by spaces); and
  /// $XDG_CONFIG_HOME/smelt/trusted-keys (else ~/.config/smelt/trusted-keys), a key a line, '#' begins a comment.
  /// A `level` that the caller says counts instead of SMELT_TRUST.
  static Result<Policy> from_environment(std::optional<Level> level = {});
  /// The same for code of that origin alone: where it is allowed unsigned, no key is read.
  static Result<Policy> from_environment_for(Origin origin, std::optional<Level> level = {});
  /// Everything is allowed: for code that was made or vetted here.
  static std::shared_ptr<const Policy> all();
  /// Adds what SMELT_TRUSTED_KEYS may hold: public keys, or paths of files of them, separated by white space.
  Result<void> add_words(std::string_view words);
  /// Adds the keys of a file of that form.
  Result<void> add_file(const std::filesystem::path& file);

  /// The trusted key that made one of these signatures over the statement; nothing when none did.
  std::optional<PublicKey> signer(ByteView statement, std::span<const std::string> signatures) const;
  bool has(const PublicKey& key) const;
  /// Whether native code of that origin may be used; `signed_by_trusted` is what signer() found.
  bool allows(Origin origin, bool signed_by_trusted) const;
  /// Which keys signed, which are trusted, and what to do: the second half of a refusal's message.
  std::string explain(std::span<const std::string> signatures) const;
};

}  // namespace smelt::trust
