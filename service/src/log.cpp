// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spdlog: levels, threads and terminals are its business. What would steer a terminal gets to none.
#include "smelt/service/log.hpp"

#include "smelt/base/text.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace smelt::service {
namespace {

void set_level(spdlog::logger& logger, const char* word) {
  const auto level = spdlog::level::from_str(word);
  // spdlog takes a word that is no level for "off".
  if (level != spdlog::level::off || std::string_view(word) == "off")
    logger.set_level(level);
  else if (*word != 0)
    logger.warn("SMELT_LOG: '{}' is not a level; want trace, debug, info, warn, error, critical or off",
                printable(word));
}

spdlog::logger& logger() {
  // Threads may log while statics go.
  static auto* const made = [] {
    auto* const fresh = new spdlog::logger("smelt", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    fresh->set_pattern("%n: %^%l%$: %v");
    fresh->set_level(spdlog::level::warn);
    if (const char* wanted = std::getenv("SMELT_LOG")) set_level(*fresh, wanted);
    return fresh;
  }();
  return *made;
}

}  // namespace

void log_info(std::string_view text) {
  logger().info("{}", printable(text));
}
void log_warning(std::string_view text) {
  logger().warn("{}", printable(text));
}
void log_more() {
  if (logger().level() > spdlog::level::info) logger().set_level(spdlog::level::info);
}

}  // namespace smelt::service
