// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How bytes get to a server and back. One implementation per kind of server, one file each; none of them knows what
// the bytes are. Records, hashes and what to do about failures: remote.hpp.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/remote/address.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace smelt::remote {

enum class Space : uint8_t { ac, cas };

/// The path below a remote's base: "ac/<hex>" or "cas/<hex>".
struct Name {
  Space space = Space::ac;
  Digest digest;
};
std::string to_path(const Name& name);

/// Something to fetch. An answer of more than `most` bytes is broken off and is a failure.
struct Want {
  Name name;
  uint64_t most = 0;
};

struct Got {
  enum class Outcome : uint8_t {
    found,
    absent,
    damaged,  ///< there, but longer than it should be
    failed,   ///< see Fetched::trouble
  } outcome = Outcome::failed;
  Bytes bytes;
};

/// Why a call did not do all that it was asked.
struct Trouble {
  Error error;
  bool rest_now = false;                            ///< the server said so (429, 5xx): no second and third try
  bool writes_only = false;                         ///< it takes no more bytes (full, read-only), but still gives them
  std::optional<std::chrono::seconds> retry_after;  ///< how long it asked to be left alone
};

struct Fetched {
  std::vector<Got> got;  ///< in the order of what was wanted
  std::optional<Trouble> trouble;
  unsigned round_trips = 0;  ///< times that the caller waited for the server: requests side by side count once
};

/// Something to keep. Bytes are borrowed for the call.
struct Item {
  Name name;
  ByteView bytes;
};

struct Stored {
  size_t count = 0;  ///< items kept
  std::optional<Trouble> trouble;
  unsigned round_trips = 0;
};

/// For one call: given up after `stall` without a byte, after `timeout` in any case, and when `cancel` becomes true.
struct Patience {
  std::chrono::milliseconds connect{300}, stall{500}, timeout{5000};
  const std::atomic<bool>* cancel = nullptr;
  /// Given up after this, and a millisecond more for each KiB that has come: bytes that only drip are no progress.
  std::chrono::milliseconds drip{5000};
  uint64_t most_bytes = uint64_t{512} << 20;  ///< of all answers of the call together
};

/// A right to make one key, kept at the server (single flight between machines).
struct Lease {
  std::string name, holder;
  std::chrono::milliseconds lasts{0};
};
struct LeaseAnswer {
  bool held = false;
  /// Of a busy one: for how long it is still its holder's, unless it is renewed; negative: nothing ends it.
  std::chrono::milliseconds left{0};
};

/// Keeps its connections from call to call. Used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Fetched get(std::span<const Want> wants, const Patience& patience) = 0;
  /// In the order given, as far as the kind has one: an item is not sent before those of an earlier call are kept.
  virtual Stored put(std::span<const Item> items, const Patience& patience) = 0;
  /// Which of these are there. Failures count as absent.
  virtual std::vector<bool> has(std::span<const Name> names, const Patience& patience) = 0;
  virtual bool has_leases() const { return false; }
  /// Takes a lease that is free, or prolongs one's own.
  virtual Result<LeaseAnswer> take(const Lease& lease, const Patience& patience);
  /// Gives it back if it is still one's own.
  virtual Result<void> give_back(const Lease& lease, const Patience& patience);
  /// What the server says its time is, if it says so; for `smelt remote check`.
  virtual std::optional<std::chrono::system_clock::time_point> server_time() const { return std::nullopt; }
  /// When the certificate that it showed ends.
  virtual std::string certificate_ends() const { return {}; }
};

/// Does not connect yet. Errors: `invalid_argument` for files that cannot be read, `unsupported`.
Result<std::unique_ptr<Transport>> make_transport(const Address& address);

}  // namespace smelt::remote
