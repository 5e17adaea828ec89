// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu_device.hpp"

#include "smelt/base/seconds.hpp"
#include "smelt/base/text.hpp"
#include "smelt/loader/code_source.hpp"

#include "joined.hpp"
#include "tensor_layout.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#include <sys/sysinfo.h>
#endif

namespace smelt::loader {
namespace {

/// Processors that this process may use, which in a container is fewer than there are.
unsigned usable_processors() {
#if defined(__linux__)
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

/// One opened CPU slice: its rows are ours, its code stays where it is until a kernel is wanted.
class CpuSliceCode final : public OpenSlice {
 public:
  CpuSliceCode(schema::CpuSlice slice, ByteView bytes, std::shared_ptr<const void> owner)
      : slice_(std::move(slice)), bytes_(bytes), owner_(std::move(owner)) {}

  std::vector<Result<PipelineRef>> make_pipelines(std::vector<PipelineRequest> requests) override {
    std::vector<Result<PipelineRef>> pipelines(requests.size());
    std::vector<Prepared> prepared;
    std::vector<CodeBlob> blobs;
    prepared.reserve(requests.size());
    blobs.reserve(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      auto one = prepare(requests[i].facts.name, requests[i].constants);
      if (!one) {
        pipelines[i] = tl::unexpected(std::move(one).error());
        continue;
      }
      one->request = i;
      blobs.push_back(blob_of(*one->kernel));
      prepared.push_back(std::move(*one));
    }
    auto places = load_code(blobs);
    for (size_t i = 0; i < prepared.size(); ++i) {
      PipelineRequest& request = requests[prepared[i].request];
      if (!places[i]) {
        pipelines[prepared[i].request] = tl::unexpected(std::move(places[i]).error());
        continue;
      }
      CpuCode code(*prepared[i].kernel, std::move(*places[i]), std::move(prepared[i].constants));
      pipelines[prepared[i].request] =
          std::make_shared<const CpuPipeline>(std::move(request.facts), std::move(request.constants), std::move(code));
    }
    return pipelines;
  }

  Result<void> replace_code(const PipelineState& state, std::string_view effort) override {
    const auto& pipeline = static_cast<const CpuPipeline&>(state);
    SMELT_TRY(Prepared prepared, prepare(pipeline.name(), pipeline.given_constants()));
    const CodeBlob blob = blob_of(*prepared.kernel);
    auto places = load_code(std::span(&blob, 1));
    SMELT_TRY(CodePlace place, std::move(places.front()));
    pipeline.replace(CpuCode(*prepared.kernel, std::move(place), std::move(prepared.constants)), std::string(effort));
    return {};
  }

 private:
  struct Prepared {
    size_t request = 0;
    const schema::CpuKernel* kernel = nullptr;
    Bytes constants;
  };

  CodeBlob blob_of(const schema::CpuKernel& kernel) const {
    return {kernel.name, bytes_.subspan(kernel.code_offset, kernel.code_bytes), kernel.code_digest};
  }

  Result<Prepared> prepare(std::string_view name, const std::vector<BoundConstant>& constants) const {
    const schema::CpuKernel* const kernel = find(name);
    if (kernel == nullptr)
      return fail(Errc::corrupt, "kernel '{}': the manifest says that the CPU slice holds it, the slice does not",
                  name);
    Prepared prepared;
    prepared.kernel = kernel;
    SMELT_TRY(prepared.constants, lay_out(*prepared.kernel, constants));
    return prepared;
  }

  /// Kernels are mostly asked for in the slice's order, so the search starts behind the last one found.
  const schema::CpuKernel* find(std::string_view name) const {
    const size_t count = slice_.kernels.size(), start = cursor_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = (start + i) % count;
      if (slice_.kernels[at].name != name) continue;
      cursor_.store(at + 1, std::memory_order_relaxed);
      return &slice_.kernels[at];
    }
    return nullptr;
  }

  /// The block of function constants as the kernel's row describes it.
  static Result<Bytes> lay_out(const schema::CpuKernel& kernel, const std::vector<BoundConstant>& given) {
    if (kernel.constants_bytes > kMostConstantBytes)
      return fail(Errc::corrupt, "kernel '{}' claims {} bytes of function constants", kernel.name,
                  kernel.constants_bytes);
    Bytes block(kernel.constants_bytes);
    for (const schema::CpuConstant& slot : kernel.constants) {
      const auto value = std::find_if(given.begin(), given.end(),
                                      [&](const BoundConstant& constant) { return constant.index == slot.index; });
      if (value == given.end()) continue;
      if (value->bytes.size() > slot.bytes)
        return fail(Errc::constant_type, "kernel '{}': constant #{} of type {} has {} bytes, the code expects {}",
                    kernel.name, slot.index, value->type_name, value->bytes.size(), slot.bytes);
      std::copy(value->bytes.begin(), value->bytes.end(), block.begin() + slot.offset);
      block[slot.defined_offset] = std::byte{value->given};
    }
    return block;
  }

  static constexpr uint32_t kMostConstantBytes = 1 << 20;

  schema::CpuSlice slice_;
  ByteView bytes_;
  std::shared_ptr<const void> owner_;
  mutable std::atomic<size_t> cursor_{0};
};

/// 0: unknown.
uint64_t memory_bytes() {
#if defined(__linux__)
  // What sysconf asks too; its own code and tables, touched for the first time, were a tenth of the time to load a
  // kernel.
  struct sysinfo found{};
  if (::sysinfo(&found) == 0) return uint64_t{found.totalram} * found.mem_unit;
#else
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
#endif
  return 0;
}

Limits host_limits() {
  Limits limits;
  limits.memory_bytes = memory_bytes();
  limits.max_buffer_bytes = limits.memory_bytes;
  return limits;
}

std::string device_name(const CpuLevel& level, unsigned threads) {
  return joined({"cpu (", to_string(level), ", ", std::to_string(threads), threads == 1 ? " thread)" : " threads)"});
}

/// Why code with checks of its own is not what the caller wants.
const char* other_checks(Checks has, Checks wanted) {
  if (!wanted) return "is bounds-checked code, the caller did not ask for it";
  return has ? "checks other things than the caller asks for" : "is not bounds-checked, the caller asks for that";
}

}  // namespace

CpuDevice::CpuDevice(CpuLevel level, bool forced, unsigned threads, const DeviceOptions& options, LaunchOrder order,
                     uint32_t tensor_layout)
    : DeviceImpl(DeviceKind::cpu, device_name(level, threads), Target{"cpu-" + to_string(level)}, host_limits()),
      level_(level),
      forced_(forced),
      pool_(threads),
      log_(options.log),
      order_(order),
      tensor_layout_(tensor_layout),
      launch_limit_(options.launch_limit),
      interrupted_(options.interrupted) {}

std::optional<Rejection> CpuDevice::reject(const SliceFacts& slice, const LoadOptions& options) const {
  if (slice.kind != schema::SliceKind::cpu)
    return Rejection{Errc::unsupported_platform, joined({"needs ", to_string(slice.target.platform),
                                                         ", device runs CPU code for ", to_string(level_)})};
  const CpuLevel needs{schema::CpuArch(slice.arch), slice.level};
  if (needs.arch != level_.arch)
    return Rejection{Errc::unsupported_platform,
                     joined({"needs ", to_string(needs), ", device has ", to_string(level_)})};
  if (options.force_metal && slice.target.metal != Version{} && slice.target.metal != *options.force_metal)
    return Rejection{Errc::unsupported_language,
                     fmt::format("is Metal {}, the caller forces {}", to_string(slice.target.metal),
                                 to_string(*options.force_metal))};
  if (!runs_on(needs, level_))
    return Rejection{Errc::unsupported_family,
                     joined({"needs ", to_string(needs), ", device has ", to_string(level_)})};
  if (forced_ && needs != level_)
    return Rejection{Errc::unsupported_family,
                     joined({"is ", to_string(needs), ", the caller forces ", to_string(level_)})};
  if (slice.checked != options.checked)
    return Rejection{Errc::unsupported_family, other_checks(slice.checked, options.checked)};
  return std::nullopt;
}

std::string CpuDevice::remedy(const LoadOptions& options) const {
  return fmt::format("To get one: smelt compile --cpu {}{} SOURCE -o PACKAGE", to_string(level_),
                     options.checked ? " --checked=" + options.checked.words() : "");
}

Result<std::shared_ptr<OpenSlice>> CpuDevice::open_slice(const SliceFacts& slice,
                                                         const std::shared_ptr<const void>& owner) {
  SMELT_TRY(schema::CpuSlice parsed, schema::read_cpu_slice(slice.bytes));
  if (parsed.arch != schema::CpuArch(slice.arch) || parsed.level != slice.level)
    return fail(Errc::corrupt, "slice '{}' is code for {}, the manifest says {}", slice.target.name,
                to_string(CpuLevel{parsed.arch, parsed.level}),
                to_string(CpuLevel{schema::CpuArch(slice.arch), slice.level}));
  // The slice proved that it hashes to its own digest; this ties that digest to the manifest and so to the package's.
  if (slice.root) {
    const ByteView own =
        slice.bytes.subspan(schema::kCpuSliceHeaderBytes - sizeof(Digest::bytes), sizeof(Digest::bytes));
    if (!std::equal(own.begin(), own.end(), slice.root->bytes.begin()))
      return fail(Errc::digest_mismatch, "slice '{}' is not the one that the manifest lists", slice.target.name);
  }
  for (const schema::CpuKernel& kernel : parsed.kernels)
    if (kernel.checked.watches() && kernel.oldest < schema::kCpuSliceThatChecks)
      return fail(Errc::unsupported,
                  "slice '{}' has checks of format {}, which this loader does not run: compile it again",
                  slice.target.name, kernel.oldest);
  return std::make_shared<CpuSliceCode>(std::move(parsed), slice.bytes, owner);
}

void CpuDevice::log(std::string_view kernel, std::string_view line) {
  const std::lock_guard lock(log_mutex_);
  if (log_)
    log_(kernel, line);
  else
    fmt::print(stderr, "{}: {}\n", printable(kernel), printable(line));  // a kernel steers no terminal
}

Result<std::unique_ptr<Encoder>> CpuDevice::make_encoder() {
  return std::make_unique<CpuEncoder>(std::static_pointer_cast<CpuDevice>(shared_from_this()));
}

CpuCode::CpuCode(const schema::CpuKernel& kernel, CodePlace code, Bytes block)
    : entry(reinterpret_cast<smelt_cpu_entry>(reinterpret_cast<uintptr_t>(code.at + kernel.entry_offset))),
      range(kernel.range),
      waits(kernel.waits),
      checked(kernel.checked),
      threadgroup_bytes(kernel.threadgroup_bytes),
      fixed_bytes(kernel.fixed_bytes),
      bytes_per_thread(kernel.bytes_per_thread),
      constants(std::move(block)),
      private_buffers(kernel.private_buffers),
      region(std::move(code.region)) {}

CpuPipeline::CpuPipeline(Facts facts, std::vector<BoundConstant> constants, CpuCode code)
    : PipelineState(std::move(facts)),
      first_(std::move(code)),
      until_better_(this->facts().tier ? this->facts().tier->better_after.count() : 0),
      constants_(std::move(constants)) {}

CpuPipeline::~CpuPipeline() {
  for (const Newer* newer = newest_; newer;) delete std::exchange(newer, newer->before);
}

std::string_view CpuPipeline::effort() const {
  if (const Newer* const newest = newest_.load(std::memory_order_acquire)) return newest->effort;
  return facts().tier ? std::string_view(facts().tier->effort) : std::string_view();
}

void CpuPipeline::replace(CpuCode code, std::string effort) const {
  auto* const newer = new Newer{std::move(code), std::move(effort), newest_.load(std::memory_order_relaxed)};
  while (!newest_.compare_exchange_weak(newer->before, newer, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void CpuPipeline::ran_for(float nanoseconds) const {
  const CodeTier* const tier = facts().tier.get();
  if (tier == nullptr || !tier->better) return;
  const auto some = static_cast<int64_t>(nanoseconds);
  const int64_t left = until_better_.fetch_sub(some, std::memory_order_relaxed);
  if (left > 0 && left <= some) tier->better(shared_from_this());  // who passes 0 is one
}

Result<DeviceRef> open_cpu_device(const DeviceOptions& options) {
  CpuLevel level = host_cpu_level();
  std::string wanted = options.cpu_level;
  if (wanted.empty())
    if (const char* named = std::getenv("SMELT_CPU")) wanted = named;
  const bool forced = !wanted.empty();
  if (forced) {
    SMELT_TRY(const CpuLevel asked, parse_cpu_level(wanted));
    if (!runs_on(asked, level))
      return fail(Errc::invalid_argument, "CPU level {} was asked for; this processor has {}", to_string(asked),
                  to_string(level));
    level = asked;
  }
  const unsigned threads = options.threads != 0 ? options.threads : usable_processors();
  DeviceOptions with = options;
  if (const char* seconds = std::getenv("SMELT_LAUNCH_LIMIT"); seconds && *seconds && with.launch_limit.count() == 0) {
    double number = 0;
    const char* const end = seconds + std::strlen(seconds);
    if (const auto parsed = std::from_chars(seconds, end, number); parsed.ec != std::errc() || parsed.ptr != end)
      return fail(Errc::invalid_argument, "SMELT_LAUNCH_LIMIT '{}': want seconds, such as 2.5", seconds);
    SMELT_TRY(with.launch_limit, limit_from_seconds(number, "SMELT_LAUNCH_LIMIT"));
  }
  SMELT_TRY(const LaunchOrder order, LaunchOrder::of_environment());
  SMELT_TRY(const uint32_t tensor_layout, tensor_layout_of_environment());
  return std::make_shared<CpuDevice>(level, forced, threads, with, order, tensor_layout);
}

}  // namespace smelt::loader
