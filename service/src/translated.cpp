// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source read once, and its kernels compiled when somebody wants them.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/base/near_names.hpp"
#include "smelt/cache/flight.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/log.hpp"
#include "smelt/service/session.hpp"

#include "build_package.hpp"
#include "compile_child.hpp"
#include "traces.hpp"

#include <algorithm>

namespace smelt::service {

struct Translated::State {
  std::shared_ptr<Session> session;
  std::chrono::milliseconds wait_for_others{};
  std::vector<Bytes> texts;  // what `request` and `plan` borrow
  Request request;
  std::vector<aot::CpuLevel> levels;
  std::optional<aot::Plan> plan;
  std::vector<std::string> names;  // of the plan's parts: one kernel each

  Result<size_t> part_of(std::string_view kernel) const {
    const auto found = std::find(names.begin(), names.end(), kernel);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    return no_function(kernel, std::vector<std::string_view>(names.begin(), names.end()));
  }
};

Translated::Translated(std::unique_ptr<State> state) : state_(std::move(state)) {}
Translated::~Translated() = default;

const std::vector<std::string>& Translated::kernels() const {
  return state_->names;
}

Result<CompileResult> Translated::make(std::string_view kernel, std::optional<aot::CpuEffort> effort) const {
  const auto start = TraceClock::now();
  Request request = state_->request;
  request.effort = effort.value_or(request.effort);
  auto made = find_or_compile(kernel, request);
  if (made) made->took = std::chrono::duration_cast<std::chrono::microseconds>(TraceClock::now() - start);
  if (tracing()) trace_result(start, kernel, made);
  return made;
}

Result<CompileResult> Translated::find_or_compile(std::string_view kernel, const Request& request) const {
  const State& state = *state_;
  SMELT_TRY(const size_t part, state.part_of(kernel));
  const std::vector<size_t> parts{part};
  SMELT_TRY(const std::vector<Digest> keys, part_keys(*state.plan, parts, request, state.levels));
  const auto joined = state.session->tiers();
  if (!joined) log_info(joined.error().message);  // what is wrong with the store itself was told when it was opened
  KernelStore kernels;
  std::optional<cache::Flight> flight;
  if (joined) {
    kernels = state.session->kernel_store(**joined);
    cache::Store& local = (*joined)->local();
    const auto ready = [&] { return local.indexed(keys.front()); };
    if (!local.read_only() && !ready())
      if (auto acquired = cache::Flight::acquire(local.folder(), keys.front(), state.wait_for_others, ready))
        flight = std::move(*acquired);
  }
  SMELT_TRY(Built built, build_parts(*state.plan, parts, request, 1, {}, kernels));
  CompileResult made(built.origin);
  made.hit = built.kernels_kept == built.kernels;
  made.kernels = built.kernels;
  made.kernels_kept = built.kernels_kept;
  made.warnings = std::move(built.warnings);
  auto owner = std::make_shared<const Bytes>(std::move(built.package));
  made.package = *owner;
  made.owner = std::move(owner);
  made.key = keys.front();
  return made;
}

Result<std::shared_ptr<const Translated>> Session::translate(const Request& request) {
  const auto start = TraceClock::now();
  auto translated = [&]() -> Result<std::shared_ptr<const Translated>> {
    for (const aot::Source& source : request.sources)
      if (!aot::is_metal_source(source.bytes))
        return fail(Errc::invalid_argument,
                    "{}: it is not Metal source; only kernels of Metal source are compiled one by one", source.name);
    if (options().offline)
      return fail(Errc::not_cached, "{}: nothing is compiled offline (SMELT_OFFLINE)",
                  request.sources.empty() ? "request" : request.sources[0].name);
    SMELT_TRY_VOID(read_within_limits(request, threads()));
    auto state = std::make_unique<Translated::State>();
    state->session = shared_from_this();
    state->wait_for_others = options().wait_for_others;
    state->request = request;
    // Nobody is told of them, and looking for them is a tenth of the time.
    state->request.options.warning_flags.emplace_back("-w");
    for (const aot::Source& source : request.sources) state->texts.push_back(to_bytes(source.bytes));
    for (size_t i = 0; i < state->texts.size(); ++i) state->request.sources[i].bytes = state->texts[i];
    SMELT_TRY(state->levels, cpu_levels(request));
    SMELT_TRY(state->plan, make_plan(state->request, threads(), {}));
    for (size_t i = 0; i < state->plan->part_count(); ++i) state->names.push_back(state->plan->entry_names(i).front());
    return std::shared_ptr<const Translated>(new Translated(std::move(state)));
  }();
  if (tracing()) {
    TraceFacts facts;
    if (translated)
      facts.emplace_back("functions", std::to_string((*translated)->kernels().size()));
    else
      facts.emplace_back("error", translated.error().message);
    trace_event(source_names(request), "compile", start, TraceClock::now(), facts);
  }
  return translated;
}

}  // namespace smelt::service
