// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building many pipelines at once: all of a library, or all of a model.
#include "smelt/base/tasks.hpp"

#include "library_data.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace smelt::loader {
namespace {

struct Wanted {
  const Library::Data* library;
  FunctionRowsRef function;
  bool named = false;  ///< by the caller: that it cannot be built is an error
};

bool needs_values(const FunctionRows& function) {
  return std::any_of(function.constants.begin(), function.constants.end(), [](const auto& c) { return c.required; });
}

using Progress = std::function<bool(size_t done, size_t total)>;

/// Batches of functions, taken by several threads.
class Preparation {
 public:
  Preparation(std::vector<Wanted> wanted, const Progress& progress) : wanted_(std::move(wanted)), progress_(progress) {}

  Result<size_t> run() {
    if (wanted_.empty()) return 0;
    const unsigned processors = std::max(1u, wanted_.front().library->impl().build_threads());
    const bool compiles = std::any_of(wanted_.begin(), wanted_.end(),
                                      [](const Wanted& one) { return one.library->on_demand != nullptr; });
    const size_t most = compiles ? processors : std::min<uint64_t>(processors, 1 + code_bytes() / kBytesWorthAThread);
    // Small enough to share, to report and to use memory again that is warm, large enough that kernels share theirs.
    batch_ = compiles ? 1 : std::clamp<size_t>(wanted_.size() / (4 * most), 16, 128);
    const size_t threads = std::min<size_t>((wanted_.size() + batch_ - 1) / batch_, most);
    // Each share takes batches until none is left.
    SMELT_TRY_VOID(run_tasks(threads, static_cast<unsigned>(threads), [this](size_t) -> Result<void> {
      work();
      return {};
    }));
    if (error_) return tl::unexpected(std::move(*error_));
    return made_;
  }

 private:
  /// Waking a thread and waiting for it costs as much as copying and hashing this, and far more on a busy machine.
  static constexpr uint64_t kBytesWorthAThread = 4 << 20;

  /// About what is copied and hashed: each slice in proportion to how many of its kernels are wanted.
  uint64_t code_bytes() const {
    std::map<const Library::Data*, uint64_t> functions;
    for (const Wanted& one : wanted_) ++functions[one.library];
    uint64_t bytes = 0;
    for (const auto& [library, count] : functions)
      for (const auto& slice : library->slices) bytes += slice->facts.bytes.size() / library->names.size() * count;
    return bytes;
  }

  void work() {
    for (size_t begin; !stopped_ && (begin = next_.fetch_add(batch_)) < wanted_.size();) {
      const size_t end = std::min(begin + batch_, wanted_.size());
      std::optional<Error> error;
      const size_t made = build(std::span(wanted_).subspan(begin, end - begin), error);
      const std::lock_guard lock(mutex_);
      made_ += made;
      done_ += end - begin;
      if (error && error->code == Errc::cancelled) stopped_ = true;
      if (error && !error_) error_ = std::move(error);
      if (progress_ && !stopped_ && !progress_(done_, wanted_.size())) stopped_ = true;
    }
  }

  /// How many of the functions have their pipeline now.
  static size_t build(std::span<const Wanted> batch, std::optional<Error>& error) {
    struct Orders {
      const Library::Data* library = nullptr;
      std::vector<uint32_t> indexes;
      std::vector<PipelineRequest> requests;
    };
    size_t made = 0;
    std::map<UsableSlice*, Orders> by_slice;
    for (const Wanted& one : batch) {
      const auto& [library, function, named] = one;
      if (library->on_demand) {
        auto built = build_on_demand(one);
        if (built)
          made += *built ? 1 : 0;
        else if (!error)
          error = std::move(built).error();
        continue;
      }
      if (library->pipelines().find(function->index, {})) {
        ++made;
        continue;
      }
      auto order = order_pipeline(*library, function, {});
      if (!order) {
        if (!error) error = std::move(order).error();
        continue;
      }
      Orders& orders = by_slice[order->slice];
      orders.library = library;
      orders.indexes.reserve(batch.size());
      orders.requests.reserve(batch.size());
      orders.indexes.push_back(order->index);
      orders.requests.push_back(std::move(order->request));
    }
    for (auto& [slice, orders] : by_slice) {
      auto open = open_slice(*orders.library, *slice);
      if (!open) {
        error = std::move(open).error();
        continue;
      }
      const auto start = TraceClock::now();
      auto pipelines = (*open)->make_pipelines(std::move(orders.requests));
      if (tracing())
        trace_event(fmt::format("{} kernels of {}", pipelines.size(), orders.library->name), "pipeline", start,
                    TraceClock::now(), {{"library", std::string(orders.library->name)}});
      for (size_t k = 0; k < pipelines.size(); ++k) {
        if (pipelines[k]) {
          orders.library->pipelines().add(orders.indexes[k], {}, std::move(*pipelines[k]));
          ++made;
        } else if (!error) {
          error = std::move(pipelines[k]).error();
        }
      }
    }
    return made;
  }

  /// Makes the kernel's code and its pipeline. What only that shows leaves a kernel out here, as what the manifest says
  /// leaves those of packages out: false.
  static Result<bool> build_on_demand(const Wanted& one) {
    SMELT_TRY(const LibraryRef library, one.library->on_demand->library_of(one.function->index));
    SMELT_TRY(const FunctionRef function, library->function(one.function->name));
    if (!one.named && (!function->usable() || needs_values(*function->data().rows))) return false;
    return function->pipeline().map([](const PipelineRef&) { return true; });
  }

  const std::vector<Wanted> wanted_;
  const Progress& progress_;
  size_t batch_ = 1;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards what follows, and the calls of progress_
  size_t done_ = 0;
  size_t made_ = 0;
  std::optional<Error> error_;
};

/// Every kernel that needs no values from its user.
Result<void> want_all(const Library::Data& library, std::vector<Wanted>& wanted) {
  wanted.reserve(wanted.size() + library.names.size());
  for (uint32_t i = 0; i < library.names.size(); ++i) {
    FunctionRowsRef rows = read_function(library, i);
    if (rows->kind != FunctionKind::kernel || (rows->slice == nullptr && !library.on_demand)) continue;
    if (needs_values(*rows)) continue;
    SMELT_TRY_VOID(check_usable(library, *rows));
    wanted.push_back({&library, std::move(rows)});
  }
  return {};
}

}  // namespace

Result<size_t> Library::prepare(std::span<const std::string_view> names, const Progress& progress) const {
  // Functions first: a wrong name fails before any work is done.
  std::vector<Wanted> wanted;
  if (names.empty()) SMELT_TRY_VOID(want_all(*data_, wanted));
  for (const std::string_view name : names) {
    SMELT_TRY(const FunctionRef named, function(name));
    SMELT_TRY_VOID(check_usable(*data_, *named->data().rows));
    SMELT_TRY_VOID(bind_constants(name, named->constants(), {}));
    wanted.push_back({data_.get(), named->data().rows, true});
  }
  return Preparation(std::move(wanted), progress).run();
}

Result<size_t> prepare(std::span<const LibraryRef> libraries, const Progress& progress) {
  std::vector<Wanted> wanted;
  for (const LibraryRef& library : libraries) {
    if (!library) return fail(Errc::invalid_argument, "prepare: one of {} libraries is null", libraries.size());
    SMELT_TRY_VOID(want_all(library->data(), wanted));
  }
  return Preparation(std::move(wanted), progress).run();
}

}  // namespace smelt::loader
