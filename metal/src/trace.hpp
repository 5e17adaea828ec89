// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMELT_TRACE=file.json: what was compiled, made and run, and when, as a trace that Chrome (chrome://tracing) and
// Perfetto show. An event is written when it ends, so that the file of a program that died shows what it did; such a
// file lacks its last bracket, which both of them forgive.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace smelt::metal {

using TraceClock = std::chrono::steady_clock;
/// Names and values that are shown with an event.
using TraceFacts = std::vector<std::pair<std::string, std::string>>;

/// Whether a trace is written: quick, to be asked before facts are put together.
bool tracing();
/// An event of this thread. Any thread.
void trace_event(const std::string& name, const char* category, TraceClock::time_point start,
                 TraceClock::time_point end, const TraceFacts& facts);
/// Names this thread in the trace.
void trace_thread(const std::string& name);

/// An event from its construction to its destruction.
class TraceSpan {
 public:
  TraceSpan(std::string name, const char* category, TraceFacts facts)
      : name_(std::move(name)), category_(category), facts_(std::move(facts)), start_(TraceClock::now()) {}
  ~TraceSpan() {
    if (tracing()) trace_event(name_, category_, start_, TraceClock::now(), facts_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  const std::string name_;
  const char* const category_;
  const TraceFacts facts_;
  const TraceClock::time_point start_;
};

}  // namespace smelt::metal
