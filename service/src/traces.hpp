// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session says in a trace (smelt/base/trace.hpp).
#pragma once

#include "smelt/base/trace.hpp"
#include "smelt/service/session.hpp"

#include "kernel_store.hpp"

namespace smelt::service {

/// Of a request or file that was found ("store") or compiled ("compile"), or was not, which says why. Asked only while
/// tracing: a hit in the store puts nothing together for it.
void trace_result(TraceClock::time_point start, std::string_view name, const Result<CompileResult>& result);
/// The names of a request's sources.
std::string source_names(const Request& request);
/// One part of a request, "kernel": from the store, or made since `start`.
void trace_part(TraceClock::time_point start, const KeptKernel& part, bool from_store);

}  // namespace smelt::service
