// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// redis://, rediss://: keys "<prefix>:ac:<hex>" and "<prefix>:cas:<hex>". A batch is one pipeline of MGETs, so it costs
// one round trip however many keys it has.
#include "smelt/base/foreign_text.hpp"

#include "redis_connection.hpp"
#include "transports.hpp"

#include <algorithm>

namespace smelt::remote {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{8} << 20;  // of one MGET: a server does nothing else meanwhile
constexpr size_t kBatchKeys = 1024;
constexpr uint64_t kUsualRecord = 1024;

// Prolongs or gives back a lease only if it is still the holder's.
constexpr std::string_view kProlong =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";
constexpr std::string_view kGiveBack =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

class RedisTransport : public Transport {
 public:
  RedisTransport(Address address, std::string password)
      : address_(std::move(address)), password_(std::move(password)), connection_(address_) {}

  Fetched get(std::span<const Want> wants, const Patience& patience) override {
    Fetched fetched;
    fetched.got.resize(wants.size());
    std::string wire;
    std::vector<size_t> sizes;  // of the MGETs
    uint64_t most = 4096;
    for (size_t first = 0; first < wants.size();) {
      uint64_t bytes = 0;
      std::vector<std::string> keys;
      while (first + keys.size() < wants.size() && keys.size() < kBatchKeys && bytes < kBatchBytes) {
        const Want& want = wants[first + keys.size()];
        bytes += want.name.space == Space::ac ? kUsualRecord : want.most;
        most += std::min(want.most, patience.most_bytes) + 64;
        keys.push_back(key_of(want.name));
      }
      Command command{"MGET"};
      command.insert(command.end(), keys.begin(), keys.end());
      append_command(wire, command);
      sizes.push_back(keys.size());
      first += keys.size();
    }
    most = std::min(most, patience.most_bytes + 4096 + 64 * wants.size());
    auto replies = exchange(wire, sizes.size(), most, patience, fetched.round_trips);
    if (!replies) {
      fetched.trouble = Trouble{std::move(replies).error()};
      return fetched;
    }
    size_t at = 0;
    for (size_t i = 0; i < replies->size(); ++i) {
      Reply& reply = (*replies)[i];
      if (reply.type != Reply::Type::array || reply.elements.size() != sizes[i]) {
        fetched.trouble = trouble_of(reply, "MGET");
        return fetched;
      }
      for (Reply& element : reply.elements) take(element, wants[at], fetched.got[at]), ++at;
    }
    return fetched;
  }

  Stored put(std::span<const Item> items, const Patience& patience) override {
    std::string wire;
    for (const Item& item : items) {
      const std::string key = key_of(item.name), ttl = std::to_string(address_.ttl.count());
      Command command{"SET", key, as_text(item.bytes)};
      if (address_.ttl.count() > 0) command.insert(command.end(), {"EX", ttl});
      append_command(wire, command);
    }
    Stored stored;
    auto replies = exchange(wire, items.size(), 4096 + 256 * items.size(), patience, stored.round_trips);
    if (!replies) {
      stored.trouble = Trouble{std::move(replies).error()};
      return stored;
    }
    for (const Reply& reply : *replies) {
      if (reply.type == Reply::Type::status)
        ++stored.count;
      else if (!stored.trouble)
        stored.trouble = trouble_of(reply, "SET");
    }
    return stored;
  }

  std::vector<bool> has(std::span<const Name> names, const Patience& patience) override {
    std::string wire;
    for (const Name& name : names) append_command(wire, {"EXISTS", key_of(name)});
    unsigned round_trips = 0;
    const auto replies = exchange(wire, names.size(), 4096 + 64 * names.size(), patience, round_trips);
    std::vector<bool> found(names.size());
    if (replies)
      for (size_t i = 0; i < found.size(); ++i) found[i] = (*replies)[i].integer == 1;
    return found;
  }

  bool has_leases() const override { return true; }

  Result<LeaseAnswer> take(const Lease& lease, const Patience& patience) override {
    const std::string key = lease_key(lease), lasts = std::to_string(lease.lasts.count());
    std::string wire;
    append_command(wire, {"SET", key, lease.holder, "NX", "PX", lasts});
    append_command(wire, {"EVAL", kProlong, "1", key, lease.holder, lasts});
    append_command(wire, {"PTTL", key});
    unsigned round_trips = 0;
    SMELT_TRY(const auto replies, exchange(wire, 3, 8192, patience, round_trips));
    for (const Reply& reply : replies)
      if (reply.type == Reply::Type::error) return tl::unexpected(trouble_of(reply, "SET NX").error);
    LeaseAnswer answer;
    answer.held = replies[0].type == Reply::Type::status || replies[1].integer == 1;
    // -1: it has no end, -2: it ended this moment.
    answer.left = std::chrono::milliseconds(replies[2].integer == -2 ? 0 : replies[2].integer);
    return answer;
  }

  Result<void> give_back(const Lease& lease, const Patience& patience) override {
    std::string wire;
    append_command(wire, {"EVAL", kGiveBack, "1", lease_key(lease), lease.holder});
    unsigned round_trips = 0;
    SMELT_TRY_VOID(exchange(wire, 1, 4096, patience, round_trips));
    return {};
  }

 private:
  std::string key_of(const Name& name) const {
    return fmt::format("{}:{}:{}", address_.prefix, name.space == Space::ac ? "ac" : "cas", to_hex(name.digest));
  }
  std::string lease_key(const Lease& lease) const { return fmt::format("{}:lease:{}", address_.prefix, lease.name); }

  static void take(Reply& element, const Want& want, Got& got) {
    if (element.type == Reply::Type::nil)
      got.outcome = Got::Outcome::absent;
    else if (element.type != Reply::Type::text || element.bytes.size() > want.most)
      got.outcome = Got::Outcome::damaged;
    else
      got = {Got::Outcome::found, std::move(element.bytes)};
  }

  /// Connects when needed: who we are goes out before the first command, and its answer is looked at, which is a round
  /// trip of its own. A connection that the server has closed meanwhile is opened anew once.
  Result<std::vector<Reply>> exchange(const std::string& wire, size_t count, uint64_t most, const Patience& patience,
                                      unsigned& round_trips) {
    if (count == 0) return std::vector<Reply>();
    const bool was_connected = connection_.connected();
    const auto began = std::chrono::steady_clock::now();
    if (!was_connected) SMELT_TRY_VOID(log_in(patience, round_trips));
    ++round_trips;
    auto replies = connection_.exchange(wire, count, most, rest_of(patience, began));
    const bool at_once = std::chrono::steady_clock::now() - began < patience.stall / 2;
    if (replies || !was_connected || !at_once || replies.error().code == Errc::corrupt) return replies;
    SMELT_TRY_VOID(log_in(rest_of(patience, began), round_trips));
    ++round_trips;
    return connection_.exchange(wire, count, most, rest_of(patience, began));
  }

  Result<void> log_in(const Patience& patience, unsigned& round_trips) {
    const auto began = std::chrono::steady_clock::now();
    SMELT_TRY_VOID(connection_.connect(patience));
    ++round_trips;
    std::string wire;
    size_t count = 0;
    const auto add = [&](const Command& command) {
      append_command(wire, command);
      ++count;
    };
    if (!password_.empty() && !address_.user.empty()) add({"AUTH", address_.user, password_});
    if (!password_.empty() && address_.user.empty()) add({"AUTH", password_});
    if (address_.path.size() > 1) add({"SELECT", std::string_view(address_.path).substr(1)});
    if (count == 0) return {};
    ++round_trips;
    SMELT_TRY(const auto replies, connection_.exchange(wire, count, 4096, rest_of(patience, began)));
    for (const Reply& reply : replies)
      if (reply.type == Reply::Type::error) {
        connection_.close();
        return fail(Errc::io, "{}: the server refuses us: {}", address_.shown, one_line(reply.text()));
      }
    return {};
  }

  Trouble trouble_of(const Reply& reply, std::string_view command) const {
    Trouble trouble;
    const std::string_view text = reply.type == Reply::Type::error ? reply.text() : "an answer of another kind";
    trouble.error = {Errc::io, fmt::format("{}: answered {} with: {}", address_.shown, command, one_line(text)),
                     address_.shown};
    for (const std::string_view word : {"OOM", "READONLY", "MISCONF", "NOPERM"})
      trouble.writes_only = trouble.writes_only || text.starts_with(word);
    trouble.rest_now = true;  // it is there and says no: LOADING, NOAUTH, BUSY and the above
    return trouble;
  }

  Address address_;
  std::string password_;
  RedisConnection connection_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_redis_transport(const Address& address) {
  std::string password = address.password;
  if (!address.token_file.empty()) {
    SMELT_TRY(password, read_token(address.token_file));
  }
  return std::make_unique<RedisTransport>(address, std::move(password));
}

}  // namespace smelt::remote
