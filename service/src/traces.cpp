// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "traces.hpp"

#include "smelt/schema/package.hpp"

namespace smelt::service {

void trace_result(TraceClock::time_point start, std::string_view name, const Result<CompileResult>& result) {
  if (!result) {
    trace_event(name, "compile", start, TraceClock::now(), {{"error", result.error().message}});
    return;
  }
  TraceFacts facts{{"key", to_hex(result->key)}};
  if (const auto package = schema::Package::open(result->package))
    facts.emplace_back("package", to_hex(package->digest()));
  if (!result->hit) {
    facts.emplace_back("kernels", std::to_string(result->kernels));
    facts.emplace_back("from the store", std::to_string(result->kernels_kept));
  }
  trace_event(name, result->hit ? "store" : "compile", start, TraceClock::now(), facts);
}

std::string source_names(const Request& request) {
  std::string names;
  for (const aot::Source& source : request.sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

void trace_part(TraceClock::time_point start, const KeptKernel& part, bool from_store) {
  if (!tracing()) return;
  for (const schema::Function& function : part.library.functions)
    trace_event(function.name, "kernel", start, TraceClock::now(), {{"from", from_store ? "store" : "compiler"}});
}

}  // namespace smelt::service
