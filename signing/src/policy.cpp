// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/signing/policy.hpp"

#include "ed25519.hpp"
#include "key_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace smelt::signing {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path users_file() {
  if (const auto folder = environment("XDG_CONFIG_HOME"); folder.starts_with('/'))
    return std::filesystem::path(folder) / "smelt" / "trusted-keys";
  if (const auto home = environment("HOME"); home.starts_with('/'))
    return std::filesystem::path(home) / ".config" / "smelt" / "trusted-keys";
  return {};
}

/// Calls `take` with each word between spaces, tabs and line ends.
template <class Take>
Result<void> each_word(std::string_view text, Take&& take) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t at = text.find_first_not_of(kSpace); at != text.npos; at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    SMELT_TRY_VOID(take(text.substr(at, end - at)));
    at = end;
  }
  return {};
}

}  // namespace

Result<Level> parse_level(std::string_view word) {
  if (word == "any") return Level::any;
  if (word == "local") return Level::local;
  if (word == "signed") return Level::signed_only;
  return fail(Errc::invalid_argument, "trust '{}': want any, local or signed", word);
}

std::string_view to_string(Level level) {
  return level == Level::any ? "any" : level == Level::local ? "local" : "signed";
}

Result<void> Policy::add_file(const std::filesystem::path& file) {
  SMELT_TRY(const Bytes bytes, read_key_file(file, 022, "write to this list of trusted keys", "chmod go-w it", true));
  std::string_view text = as_text(bytes);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, std::min(end, text.find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    auto read = each_word(line, [&](std::string_view word) -> Result<void> {
      SMELT_TRY(auto key, parse_public_key(word));
      keys.push_back(std::move(key));
      return {};
    });
    if (!read) return tl::unexpected(std::move(read).error().in(file.string()));
  }
  return {};
}

std::shared_ptr<const Policy> Policy::all() {
  // Threads may read it while statics go.
  static const auto& everything = *new auto(std::make_shared<const Policy>(Policy{Level::any, {}}));
  return everything;
}

Result<void> Policy::add_words(std::string_view words) {
  return each_word(words, [&](std::string_view word) -> Result<void> {
    // '/' occurs in base64 too, but never before the colon.
    if (word.substr(0, word.find(':')).find('/') != word.npos || word.find(':') == word.npos)
      return add_file(std::filesystem::path(word));
    SMELT_TRY(auto key, parse_public_key(word));
    keys.push_back(std::move(key));
    return {};
  });
}

Result<Level> level_from_environment() {
  const auto word = environment("SMELT_TRUST");
  if (word.empty()) return Level::local;
  auto level = parse_level(word);
  if (!level) return tl::unexpected(std::move(level).error().in("SMELT_TRUST"));
  return level;
}

bool Policy::takes_unsigned_in_environment() {
  return environment("SMELT_SIGNING_KEY").empty() || environment("SMELT_TAKE_UNSIGNED") == "1";
}

Result<Policy> Policy::from_environment(std::optional<Level> level) {
  Policy policy;
  policy.takes_unsigned = takes_unsigned_in_environment();
  if (level) {
    policy.level = *level;
  } else {
    SMELT_TRY(policy.level, level_from_environment());
  }
  if (auto added = policy.add_words(environment("SMELT_TRUSTED_KEYS")); !added)
    return tl::unexpected(std::move(added).error().in("SMELT_TRUSTED_KEYS"));
  if (const auto file = users_file(); !file.empty())
    if (auto added = policy.add_file(file); !added && added.error().code != Errc::file_not_found)
      return tl::unexpected(std::move(added).error());
  return policy;
}

Result<Policy> Policy::from_environment_for(Origin origin, std::optional<Level> level) {
  Policy without_keys;
  without_keys.takes_unsigned = takes_unsigned_in_environment();
  if (level) {
    without_keys.level = *level;
  } else {
    SMELT_TRY(without_keys.level, level_from_environment());
  }
  if (without_keys.allows(origin, false)) return without_keys;
  return from_environment(without_keys.level);
}

std::optional<PublicKey> Policy::signer(ByteView statement, std::span<const std::string> signatures) const {
  for (const std::string& text : signatures) {
    const auto signature = parse_signature(text);
    if (!signature) continue;
    // Two keys of one name may both be trusted while one replaces the other.
    for (const PublicKey& key : keys)
      if (key.name == signature->name && verify(key, statement, *signature)) return key;
  }
  return std::nullopt;
}

bool Policy::has(const PublicKey& key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool Policy::allows(Origin origin, bool signed_by_trusted) const {
  if (origin == Origin::remote && !takes_unsigned) return signed_by_trusted;
  if (level == Level::any || origin == Origin::compiled || signed_by_trusted) return true;
  return level == Level::local && origin == Origin::named_path;
}

Use Policy::use_of(const Provenance::Source& source) const {
  const bool is_signed = trusts(source);
  if (source.is_file) return allows(Origin::named_path, is_signed) ? Use::yes : Use::no;
  if (allows(Origin::remote, is_signed)) return Use::yes;
  if (level == Level::signed_only || !takes_unsigned) return Use::no;
  return source.remade ? Use::yes : Use::metal_only;
}

Use Policy::use(const Provenance& origin) const {
  // An older store did not tell what the user compiled from what a remote's unsigned entry was made into. Where
  // signatures are asked for it is made anew, which loses nothing that cannot be made.
  if (origin.unknown_ && (level == Level::signed_only || !takes_unsigned)) return Use::no;
  Use worst = Use::yes;
  for (const Provenance::Source& source : origin.sources_) worst = std::min(worst, use_of(source));
  return worst;
}

Result<Use> Policy::use_in_environment(const Provenance& origin) {
  if (origin.sources_.empty() && !origin.unknown_) return Use::yes;
  Policy policy;
  policy.takes_unsigned = takes_unsigned_in_environment();
  SMELT_TRY(policy.level, level_from_environment());
  if (policy.use(origin) == Use::yes) return Use::yes;
  SMELT_TRY(policy, from_environment(policy.level));
  return policy.use(origin);
}

Sharing Policy::share(const Provenance& origin, const std::optional<PublicKey>& own) const {
  if (origin.unknown_) return {};
  if (origin.sources_.size() == 1 && !origin.derived_) {
    if (!trusts(origin.sources_[0])) return {};
    return {Sharing::How::as_it_came, origin.made_from_, origin.signatures_};
  }
  for (const Provenance::Source& source : origin.sources_) {
    const bool fine = source.is_file ? use_of(source) == Use::yes : own && trusts(source) && *source.by == *own;
    if (!fine) return {};
  }
  return {Sharing::How::as_ours, {}, {}};
}

std::string Policy::explain(const Provenance& origin) const {
  if (origin.sources_.empty())
    return fmt::format("an older smelt kept it, and did not say where it came from (trust is {})", to_string(level));
  const auto worst = std::min_element(origin.sources_.begin(), origin.sources_.end(),
                                      [&](const auto& a, const auto& b) { return use_of(a) < use_of(b); });
  std::vector<std::string> signers = origin.signatures_;
  if (signers.empty() && worst->by) signers.push_back(to_text(*worst->by));
  return fmt::format("it came from {}: {}", worst->is_file ? "a package" : worst->from, explain(signers));
}

std::string Policy::explain(std::span<const std::string> signatures) const {
  std::vector<std::string> signers, trusted;
  for (const std::string& text : signatures) signers.push_back(text.substr(0, std::min(text.find(':'), size_t{64})));
  for (const PublicKey& key : keys) trusted.push_back(key.name);
  if (const auto can = ed25519::available(); !can && !signers.empty() && !keys.empty()) return can.error().message;
  const std::string who = signers.empty() ? "nobody signed it" : fmt::format("signed by {}", fmt::join(signers, ", "));
  const std::string whom =
      trusted.empty() ? "no key is trusted" : fmt::format("trusted are {}", fmt::join(trusted, ", "));
  if (!takes_unsigned)
    return fmt::format(
        "{}, {}, and a machine that signs (SMELT_SIGNING_KEY) takes nothing else. Put the signer's public key into "
        "SMELT_TRUSTED_KEYS or ~/.config/smelt/trusted-keys, or set SMELT_TAKE_UNSIGNED=1",
        who, whom);
  return fmt::format(
      "{}, {} (trust is {}). Put the signer's public key into SMELT_TRUSTED_KEYS or "
      "~/.config/smelt/trusted-keys, or set SMELT_TRUST=any where only you can write",
      who, whom, to_string(level));
}

}  // namespace smelt::signing
