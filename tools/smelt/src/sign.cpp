// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt sign PACKAGE --key F: says, under a key's name, that a package is what it is.
#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/signing/keys.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace smelt::cli {
namespace {

struct SignOptions {
  std::string input, key, output;
};

Result<void> sign(const SignOptions& options) {
  SMELT_TRY(const signing::SecretKey key, signing::read_secret_key(options.key));
  SMELT_TRY(const Bytes file, read_file(options.input));
  const auto package = schema::Package::open(file);
  if (!package) return tl::unexpected(Error(package.error()).in(options.input));
  // Signing vouches for the parts too, so they must be what the manifest says.
  if (auto whole = schema::check_all_parts(*package); !whole)
    return tl::unexpected(std::move(whole).error().in(options.input));
  const std::string fresh =
      signing::to_text(signing::sign(key, as_bytes(schema::package_statement(package->digest()))));
  std::vector<std::string> signatures = package->signatures();
  if (std::find(signatures.begin(), signatures.end(), fresh) == signatures.end()) signatures.push_back(fresh);
  SMELT_TRY(const Bytes with, schema::with_signatures(file, signatures));
  const std::string& output = options.output.empty() ? options.input : options.output;
  SMELT_TRY_VOID(write_file(output, with));
  if (output == "-") return {};  // stdout is the package
  return print(fmt::format("{}: signed by {}, {} signature{} in all; digest {}\n", printable(output), key.name,
                           signatures.size(), signatures.size() == 1 ? "" : "s", to_hex(package->digest())));
}

}  // namespace

void add_sign(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("sign", "Sign a package; its content and digest stay the same");
  auto options = std::make_shared<SignOptions>();
  verb->add_option("PACKAGE", options->input, "Package to sign")->required();
  verb->add_option("--key", options->key, "File of a secret key, made by 'smelt key new'")->required();
  verb->add_option("-o,--output", options->output, "Package to write (default: the package itself)");
  show_example(*verb, "smelt sign model.smelt --key ci.key");
  verb->callback([options, &context] { context.finish(sign(*options)); });
}

}  // namespace smelt::cli
