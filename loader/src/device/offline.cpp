// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The offline device: loads, checks and answers questions as a given Mac would, from a profile; runs nothing.
#include "device_impl.hpp"

namespace smelt::loader {
namespace {

class OfflinePipeline final : public PipelineState {
 public:
  explicit OfflinePipeline(Facts facts) : PipelineState(std::move(facts)) {}
};

class OfflineSlice final : public OpenSlice {
 public:
  std::vector<Result<PipelineRef>> make_pipelines(std::vector<PipelineRequest> requests) override {
    std::vector<Result<PipelineRef>> pipelines;
    for (PipelineRequest& request : requests)
      pipelines.push_back(std::make_shared<const OfflinePipeline>(std::move(request.facts)));
    return pipelines;
  }
};

class OfflineEncoder final : public Encoder {
 public:
  using Encoder::Encoder;
  explicit OfflineEncoder(DeviceRef device) : Encoder(std::move(device)) {}

 private:
  Result<void> run(const PipelineState& pipeline, const Size3&, const Size3&) override {
    return fail(Errc::device_unavailable,
                "kernel '{}': device '{}' is offline and runs nothing; open the cpu or the metal device",
                pipeline.name(), device()->name());
  }
};

class OfflineDevice final : public DeviceImpl {
 public:
  explicit OfflineDevice(const DeviceProfile& profile)
      : DeviceImpl(DeviceKind::offline, profile.name, profile.target, profile.limits) {}

  std::optional<Rejection> reject(const SliceFacts& slice, const LoadOptions& options) const override {
    return reject_by_target(slice, target(), options);
  }
  Result<std::shared_ptr<OpenSlice>> open_slice(const SliceFacts&, const std::shared_ptr<const void>&) override {
    return std::make_shared<OfflineSlice>();
  }
  Result<std::unique_ptr<Encoder>> make_encoder() override {
    return std::make_unique<OfflineEncoder>(shared_from_this());
  }
};

}  // namespace

Result<DeviceRef> open_offline_device(const DeviceOptions& options) {
  return std::make_shared<OfflineDevice>(options.profile != nullptr ? *options.profile : DeviceProfile{});
}

}  // namespace smelt::loader
