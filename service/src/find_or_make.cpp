// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "find_or_make.hpp"

#include "smelt/cache/flight.hpp"
#include "smelt/cache/store.hpp"

#include "entry_parts.hpp"

#include <algorithm>

namespace smelt::service {
namespace {

std::chrono::microseconds time_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
}

CompileResult from_entry(cache::Entry entry, const Digest& key) {
  CompileResult made(entry.origin());
  made.package = entry.part(kPackagePart).value_or(ByteView());
  made.warnings = unpack_warnings(as_text(entry.part(kWarningsPart).value_or(ByteView())));
  made.owner = std::make_shared<cache::Entry>(std::move(entry));
  made.key = key;
  made.hit = true;
  return made;
}

/// A hit under the other key is one under the raw one from now on: a copy, which came from where the entry came from.
/// `look`: whoever made it may have filed it there too.
CompileResult found_as(const StoreAccess& access, const Work& work, CompileResult found, bool look) {
  if (found.key != work.raw && !(look && access.store->local().indexed(work.raw)))
    publish(access, std::span(&work.raw, 1), found.package, work.sources, found.origin.derived(), {});
  found.key = work.raw;
  return found;
}

}  // namespace

std::optional<CompileResult> find_entry(const StoreAccess& access, const Digest& key, const remote::Question& question,
                                        bool fresh) {
  remote::Question asked = question;
  bool remade = false;
  if (asked.recompile)
    asked.recompile = [&](const remote::Question::Parts& parts) {
      remade = true;
      return question.recompile(parts);
    };
  auto found = access.store->find(key, fresh, asked);
  if (!found) {
    access.warn(found.error().message);
    return std::nullopt;
  }
  if (!*found || !(*found)->part(kPackagePart)) return std::nullopt;
  access.used(key);
  CompileResult result = from_entry(std::move(**found), key);
  result.remade = remade;
  return result;
}

void publish(const StoreAccess& access, std::span<const Digest> keys, ByteView package, std::string_view sources,
             const signing::Provenance& origin, std::chrono::microseconds cost, std::shared_ptr<remote::LeaseHold> hold,
             const std::vector<std::string>& warnings) {
  if (access.store->local().read_only()) return;
  std::vector<cache::Store::Put> puts;
  const std::string packed = pack_warnings(warnings);
  for (const Digest& key : keys) {
    if (!puts.empty() && puts.front().key == key) continue;
    puts.push_back({key, {{kPackagePart, package}, {signing::kSourcePart, as_bytes(sources)}}, origin, cost});
    if (!packed.empty()) puts.back().parts.push_back({kWarningsPart, as_bytes(packed)});
    access.used(key);
  }
  if (auto put = access.store->put_all(puts, std::move(hold)); !put) access.warn(put.error().message);
}

Result<CompileResult> find_or_make(const StoreAccess& access, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  remote::TieredStore* const store = access.store;
  const auto took = [&](CompileResult made) {
    made.took = time_since(start);
    return made;
  };
  if (store)
    if (auto found = find_entry(access, work.raw, work.question)) return took(std::move(*found));
  // Second chance: the same code under another comment, name or order.
  Digest normal = work.raw;
  if (store) {
    SMELT_TRY(normal, work.normalised());
    if (normal != work.raw)
      if (auto found = find_entry(access, normal, work.question))
        return took(found_as(access, work, std::move(*found), false));
  }
  if (store && work.explain) work.explain();
  if (access.offline)
    return fail(Errc::not_cached, "{}: not in store {}, and nothing is compiled offline (SMELT_OFFLINE)", work.name,
                store ? store->local().folder().string() : "(none)");
  std::optional<cache::Flight> flight;
  remote::Leased leased;
  if (store && !store->local().read_only()) {
    // One of this machine first, then of those one of all machines.
    const auto ready = [&] { return store->local().indexed(normal); };
    const auto waits = [&] {
      access.warn(fmt::format("{}: another process is compiling it; waiting for it, {} s at most", work.name,
                              access.wait_for_others.count() / 1000));
    };
    auto acquired = cache::Flight::acquire(store->local().folder(), normal, access.wait_for_others, ready, waits);
    if (acquired) flight = std::move(*acquired);
    if (flight && !flight->held() && !ready())
      access.warn(
          fmt::format("{}: the process that compiles it makes no progress; it is compiled here too", work.name));
    if (!flight || flight->held()) leased = store->lease(normal, access.wait_for_others);
    if (leased.waited || (flight && flight->waited()))
      for (const Digest& key : {normal, work.raw})
        if (auto found = find_entry(access, key, work.question, leased.waited))
          return took(found_as(access, work, std::move(*found), true));
  }
  SMELT_TRY(Built built, work.build());
  CompileResult made(built.origin);
  made.took = time_since(start);
  made.warnings = std::move(built.warnings);
  made.kernels = built.kernels;
  made.kernels_kept = built.kernels_kept;
  // Warnings are of this text: with a line more in front they would be of other places.
  const Digest keys[] = {normal, work.raw};
  if (store)
    publish(access, std::span(keys).subspan(made.warnings.empty() ? 0 : 1), built.package, work.sources, built.origin,
            made.took, std::move(leased.hold), made.warnings);
  auto owner = std::make_shared<const Bytes>(std::move(built.package));
  made.package = *owner;
  made.owner = owner;
  made.key = work.raw;
  return made;
}

}  // namespace smelt::service
