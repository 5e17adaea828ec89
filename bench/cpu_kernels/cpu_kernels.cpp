// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight kernels as CPU slices, against the plain loop at -O3 and against PoCL, on 1 and 2 threads: ratios from one run.
//
//   bench_cpu_kernels [rounds]            all groups of rows (run_groups.cpp): these, one process for each number
//                                         of threads; ggml's kernels, Triton's, launches
//   bench_cpu_kernels --threads N rounds [kernel]
//   bench_cpu_kernels --packages rounds A.smelt B.smelt ...     the same kernels out of packages, made by two compilers
//                                                               or with other options (compare_code.sh); one thread
//
// The three take turns in every round; a round is the fastest of a few launches. Ratios are of the fastest rounds and
// of the medians: on a machine that does other work too, the first is the one that repeats. Results are compared first.
#include "bench.hpp"
#include "built.hpp"
#include "opencl.hpp"
#include "plain.hpp"
#include "run_groups.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace smelt::bench {
namespace {

constexpr size_t kElements = size_t{1} << 20;
constexpr size_t kRows = 512;
constexpr size_t kColumns = 1024;
constexpr size_t kMatrix = 512;
constexpr size_t kGroup = 256;

/// One more thread, which stays awake for a moment after its work and then sleeps: what is measured is loops, not
/// waking (the fastest of several launches counts), and it is not in the way of the others' threads.
class Halves {
 public:
  explicit Halves(unsigned threads) {
    if (threads > 1) helper_ = std::thread([this] { help(); });
  }
  ~Halves() {
    if (!helper_.joinable()) return;
    tell(kEnd);
    helper_.join();
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;

  void run(size_t count, const std::function<void(size_t, size_t)>& work) {
    if (!helper_.joinable()) return work(0, count);
    work_ = [&] { work(count / 2, count); };
    tell(kWork);
    work(0, count / 2);
    while (state_.load(std::memory_order_acquire) != kIdle) std::this_thread::yield();
  }

 private:
  static constexpr int kIdle = 0, kWork = 1, kEnd = 2, kSpins = 2000;

  void tell(int state) {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }
  void help() {
    for (;;) {
      for (int spins = 0; spins < kSpins && state_.load(std::memory_order_acquire) == kIdle; ++spins)
        std::this_thread::yield();
      state_.wait(kIdle, std::memory_order_acquire);
      if (state_.load(std::memory_order_acquire) == kEnd) return;
      work_();
      state_.store(kIdle, std::memory_order_release);
    }
  }
  std::function<void()> work_;
  std::atomic<int> state_{kIdle};
  std::thread helper_;
};

using Vector = std::vector<uint32_t>;  // of whatever has 32 bits

struct Case {
  std::string name;
  std::vector<Vector> buffers;
  size_t result;
  std::optional<uint32_t> last;
  loader::Size3 grid;
  loader::Size3 group;
  int rank;
  size_t items;  ///< of the plain loop
  std::function<void(std::vector<Vector>&, size_t, size_t)> plain;
  enum class Kind { f32, u32, half } kind = Kind::f32;
  unsigned launches = 5;  ///< in a round
};

float* floats(Vector& v) {
  return reinterpret_cast<float*>(v.data());
}

Vector random_floats(size_t count, uint32_t seed) {
  Vector values(count);
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(((static_cast<uint32_t>(i) + seed) * 2654435761u) >> 8) / (1 << 24) - 0.5f;
    std::memcpy(&values[i], &value, 4);
  }
  return values;
}

Vector random_integers(size_t count) {
  Vector values(count);
  for (size_t i = 0; i < count; ++i) values[i] = (static_cast<uint32_t>(i) * 2654435761u) >> 7;
  return values;
}

std::vector<Case> cases() {
  const auto zeros = [](size_t count) { return Vector(count); };
  const loader::Size3 line{kElements, 1, 1};
  const loader::Size3 group{kGroup, 1, 1};
  Vector halves(kElements / 2);
  for (uint32_t& pair : halves) pair = 0x3c003800;  // 1 and a half
  std::vector<Case> all;
  all.push_back({"vadd",
                 {random_floats(kElements, 1), random_floats(kElements, 2), zeros(kElements)},
                 2,
                 {},
                 line,
                 group,
                 1,
                 kElements,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain::vadd(floats(b[0]), floats(b[1]), floats(b[2]), from, to);
                 }});
  all.push_back(
      {"square",
       {random_floats(kElements, 1), zeros(kElements)},
       1,
       {},
       line,
       group,
       1,
       kElements,
       [](std::vector<Vector>& b, size_t from, size_t to) { plain::square(floats(b[0]), floats(b[1]), from, to); }});
  all.push_back({"saxpy_half",
                 {halves, halves},
                 1,
                 {},
                 line,
                 group,
                 1,
                 kElements,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain::saxpy_half(reinterpret_cast<uint16_t*>(b[0].data()), reinterpret_cast<uint16_t*>(b[1].data()),
                                     from, to);
                 },
                 Case::Kind::half});
  all.push_back({"sreduce",
                 {random_floats(kElements, 1), zeros(kElements / kGroup)},
                 1,
                 {},
                 line,
                 group,
                 1,
                 kElements / kGroup,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain::sums(floats(b[0]), floats(b[1]), kGroup, from, to);
                 }});
  all.push_back({"softmax",
                 {random_floats(kRows * kColumns, 1), zeros(kRows * kColumns)},
                 1,
                 uint32_t{kColumns},
                 {kRows * kGroup, 1, 1},
                 group,
                 1,
                 kRows,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain_softmax(floats(b[0]), floats(b[1]), kColumns, from, to);
                 }});
  all.push_back({"matmul",
                 {random_floats(kMatrix * kMatrix, 1), random_floats(kMatrix * kMatrix, 2), zeros(kMatrix * kMatrix)},
                 2,
                 uint32_t{kMatrix},
                 {kMatrix, kMatrix, 1},
                 {16, 16, 1},
                 2,
                 kMatrix,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain::matmul(floats(b[0]), floats(b[1]), floats(b[2]), kMatrix, from, to);
                 },
                 Case::Kind::f32,
                 2});
  all.push_back({"rope",
                 {random_floats(kRows * kColumns, 1), zeros(kRows * kColumns)},
                 1,
                 uint32_t{kColumns},
                 {kColumns / 2, kRows, 1},
                 {64, 1, 1},
                 2,
                 kRows,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   plain_rope(floats(b[0]), floats(b[1]), kColumns, from, to);
                 }});
  all.push_back({"hist",
                 {random_integers(kElements), zeros(256)},
                 1,
                 {},
                 line,
                 group,
                 1,
                 kElements,
                 [](std::vector<Vector>& b, size_t from, size_t to) {
                   // Two threads cannot share bins without atomics: each has its own, added at the end.
                   if (to - from == kElements) return plain::histogram(b[0].data(), b[1].data(), from, to);
                   uint32_t own[256] = {};
                   plain::histogram(b[0].data(), own, from, to);
                   for (size_t i = 0; i < 256; ++i) std::atomic_ref(b[1][i]).fetch_add(own[i]);
                 },
                 Case::Kind::u32});
  return all;
}

/// Largest difference relative to the largest value.
double difference(const Case& one, const Vector& found, const Vector& wanted) {
  if (one.kind != Case::Kind::f32) return found == wanted ? 0 : INFINITY;
  double largest = 0;
  double apart = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, &found[i], 4);
    std::memcpy(&b, &wanted[i], 4);
    largest = std::max(largest, std::fabs(double{b}));
    apart = std::max(apart, std::fabs(double{a} - b));
  }
  return apart / largest;
}

struct Rival {
  std::function<void()> run;
  std::function<const Vector&()> result;
  std::vector<double> rounds;
};

void measure(const Case& one, const loader::LibraryRef& library, OpenCl* opencl, Halves& halves, unsigned threads,
             size_t rounds) {
  // Ours
  const auto pipeline = must(must(library->function(one.name))->pipeline());
  const auto encoder = must(loader::Encoder::create(library->device()));
  must(encoder->set_pipeline(pipeline));
  std::vector<Vector> mine = one.buffers;
  uint32_t index = 0;
  for (Vector& buffer : mine) must(encoder->set_memory(index++, std::as_writable_bytes(std::span(buffer))));
  if (one.last) must(encoder->set_bytes(index, std::as_bytes(std::span(&*one.last, 1))));
  std::vector<Vector> theirs = one.buffers;
  std::vector<Vector> loops = one.buffers;
  std::vector<Rival> rivals;
  rivals.push_back({[&] { must(encoder->dispatch_threads(one.grid, one.group, one.rank)); },
                    [&] { return std::cref(mine[one.result]); },
                    {}});
  rivals.push_back({[&] { halves.run(one.items, [&](size_t from, size_t to) { one.plain(loops, from, to); }); },
                    [&] { return std::cref(loops[one.result]); },
                    {}});
  std::unique_ptr<OpenCl::Prepared> prepared;
  if (opencl != nullptr) {
    OpenCl::Launch launch{one.name, {}, one.last, {one.grid.x, one.grid.y}, {one.group.x, one.group.y}};
    for (Vector& buffer : theirs) launch.buffers.push_back({buffer.data(), buffer.size() * 4});
    prepared = opencl->prepare(launch);
    rivals.push_back({[&] { prepared->run(); },
                      [&] {
                        prepared->read_back();
                        return std::cref(theirs[one.result]);
                      },
                      {}});
  }
  for (Rival& rival : rivals) rival.run();
  double far = 0;
  for (const size_t other : {size_t{0}, size_t{2}})
    if (other < rivals.size()) far = std::max(far, difference(one, rivals[other].result(), rivals[1].result()));
  if (far > 1e-4) fmt::print("{}: RESULTS DIFFER by {}\n", one.name, far);

  for (size_t round = 0; round < rounds; ++round)
    for (Rival& rival : rivals) {
      double fastest = 1e9;
      for (unsigned i = 0; i < one.launches; ++i) fastest = std::min(fastest, timed(rival.run));
      rival.rounds.push_back(fastest * 1e6);
    }
  const auto ratio = [&](size_t over) {
    return fmt::format("{:5.2f} {:5.2f}", least(rivals[0].rounds) / least(rivals[over].rounds),
                       median(rivals[0].rounds) / median(rivals[over].rounds));
  };
  fmt::print("{:11} {:9.1f} {:9.1f} {:>9}   {}   {}\n", one.name, least(rivals[0].rounds), least(rivals[1].rounds),
             rivals.size() > 2 ? fmt::format("{:.1f}", least(rivals[2].rounds)) : "-", ratio(1),
             rivals.size() > 2 ? ratio(2) : "-");
  std::fflush(stdout);
  if (threads == 1) record(fmt::format("loop.{}", one.name), "us", least(rivals[0].rounds), least(rivals[1].rounds));
}

int run(unsigned threads, size_t rounds, std::string_view only) {
  ::setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(threads).c_str(), 1);
  const auto device = cpu_device(threads);
  const loader::LibraryRef library = build(device);
  const std::unique_ptr<OpenCl> opencl = OpenCl::open();
  Halves halves(threads);
  fmt::print("\n{}; rival: {}; {} rounds\n", device->name(), opencl ? opencl->name() : "no OpenCL device", rounds);
  fmt::print("{:11} {:>9} {:>9} {:>9}   {:>11}   {:>11}\n", "fastest, us", "smelt", "loop", "PoCL", "smelt/loop",
             "smelt/PoCL");
  for (const Case& one : cases())
    if (only.empty() || one.name == only) measure(one, library, opencl.get(), halves, threads, rounds);
  return 0;
}

/// One kernel out of a package, ready to run on memory of its own.
struct Variant {
  std::unique_ptr<loader::Encoder> encoder;
  std::vector<Vector> buffers;
  std::vector<double> rounds;
};

Variant prepare(const Case& one, const loader::LibraryRef& library) {
  Variant variant;
  variant.buffers = one.buffers;
  variant.encoder = must(loader::Encoder::create(library->device()));
  must(variant.encoder->set_pipeline(must(must(library->function(one.name))->pipeline())));
  uint32_t index = 0;
  for (Vector& buffer : variant.buffers)
    must(variant.encoder->set_memory(index++, std::as_writable_bytes(std::span(buffer))));
  if (one.last) must(variant.encoder->set_bytes(index, std::as_bytes(std::span(&*one.last, 1))));
  return variant;
}

int compare_packages(size_t rounds, std::span<char*> files) {
  loader::DeviceOptions options;
  options.threads = 1;
  const auto device = must(loader::Device::open(loader::DeviceKind::cpu, options));
  std::vector<loader::LibraryRef> libraries;
  for (const char* file : files) {
    loader::LoadOptions load;
    load.native = true;
    load.checked = std::string_view(file).find("checked") != std::string_view::npos;
    libraries.push_back(must(loader::Library::load(device, must(read_file(file)), load)));
  }
  fmt::print("{}; one thread, fastest of {} rounds, us; then ratios to the first\n", device->name(), rounds);
  std::vector<double> logs(libraries.size());
  for (const Case& one : cases()) {
    std::vector<Variant> variants;
    for (const loader::LibraryRef& library : libraries) variants.push_back(prepare(one, library));
    const auto dispatch = [&](Variant& variant) {
      must(variant.encoder->dispatch_threads(one.grid, one.group, one.rank));
    };
    for (Variant& variant : variants) dispatch(variant);
    for (size_t round = 0; round < rounds; ++round)
      for (Variant& variant : variants)
        for (unsigned i = 0; i < one.launches; ++i) variant.rounds.push_back(timed([&] { dispatch(variant); }) * 1e6);
    fmt::print("{:11}", one.name);
    for (Variant& variant : variants) fmt::print(" {:9.1f}", least(variant.rounds));
    for (size_t i = 1; i < variants.size(); ++i) {
      const double ratio = least(variants[i].rounds) / least(variants[0].rounds);
      logs[i] += std::log(ratio) / static_cast<double>(cases().size());
      fmt::print("  {:6.3f}", ratio);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print("geometric mean of the ratios:");
  for (size_t i = 1; i < logs.size(); ++i) fmt::print("  {:6.3f}", std::exp(logs[i]));
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  try {
    if (count >= 4 && std::string_view(arguments[1]) == "--threads")
      return smelt::bench::run(static_cast<unsigned>(std::stoul(arguments[2])), std::stoul(arguments[3]),
                               count > 4 ? arguments[4] : "");
    if (count >= 4 && std::string_view(arguments[1]) == "--packages")
      return smelt::bench::compare_packages(std::stoul(arguments[2]),
                                            std::span(arguments, static_cast<size_t>(count)).subspan(3));
    return smelt::bench::run_groups(count > 1 ? arguments[1] : "15");
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cpu_kernels: {}\n", error.what());
    return 1;
  }
}
