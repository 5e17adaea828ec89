// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the ggml library that Apple's compiler has made (npm llama.rn 0.8.3), as CPU code, against the code for
// CPUs that ggml's authors have written by hand (llama.rn 0.12.9, -O3 -march=native), on 1 and 2 threads; matrix
// products against OpenBLAS's sgemm too, where libopenblas.so.0 is.
//
//   bench_cpu_kernels_ggml [PART OF A NAME [seconds a row]]
//
// The rivals take turns, each run by itself, and the fastest of all runs counts. Of one thread it is processor time, so
// that a busy machine changes little; of two it is time by the clock. Results are compared first.
#include "smelt/base/shared_library.hpp"

#include "bench.hpp"
#include "built.hpp"
#include "cases.hpp"
#include "ggml-cpu.h"

#include <cmath>
#include <memory>

namespace smelt::bench {
namespace {

class OpenBlas {
 public:
  static std::unique_ptr<OpenBlas> open(unsigned threads) {
    SharedLibrary library("libopenblas.so.0");
    auto blas = std::make_unique<OpenBlas>();
    blas->sgemm_ = library.find<Sgemm>("cblas_sgemm");
    const auto set_threads = library.find<void (*)(int)>("openblas_set_num_threads");
    if (!library.trouble().empty()) return nullptr;
    set_threads(static_cast<int>(threads));
    return blas;
  }
  void run(Product& p) const {
    constexpr int kRowMajor = 101, kAsIs = 111, kTransposed = 112;
    sgemm_(kRowMajor, kAsIs, kTransposed, p.m, p.n, p.k, 1, p.b.data(), p.k, p.a.data(), p.k, 0, p.c.data(), p.n);
  }

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  Sgemm sgemm_ = nullptr;
};

/// ggml's side: the graph of one case and threads that stay.
class Graph {
 public:
  Graph(const GgmlCase& one, unsigned threads) {
    lm_ggml_threadpool_params parameters = lm_ggml_threadpool_params_default(static_cast<int>(threads));
    pool_ = lm_ggml_threadpool_new(&parameters);
    graph_ = lm_ggml_new_graph(one.context);
    lm_ggml_build_forward_expand(graph_, one.result);
    plan_ = lm_ggml_graph_plan(graph_, static_cast<int>(threads), pool_);
    work_.resize(plan_.work_size);
    plan_.work_data = work_.data();
  }
  ~Graph() { lm_ggml_threadpool_free(pool_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Threads that wait for work keep a processor busy for a moment: not while the others run.
  void pause() { lm_ggml_threadpool_pause(pool_); }
  void resume() { lm_ggml_threadpool_resume(pool_); }
  void run() {
    if (lm_ggml_graph_compute(graph_, &plan_) != LM_GGML_STATUS_SUCCESS) throw std::runtime_error("ggml failed");
  }

 private:
  lm_ggml_threadpool* pool_ = nullptr;
  lm_ggml_cgraph* graph_ = nullptr;
  lm_ggml_cplan plan_{};
  std::vector<uint8_t> work_;
};

/// Our side: an encoder for each launch, bound once.
class Launches {
 public:
  Launches(const GgmlCase& one, const loader::LibraryRef& library) {
    for (const KernelLaunch& launch : one.launches) {
      Ready& ready = ready_.emplace_back(Ready{must(loader::Encoder::create(library->device())), &launch});
      must(ready.encoder->set_pipeline(must(must(library->function(launch.kernel))->pipeline(launch.constants))));
      must(ready.encoder->set_bytes(0, launch.arguments));
      for (const Binding& bound : launch.buffers)
        must(ready.encoder->set_memory(bound.slot, {static_cast<std::byte*>(bound.data), bound.bytes}));
      if (launch.threadgroup_bytes != 0) must(ready.encoder->set_threadgroup_memory(0, launch.threadgroup_bytes));
    }
  }
  void run() {
    for (const Ready& ready : ready_)
      must(ready.encoder->dispatch_threadgroups(ready.launch->groups, ready.launch->threads));
  }

 private:
  struct Ready {
    std::unique_ptr<loader::Encoder> encoder;
    const KernelLaunch* launch = nullptr;
  };
  std::vector<Ready> ready_;
};

double mean_square_error(const std::vector<float>& found, const float* wanted) {
  double apart = 0, size = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    apart += (double{found[i]} - wanted[i]) * (double{found[i]} - wanted[i]);
    size += double{wanted[i]} * wanted[i];
  }
  return apart / size;
}

void measure(GgmlCase& one, const loader::LibraryRef& library, unsigned threads, const OpenBlas* blas, double seconds) {
  Graph graph(one, threads);
  Launches launches(one, library);
  graph.run();
  launches.run();
  const double apart = mean_square_error(one.ours, static_cast<const float*>(one.result->data));
  if (!(apart <= one.bound)) fmt::print("{}: RESULTS DIFFER by a mean square error of {}\n", one.name, apart);
  const bool with_blas = blas != nullptr && one.product.m != 0;
  const auto clock = [&] { return threads == 1 ? cpu_ms() * 1e3 : now() * 1e6; };
  const auto time = [&](double& least, auto&& work) {
    work();  // warm, and its threads awake
    const double start = clock();
    work();
    least = std::min(least, clock() - start);
  };
  double ours = 1e12, ggml = 1e12, sgemm = 1e12;
  for (const double end = now() + seconds; now() < end;) {
    time(ours, [&] { launches.run(); });
    graph.resume();
    time(ggml, [&] { graph.run(); });
    graph.pause();
    if (with_blas) time(sgemm, [&] { blas->run(one.product); });
  }
  if (threads == 1) record(fmt::format("ggml.{}", one.name), "us", ours, ggml);
  fmt::print("{:23} {:39} {:10.1f} {:10.1f} {:6.2f}", one.name, one.shape, ours, ggml, ours / ggml);
  if (with_blas) fmt::print("   sgemm {:.1f}: {:.0f} % of its speed", sgemm, 100 * sgemm / ours);
  fmt::print("\n");
  std::fflush(stdout);
}

int run(std::string_view part, double seconds) {
  lm_ggml_cpu_init();
  std::vector<GgmlCase> cases;
  for (const auto make : {mat_vec_q4_0, mat_mat_f16, soft_max, rms_norm, attention_of_prompt, attention_of_token}) {
    GgmlCase one = make();
    if (one.name.find(part) != std::string::npos) cases.push_back(std::move(one));
  }
  std::string wanted = SMELT_GGML_LIBRARY;
  for (const GgmlCase& one : cases)
    for (const KernelLaunch& launch : one.launches) wanted += " " + launch.kernel;
  for (const unsigned threads : {1u, 2u}) {
    const loader::DeviceRef device = cpu_device(threads);
    const loader::LibraryRef library = build(device, wanted);
    const std::unique_ptr<OpenBlas> blas = OpenBlas::open(threads);
    fmt::print("\nggml's kernels, {} thread(s), fastest, us of {}{}\n", threads,
               threads == 1 ? "processor time" : "time by the clock", blas ? "" : "; no libopenblas.so.0");
    fmt::print("{:63} {:>10} {:>10} {:>6}\n", "", "smelt", "ggml", "ratio");
    for (GgmlCase& one : cases) measure(one, library, threads, blas.get(), seconds);
  }
  return 0;
}

}  // namespace
}  // namespace smelt::bench

int main(int count, char** arguments) {
  try {
    return smelt::bench::run(count > 1 ? arguments[1] : "", count > 2 ? std::stod(arguments[2]) : 2);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cpu_kernels_ggml: {}\n", error.what());
    return 1;
  }
}
