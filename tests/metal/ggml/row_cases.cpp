// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row at a time: norms, sums, softmax, sorting.
#include "cases.hpp"

namespace judge {

namespace {

const std::vector<Shape> kShapes = {{64, 5, 4, 3}, {10, 3}, {1025, 2}, {4, 1}};

void norms(std::vector<Case>& cases) {
  for (const Shape& shape : kShapes)
    for (const float epsilon : {0.0f, 1e-6f, 1e-1f}) {
      const std::string what = name_of(shape) + " epsilon " + std::to_string(epsilon);
      cases.push_back({"NORM", what, [=](Graph& g) { return lm_ggml_norm(g.context, g.f32(shape), epsilon); }, 1e-6});
      cases.push_back(
          {"RMS_NORM", what, [=](Graph& g) { return lm_ggml_rms_norm(g.context, g.f32(shape), epsilon); }, 1e-6});
      cases.push_back(
          {"L2_NORM", what, [=](Graph& g) { return lm_ggml_l2_norm(g.context, g.f32(shape), epsilon); }, 1e-6});
    }
  // Followed by what the back end computes along with it.
  // Rows of 33 to 1,023 that are no multiple of 32 end in a SIMD group with fewer lanes, in which the kernel adds up
  // too few of the threadgroup's sums: ggml's own, so they are not asked.
  for (const Shape& shape : {Shape{64, 5, 4, 3}, Shape{10, 3}})
    for (const bool add : {false, true})
      cases.push_back({"RMS_NORM", name_of(shape) + " times weights" + (add ? " and more" : ""),
                       [=](Graph& g) {
                         Tensor y =
                             lm_ggml_mul(g.context, lm_ggml_rms_norm(g.context, g.f32(shape), 1e-6f), g.f32(shape));
                         return add ? lm_ggml_add(g.context, y, g.f32(shape)) : y;
                       },
                       1e-6});
  // One image: ggml's kernel leaves out the others of a batch.
  for (const Shape& shape : {Shape{8, 8, 64, 1}, Shape{9, 9, 12, 1}})
    for (const int groups : {4, 3, 1}) {
      if (shape[2] % groups != 0) continue;
      cases.push_back({"GROUP_NORM", name_of(shape) + " in " + std::to_string(groups),
                       [=](Graph& g) { return lm_ggml_group_norm(g.context, g.f32(shape), groups, 1e-6f); }, 1e-6});
    }
}

void sums(std::vector<Case>& cases) {
  for (const Shape& shape : kShapes) {
    cases.push_back({"SUM", name_of(shape), [=](Graph& g) { return lm_ggml_sum(g.context, g.f32(shape, 0, 1)); }});
    cases.push_back(
        {"SUM_ROWS", name_of(shape), [=](Graph& g) { return lm_ggml_sum_rows(g.context, g.f32(shape, 0, 1)); }});
    cases.push_back({"MEAN", name_of(shape), [=](Graph& g) { return lm_ggml_mean(g.context, g.f32(shape, 0, 1)); }});
    cases.push_back(
        {"CUMSUM", name_of(shape), [=](Graph& g) { return lm_ggml_cumsum(g.context, g.f32(shape, 0, 1)); }});
    cases.push_back({"ARGMAX", name_of(shape),
                     [=](Graph& g) {
                       Tensor x = g.distinct(shape);
                       return lm_ggml_argmax(g.context, lm_ggml_reshape_2d(g.context, x, x->ne[0], lm_ggml_nrows(x)));
                     },
                     0});
    for (const auto order : {LM_GGML_SORT_ORDER_ASC, LM_GGML_SORT_ORDER_DESC})
      cases.push_back({"ARGSORT", name_of(shape) + (order == LM_GGML_SORT_ORDER_ASC ? " up" : " down"),
                       [=](Graph& g) { return lm_ggml_argsort(g.context, g.distinct(shape), order); }, 0});
  }
  for (const int k : {1, 7, 40, 100})
    for (const int64_t columns : {100, 1000, 5000})
      cases.push_back({"TOP_K", std::to_string(k) + " of " + std::to_string(columns),
                       [=](Graph& g) { return lm_ggml_top_k(g.context, g.distinct({columns, 3}), k); }, 0, true});
  for (const int64_t columns : {7, 64, 2000})
    cases.push_back({"COUNT_EQUAL", std::to_string(columns) + "x5",
                     [=](Graph& g) {
                       return lm_ggml_count_equal(g.context, g.integers({columns, 5}, 0, 3),
                                                  g.integers({columns, 5}, 0, 3));
                     },
                     0});
  for (const auto type :
       {LM_GGML_TRI_TYPE_UPPER_DIAG, LM_GGML_TRI_TYPE_UPPER, LM_GGML_TRI_TYPE_LOWER_DIAG, LM_GGML_TRI_TYPE_LOWER})
    for (const int64_t n : {10, 32, 65})
      cases.push_back({"TRI", std::to_string(n) + " kind " + std::to_string(type),
                       [=](Graph& g) { return lm_ggml_tri(g.context, g.f32({n, n, 3, 2}), type); }});
}

void softmax(std::vector<Case>& cases) {
  for (const Shape& shape : {Shape{16, 2, 8, 1}, Shape{35, 7, 4, 3}, Shape{1028, 5, 2, 1}, Shape{32, 16, 32, 1}})
    for (const int masked : {0, 1, 2})  // none, of floats, of halves
      for (const float alibi : {0.0f, 8.0f})
        for (const float scale : {1.0f, 0.1f}) {
          if (masked == 0 && alibi > 0) continue;
          const std::string what = name_of(shape) +
                                   (masked == 0   ? ""
                                    : masked == 1 ? " mask f32"
                                                  : " mask f16") +
                                   (alibi > 0 ? " alibi" : "") + " scale " + std::to_string(scale);
          cases.push_back({"SOFT_MAX", what,
                           [=](Graph& g) {
                             Tensor mask = masked == 0 ? nullptr
                                                       : g.mask(masked == 1 ? LM_GGML_TYPE_F32 : LM_GGML_TYPE_F16,
                                                                {shape[0], shape[1]}, false);
                             return lm_ggml_soft_max_ext(g.context, g.f32(shape, -10, 10), mask, scale, alibi);
                           },
                           1e-6});
        }
  for (const int64_t columns : {16, 100})
    cases.push_back({"SOFT_MAX", std::to_string(columns) + " with sinks",
                     [=](Graph& g) {
                       Tensor y = lm_ggml_soft_max_ext(g.context, g.f32({columns, 5, 4, 2}),
                                                       g.mask(LM_GGML_TYPE_F32, {columns, 5}, true), 0.3f, 0);
                       lm_ggml_soft_max_add_sinks(y, g.f32({4}));
                       return y;
                     },
                     1e-6});
}

void optimiser(std::vector<Case>& cases) {
  for (const Shape& shape : {Shape{10, 5, 4, 3}, Shape{257}}) {
    cases.push_back({"OPT_STEP_SGD", name_of(shape), [=](Graph& g) {
                       Tensor weights = g.f32(shape);
                       lm_ggml_set_param(weights);
                       return lm_ggml_opt_step_sgd(g.context, weights, g.f32(shape), g.f32({2}, 0, 1));
                     }});
    cases.push_back({"OPT_STEP_ADAMW", name_of(shape), [=](Graph& g) {
                       Tensor weights = g.f32(shape);
                       lm_ggml_set_param(weights);
                       return lm_ggml_opt_step_adamw(g.context, weights, g.f32(shape), g.f32(shape, 0, 1),
                                                     g.f32(shape, 0, 1), g.f32({7}, 0.1f, 0.9f));
                     }});
  }
}

}  // namespace

void row_cases(std::vector<Case>& cases) {
  norms(cases);
  sums(cases);
  softmax(cases);
  optimiser(cases);
}

}  // namespace judge
