// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases for ggml's back ends: one operation on inputs of one shape and type. A case builds its graph in a context; its
// inputs are filled from a generator whose seed is the case's name.
#pragma once
#include "ggml.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace judge {

using Tensor = lm_ggml_tensor*;
using Type = lm_ggml_type;
using Shape = std::vector<int64_t>;

/// The graph of one case: makes its inputs, and remembers what they are filled with.
class Graph {
 public:
  explicit Graph(lm_ggml_context* in) : context(in) {}
  /// Uniform between the limits, converted to the type (quantised as ggml does it).
  Tensor input(Type type, const Shape& shape, float low = -1, float high = 1);
  Tensor f32(const Shape& shape, float low = -1, float high = 1) { return input(LM_GGML_TYPE_F32, shape, low, high); }
  /// Different numbers in a random order, so that sorting has one outcome.
  Tensor distinct(const Shape& shape);
  /// Whole numbers from low to below high.
  Tensor integers(const Shape& shape, int low, int high);
  /// Exactly these.
  Tensor integers(const Shape& shape, std::vector<int32_t> values);
  /// 0 and -inf at random, or causal: as attention masks are.
  Tensor mask(Type type, const Shape& shape, bool causal);
  void fill(std::mt19937& random);

  lm_ggml_context* context;

 private:
  std::vector<std::pair<Tensor, std::function<void(Tensor, std::mt19937&)>>> inputs_;
};

struct Case {
  std::string operation;  // ggml's name
  std::string what;       // shapes and types
  std::function<Tensor(Graph&)> build;
  double bound = 1e-7;   // of the normalised mean square error against the CPU back end
  bool as_sets = false;  // each row's values in any order
};

std::vector<Case> all_cases();

// By file.
void element_cases(std::vector<Case>& cases);
void row_cases(std::vector<Case>& cases);
void shape_cases(std::vector<Case>& cases);
void matrix_cases(std::vector<Case>& cases);
void image_cases(std::vector<Case>& cases);
void sequence_cases(std::vector<Case>& cases);
void recent_cases(std::vector<Case>& cases);

std::string name_of(const Shape& shape);
/// Float types and those that ggml quantises to.
const std::vector<Type>& weight_types();
/// Whether the type's blocks fit into rows of this length.
bool fits(Type type, int64_t row);

// Bounds, and why.
inline constexpr double kHalf = 1e-6;       // results are rounded to half precision: 2^-11 squared
inline constexpr double kProducts = 5e-4;   // the CPU back end rounds the other factor to 8 bits first
inline constexpr double kQuantised = 1e-3;  // a value at the edge of two steps may take either

}  // namespace judge
