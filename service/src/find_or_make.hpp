// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of every request: found, here or at a remote, else made and published. What makes it is the caller's, so that
// the way can be tried without a compiler. Private to service.
#pragma once

#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/session.hpp"

#include "asked.hpp"
#include "build_package.hpp"

#include <functional>
#include <span>
#include <string>

namespace smelt::service {

/// One request.
struct Work {
  std::string name;     ///< of its input, for messages
  std::string sources;  ///< names of all of it, for those who look at the store
  Digest raw;           ///< the key of its bytes
  /// The key of its code, whatever comments, names and order it is written with; the same where that is not known.
  std::function<Result<Digest>()> normalised;
  remote::Question question;      ///< of both
  std::function<void()> explain;  ///< called on a miss of both; may be empty
  std::function<Result<Built>()> build;
};

/// Where it is looked for. Borrows all of it.
struct StoreAccess {
  remote::TieredStore* store = nullptr;  ///< null: nowhere
  bool offline = false;                  ///< what is not found is `not_cached`
  std::chrono::milliseconds wait_for_others{0};
  std::function<void(std::string_view)> warn;
  std::function<void(const Digest&)> used;  ///< a key that was found or published
};

/// What the store has under the key and may be used. Trouble is warned of, and is a miss.
std::optional<CompileResult> find_entry(const StoreAccess& access, const Digest& key, const remote::Question& question,
                                        bool fresh = false);

/// Under all keys in one transaction: whoever waits for one finds the others too. Equal bytes are kept once. `sources`
/// as in Work; `warnings` are the compiler's, and of this text.
void publish(const StoreAccess& access, std::span<const Digest> keys, ByteView package, std::string_view sources,
             const signing::Provenance& origin, std::chrono::microseconds cost,
             std::shared_ptr<remote::LeaseHold> hold = {}, const std::vector<std::string>& warnings = {});

Result<CompileResult> find_or_make(const StoreAccess& access, const Work& work);

}  // namespace smelt::service
