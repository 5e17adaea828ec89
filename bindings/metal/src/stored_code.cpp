// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored_code.hpp"

#include "smelt/cache/store.hpp"

#include <cstdio>
#include <mutex>

namespace smelt::metal {
namespace {

/// The words, each with its length, so that no two lists give the same bytes.
class KeyText {
 public:
  KeyText& add(std::string_view word) {
    text_ += fmt::format("{}:", word.size());
    text_ += word;
    return *this;
  }
  /// Adds the compiler's version, and gives the key.
  Digest key(std::string_view level, Checks checked) const {
    return service::cpu_code_key(as_bytes(text_), level, checked);
  }

 private:
  std::string text_;
};

void say_once(const Error& error) {
  static std::once_flag once;
  std::call_once(once, [&] { std::fprintf(stderr, "smelt: %s; going on without a store\n", error.message.c_str()); });
}

/// Null when there is none.
cache::Store* open_store() {
  static const std::shared_ptr<cache::Store>& store = *new std::shared_ptr<cache::Store>([] {
    auto opened = cache::Store::open(cache::default_store_folder());
    if (opened) return std::move(*opened);
    cache::StoreOptions reading;
    reading.read_only = true;
    if (auto readable = cache::Store::open(cache::default_store_folder(), reading)) return std::move(*readable);
    say_once(opened.error());
    return std::shared_ptr<cache::Store>();
  }());
  return store.get();
}

}  // namespace

std::optional<Digest> key_of(const SourceRequest& request) {
  // #include <...> finds Metal's own headers alone: there are no include folders.
  for (size_t at = 0; (at = request.text.find("include", at)) != std::string::npos; at += 7) {
    const size_t next = request.text.find_first_not_of(" \t", at + 7);
    if (next != std::string::npos && request.text[next] == '"') return std::nullopt;
  }
  KeyText text;
  text.add("Metal source 1").add(request.text).add(request.target).add(request.fast_math ? "fast" : "safe");
  text.add(request.language ? to_string(*request.language) : "");
  for (const std::string& definition : request.definitions) text.add(definition);
  return text.key("", false);
}

Digest key_of(const KernelRequest& request) {
  KeyText text;
  text.add("one kernel of a metallib 2").add(to_hex(request.digest)).add(request.function).add(request.effort);
  return text.key(request.level, request.checked);
}

std::optional<Package> find_stored(const Digest& key, std::string_view part) {
  cache::Store* const store = open_store();
  if (store == nullptr) return std::nullopt;
  // What may not be used as it is counts as absent: the compiler's library says what becomes of it.
  auto found = service::find_usable(*store, key);
  if (!found) {
    say_once(found.error());
    return std::nullopt;
  }
  if (!*found) return std::nullopt;
  const auto entry = std::make_shared<const cache::Entry>(std::move(**found));
  const auto bytes = entry->part(part);
  if (!bytes) return std::nullopt;
  return Package{{*bytes, entry}, entry->origin().derived()};
}

void keep_in_store(const Digest& key, ByteView bytes, const signing::Provenance& origin, std::string_view part) {
  cache::Store* const store = open_store();
  if (store == nullptr || store->read_only()) return;
  if (auto kept = store->put(key, {{part, bytes}}, origin); !kept) say_once(kept.error());
}

}  // namespace smelt::metal
