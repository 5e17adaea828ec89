// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/numbers.hpp"

#include "smelt/loader/encoder.hpp"
#include "smelt/metallib/writer.hpp"
#include "smelt/service/session.hpp"

#include "diff/random_inputs.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace smelt::cli {
namespace {

using namespace loader;

/// Of every buffer. Arguments are made small enough for kernels to stay inside, and checked code sees when they do not.
constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr std::chrono::milliseconds kLaunchLimit{2000};

struct Shape {
  Size3 threads, group;
  int rank;
  InputStyle style;
};

std::vector<Shape> shapes() {
  return {
      {{1, 1, 1}, {1, 1, 1}, 1, {.seed = 1, .count = 1, .flag = false}},
      {{64, 1, 1}, {32, 1, 1}, 1, {.seed = 2, .low = -4, .high = 4, .count = 4, .flag = true}},
      {{96, 2, 2}, {32, 1, 1}, 3, {.seed = 3, .count = 32, .flag = false}},
      {{256, 1, 1}, {256, 1, 1}, 1, {.seed = 4, .low = -1, .high = 1, .count = 64, .flag = true}},
      {{64, 1, 1}, {32, 1, 1}, 1, {.seed = 5, .count = 2, .indexes = true}},
  };
}

/// The functions `names` alone as a library, so that nothing else is compiled.
Result<Bytes> library_of(const LibraryImage& image, std::span<const std::string> names) {
  metallib::NewLibrary request;
  request.platform = static_cast<metallib::Platform>(image.contents.platform);
  request.os_major = image.contents.os_major;
  request.os_minor = image.contents.os_minor;
  request.os_patch = image.contents.os_patch;
  for (const std::string& name : names)
    if (const metallib::Function* function = image.contents.find(name))
      request.functions.push_back(
          {.name = name, .bitcode = image.contents.module_of(*function).bitcode(), .versions = function->versions});
  SMELT_TRY(const metallib::Library library, metallib::make_library(request));
  return metallib::write(library);
}

/// What a kernel is given besides numbers, or why it cannot be run here.
std::string why_not(const aot::KernelInfo& info) {
  if (info.stage != "kernel") return fmt::format("a {} function: only kernels are run", info.stage);
  for (const aot::ArgumentInfo& argument : info.arguments)
    if (argument.kind != ArgumentKind::buffer && argument.kind != ArgumentKind::threadgroup &&
        argument.kind != ArgumentKind::builtin)
      return fmt::format("argument {} '{}' is not a buffer ({})", argument.index, argument.name, argument.air_kind);
  return {};
}

/// The buffers of both kernels by place; where both have one, A's says what it holds.
std::map<uint32_t, const aot::ArgumentInfo*> buffers_of(const aot::KernelInfo& a, const aot::KernelInfo& b,
                                                        ArgumentKind kind) {
  std::map<uint32_t, const aot::ArgumentInfo*> result;
  for (const aot::KernelInfo* info : {&a, &b})
    for (const aot::ArgumentInfo& argument : info->arguments)
      if (argument.kind == kind)
        for (uint32_t i = 0; i < std::max(argument.count, 1U); ++i)
          result.try_emplace(argument.location + i, &argument);
  return result;
}

/// One kernel, one shape: its buffers afterwards.
class Launch {
 public:
  Launch(const aot::KernelInfo& a, const aot::KernelInfo& b)
      : a_(a), b_(b), buffers_(buffers_of(a, b, ArgumentKind::buffer)) {}

  const std::map<uint32_t, const aot::ArgumentInfo*>& buffers() const { return buffers_; }

  Result<std::map<uint32_t, BufferRef>> run(const LibraryRef& library, const Shape& shape, const Size3& group) const {
    SMELT_TRY(const FunctionRef function, library->function(a_.name));
    ConstantValues constants;
    constants.lenient();
    std::set<uint32_t> set;
    for (const aot::KernelInfo* info : {&a_, &b_})
      for (const aot::ConstantInfo& constant : info->constants)
        if (auto value = random_constant(constant, shape.style); value && set.insert(constant.index).second)
          constants.add(std::move(*value));
    SMELT_TRY(const PipelineRef pipeline, function->pipeline(constants));
    SMELT_TRY(const std::unique_ptr<Encoder> encoder, Encoder::create(library->device()));
    SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
    std::map<uint32_t, BufferRef> bound;
    for (const auto& [place, argument] : buffers_) {
      SMELT_TRY(BufferRef buffer, library->device()->make_buffer(kBufferBytes));
      const Bytes contents = random_contents(*argument, shape.style, kBufferBytes);
      std::copy(contents.begin(), contents.end(), buffer->contents().begin());
      SMELT_TRY_VOID(encoder->set_buffer(place, buffer));
      bound.emplace(place, std::move(buffer));
    }
    const auto threadgroups = buffers_of(a_, b_, ArgumentKind::threadgroup);
    const uint64_t fixed = std::max(a_.threadgroup_bytes, b_.threadgroup_bytes);
    const uint64_t limit = library->device()->limits().max_threadgroup_memory;
    for (const auto& [place, argument] : threadgroups)
      SMELT_TRY_VOID(
          encoder->set_threadgroup_memory(place, (limit - std::min(limit, fixed)) / threadgroups.size() / 16 * 16));
    SMELT_TRY_VOID(encoder->dispatch_threads(shape.threads, group, shape.rank));
    SMELT_TRY_VOID(encoder->wait());
    return bound;
  }

 private:
  const aot::KernelInfo &a_, &b_;
  std::map<uint32_t, const aot::ArgumentInfo*> buffers_;
};

Size3 group_of(const Shape& shape, const aot::KernelInfo& a, const aot::KernelInfo& b) {
  Size3 group = shape.group;
  for (const aot::KernelInfo* info : {&a, &b})
    if (info->max_threads != 0) group.x = std::min<uint64_t>(group.x, info->max_threads);
  return group;
}

}  // namespace

Result<NumberComparison> NumberComparison::make(const LibraryImage& a, const LibraryImage& b,
                                                std::span<const std::string> names, bool use_store) {
  NumberComparison result;
  // One thread, so that threads of a kernel that race do so in the same order on both sides.
  SMELT_TRY(result.device_, Device::open(DeviceKind::cpu, {.threads = 1,
                                                           .log = [](std::string_view, std::string_view) {},
                                                           .launch_limit = kLaunchLimit}));
  const auto session = service::Session::open({.use_store = use_store});
  const auto load = [&](const LibraryImage& image, std::string_view side) -> Result<LibraryRef> {
    SMELT_TRY(const Bytes library, library_of(image, names));
    const std::string name = fmt::format("{} (smelt diff)", side);  // by which the store's page knows such entries
    return session->load_bytes(copy_of(library), name, result.device_, {.checked = true});
  };
  SMELT_TRY(result.a_, load(a, "A"));
  SMELT_TRY(result.b_, load(b, "B"));
  return result;
}

NumberReport NumberComparison::compare(const aot::KernelInfo& a, const aot::KernelInfo& b) const {
  NumberReport report;
  report.not_run = why_not(a);
  if (report.not_run.empty()) report.not_run = why_not(b);
  if (!report.not_run.empty()) return report;
  const Launch launch(a, b);
  for (const Shape& shape : shapes()) {
    LaunchOutcome outcome{.threads = shape.threads, .group = group_of(shape, a, b), .not_compared = {}};
    const auto in_a = launch.run(a_, shape, outcome.group);
    const auto in_b = launch.run(b_, shape, outcome.group);
    const size_t number = report.launches.size();
    // Only what a thread did is a difference: out of time may be this machine, and what does not compile never ran.
    const auto thread_left = [](const auto& side) { return !side && side.error().code == Errc::buffer_bounds; };
    if (!in_a || !in_b) {
      outcome.not_compared = !in_a ? "A: " + in_a.error().message : "B: " + in_b.error().message;
      if (in_a.has_value() != in_b.has_value() && (thread_left(in_a) || thread_left(in_b)))
        report.one_sided.push_back(outcome.not_compared);
    } else {
      for (const auto& [place, argument] : launch.buffers()) {
        Deviation deviation =
            deviation_of(in_a->at(place)->contents(), in_b->at(place)->contents(), argument->type_name);
        if (deviation.different == 0) continue;
        deviation.launch = number;
        deviation.buffer = place;
        deviation.argument = argument->name;
        report.deviations.push_back(std::move(deviation));
      }
    }
    report.launches.push_back(std::move(outcome));
  }
  const bool any = std::any_of(report.launches.begin(), report.launches.end(),
                               [](const LaunchOutcome& one) { return one.not_compared.empty(); });
  if (!any) report.not_run = report.launches.front().not_compared;
  return report;
}

}  // namespace smelt::cli
