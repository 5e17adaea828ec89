// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reading.hpp"

#include "smelt/aot/ready.hpp"
#include "smelt/base/seconds.hpp"
#include "smelt/service/reading_child.hpp"

#include "context.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <utility>

namespace smelt::cli {

void add_reading_options(CLI::App& verb, ReadingOptions& options) {
  const auto mode = [&options](const std::string& word) {
    const auto parsed = service::parse_sandbox(word);
    if (!parsed) throw CLI::ValidationError(parsed.error().message, CLI::ExitCodes::ValidationError);
    options.sandbox = *parsed;
  };
  verb.add_option_function<std::string>(
          "--sandbox", mode,
          "Read in a child process: auto (where there is one), always or never (default: $SMELT_SANDBOX, else auto)")
      ->group("Limits");
  verb.add_option("--timeout", options.timeout, "Seconds that the child may take for a file (default: 3600)")
      ->check(CLI::PositiveNumber)
      ->group("Limits");
  take_size(
      verb.add_option("--max-memory", options.max_memory, "Bytes that the child may use, e.g. 1GiB (default: 8GiB)"))
      ->group("Limits");
}

Result<service::Sandbox> sandbox_or_default(std::optional<service::Sandbox> asked) {
  const char* const word = std::getenv("SMELT_SANDBOX");
  if (asked || word == nullptr || *word == 0) return asked.value_or(service::Sandbox::automatic);
  auto mode = service::parse_sandbox(word);
  if (!mode) return tl::unexpected(std::move(mode).error().in("SMELT_SANDBOX"));
  return *mode;
}

Result<Bytes> read_apart(const ReadingOptions& options, const std::function<Result<Bytes>()>& read) {
  SMELT_TRY(const service::Sandbox mode, sandbox_or_default(options.sandbox));
  if (mode == service::Sandbox::never) {
    if (options.timeout != 0 || options.max_memory != 0)
      return fail(Errc::invalid_argument, "--{}: it limits the child process, and --sandbox never starts none",
                  options.timeout != 0 ? "timeout" : "max-memory");
    return read();
  }
  aot::be_ready();
  service::ReadingBounds bounds;
  bounds.memory_bytes = options.max_memory;
  SMELT_TRY(bounds.time, limit_from_seconds(options.timeout, "--timeout"));
  if (mode == service::Sandbox::always) return service::read_in_child(bounds, read);
  return service::read_in_child_if_there_is_one(bounds, read, [](std::string_view why) {
    static bool told = false;
    if (!std::exchange(told, true)) Context::warn(why);
  });
}

Result<std::string> read_text_apart(const ReadingOptions& options, const std::function<Result<std::string>()>& read) {
  SMELT_TRY(const Bytes bytes, read_apart(options, [&]() -> Result<Bytes> {
              SMELT_TRY(const std::string text, read());
              return to_bytes(as_bytes(text));
            }));
  return service::plain_lines(bytes);
}

}  // namespace smelt::cli
