// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt key ...: Ed25519 keys for signing packages and entries.
#include "smelt/signing/keys.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct KeyOptions {
  std::string name, file;
};

Result<void> make(const KeyOptions& options) {
  SMELT_TRY(const signing::SecretKey key, signing::new_key(options.name));
  SMELT_TRY_VOID(signing::write_secret_key(options.file, key));
  return print(signing::to_text(signing::public_key(key)) + "\n");
}

Result<void> show_public(const KeyOptions& options) {
  SMELT_TRY(const signing::SecretKey key, signing::read_secret_key(options.file));
  return print(signing::to_text(signing::public_key(key)) + "\n");
}

}  // namespace

void add_key(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("key", "Make and show keys that sign packages and entries");
  verb->require_subcommand(1);
  auto options = std::make_shared<KeyOptions>();
  const auto command = [&](const char* name, const char* help, Result<void> (*run)(const KeyOptions&)) {
    CLI::App* sub = verb->add_subcommand(name, help);
    sub->callback([options, run, &context] { context.finish(run(*options)); });
    return sub;
  };
  CLI::App* sub = command("new", "Make a key; prints the public half", make);
  sub->add_option("NAME", options->name, "Name of the key, e.g. ci-2026")->required();
  sub->add_option("-o,--output", options->file, "File for the secret half, mode 0600")->required();
  sub = command("show", "Print the public half of a secret key", show_public);
  sub->add_option("FILE", options->file, "File of a secret key")->required();
}

}  // namespace smelt::cli
