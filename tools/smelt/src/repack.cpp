// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt repack FILE.metallib -o OUT: container only. Parses, and writes from what was parsed: the same bytes, or an
// error. A test of our reader and writer that anyone can run on any library.
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/metallib/writer.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <list>
#include <memory>

namespace smelt::cli {
namespace {

struct RepackOptions {
  std::string input;
  std::string output;
};

Result<Bytes> repack(ByteView image);

/// The slices that are Metal libraries are repacked in place; others are kept as they are.
Result<Bytes> repack_universal(ByteView image) {
  SMELT_TRY(metallib::Universal universal, metallib::read_universal(image));
  std::list<Bytes> repacked;
  for (size_t i = 0; i < universal.slices.size(); ++i) {
    ByteView& slice = universal.slices[i].bytes;
    if (!metallib::is_metallib(slice)) continue;
    auto bytes = repack(slice);
    if (!bytes) return tl::unexpected(std::move(bytes).error().in(fmt::format("slice {}", i)));
    slice = repacked.emplace_back(std::move(*bytes));
  }
  return metallib::write_universal(universal);
}

Result<Bytes> repack(ByteView image) {
  Bytes written;
  if (metallib::is_universal(image)) {
    SMELT_TRY(written, repack_universal(image));
  } else {
    SMELT_TRY(const metallib::Library library, metallib::read(image));
    SMELT_TRY(written, metallib::write(library));
  }
  if (!std::equal(written.begin(), written.end(), image.begin(), image.end()))
    return fail(Errc::corrupt, "read, but written differently; this is a bug of smelt: please report the file");
  return written;
}

Result<void> run_repack(const RepackOptions& options) {
  SMELT_TRY(const Bytes image, read_file(options.input));
  auto written = repack(image);
  if (!written) return tl::unexpected(std::move(written).error().in(options.input));
  return write_file(options.output, *written);
}

}  // namespace

void add_repack(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("repack", "Read a Metal library and write the same bytes, or fail");
  auto options = std::make_shared<RepackOptions>();
  verb->add_option("FILE", options->input, "Metal library or universal file to read")->required();
  verb->add_option("-o,--output", options->output, "File to write")->required();
  verb->callback([options, &context] { context.finish(run_repack(*options)); });
}

}  // namespace smelt::cli
