// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/service/stored.hpp"

#include "smelt/cache/tag_names.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/signing/policy.hpp"

#include "build_identity.hpp"

#include <utility>

namespace smelt::service {

Digest cpu_code_key(ByteView metallib, std::string_view level, Checks checked, std::string_view effort) {
  Hasher hasher;
  hasher.field("CPU code of a metallib, 1");
  hasher.field(SMELT_VERSION " (" SMELT_SOURCE_IDENTITY ") LLVM " SMELT_LLVM_VERSION);
  hasher.field(level);
  hasher.field(uint64_t{checked.bits()});
  hasher.field(effort);
  hasher.field(metallib);
  return hasher.finish();
}

namespace {

/// `untrusted` says why the entry may not be used as it is.
Result<void> check_use(const Digest& key, const cache::Entry& entry) {
  SMELT_TRY(const signing::Use use, signing::Policy::use_in_environment(entry.origin()));
  if (use == signing::Use::yes) return {};
  SMELT_TRY(const signing::Policy policy, signing::Policy::from_environment());
  return fail(Errc::untrusted, "{}: {}", to_hex(key), policy.explain(entry.origin()));
}

}  // namespace

Result<std::optional<cache::Entry>> find_usable(cache::Store& store, const Digest& key,
                                                const std::function<void(std::string_view)>& why_not) {
  SMELT_TRY(auto found, find_usable(store, std::vector{key}, why_not));
  return std::move(found[0]);
}

Result<std::vector<std::optional<cache::Entry>>> find_usable(cache::Store& store, const std::vector<Digest>& keys,
                                                             const std::function<void(std::string_view)>& why_not) {
  std::vector<std::optional<cache::Entry>> entries(1);
  if (keys.size() == 1) {
    SMELT_TRY(entries[0], store.find(keys[0]));
  } else {
    SMELT_TRY(entries, store.find_all(keys));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!entries[i]) continue;
    auto fine = check_use(keys[i], *entries[i]);
    if (fine) continue;
    if (fine.error().code != Errc::untrusted) return tl::unexpected(std::move(fine).error());
    if (why_not) why_not("the entry is not used: " + fine.error().message);
    entries[i].reset();
  }
  return entries;
}

Result<Digest> find_key(cache::Store& store, const std::string& name) {
  if (const auto key = digest_from_hex(name)) return *key;
  auto tags = store.resolve(name);
  if (tags) return tags->front().key;
  constexpr size_t kFewest = 8;
  const bool is_hex = name.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex || name.size() > 64) return tl::unexpected(std::move(tags).error());
  if (name.size() < kFewest)
    return fail(Errc::invalid_argument,
                "'{}': want a key of 64 hexadecimal digits, its first {} or more, or NAME@VERSION", name, kFewest);
  std::vector<Digest> found;
  SMELT_TRY(const auto entries, store.list());
  for (const cache::EntryInfo& entry : entries)
    if (to_hex(entry.key).starts_with(name)) found.push_back(entry.key);
  if (found.empty())
    return fail(Errc::not_cached, "no entry whose key begins with {} in store {}", name, store.folder().string());
  if (found.size() > 1)
    return fail(Errc::invalid_argument, "{} keys begin with {}, {} and {} for two", found.size(), name,
                to_hex(found[0]), to_hex(found[1]));
  return found.front();
}

Result<std::vector<Digest>> find_keys(cache::Store& store, std::span<const std::string> names) {
  std::vector<Digest> keys;
  for (const std::string& name : names) {
    SMELT_TRY(keys.emplace_back(), find_key(store, name));
  }
  return keys;
}

Result<Bytes> export_package(cache::Store& store, std::span<const Digest> keys) {
  if (keys.empty()) return fail(Errc::invalid_argument, "nothing to export: no names given and nothing used yet");
  std::vector<cache::Entry> entries;  // the packages lie in them
  std::vector<schema::Package> packages;
  for (const Digest& key : keys) {
    SMELT_TRY(auto entry, store.find(key));
    const auto bytes = entry ? entry->part(kPackagePart) : std::nullopt;
    if (!bytes)
      return fail(Errc::not_cached, "export: no compiled library {} in store {}", to_hex(key), store.folder().string());
    // A package carries no word of where its code came from, so what is not used here is not handed on either.
    if (auto allowed = check_use(key, *entry); !allowed) return tl::unexpected(std::move(allowed).error().in("export"));
    SMELT_TRY(auto package, schema::Package::open(*bytes));
    packages.push_back(package);
    entries.push_back(std::move(*entry));
  }
  SMELT_TRY(const auto libraries, schema::merge_packages(packages));
  return schema::write_package(libraries);
}

Digest imported_key(ByteView package) {
  Hasher hasher;
  hasher.field("imported package");
  hasher.field(package);
  return hasher.finish();
}

Result<Importable> read_import(ByteView bytes) {
  SMELT_TRY(const auto package, schema::Package::open(bytes));
  SMELT_TRY_VOID(schema::check_all_parts(package));
  // In the store it is as good as compiled here, so it must be what may run from a file that the user names.
  SMELT_TRY(const signing::Policy policy, signing::Policy::from_environment_for(signing::Origin::named_path));
  const std::vector<std::string> signatures = package.signatures();
  const std::string statement = schema::package_statement(package.digest());
  Importable read;
  std::optional<signing::PublicKey>& by = read.signer;
  if (!policy.allows(signing::Origin::named_path, false)) {
    by = policy.signer(as_bytes(statement), signatures);
    if (!by) return fail(Errc::untrusted, "import: {}", policy.explain(signatures));
  } else if (!signatures.empty()) {
    // For the day when trust is stricter; keys that cannot be read stop nothing today.
    if (const auto keys = signing::Policy::from_environment()) by = keys->signer(as_bytes(statement), signatures);
  }
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    SMELT_TRY(auto library, package.copy_library(i));
    // A library that cannot be tagged is not filed either.
    if (!library.version.empty())
      if (auto fine = cache::check_tag(library.name, library.version); !fine)
        return tl::unexpected(std::move(fine).error().in("import"));
    read.tags.emplace_back(library.name, library.version);
    SMELT_TRY(Bytes single, schema::write_package(std::span(&library, 1)));
    read.keys.push_back(imported_key(single));
    read.packages.push_back(std::move(single));
  }
  return read;
}

Result<Imported> import_libraries(cache::Store& store, const Importable& libraries, bool move_tags) {
  Imported imported;
  const std::vector<Digest>& keys = imported.keys = libraries.keys;
  std::vector<cache::Store::Put> puts;
  for (size_t i = 0; i < keys.size(); ++i)
    puts.push_back({keys[i], {{kPackagePart, libraries.packages[i]}}, signing::Provenance::of_file(libraries.signer)});
  SMELT_TRY_VOID(store.put_all(puts));
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto& [name, version] = libraries.tags[i];
    if (version.empty()) continue;
    SMELT_TRY(const auto history, store.tag_history(name, version));
    const bool moves = !history.empty() && history.front().key != keys[i];
    if (moves) imported.moves.push_back({name, version, history.front().key, keys[i]});
    if (!moves || move_tags) SMELT_TRY_VOID(store.tag(name, version, keys[i], move_tags));
  }
  return imported;
}

Result<Imported> import_package(cache::Store& store, ByteView package, bool move_tags) {
  SMELT_TRY(const Importable libraries, read_import(package));
  return import_libraries(store, libraries, move_tags);
}

}  // namespace smelt::service
