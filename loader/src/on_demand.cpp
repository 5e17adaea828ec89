// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "on_demand.hpp"

#include "smelt/metallib/cut.hpp"
#include "smelt/metallib/reader.hpp"

#include "library_data.hpp"
#include "log.hpp"

namespace smelt::loader {

OnDemand::OnDemand(DeviceRef device, const LoadOptions& options, OwnedBytes from, size_t count)
    : device_(std::move(device)),
      source_(options.code_source),
      checked_(options.checked),
      bytes_(std::move(from)),
      kernels_(count) {}

Result<LibraryRef> OnDemand::library_of(uint32_t index) const {
  Kernel& kernel = kernels_[index];
  const std::lock_guard lock(kernel.mutex);
  if (!kernel.library) {
    SMELT_TRY(kernel.library, make(index));
  }
  return kernel.library;
}

Result<LibraryRef> OnDemand::make(uint32_t index) const {
  std::call_once(read_once_, [this] {
    metallib::ReadOptions options;  // loading has read it as strictly as was asked
    options.check_hashes = false;
    options.allow_newer = true;
    options.owner = bytes_.owner;
    read_ = metallib::read(bytes_.bytes, options);
  });
  if (!read_) return tl::unexpected(read_.error());
  const metallib::Function& function = read_->functions[index];
  if (const Digest found = sha256(read_->module_of(function).blob); found != function.hash)
    return fail(Errc::corrupt, "function '{}': HASH is {}, its module hashes to {}", function.name,
                to_hex(function.hash), to_hex(found));
  SMELT_TRY(Bytes alone, metallib::cut(*read_, function));
  const auto owner = std::make_shared<const Bytes>(std::move(alone));
  SMELT_TRY(KernelCode code, source_->code_for(function.name, {*owner, owner}));
  LoadOptions options;
  options.checked = checked_;
  options.policy = signing::Policy::all();  // made here
  options.tier = std::move(code.tier);
  return Library::load(device_, std::move(code.package), options);
}

Result<void> OpenSlice::replace_code(const PipelineState& pipeline, std::string_view) {
  return fail(Errc::invalid_argument, "pipeline '{}' is not one of the CPU, whose code is replaced", pipeline.name());
}

Result<void> replace_code(const PipelineState& pipeline, const Library& better, std::string_view effort) {
  if (better.device() != pipeline.device())
    return fail(Errc::invalid_argument, "pipeline '{}' was built for device {}, its new code for {}", pipeline.name(),
                pipeline.device()->name(), better.device()->name());
  SMELT_TRY(const FunctionRef named, better.function(pipeline.name()));
  SMELT_TRY(const FunctionRef function, named->with_code());
  SMELT_TRY_VOID(function->usable());
  const auto start = TraceClock::now();
  SMELT_TRY(const auto slice, open_slice(function->library()->data(), *function->data().rows->slice));
  SMELT_TRY_VOID(slice->replace_code(pipeline, effort));
  if (tracing()) {
    TraceFacts facts = trace_facts(*function->data().rows);
    facts.emplace_back("effort", effort);
    trace_event(pipeline.name(), "replace", start, TraceClock::now(), facts);
  }
  return {};
}

void tell_kept(const PipelineState& pipeline, std::string_view reason) {
  if (tracing()) {
    const auto now = TraceClock::now();
    trace_event(pipeline.name(), "replace", now, now, {{"error", std::string(reason)}});
  }
  tell(fmt::format("kernel '{}' keeps its first code: {}", pipeline.name(), reason));
}

std::chrono::nanoseconds worth_after(size_t code_bytes) {
  constexpr std::chrono::nanoseconds kLeast = std::chrono::milliseconds(20);  // starting a thread, a child, a lookup
  return kLeast + code_bytes * std::chrono::nanoseconds(4000);
}

}  // namespace smelt::loader
