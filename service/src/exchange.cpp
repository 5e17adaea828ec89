// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shipping by hand: entries, and the tags that name them, to remotes and back. A tag is an entry of its own, under a
// key made from NAME@VERSION, with one part that holds the key in hex.
#include "exchange.hpp"

#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/session.hpp"
#include "smelt/service/stored.hpp"

#include "asked.hpp"
#include "entry_parts.hpp"

namespace smelt::service {
namespace {

constexpr std::string_view kTagPart = "tag";

Digest tag_key(std::string_view name, std::string_view version) {
  Hasher hasher;
  hasher.field("tag 1");
  hasher.field(name);
  hasher.field(version);
  return hasher.finish();
}

std::optional<Digest> as_key(const std::string& name) {
  if (name.size() != 64) return std::nullopt;
  const auto key = digest_from_hex(name);
  return key ? std::optional(*key) : std::nullopt;
}

/// What a remote says that a tag stands for.
Result<Digest> pull_tag(remote::TieredStore& tiers, const std::string& asked, std::string_view name,
                        std::string_view version) {
  const Digest key = tag_key(name, version);
  const auto arrived = tiers.remotes().find(std::span(&key, 1), true)[0];
  if (!arrived || arrived->parts.size() != 1 || arrived->parts[0].name != kTagPart)
    return fail(Errc::not_cached, "pull {}: no remote has this tag; 'smelt store push {}' puts it there", asked, asked);
  // It runs nothing, but says what will be run under a name: where signatures are asked for, it needs one.
  const auto& record = arrived->record;
  SMELT_TRY(const signing::Policy* const policy, tiers.policy());
  const bool is_signed = policy->signer(as_bytes(schema::statement(record)), record.signatures).has_value();
  if (!policy->allows(signing::Origin::named_path, is_signed))
    return fail(Errc::untrusted, "pull {}: the tag at {}: {}", asked, arrived->from,
                policy->explain(record.signatures));
  return digest_from_hex(as_text(arrived->parts[0].bytes));
}

}  // namespace

remote::Question pull_question() {
  remote::Question question;
  question.proves = [](const Digest& key, const remote::Question::Parts& parts) {
    return parts.size() == 1 && parts[0].name == kPackagePart && key == imported_key(parts[0].bytes);
  };
  // Under `any` all of it may be used, but a compile that finds it here later does not look at its bytes again.
  question.check = [](const remote::Question::Parts& parts, bool) -> Result<void> {
    for (const cache::Entry::Part& part : parts)
      if (part.name == kPackagePart || part.name == kKernelPart) SMELT_TRY_VOID(whole(part.bytes));
    return {};
  };
  return question;
}

Result<std::vector<Digest>> Session::push(std::span<const std::string> names) {
  SMELT_TRY(const auto to, tiers());
  std::vector<Digest> keys;
  std::vector<cache::TagInfo> tags;
  for (const std::string& name : names) {
    if (const auto key = as_key(name)) {
      keys.push_back(*key);
      continue;
    }
    SMELT_TRY(const auto found, to->local().resolve(name));
    tags.push_back(found.front());
    keys.push_back(found.front().key);
  }
  SMELT_TRY_VOID(to->push(keys));
  for (const cache::TagInfo& tag : tags) {
    const std::string text = to_hex(tag.key);
    SMELT_TRY_VOID(to->push(tag_key(tag.name, tag.version), {{kTagPart, as_bytes(text)}}));
  }
  return keys;
}

Result<std::vector<Digest>> Session::pull(std::span<const std::string> names, bool move_tags) {
  SMELT_TRY(const auto from, tiers());
  std::vector<Digest> keys;
  for (const std::string& name : names) {
    const size_t at = name.find('@');
    auto key = as_key(name);
    if (!key && at == name.npos)
      return fail(Errc::invalid_argument, "pull {}: want a key of 64 hexadecimal digits, or NAME@VERSION", name);
    if (!key) {
      SMELT_TRY(key,
                pull_tag(*from, name, std::string_view(name).substr(0, at), std::string_view(name).substr(at + 1)));
    }
    SMELT_TRY(const auto entry, from->find(*key, true, pull_question()));
    if (!entry)
      return fail(Errc::not_cached,
                  "pull {}: no remote has the entry {} in a form that may be pulled: it must be signed by a trusted "
                  "key, or its key must be the digest of its content, as for an imported package",
                  name, to_hex(*key));
    if (at != name.npos)
      SMELT_TRY_VOID(from->local().tag(std::string_view(name).substr(0, at), std::string_view(name).substr(at + 1),
                                       *key, move_tags));
    keys.push_back(*key);
  }
  return keys;
}

}  // namespace smelt::service
