// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal-dsymutil: takes recorded sources out of libraries. The companion file that Apple's tool moves them to is not
// written.
#include "smelt/base/files.hpp"

#include "record.hpp"
#include "tools.hpp"

#include <cstdio>

namespace smelt::toolchain {
namespace {

struct DsymutilJob {
  std::vector<std::string> files;
  std::string output;
  bool removes = false, prints_version = false;
};

Result<DsymutilJob> read_words(const Call& call) {
  DsymutilJob job;
  const std::vector<std::string>& words = call.arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    // Apple's documents write one dash, build files two.
    const std::string_view word = std::string_view(words[i]).substr(words[i].starts_with("--") ? 1 : 0);
    if (word == "-remove-source") {
      job.removes = true;
    } else if (word == "-version" || word == "-v") {
      job.prints_version = true;
    } else if (word == "-o" && i + 1 < words.size()) {
      job.output = words[++i];
    } else if (word == "-flat") {
      continue;  // the form of the companion
    } else if (word.size() > 1 && word[0] == '-') {
      return fail(Errc::invalid_argument, "unknown argument: '{}'; there are -flat, -remove-source, -o, -version",
                  words[i]);
    } else {
      job.files.push_back(words[i]);
    }
  }
  return job;
}

Result<void> dsymutil(const Call& call, Messages& messages) {
  SMELT_TRY(const DsymutilJob job, read_words(call));
  if (job.prints_version) fmt::print("{}", version_text(call, aot::default_target()));
  if (job.files.empty() && job.prints_version) return {};
  if (job.files.empty()) return fail(Errc::invalid_argument, "no input files");
  if (!job.output.empty() && job.files.size() > 1)
    return fail(Errc::invalid_argument, "cannot specify -o with several files");
  if (!job.removes)
    return fail(
        Errc::unsupported,
        "symbol companions are not written here; with metal -frecord-sources the library itself has the sources");
  for (const std::string& file : job.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    auto without = without_sources(bytes);
    if (!without) return tl::unexpected(std::move(without).error().in(file));
    if (without->size() != bytes.size())
      messages.warning(fmt::format("{}: its sources are removed, and no symbol companion is written", file));
    SMELT_TRY_VOID(write_file(job.output.empty() ? file : job.output, *without));
  }
  return {};
}

}  // namespace

int run_dsymutil(const Call& call) {
  Messages messages(call.tool);
  const auto done = dsymutil(call, messages);
  if (!done) messages.error(done.error());
  return done ? 0 : 1;
}

}  // namespace smelt::toolchain
