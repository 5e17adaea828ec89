// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ggml's Metal back end, built unmodified, beside ggml's CPU back end: each case that the device claims is computed by
// both, through ggml's public interface.
//
//   metal_ggml_operations [--sample N] [--operation NAME] [--skip N] [--table FILE] [--verbose] [--list]
//
// --sample N: N cases of each operation, evenly spread; --skip N: without the first of them; --table: writes the rows
// of the page of outcomes. Exit 1: a case that the device claims has other numbers, or could not be computed.
#include "cases.hpp"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-metal.h"
#include "numbers.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace judge {
namespace {

std::vector<double> numbers(Tensor tensor) {
  const size_t count = static_cast<size_t>(lm_ggml_nelements(tensor));
  std::vector<uint8_t> bytes(lm_ggml_nbytes(tensor));
  lm_ggml_backend_tensor_get(tensor, bytes.data(), 0, bytes.size());
  std::vector<double> values(count);
  if (tensor->type == LM_GGML_TYPE_I32 || tensor->type == LM_GGML_TYPE_I64 || tensor->type == LM_GGML_TYPE_I16 ||
      tensor->type == LM_GGML_TYPE_I8) {
    const size_t size = lm_ggml_type_size(tensor->type);
    for (size_t i = 0; i < count; ++i) {
      int64_t value = 0;
      memcpy(&value, bytes.data() + i * size, size);
      const unsigned shift = 64 - 8 * static_cast<unsigned>(size);
      values[i] = static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift);
    }
    return values;
  }
  const std::vector<float> floats = as_floats(tensor->type, bytes, count);
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

struct Outcome {
  enum Kind { passed, unclaimed, wrong, failed } kind = failed;
  double error = 0;
  std::string why;
};

// Both are the same kind of number at every place, and close where they are finite.
Outcome compare(const Case& one, Tensor ours, Tensor theirs) {
  std::vector<double> a = numbers(ours), b = numbers(theirs);
  Outcome outcome;
  if (one.as_sets)
    for (auto* values : {&a, &b})
      for (size_t row = 0; row < values->size(); row += static_cast<size_t>(ours->ne[0]))
        std::sort(values->begin() + static_cast<long>(row), values->begin() + static_cast<long>(row) + ours->ne[0]);
  double difference = 0, reference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i]) ||
        (std::isinf(a[i]) || std::isinf(b[i]) ? a[i] != b[i] && !std::isnan(a[i]) : false)) {
      outcome.kind = Outcome::wrong;
      outcome.why =
          "number " + std::to_string(i) + " is " + std::to_string(a[i]) + ", on the CPU " + std::to_string(b[i]);
      return outcome;
    }
    if (!std::isfinite(a[i])) continue;
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    reference += b[i] * b[i];
  }
  outcome.error = reference > 0 ? difference / reference : difference;
  outcome.kind = outcome.error <= one.bound ? Outcome::passed : Outcome::wrong;
  if (outcome.kind == Outcome::wrong) {
    char text[80];
    snprintf(text, sizeof text, "error %.3g, at most %.3g", outcome.error, one.bound);
    outcome.why = text;
  }
  return outcome;
}

struct Compared {
  const Case* one;
  Outcome outcome;
};

// ggml took one tensor here, and now takes several: whichever it is built with.
using Look = lm_ggml_backend_eval_callback;
template <class Backend>
bool compared_by(bool (*compare)(Backend, Backend, lm_ggml_cgraph*, Look, void*, const lm_ggml_tensor* const*, size_t),
                 Backend one, Backend other, lm_ggml_cgraph* graph, Look look, void* to, Tensor wanted) {
  const lm_ggml_tensor* all[] = {wanted};
  return compare(one, other, graph, look, to, all, 1);
}
template <class Backend>
bool compared_by(bool (*compare)(Backend, Backend, lm_ggml_cgraph*, Look, void*, Tensor), Backend one, Backend other,
                 lm_ggml_cgraph* graph, Look look, void* to, Tensor wanted) {
  return compare(one, other, graph, look, to, wanted);
}

Outcome run(const Case& one, lm_ggml_backend_t metal, lm_ggml_backend_t cpu) {
  Outcome outcome;
  lm_ggml_context* context = lm_ggml_init({lm_ggml_tensor_overhead() * 128 + lm_ggml_graph_overhead(), nullptr, true});
  Graph graph(context);
  Tensor result = one.build(graph);
  lm_ggml_set_name(result, "result");
  lm_ggml_cgraph* nodes = lm_ggml_new_graph(context);
  lm_ggml_build_forward_expand(nodes, result);
  for (int i = 0; i < lm_ggml_graph_n_nodes(nodes); ++i)
    if (!lm_ggml_backend_supports_op(metal, lm_ggml_graph_node(nodes, i))) outcome.kind = Outcome::unclaimed;
  if (outcome.kind != Outcome::unclaimed) {
    for (int i = 0; i < lm_ggml_graph_n_nodes(nodes); ++i)
      if (!lm_ggml_backend_supports_op(cpu, lm_ggml_graph_node(nodes, i)))
        outcome.why = "the CPU back end has no such operation";
    lm_ggml_backend_buffer_t buffer = outcome.why.empty() ? lm_ggml_backend_alloc_ctx_tensors(context, metal) : nullptr;
    if (buffer != nullptr) {
      std::mt19937 random(seed_of(one.operation + one.what));
      graph.fill(random);
      Compared compared{&one, {}};
      const auto look = [](int, Tensor ours, Tensor theirs, void* to) {
        auto* found = static_cast<Compared*>(to);
        found->outcome = compare(*found->one, ours, theirs);
        return true;
      };
      if (compared_by(lm_ggml_backend_compare_graph_backend, metal, cpu, nodes, look, &compared, result))
        outcome = compared.outcome;
      else
        outcome.why = "one of the back ends failed";
      lm_ggml_backend_buffer_free(buffer);
    } else if (outcome.why.empty()) {
      outcome.why = "no memory on the device";
    }
  }
  lm_ggml_free(context);
  return outcome;
}

struct Options {
  size_t sample = 0, skip = 0;
  std::string operation, table;
  bool verbose = false, list = false;
};

// N cases of each operation: the first, the last, and evenly between.
std::vector<Case> chosen(const Options& options) {
  std::map<std::string, std::vector<const Case*>> by_operation;
  const std::vector<Case> all = all_cases();
  for (const Case& one : all)
    if (options.operation.empty() || one.operation == options.operation) by_operation[one.operation].push_back(&one);
  std::vector<Case> kept;
  for (const auto& [operation, cases] : by_operation) {
    const size_t count = options.sample == 0 ? cases.size() : std::min(options.sample, cases.size());
    for (size_t i = options.skip; i < count; ++i)
      kept.push_back(*cases[count == 1 ? 0 : i * (cases.size() - 1) / (count - 1)]);
  }
  return kept;
}

struct Count {
  size_t passed = 0, unclaimed = 0, bad = 0;
  double worst = 0;
};

void write_table(const std::string& path, size_t sample, const std::map<std::string, Count>& counts) {
  FILE* file = fopen(path.c_str(), "w");
  if (file == nullptr) {
    perror(path.c_str());
    exit(1);
  }
  if (sample == 0)
    fputs("Outcomes of all cases:\n\n", file);
  else
    fprintf(file, "Of a sample, at most %zu cases of each operation, evenly spread:\n\n", sample);
  fputs(
      "| Operation | Cases passed | Not claimed by the device | Other numbers | Largest error "
      "|\n|---|---|---|---|---|\n",
      file);
  Count all;
  for (const auto& [operation, count] : counts) {
    fprintf(file, "| `%s` | %zu | %zu | %zu | %.2g |\n", operation.c_str(), count.passed, count.unclaimed, count.bad,
            count.worst);
    all.passed += count.passed;
    all.unclaimed += count.unclaimed;
    all.bad += count.bad;
  }
  fprintf(file, "| together | %zu | %zu | %zu | |\n", all.passed, all.unclaimed, all.bad);
  fclose(file);
}

int judge_all(const Options& options) {
  const std::vector<Case> cases = chosen(options);
  if (options.list)
    for (const Case& one : cases) printf("%s %s\n", one.operation.c_str(), one.what.c_str());
  if (options.list) return 0;
  lm_ggml_log_set(
      [](lm_ggml_log_level level, const char* text, void*) {
        if (level == LM_GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
      },
      nullptr);
  lm_ggml_backend_t metal = lm_ggml_backend_metal_init(), cpu = lm_ggml_backend_cpu_init();
  if (metal == nullptr || cpu == nullptr) {
    fprintf(stderr, "no back end\n");
    return 1;
  }
  std::map<std::string, Count> counts;
  size_t passed = 0, bad = 0;
  for (const Case& one : cases) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run(one, metal, cpu);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Count& count = counts[one.operation];
    if (outcome.kind == Outcome::passed) ++count.passed, ++passed;
    if (outcome.kind == Outcome::unclaimed) ++count.unclaimed;
    if (outcome.kind == Outcome::wrong || outcome.kind == Outcome::failed) {
      ++count.bad, ++bad;
      printf("WRONG %s %s: %s\n", one.operation.c_str(), one.what.c_str(), outcome.why.c_str());
      // ggml computes nothing more with a back end that has failed once.
      lm_ggml_backend_free(metal);
      metal = lm_ggml_backend_metal_init();
    } else if (options.verbose) {
      printf("%s %s %s (error %.2g, %.3f s)\n", outcome.kind == Outcome::passed ? "right" : "not claimed",
             one.operation.c_str(), one.what.c_str(), outcome.error, seconds);
    }
    if (outcome.kind == Outcome::passed) count.worst = std::max(count.worst, outcome.error);
    fflush(stdout);
  }
  if (!options.table.empty()) write_table(options.table, options.sample, counts);
  printf("%zu cases of %zu operations: %zu passed, %zu not claimed, %zu wrong\n", cases.size(), counts.size(), passed,
         cases.size() - passed - bad, bad);
  lm_ggml_backend_free(metal);
  lm_ggml_backend_free(cpu);
  return bad == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace judge

int main(int count, char** words) {
  judge::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] { return i + 1 < count ? words[++i] : ""; };
    if (word == "--sample")
      options.sample = strtoul(value(), nullptr, 10);
    else if (word == "--skip")
      options.skip = strtoul(value(), nullptr, 10);
    else if (word == "--operation")
      options.operation = value();
    else if (word == "--table")
      options.table = value();
    else if (word == "--verbose")
      options.verbose = true;
    else if (word == "--list")
      options.list = true;
    else {
      fprintf(stderr, "'%s': want [--sample N] [--operation NAME] [--skip N] [--table FILE] [--verbose] [--list]\n",
              word.c_str());
      return 2;
    }
  }
  return judge::judge_all(options);
}
