// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_code.hpp"

#include "smelt/base/background.hpp"
#include "smelt/loader/code_source.hpp"

#include "settings.hpp"

#include <cstdlib>

namespace smelt::metal {
namespace {

/// Of code that was made here.
loader::LoadOptions options_of(bool checked) {
  loader::LoadOptions options;
  options.checked = checked;
  options.allow_empty = true;
  options.policy = trust::Policy::all();
  return options;
}

/// In the background.
Result<void> improve(const loader::PipelineState& pipeline, const KernelRequest& request) {
  SMELT_TRY(auto package, compiled_in_background(request));
  SMELT_TRY(const auto library,
            loader::Library::load(pipeline.device(), std::move(package), options_of(request.checked)));
  return loader::replace_code(pipeline, *library, request.effort);
}

/// Before the process ends, so that nothing runs while what it needs is taken down.
void join_background() {
  Background::of_process().end();
}

void improve_later(const loader::PipelineRef& pipeline, const KernelRequest& request,
                   const std::shared_ptr<const void>& owner) {
  [[maybe_unused]] static const int registered = std::atexit(join_background);
  Background::of_process().add([pipeline, request, owner] {
    if (const auto done = improve(*pipeline, request); !done) loader::tell_kept(*pipeline, done.error().message);
  });
}

}  // namespace

std::string asked_effort() {
  return setting("SMELT_CPU_EFFORT");
}

Result<loader::LibraryRef> library_of(const DeviceObject& device, KernelRequest request,
                                      const std::shared_ptr<const void>& owner) {
  const std::string asked = asked_effort();
  auto tier = std::make_shared<loader::CodeTier>();
  request.effort = asked.empty() ? "balanced" : asked;
  std::optional<loader::OwnedBytes> package = stored_kernel(request);
  if (!package) {
    if (asked.empty()) request.effort = "fast";
    SMELT_TRY(package, compiled_kernel(request));
    const bool replaces = asked.empty() && setting("SMELT_CPU_REPLACE") != "0" && !flag_setting("SMELT_OFFLINE");
    if (replaces) {
      KernelRequest better = request;
      better.effort = "balanced";
      tier->better_after = loader::worth_after(package->bytes.size());
      tier->better = [better, owner](const loader::PipelineRef& pipeline) { improve_later(pipeline, better, owner); };
    }
  }
  tier->effort = request.effort;
  loader::LoadOptions options = options_of(device.checked);
  options.tier = std::move(tier);
  return loader::Library::load(device.loader, std::move(*package), options);
}

}  // namespace smelt::metal
