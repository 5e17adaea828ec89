// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/check.hpp"

#include "smelt/remote/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace smelt::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kSample = "smelt remote check: this blob may be deleted\n";
constexpr int kRounds = 5;

double milliseconds_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

class Checker {
 public:
  Checker(const Address& address, Transport& transport)
      : address_(address), transport_(transport), patience_{address.connect, address.stall, address.timeout} {}

  std::vector<CheckStep> run() {
    if (!reads()) return std::move(steps_);
    latency();
    if (address_.read_only)
      add(true, "writes", "not tried: read-only");
    else
      writes();
    clock();
    if (address_.tls) add(true, "certificate", "verified; the server's ends " + transport_.certificate_ends());
    if (address_.kind == Kind::http && !address_.tls)
      add(true, "encryption", "none: anybody on the way may read tokens, and change what is not signed");
    return std::move(steps_);
  }

 private:
  void add(bool good, std::string what, std::string result) {
    steps_.push_back({good, std::move(what), std::move(result)});
  }

  Fetched ask(const Digest& digest) {
    const Want want{{Space::cas, digest}, kSample.size()};
    return transport_.get(std::span(&want, 1), patience_);
  }

  bool reads() {
    const auto began = Clock::now();
    const Fetched fetched = ask(sha256(as_bytes("smelt remote check: nobody has this")));
    const double took = milliseconds_since(began);
    if (fetched.trouble) {
      add(false, "reads", fetched.trouble->error.message);
      return false;
    }
    const bool absent = fetched.got[0].outcome == Got::Outcome::absent;
    add(absent, "reads",
        absent ? fmt::format("yes; connecting and the first answer took {:.1f} ms", took)
               : "it has data under a name that nothing hashes to: is this a cache, or a page that answers every "
                 "request?");
    return absent;
  }

  void latency() {
    std::vector<double> took;
    for (int i = 0; i < kRounds; ++i) {
      const auto began = Clock::now();
      if (ask(sha256(as_bytes("smelt remote check: nor this"))).trouble) break;
      took.push_back(milliseconds_since(began));
    }
    if (took.empty()) return add(false, "latency", "a second request on the same connection failed");
    std::sort(took.begin(), took.end());
    const double median = took[took.size() / 2];
    const auto limit = static_cast<double>(address_.stall.count());
    add(median < limit / 2, "latency",
        fmt::format("{:.1f} ms a round trip{}", median,
                    median < limit / 2 ? "" : fmt::format("; close to stall={}ms, which should be longer", limit)));
  }

  void writes() {
    const Digest digest = sha256(as_bytes(kSample));
    const Item item{{Space::cas, digest}, as_bytes(kSample)};
    const Stored stored = transport_.put(std::span(&item, 1), patience_);
    if (stored.trouble || stored.count != 1) {
      const std::string why = stored.trouble ? stored.trouble->error.message : "it was not kept";
      return add(false, "writes", why + ". If this machine should only read, add read-only to the URL");
    }
    const Fetched fetched = ask(digest);
    const bool same = fetched.got[0].outcome == Got::Outcome::found && as_text(fetched.got[0].bytes) == kSample;
    add(same, "writes",
        same ? "yes, and reads back what was written"
             : "it accepts data but does not return it: is there another cache in between?");
  }

  void clock() {
    const auto theirs = transport_.server_time();
    if (!theirs) return;
    const auto apart = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now() - *theirs);
    const bool near = std::abs(apart.count()) < 300;
    add(near, "clock",
        fmt::format("{} s apart from the server's{}", std::abs(apart.count()),
                    near ? "" : "; certificates and S3's signatures need less than 5 minutes: is NTP running?"));
  }

  const Address& address_;
  Transport& transport_;
  Patience patience_;
  std::vector<CheckStep> steps_;
};

}  // namespace

std::vector<CheckStep> check(const Address& address) {
  auto transport = make_transport(address);
  if (!transport) return {{false, "settings", transport.error().message}};
  return Checker(address, **transport).run();
}

}  // namespace smelt::remote
