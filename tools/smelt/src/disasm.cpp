// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt disasm FILE [FUNCTION]: the AIR of a function (or of all) as LLVM text.
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"

#include "reading.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace smelt::cli {
namespace {

struct DisasmOptions {
  std::string file;
  std::string function;
  std::string target;
  ReadingOptions reading;
};

/// A package's Metal library: the one for `target`, else its first.
Result<ByteView> metallib_of(const schema::Package& package, const DisasmOptions& options) {
  for (uint32_t l = 0; l < package.library_count(); ++l) {
    const schema::LibraryView library = package.library(l);
    if (!options.function.empty() && !package.find_function(library, options.function)) continue;
    for (uint32_t i = 0; i < library.slices.count; ++i) {
      const schema::SliceView slice = package.slice(library.slices.first + i);
      if (slice.kind != schema::SliceKind::metallib || (!options.target.empty() && slice.target != options.target))
        continue;
      SMELT_TRY_VOID(schema::check_part(slice.part, slice.target));
      return slice.part.bytes;
    }
  }
  return fail(Errc::function_not_found, "no Metal library{}{} in the package",
              options.function.empty() ? "" : " with function '" + options.function + "'",
              options.target.empty() ? "" : " for " + options.target);
}

Result<std::string> disassembled_text(ByteView bytes, const DisasmOptions& options) {
  if (schema::Package::looks_like(bytes)) {
    SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
    SMELT_TRY(bytes, metallib_of(package, options));
  }
  return aot::disassemble(bytes, options.file, options.function);
}

Result<void> run_disasm(const DisasmOptions& options) {
  SMELT_TRY(const Bytes file, read_file(options.file));
  SMELT_TRY(const std::string text, read_text_apart(options.reading, [&] { return disassembled_text(file, options); }));
  return print(text);
}

}  // namespace

void add_disasm(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("disasm", "Print the AIR of a function as LLVM text");
  auto options = std::make_shared<DisasmOptions>();
  verb->add_option("FILE", options->file, "Metal library, package or bitcode file")->required();
  verb->add_option("FUNCTION", options->function, "Function to print (default: all)");
  verb->add_option("--target", options->target, "Target of the package's Metal library to print (default: the first)");
  add_reading_options(*verb, options->reading);
  show_example(*verb, "smelt disasm app.metallib saxpy");
  verb->callback([options, &context] { context.finish(run_disasm(*options)); });
}

}  // namespace smelt::cli
