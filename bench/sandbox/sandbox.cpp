// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a child process costs per compile of a Metal library: sessions that compile here and in a child take turns,
// without a store.   bench_sandbox FILE.metallib [rounds]
#include "smelt/base/files.hpp"
#include "smelt/service/session.hpp"

#include "bench.hpp"

#include <cstdio>
#include <cstdlib>

namespace smelt::bench {
namespace {

Result<int> run(const char* file, size_t rounds) {
  SMELT_TRY(const Bytes library, read_file(file));
  struct Way {
    const char* name;
    service::Sandbox mode;
    bool cpu;
    std::shared_ptr<service::Session> session;
    std::vector<double> milliseconds;
    double first = 0;
  };
  std::vector<Way> ways{{"here, AIR alone", service::Sandbox::never, false, nullptr, {}},
                        {"in a child, AIR alone", service::Sandbox::always, false, nullptr, {}},
                        {"here", service::Sandbox::never, true, nullptr, {}},
                        {"in a child", service::Sandbox::always, true, nullptr, {}}};
  for (Way& way : ways) {
    service::SessionOptions options;
    options.use_store = false;
    options.threads = 1;
    way.session = service::Session::open(options);
  }
  for (size_t round = 0; round <= rounds; ++round)
    for (Way& way : ways) {
      service::Request request;
      request.sources.push_back({"library", library});
      request.cpu = way.cpu;
      request.sandbox = way.mode;
      Result<service::CompileResult> made = tl::unexpected(Error{});
      const double taken = timed([&] { made = way.session->make(request); }) * 1e3;
      if (!made) return tl::unexpected(std::move(made).error());
      if (round == 0)
        way.first = taken;
      else
        way.milliseconds.push_back(taken);
    }
  std::printf("%-24s %10s %10s %10s\n", "ms", "first", "fastest", "median");
  for (const Way& way : ways)
    std::printf("%-24s %10.2f %10.2f %10.2f\n", way.name, way.first, least(way.milliseconds), median(way.milliseconds));
  return 0;
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const auto done = smelt::bench::run(arguments[1], count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 25);
  if (!done) std::fprintf(stderr, "bench_sandbox: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
