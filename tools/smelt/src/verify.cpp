// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt verify FILE...: every check that can be made without a Mac; a line for each file without errors, which counts
// what it holds, and a line for each finding, which names the place.
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/signing/policy.hpp"

#include "reading.hpp"
#include "verbs.hpp"
#include "verify_file.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace smelt::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> inputs, trusted;
  bool json = false;
  ReadingOptions reading;
};

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text;
}

/// Whether one of the trusted keys signed the file, as a finding.
VerifyFinding signature_finding(ByteView file, const signing::Policy& policy) {
  const auto package = schema::Package::open(file);
  if (!package) return {.message = "only packages carry signatures", .check = "signature"};
  const std::vector<std::string> signatures = package->signatures();
  const auto by = policy.signer(as_bytes(schema::package_statement(package->digest())), signatures);
  if (by) return {.is_error = false, .message = "signed by " + signing::to_text(*by), .check = "signature"};
  return {.message = policy.explain(signatures), .check = "signature"};
}

/// A child that died of the file, or came to a limit, is a finding too.
Result<VerifyReport> report_of(ByteView file, const ReadingOptions& reading) {
  const auto found = read_apart(reading, [&]() -> Result<Bytes> { return write_report(verify_file(file)); });
  if (found) return read_report(*found);
  if (found.error().code != Errc::corrupt && found.error().code != Errc::cancelled)
    return tl::unexpected(found.error());
  return VerifyReport{.findings = {{.message = found.error().message, .check = "bitcode"}}};
}

/// True when every file could be read and has no error.
Result<bool> run_verify(const VerifyOptions& options) {
  bool good = true;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string lines;
  signing::Policy policy;
  for (const std::string& keys : options.trusted) SMELT_TRY_VOID(policy.add_file(keys));
  for (const std::string& input : options.inputs) {
    SMELT_TRY(const Bytes file, read_file(input));
    auto report = report_of(file, options.reading);
    if (!report) return tl::unexpected(std::move(report).error().in(input));
    std::vector<VerifyFinding>& findings = report->findings;
    if (!options.trusted.empty()) findings.push_back(signature_finding(file, policy));
    const auto is_error = [](const VerifyFinding& finding) { return finding.is_error; };
    if (std::none_of(findings.begin(), findings.end(), is_error))
      lines += on_one_line(fmt::format("{}: ok: {}", input, content_text(*report))) + "\n";
    for (const VerifyFinding& finding : findings) {
      good = good && !finding.is_error;
      const char* severity = finding.is_error ? "error" : "note";
      all.push_back({{"file", input},
                     {"severity", severity},
                     {"check", finding.check},
                     {"place", finding.place},
                     {"message", finding.message}});
      lines += on_one_line(fmt::format("{}: {}: {}{}{}", input, severity, finding.place,
                                       finding.place.empty() ? "" : ": ", finding.message)) +
               "\n";
    }
  }
  if (options.json) lines = all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  SMELT_TRY_VOID(print(lines));
  return good;
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("verify", "Check Metal libraries and packages, as far as possible without a Mac");
  auto options = std::make_shared<VerifyOptions>();
  verb->add_option("FILE", options->inputs, "Metal libraries, universal files, packages, AIR bitcode")->required();
  verb->add_flag("--json", options->json, "Print JSON for programs");
  verb->add_option("--trusted", options->trusted, "File of public keys, one of which must have signed; may be repeated")
      ->allow_extra_args(false);
  add_reading_options(*verb, options->reading);
  show_example(*verb, "smelt verify app.metallib app.smelt");
  verb->callback([options, &context] { context.finish(run_verify(*options)); });
}

}  // namespace smelt::cli
