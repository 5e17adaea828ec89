// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/remote.hpp"

#include "breaker.hpp"
#include "packing.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

namespace smelt::remote {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kRemembered = 100'000;
constexpr size_t kIdleTransports = 8;

struct FirstBytes {
  size_t operator()(const Digest& digest) const { return load_le<uint64_t>(digest.bytes.data()); }
};

constexpr milliseconds kLeaseCall{800};  // a lease is a hundred bytes

/// What one find() waited and asked for.
struct Looked {
  size_t asked = 0;
  unsigned round_trips = 0;
};

milliseconds since(Clock::time_point began) {
  return std::chrono::ceil<milliseconds>(Clock::now() - began);
}

}  // namespace

Statistics& Statistics::operator+=(const Statistics& other) {
  for (const auto field :
       {&Statistics::hits, &Statistics::misses, &Statistics::remembered, &Statistics::damaged, &Statistics::errors,
        &Statistics::resting, &Statistics::puts, &Statistics::dropped, &Statistics::bytes_read,
        &Statistics::bytes_written, &Statistics::round_trips, &Statistics::microseconds})
    this->*field += other.*field;
  return *this;
}

struct Remote::State {
  State(const Address& with, Warn to)
      : address(with), warn(std::move(to)), reading(with.budget, with.rest), writing(with.budget, with.rest) {}

  Address address;
  Warn warn;
  Breaker reading, writing;
  bool leases = false;
  std::atomic<Clock::rep> no_leases_until{Clock::time_point::min().time_since_epoch().count()};
  std::atomic<bool> probe_asked{false};

  std::mutex mutex;  // of everything below
  std::vector<std::unique_ptr<Transport>> idle;
  std::unordered_map<Digest, Clock::time_point, FirstBytes> missed;  // until when
  Statistics counted;

  void count(uint64_t Statistics::* field, uint64_t by = 1) {
    const std::lock_guard lock(mutex);
    counted.*field += by;
  }

  /// A transport for the caller alone; `use` gives it back.
  template <class Use>
  auto with_transport(Use&& use) -> decltype(use(std::declval<Transport&>())) {
    std::unique_ptr<Transport> transport;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        transport = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!transport) transport = std::move(*make_transport(address));  // open() has seen that it can be made
    auto result = use(*transport);
    const std::lock_guard lock(mutex);
    if (idle.size() < kIdleTransports) idle.push_back(std::move(transport));
    return result;
  }

  Patience patience(milliseconds most, const std::atomic<bool>* cancel = nullptr) const {
    Patience made{std::min(address.connect, most), std::min(address.stall, most), address.timeout, cancel};
    made.drip = address.timeout;
    return made;
  }
  Patience lease_patience(milliseconds most, const std::atomic<bool>* cancel = nullptr) const {
    Patience made = patience(most, cancel);
    made.timeout = made.drip = std::min(address.timeout, std::max(kLeaseCall, address.stall));
    return made;
  }

  void note(const std::optional<Trouble>& trouble, Breaker& breaker, Clock::time_point began) {
    if (!trouble) return breaker.succeeded();
    count(&Statistics::errors);
    if (breaker.failed(since(began), trouble->rest_now, trouble->retry_after)) rests(trouble->error.message);
  }
  void rests(std::string_view why) const {
    if (warn) warn(printable(fmt::format("{}; it is not used for a while", why)));
  }

  /// One call for all wants that are not empty, of at most `bytes` in all.
  Fetched fetch(std::span<const Want> wants, uint64_t bytes, const Budget& budget, Looked& looked) {
    Fetched fetched;
    const auto most = reading.patience(std::max(address.connect, address.stall));
    if (!most || budget.spent()) {
      fetched.got.resize(wants.size());
      return fetched;
    }
    Patience with = patience(*most);
    with.drip = std::min(with.drip, budget.left());
    with.most_bytes = bytes;
    const auto began = Clock::now();
    fetched = with_transport([&](Transport& transport) { return transport.get(wants, with); });
    note(fetched.trouble, reading, began);
    looked.round_trips += fetched.round_trips;
    const std::lock_guard lock(mutex);
    counted.round_trips += fetched.round_trips;
    for (const Got& got : fetched.got) counted.bytes_read += got.bytes.size();
    return fetched;
  }

  bool remembers(const Digest& key) {
    const std::lock_guard lock(mutex);
    const auto found = missed.find(key);
    return found != missed.end() && found->second > Clock::now();
  }
  void remember(const Digest& key) {
    if (address.remember_misses.count() == 0) return;
    const std::lock_guard lock(mutex);
    if (missed.size() >= kRemembered) missed.clear();
    missed[key] = Clock::now() + address.remember_misses;
  }
  void forget(const Digest& key) {
    const std::lock_guard lock(mutex);
    missed.erase(key);
  }

  using Records = std::vector<std::optional<schema::EntryRecord>>;
  Records find_records(std::span<const Digest> keys, bool fresh, const Budget& budget, Looked& looked);
  std::vector<std::shared_ptr<const Claim>> admit(Records& records, const Allowance& allowance);
  std::vector<std::optional<Arrived>> find_parts(std::span<const Digest> keys, Records records, const Budget& budget,
                                                 Looked& looked);
  Result<void> send(std::span<const Item> items, const std::atomic<bool>* cancel);
  std::vector<bool> absent(std::span<const Item> items, const std::atomic<bool>* cancel);
};

Remote::Remote(std::unique_ptr<State> state) : state_(std::move(state)) {}
Remote::~Remote() = default;

Result<std::shared_ptr<Remote>> Remote::open(const Address& address, Warn warn) {
  SMELT_TRY(auto transport, make_transport(address));
  auto state = std::make_unique<State>(address, std::move(warn));
  state->leases = transport->has_leases();
  state->idle.push_back(std::move(transport));
  return std::shared_ptr<Remote>(new Remote(std::move(state)));
}

const Address& Remote::address() const {
  return state_->address;
}

Remote::State::Records Remote::State::find_records(std::span<const Digest> keys, bool fresh, const Budget& budget,
                                                   Looked& looked) {
  Records records(keys.size());
  std::vector<size_t> asked;
  std::vector<Want> wants;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!fresh && remembers(keys[i])) {
      count(&Statistics::remembered);
      continue;
    }
    asked.push_back(i);
    wants.push_back({{Space::ac, keys[i]}, schema::kMostRecordBytes});
  }
  if (wants.empty()) return records;
  looked.asked = wants.size();
  const Allowance& allowance = budget.allowance();
  const uint64_t most = std::min<uint64_t>(wants.size() * schema::kMostRecordBytes, allowance.record_bytes);
  const auto claim = Claim::of(most, allowance.process_bytes);
  if (!claim) return records;
  const Fetched fetched = fetch(wants, most, budget, looked);
  for (size_t w = 0; w < wants.size(); ++w) {
    const Got& got = fetched.got[w];
    const size_t i = asked[w];
    if (got.outcome == Got::Outcome::absent) remember(keys[i]);
    if (got.outcome == Got::Outcome::damaged) count(&Statistics::damaged);
    if (got.outcome != Got::Outcome::found) continue;
    auto record = schema::parse_entry_record(got.bytes);
    if (record && record->key == keys[i])
      records[i] = std::move(*record);
    else
      count(&Statistics::damaged);
  }
  return records;
}

/// Takes out the records of entries for which there is no room: in the call, or in the process. What a record says of
/// itself costs nothing to say. Returns what each of the others may take.
std::vector<std::shared_ptr<const Claim>> Remote::State::admit(Records& records, const Allowance& allowance) {
  std::vector<std::shared_ptr<const Claim>> claims(records.size());
  uint64_t travel_left = allowance.part_bytes, parts_left = allowance.part_bytes;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!records[i]) continue;
    uint64_t travel = 0, parts = 0;
    for (const auto& part : records[i]->parts) {
      parts += part.bytes;
      // A blob that others have too is counted again: then no entry's admission hangs on another's.
      travel += part.blob_bytes;
    }
    if (travel <= travel_left && parts <= parts_left) claims[i] = Claim::of(travel + parts, allowance.process_bytes);
    if (!claims[i]) {
      records[i].reset();
      continue;
    }
    travel_left -= travel;
    parts_left -= parts;
  }
  return claims;
}

std::vector<std::optional<Arrived>> Remote::State::find_parts(std::span<const Digest> keys, Records records,
                                                              const Budget& budget, Looked& looked) {
  std::vector<std::optional<Arrived>> arrived(keys.size());
  auto claims = admit(records, budget.allowance());
  std::map<Digest, size_t> places;  // a blob that several entries share travels once
  std::vector<Want> wants;
  for (const auto& record : records)
    if (record)
      for (const auto& part : record->parts)
        if (places.try_emplace(part.blob, wants.size()).second)
          wants.push_back({{Space::cas, part.blob}, part.blob_bytes});
  if (wants.empty()) return arrived;
  Fetched fetched = fetch(wants, budget.allowance().part_bytes, budget, looked);
  std::vector<size_t> uses(wants.size());
  for (const auto& record : records)
    if (record)
      for (const auto& part : record->parts) ++uses[places[part.blob]];
  // Unpacking has the time that a server has to answer: a blob that takes longer costs no more than a silent server.
  const auto until = Clock::now() + budget.left();
  const auto may_go_on = [&]() -> Result<void> {
    if (Clock::now() > until) return fail(Errc::cancelled, "{}: its data takes too long to unpack", address.shown);
    return budget.may_go_on();
  };
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!records[i]) continue;
    Arrived whole{std::move(*records[i]), {}, address.shown, std::move(claims[i])};
    bool sound = true;
    for (const auto& part : whole.record.parts) {
      const size_t place = places[part.blob];
      Got& got = fetched.got[place];
      // A record whose blobs are gone is a miss, not damage: servers evict what they like.
      if (got.outcome == Got::Outcome::damaged) count(&Statistics::damaged);
      sound = sound && got.outcome == Got::Outcome::found;
      if (!sound) break;
      auto bytes = unpack(part, --uses[place] == 0 ? std::move(got.bytes) : got.bytes, may_go_on);
      if (!bytes) {
        if (bytes.error().code == Errc::corrupt) count(&Statistics::damaged);
        sound = false;
        break;
      }
      whole.parts.push_back({part.name, std::move(*bytes)});
    }
    if (sound) arrived[i] = std::move(whole);
  }
  return arrived;
}

std::vector<std::optional<Arrived>> Remote::find(std::span<const Digest> keys, bool fresh, Budget* budget) {
  State& state = *state_;
  if (keys.empty()) return {};
  Budget of_call;
  if (!budget) budget = BudgetScope::current();
  if (!budget) budget = &of_call;
  if (!state.reading.patience(state.address.stall) || budget->spent()) {
    state.count(&Statistics::resting, keys.size());
    return std::vector<std::optional<Arrived>>(keys.size());
  }
  const auto began = Clock::now();
  Looked looked;
  auto records = state.find_records(keys, fresh, *budget, looked);
  auto arrived = state.find_parts(keys, std::move(records), *budget, looked);
  const auto hits = static_cast<uint64_t>(
      std::count_if(arrived.begin(), arrived.end(), [](const auto& entry) { return entry.has_value(); }));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
  budget->charge(took, looked.round_trips, hits, looked.asked);
  // As good as a failure, which a server must not escape by an answer at last.
  const auto slow = std::chrono::duration_cast<milliseconds>(took);
  const auto usual = state.address.connect + state.address.stall * std::max(looked.round_trips, 1U);
  if (looked.asked != 0 && hits == 0 && slow > usual && state.reading.wasted(slow))
    state.rests(fmt::format("{}: it answers slowly and has nothing", state.address.shown));
  const std::lock_guard lock(state.mutex);
  state.counted.hits += hits;
  state.counted.misses += keys.size() - hits;
  state.counted.microseconds += static_cast<uint64_t>(took.count());
  return arrived;
}

std::vector<bool> Remote::State::absent(std::span<const Item> items, const std::atomic<bool>* cancel) {
  std::vector<Name> names;
  for (const Item& item : items) names.push_back(item.name);
  auto there =
      with_transport([&](Transport& transport) { return transport.has(names, patience(address.stall, cancel)); });
  there.flip();
  return there;
}

Result<void> Remote::State::send(std::span<const Item> items, const std::atomic<bool>* cancel) {
  if (items.empty()) return {};
  const auto most = writing.patience(std::max(address.connect, address.stall));
  if (!most) return fail(Errc::io, "{}: it is not used for a while", address.shown);
  const auto began = Clock::now();
  Stored stored = with_transport([&](Transport& transport) { return transport.put(items, patience(*most, cancel)); });
  if (cancel && *cancel) return fail(Errc::io, "{}: broken off", address.shown);
  note(stored.trouble, writing, began);
  {
    const std::lock_guard lock(mutex);
    counted.round_trips += stored.round_trips;
    for (size_t i = 0; i < std::min(stored.count, items.size()); ++i) counted.bytes_written += items[i].bytes.size();
  }
  if (stored.trouble) return fail(stored.trouble->error.code, "{}", stored.trouble->error.message);
  return {};
}

Result<void> Remote::put(std::span<const Outgoing> entries, const std::atomic<bool>* cancel, size_t* sent) {
  if (state_->address.read_only) return fail(Errc::invalid_argument, "{}: it is read-only", state_->address.shown);
  // A batch at a time: who is broken off leaves whole entries, and few blobs that no record leads to.
  constexpr size_t kEntriesAtATime = 64;
  constexpr uint64_t kBytesAtATime = uint64_t{4} << 20;
  for (size_t first = 0; first < entries.size();) {
    size_t last = first;
    for (uint64_t bytes = 0; last < entries.size() && last - first < kEntriesAtATime && bytes < kBytesAtATime; ++last)
      for (const Part& part : entries[last].parts) bytes += part.bytes.size();
    SMELT_TRY_VOID(put_batch(entries.subspan(first, last - first), cancel));
    first = last;
    if (sent != nullptr) *sent = first;
  }
  return {};
}

Result<void> Remote::put_batch(std::span<const Outgoing> entries, const std::atomic<bool>* cancel) {
  State& state = *state_;
  std::vector<Packed> packed;
  std::vector<std::string> records;
  std::vector<Item> blobs, heads;
  std::map<Digest, size_t> seen;
  packed.reserve(entries.size());
  records.reserve(entries.size());
  for (const Outgoing& entry : entries) {
    packed.push_back(pack(entry));
    SMELT_TRY(records.emplace_back(), schema::write_entry_record(packed.back().record));
    heads.push_back({{Space::ac, entry.key}, as_bytes(records.back())});
    for (size_t i = 0; i < packed.back().blobs.size(); ++i) {
      const Digest& name = packed.back().record.parts[i].blob;
      if (seen.try_emplace(name, 0).second) blobs.push_back({{Space::cas, name}, packed.back().blobs[i]});
    }
  }
  const std::vector<bool> wanted = state.absent(blobs, cancel);
  std::vector<Item> sent;
  for (size_t i = 0; i < blobs.size(); ++i)
    if (wanted[i]) sent.push_back(blobs[i]);
  SMELT_TRY_VOID(state.send(sent, cancel));
  SMELT_TRY_VOID(state.send(heads, cancel));
  state.count(&Statistics::puts, entries.size());
  for (const Outgoing& entry : entries) state.forget(entry.key);
  return {};
}

bool Remote::takes_puts() const {
  return !state_->address.read_only && !state_->writing.resting() && !state_->reading.resting();
}

void Remote::count_dropped(uint64_t entries) {
  state_->count(&Statistics::dropped, entries);
}

void Remote::count_damaged() {
  state_->count(&Statistics::damaged);
}

bool Remote::has_leases() const {
  return state_->leases && !state_->address.read_only &&
         Clock::now().time_since_epoch().count() >= state_->no_leases_until.load(std::memory_order_relaxed);
}

void Remote::rest_leases(std::string_view why) {
  state_->no_leases_until = (Clock::now() + state_->address.rest).time_since_epoch().count();
  if (state_->warn) state_->warn(fmt::format("{}: {}; its leases are ignored for a while", state_->address.shown, why));
}

Result<LeaseAnswer> Remote::take(const Lease& lease, const std::atomic<bool>* cancel) {
  State& state = *state_;
  const auto most = state.reading.patience(std::max(state.address.connect, state.address.stall));
  if (!most) return fail(Errc::io, "{}: it is not used for a while", state.address.shown);
  const auto began = Clock::now();
  auto answer = state.with_transport(
      [&](Transport& transport) { return transport.take(lease, state.lease_patience(*most, cancel)); });
  state.note(answer ? std::nullopt : std::optional(Trouble{answer.error()}), state.reading, began);
  return answer;
}

void Remote::give_back(const Lease& lease) {
  State& state = *state_;
  const auto most = state.reading.patience(state.address.stall);
  if (!most) return;
  // Nothing to do about a failure: the lease runs out by itself.
  (void)state.with_transport(
      [&](Transport& transport) { return transport.give_back(lease, state.lease_patience(*most)); });
}

bool Remote::probe_due() {
  const bool reading = state_->reading.probe_due(), writing = state_->writing.probe_due();
  if (reading || writing) state_->probe_asked = true;
  return reading || writing;
}

void Remote::probe(const std::atomic<bool>* cancel) {
  State& state = *state_;
  if (!state.probe_asked.exchange(false)) return;
  // Any key does: absent is an answer too.
  const Want want{{Space::ac, sha256(as_bytes("smelt probe"))}, schema::kMostRecordBytes};
  const Fetched fetched = state.with_transport([&](Transport& transport) {
    return transport.get(std::span(&want, 1), state.patience(state.address.stall, cancel));
  });
  state.reading.probed(!fetched.trouble);
  // Whether it takes bytes again shows when it is given some: one failure sends it back to rest.
  state.writing.probed(!fetched.trouble);
}

Statistics Remote::statistics() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counted;
}

}  // namespace smelt::remote
