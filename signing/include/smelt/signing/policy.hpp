// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose native code runs here: the one place that decides it, for the command line, Python and C.
//
// Native code of a package or entry is used when
//   any     always: for machines and servers that only you can write to
//   local   it was compiled here, or opened by a path that the user named, or a trusted key signed it
//   signed  a trusted key signed it, or it was compiled here
// Otherwise, under local, only its metallib is used, and CPU code is made here from that; under signed a package is
// refused, and an entry counts as absent. A machine that signs takes nothing that no trusted key signed, unless it is
// told to.
#pragma once

#include "smelt/signing/keys.hpp"
#include "smelt/signing/origin.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::signing {

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

/// What may be done with something now.
enum class Use : uint8_t {
  no,          ///< it counts as absent
  metal_only,  ///< its Metal libraries, with CPU code made here
  yes,
};

/// How something may be given to others.
struct Sharing {
  enum class How : uint8_t {
    no,
    as_it_came,  ///< with what its record said, and no signature of ours
    as_ours,     ///< signed with our key, if there is one
  };
  How how = How::no;
  std::string made_from;                ///< these two of what goes on as it came
  std::vector<std::string> signatures;  ///< over the same statement
};

struct Policy {
  Level level = Level::local;
  std::vector<PublicKey> keys;  ///< whose signatures count
  bool takes_unsigned = true;   ///< false: what came from a remote without a trusted signature counts as absent

  /// Whether this machine signs and was not told to take unsigned entries all the same: SMELT_SIGNING_KEY,
  /// SMELT_TAKE_UNSIGNED=1.
  static bool takes_unsigned_in_environment();

  /// SMELT_TRUST (a level); SMELT_TRUSTED_KEYS (public keys, or paths of files of them, separated by spaces); and
  /// $XDG_CONFIG_HOME/smelt/trusted-keys (else ~/.config/smelt/trusted-keys), a key a line, '#' begins a comment.
  /// A `level` that the caller says counts instead of SMELT_TRUST.
  static Result<Policy> from_environment(std::optional<Level> level = {});
  /// The same for code of that origin alone: where it is allowed unsigned, no key is read.
  static Result<Policy> from_environment_for(Origin origin, std::optional<Level> level = {});
  /// What use() says by the environment. Keys are read only where it depends on one.
  static Result<Use> use_in_environment(const Provenance& origin);
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
  /// The one answer for all who run, join, export or load what a store or a remote has.
  Use use(const Provenance& origin) const;
  /// The one answer for all who sign, publish or push. `own`: the key that we sign with. What derives from a remote's
  /// entry is ours to sign only when our key signed that entry.
  Sharing share(const Provenance& origin, const std::optional<PublicKey>& own) const;
  /// Which keys signed, which are trusted, and what to do: the second half of a refusal's message.
  std::string explain(std::span<const std::string> signatures) const;
  /// The same with where it came from, for use() that is not `yes`.
  std::string explain(const Provenance& origin) const;

 private:
  bool trusts(const Provenance::Source& source) const { return source.by && has(*source.by); }
  Use use_of(const Provenance::Source& source) const;
};

}  // namespace smelt::signing
