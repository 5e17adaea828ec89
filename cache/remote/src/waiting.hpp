// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a call over a socket goes, and when it is given up. Private to remote.
#pragma once

#include "smelt/remote/transport.hpp"

#include <fmt/format.h>

#include <string>

namespace smelt::remote {

struct Waiting {
  using Clock = std::chrono::steady_clock;

  Clock::time_point began = Clock::now(), progress = began;
  uint64_t bytes = 0;     ///< both ways
  uint64_t answered = 0;  ///< requests, worth four milliseconds: small answers have few bytes

  void moved(size_t count) {
    progress = Clock::now();
    bytes += count;
  }

  /// Why the call is given up, if it is. `connecting`: what connecting may take besides, before the first byte.
  std::optional<std::string> over(const Patience& patience, std::chrono::milliseconds connecting = {}) const {
    using std::chrono::milliseconds;
    const auto late = [](std::string_view why, milliseconds limit) {
      return fmt::format("{} ({}ms)", why, limit.count());
    };
    if (patience.cancel && *patience.cancel) return "broken off";
    const auto now = Clock::now();
    const auto first = progress == began ? connecting : milliseconds(0);
    if (now - progress > patience.stall + first) return late("no byte for the time of 'stall'", patience.stall);
    if (now - began > patience.timeout) return late("not done within 'timeout'", patience.timeout);
    const milliseconds earned(static_cast<int64_t>(std::min<uint64_t>((bytes >> 10) + 4 * answered, 1U << 30)));
    if (now - began > patience.drip + earned) return late("bytes come too slowly", patience.drip);
    return std::nullopt;
  }
};

/// What is left of a call's patience after its first part.
inline Patience rest_of(Patience patience, Waiting::Clock::time_point began) {
  const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(Waiting::Clock::now() - began);
  patience.timeout = std::max(patience.timeout - gone, std::chrono::milliseconds(0));
  patience.drip = std::max(patience.drip - gone, std::chrono::milliseconds(0));
  return patience;
}

}  // namespace smelt::remote
