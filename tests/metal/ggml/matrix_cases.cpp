// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices, by type and shape: one column (vector kernels), a few, many (matrix kernels); batches that
// repeat; experts chosen by index; triangular systems.
#include "cases.hpp"

namespace judge {

namespace {

void products(std::vector<Case>& cases) {
  for (const Type type : weight_types()) {
    for (const int64_t columns : {1, 2, 3, 4, 5, 8, 9, 16, 33})
      cases.push_back(
          {"MUL_MAT", std::string(lm_ggml_type_name(type)) + " 256x16 by " + std::to_string(columns) + " columns",
           [=](Graph& g) { return lm_ggml_mul_mat(g.context, g.input(type, {256, 16}), g.f32({256, columns})); },
           kProducts});
    struct Batch {
      Shape left, right;
    };
    for (const auto& [left, right] : {Batch{{256, 19, 2, 3}, {256, 1, 2, 3}}, Batch{{256, 19, 2, 1}, {256, 5, 4, 3}},
                                      Batch{{512, 70, 1, 1}, {512, 64, 1, 1}}}) {
      const Shape l = left, r = right;
      cases.push_back({"MUL_MAT", std::string(lm_ggml_type_name(type)) + " " + name_of(l) + " by " + name_of(r),
                       [=](Graph& g) { return lm_ggml_mul_mat(g.context, g.input(type, l), g.f32(r)); }, kProducts});
    }
  }
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16})
    for (const int64_t inner : {64, 83, 128, 1056})
      for (const int64_t columns : {1, 7, 32})
        for (const Type other : {LM_GGML_TYPE_F32, type}) {
          if (other == type && type == LM_GGML_TYPE_F32 && columns == 7) continue;
          // The back end claims it and has no such kernel: it goes through a null pipeline.
          if (other == type && type == LM_GGML_TYPE_BF16 && columns > 8) continue;
          cases.push_back({"MUL_MAT",
                           std::string(lm_ggml_type_name(type)) + " " + std::to_string(inner) + "x17 by " +
                               lm_ggml_type_name(other) + " " + std::to_string(columns) + " columns",
                           [=](Graph& g) {
                             return lm_ggml_mul_mat(g.context, g.input(type, {inner, 17}),
                                                    g.input(other, {inner, columns}));
                           },
                           kProducts});
        }
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16})
    for (const int64_t columns : {1, 9})
      cases.push_back({"MUL_MAT",
                       std::string(lm_ggml_type_name(type)) + " permuted, " + std::to_string(columns) + " columns",
                       [=](Graph& g) {
                         Tensor a = lm_ggml_permute(g.context, g.input(type, {128, 3, 20, 2}), 0, 2, 1, 3);
                         Tensor b = lm_ggml_permute(g.context, g.f32({128, 3, columns, 2}), 0, 2, 1, 3);
                         return lm_ggml_mul_mat(g.context, a, b);
                       },
                       kProducts});
}

void experts(std::vector<Case>& cases) {
  for (const Type type : weight_types())
    for (const int64_t tokens : {1, 5, 40})
      for (const auto& [experts, used] : {std::pair<int64_t, int64_t>{4, 2}, {8, 4}}) {
        const int64_t all = experts, few = used;
        cases.push_back({"MUL_MAT_ID",
                         std::string(lm_ggml_type_name(type)) + " " + std::to_string(few) + " of " +
                             std::to_string(all) + " experts, " + std::to_string(tokens) + " tokens",
                         [=](Graph& g) {
                           std::vector<int32_t> chosen;  // different ones for each token
                           for (int64_t t = 0; t < tokens; ++t)
                             for (int64_t i = 0; i < few; ++i)
                               chosen.push_back(static_cast<int32_t>((t * 3 + i) % all));
                           Tensor weights = g.input(type, {256, 32, all});
                           return lm_ggml_mul_mat_id(g.context, weights, g.f32({256, few, tokens}),
                                                     g.integers({few, tokens}, chosen));
                         },
                         kProducts});
      }
}

void triangular(std::vector<Case>& cases) {
  for (const int64_t n : {32, 64})  // ggml's kernel reads past its buffers for other n
    cases.push_back({"SOLVE_TRI", std::to_string(n),
                     [=](Graph& g) {
                       // A diagonal away from zero, so that the system is well conditioned.
                       Tensor small = lm_ggml_scale(g.context, g.f32({n, n, 2}), 0.05f);
                       Tensor ones =
                           lm_ggml_diag(g.context, lm_ggml_reshape_3d(g.context, g.f32({n, 1, 2}, 1, 2), n, 1, 2));
                       return lm_ggml_solve_tri(g.context, lm_ggml_add(g.context, small, ones), g.f32({n, n, 2}), true,
                                                true, false);
                     },
                     1e-6});
}

}  // namespace

void matrix_cases(std::vector<Case>& cases) {
  products(cases);
  experts(cases);
  triangular(cases);
}

}  // namespace judge
