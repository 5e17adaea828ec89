// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMELT_TRACE=file.json: what was compiled, found, loaded, made and run, and when, as a trace that Chrome
// (chrome://tracing), Perfetto and `smelt trace` show. docs/reference/environment.md has the categories.
//
// The file is whole JSON after each event, so that it shows what a program did that died. Of one process, several
// libraries may have this code, and a program may start others: who finds the file of a process that still runs adds to
// it, and who finds another begins anew. %p in the name is the process's number.
//
// Format: "JSON Array Format" of the Trace Event Format, complete events ("X") and metadata ("M"),
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smelt {

using TraceClock = std::chrono::steady_clock;
/// Names and values that are shown with an event.
using TraceFacts = std::vector<std::pair<std::string, std::string>>;

/// Whether a trace is written: quick, to be asked before facts are put together.
bool tracing();
/// An event of this thread. Any thread. Text of any bytes.
void trace_event(std::string_view name, std::string_view category, TraceClock::time_point start,
                 TraceClock::time_point end, const TraceFacts& facts);
/// Names this thread in the trace.
void trace_thread(std::string_view name);

}  // namespace smelt
