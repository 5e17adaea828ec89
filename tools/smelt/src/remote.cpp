// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt remote ...: the servers behind the store.
#include "smelt/remote/check.hpp"
#include "smelt/remote/remotes.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <memory>

namespace smelt::cli {
namespace {

using nlohmann::ordered_json;

struct RemoteOptions {
  std::vector<std::string> urls;
  bool json = false;
};

Result<std::vector<remote::Address>> addresses(const RemoteOptions& options) {
  std::string all;
  for (const std::string& url : options.urls) all += url + " ";
  const char* environment = std::getenv("SMELT_REMOTE");
  if (options.urls.empty() && environment) all = environment;
  SMELT_TRY(auto parsed, remote::parse_addresses(all));
  if (parsed.empty())
    return fail(Errc::invalid_argument, "no remote: give a URL, or set SMELT_REMOTE (docs/guide/remotes.md)");
  return parsed;
}

/// True when every step of every remote is good.
Result<bool> check(const RemoteOptions& options) {
  SMELT_TRY(const auto all, addresses(options));
  bool good = true;
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const remote::Address& address : all) {
    for (const remote::CheckStep& step : remote::check(address)) {
      good = good && step.good;
      rows.push_back({{"remote", address.shown}, {"check", step.what}, {"good", step.good}, {"result", step.result}});
      text +=
          printable(fmt::format("{}: {}: {}{}\n", address.shown, step.what, step.good ? "" : "FAILED: ", step.result));
    }
  }
  if (options.json) text = rows.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  SMELT_TRY_VOID(print(text));
  return good;
}

}  // namespace

void add_remote(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("remote", "Check the servers that share compiled kernels");
  verb->require_subcommand(1);
  auto options = std::make_shared<RemoteOptions>();
  CLI::App* sub = verb->add_subcommand("check", "Read, write and measure each server, and say what to repair");
  sub->add_option("URL", options->urls, "Remotes to check (default: those of SMELT_REMOTE)");
  sub->add_flag("--json", options->json, "Print JSON for programs");
  sub->callback([options, &context] { context.finish(check(*options)); });
}

}  // namespace smelt::cli
