// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where bytes came from that may be run, signed or handed on. Nothing that a store holds or a compile gives is without
// one; what is made of several has what all of them had. Only trust looks inside: Policy (policy.hpp) answers what may
// be done.
#pragma once

#include "smelt/signing/keys.hpp"

#include <optional>
#include <string>
#include <vector>

namespace smelt::signing {

/// The name of the part in which a store keeps it, as text; reserved, and never sent.
inline constexpr std::string_view kOriginPart = ".origin";
/// The name of the part with the names of the files that an entry was made from, for people who look at the store. It
/// may tell of this machine, so it is never sent either, and none is taken from elsewhere.
inline constexpr std::string_view kSourcePart = ".source";

/// A value. The text of it, a line for each fact:
//
//   made-here             from the user's input, by the compiler of this machine; no other line
//   unknown               a store of an older smelt did not say
//   derived               made of what follows; without it: the entry as it came, to be carried on with its signatures
//   from <remote>         one for each remote and key; the lines up to the next "from" or "file" are about it
//   file                  a package that the user named
//   by NAME:BASE64        the trusted key that signed it when it came; "by" alone: none
//   remade                its Metal library alone was used, and CPU code made here from that
//   made-from <text>      of its record, when it is as it came
//   signed NAME:BASE64    any number; likewise
class Provenance {
 public:
  static Provenance made_here() { return {}; }
  static Provenance unknown();
  /// An entry of a remote, as it came. `by`: the trusted key that signed it; the rest is its record's.
  static Provenance of_remote(std::string from, std::optional<PublicKey> by, std::string made_from,
                              std::vector<std::string> signatures);
  /// Out of a package that the user named.
  static Provenance of_file(std::optional<PublicKey> by);

  /// Of what is made of this alone: a copy under another key, a package of it.
  Provenance derived() const;
  /// Of its Metal libraries with CPU code that was made here.
  Provenance remade() const;
  /// Of what is made of both.
  Provenance& operator+=(const Provenance& other);

  std::string to_text() const;
  /// What no store of ours wrote is unknown.
  static Provenance parse(std::string_view text);

  bool operator==(const Provenance&) const = default;

 private:
  friend struct Policy;
  struct Source {
    bool is_file = false;
    std::string from;  ///< of a remote, as messages name it
    std::optional<PublicKey> by;
    bool remade = false;
    bool operator==(const Source&) const = default;
  };
  Provenance() = default;

  bool unknown_ = false;
  bool derived_ = false;
  std::vector<Source> sources_;  ///< none: made here
  std::string made_from_;        ///< these two only of one source, as it came
  std::vector<std::string> signatures_;
};

}  // namespace smelt::signing
