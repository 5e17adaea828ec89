// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that move: copies and conversions, rows by index, joins, padding.
#include "cases.hpp"

namespace judge {

namespace {

std::string names(Type from, Type to) {
  return std::string(lm_ggml_type_name(from)) + " to " + lm_ggml_type_name(to);
}

// What a copy may differ by: nothing when the type stays, a rounding when it becomes narrower.
double bound_of(Type from, Type to) {
  if (from == to) return 0;
  return lm_ggml_is_quantized(to) ? kQuantised : to == LM_GGML_TYPE_F32 ? 1e-7 : kHalf;
}

void copies(std::vector<Case>& cases) {
  for (const Type from : weight_types())
    for (const Type to : weight_types()) {
      // From quantised numbers the CPU back end copies to floats alone, and to its own type.
      if (lm_ggml_is_quantized(from) && to != LM_GGML_TYPE_F32) continue;
      const int64_t row = lm_ggml_blck_size(from) > 1 || lm_ggml_blck_size(to) > 1 ? 512 : 33;
      cases.push_back({"CPY", names(from, to),
                       [=](Graph& g) {
                         return lm_ggml_cpy(g.context, g.input(from, {row, 3, 2}),
                                            lm_ggml_new_tensor_3d(g.context, to, row, 3, 2));
                       },
                       bound_of(from, to)});
    }
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16})
    for (const Type to : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16}) {
      cases.push_back({"CPY", names(type, to) + " permuted",
                       [=](Graph& g) {
                         Tensor from = lm_ggml_permute(g.context, g.input(type, {7, 5, 4, 3}), 0, 2, 1, 3);
                         return lm_ggml_cpy(g.context, from, lm_ggml_new_tensor_4d(g.context, to, 7, 4, 5, 3));
                       },
                       bound_of(type, to)});
      cases.push_back({"CPY", names(type, to) + " transposed",
                       [=](Graph& g) {
                         Tensor from = lm_ggml_transpose(g.context, g.input(type, {40, 70, 2}));
                         return lm_ggml_cpy(g.context, from, lm_ggml_new_tensor_3d(g.context, to, 70, 40, 2));
                       },
                       bound_of(type, to)});
    }
  for (const Type to : {LM_GGML_TYPE_F32, LM_GGML_TYPE_I32})
    cases.push_back({"CPY", names(LM_GGML_TYPE_I32, to),
                     [=](Graph& g) {
                       return lm_ggml_cpy(g.context, g.integers({19, 3}, -1000, 1000),
                                          lm_ggml_new_tensor_2d(g.context, to, 19, 3));
                     },
                     0});
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16}) {
    cases.push_back(
        {"CONT", std::string(lm_ggml_type_name(type)) + " transposed",
         [=](Graph& g) { return lm_ggml_cont(g.context, lm_ggml_transpose(g.context, g.input(type, {10, 35, 2}))); },
         0});
    cases.push_back({"CONT", std::string(lm_ggml_type_name(type)) + " permuted",
                     [=](Graph& g) {
                       return lm_ggml_cont(g.context,
                                           lm_ggml_permute(g.context, g.input(type, {8, 5, 4, 3}), 2, 0, 3, 1));
                     },
                     0});
    cases.push_back({"DUP", lm_ggml_type_name(type),
                     [=](Graph& g) { return lm_ggml_dup(g.context, g.input(type, {10, 9, 3})); }, 0});
  }
  for (const int dimension : {1, 2, 3})
    cases.push_back({"SET", "along dimension " + std::to_string(dimension),
                     [=](Graph& g) {
                       Shape part = {6, 5, 4, 3};
                       for (int i = dimension; i < 4; ++i) --part[static_cast<size_t>(i)];
                       Tensor whole = g.f32({6, 5, 4, 3});
                       return lm_ggml_set(g.context, whole, g.f32(part), whole->nb[1], whole->nb[2], whole->nb[3],
                                          whole->nb[dimension]);
                     },
                     0});
  cases.push_back({"ACC", "into a part", [](Graph& g) {
                     Tensor whole = g.f32({256, 17, 2, 3});
                     return lm_ggml_acc(g.context, whole, g.f32({256, 16, 2, 3}), whole->nb[1], whole->nb[2],
                                        whole->nb[3], whole->nb[1]);
                   }});
}

void by_index(std::vector<Case>& cases) {
  for (const Type type : weight_types())
    for (const int64_t row : {256, 768, 3}) {
      if (!fits(type, row)) continue;
      cases.push_back({"GET_ROWS", std::string(lm_ggml_type_name(type)) + " " + std::to_string(row),
                       [=](Graph& g) {
                         return lm_ggml_get_rows(g.context, g.input(type, {row, 12, 2}), g.integers({7, 2}, 0, 12));
                       },
                       1e-7});
      if (lm_ggml_get_type_traits(type)->from_float_ref == nullptr) continue;  // nobody writes it row by row
      cases.push_back({"SET_ROWS", std::string(lm_ggml_type_name(type)) + " " + std::to_string(row),
                       [=](Graph& g) {
                         // Each row once, in no order.
                         Tensor to = g.input(type, {row, 8, 2});
                         Tensor where = g.integers({5}, {6, 1, 0, 7, 3});
                         return lm_ggml_set_rows(g.context, to, g.f32({row, 5, 2}), where);
                       },
                       lm_ggml_is_quantized(type) ? kQuantised : kHalf});
    }
  cases.push_back(
      {"GET_ROWS", "i32",
       [](Graph& g) { return lm_ggml_get_rows(g.context, g.integers({16, 12}, -9, 9), g.integers({7}, 0, 12)); }, 0});
}

// The older ggml claims all types, and has one kernel for them: it copies four bytes each, so that threads write over
// each other's numbers where these have two.
#ifdef JUDGE_RECENT
const std::vector<Type> kJoined = {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16};
#else
const std::vector<Type> kJoined = {LM_GGML_TYPE_F32};
#endif

void joins(std::vector<Case>& cases) {
  for (const int dimension : {0, 1, 2, 3})
    for (const Type type : kJoined)
      cases.push_back({"CONCAT", std::string(lm_ggml_type_name(type)) + " dimension " + std::to_string(dimension),
                       [=](Graph& g) {
                         Shape a = {11, 12, 3, 4}, b = a;
                         b[static_cast<size_t>(dimension)] = 7;
                         return lm_ggml_concat(g.context, g.input(type, a), g.input(type, b), dimension);
                       },
                       0});
  cases.push_back(
      {"CONCAT", "i32",
       [](Graph& g) { return lm_ggml_concat(g.context, g.integers({5, 3}, 0, 99), g.integers({6, 3}, 0, 99), 0); }, 0});
  for (const Shape& times : {Shape{1, 1, 1, 1}, Shape{2, 1, 1, 1}, Shape{1, 2, 1, 1}, Shape{1, 1, 2, 1},
                             Shape{1, 1, 1, 2}, Shape{3, 2, 1, 2}})
    for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16})
      cases.push_back({"REPEAT", std::string(lm_ggml_type_name(type)) + " " + name_of(times),
                       [=](Graph& g) {
                         Tensor x = g.input(type, {10, 5, 4, 3});
                         return lm_ggml_repeat(g.context, x,
                                               lm_ggml_new_tensor_4d(g.context, type, 10 * times[0], 5 * times[1],
                                                                     4 * times[2], 3 * times[3]));
                       },
                       0});
  for (const Shape& more : {Shape{1, 0, 0, 0}, Shape{0, 3, 0, 0}, Shape{2, 1, 1, 2}})
    cases.push_back({"PAD", name_of(more),
                     [=](Graph& g) {
                       return lm_ggml_pad(g.context, g.f32({33, 5, 4, 2}), static_cast<int>(more[0]),
                                          static_cast<int>(more[1]), static_cast<int>(more[2]),
                                          static_cast<int>(more[3]));
                     },
                     0});
  cases.push_back({"PAD_REFLECT_1D", "10 and 9",
                   [](Graph& g) { return lm_ggml_pad_reflect_1d(g.context, g.f32({100, 34, 2}), 10, 9); }, 0});
  for (const Shape& by : {Shape{3, -2, 0, 0}, Shape{0, 0, 1, -1}})
    cases.push_back({"ROLL", name_of(by),
                     [=](Graph& g) {
                       return lm_ggml_roll(g.context, g.f32({10, 5, 4, 3}), static_cast<int>(by[0]),
                                           static_cast<int>(by[1]), static_cast<int>(by[2]), static_cast<int>(by[3]));
                     },
                     0});
  for (const int64_t n : {5, 128})
    cases.push_back(
        {"DIAG", std::to_string(n), [=](Graph& g) { return lm_ggml_diag(g.context, g.f32({n, 1, 3, 2})); }, 0});
  for (const float step : {1.0f, 0.25f})
    cases.push_back(
        {"ARANGE", "step " + std::to_string(step), [=](Graph& g) { return lm_ggml_arange(g.context, 3, 77, step); }});
  for (const int width : {320, 33})
    cases.push_back({"TIMESTEP_EMBEDDING", std::to_string(width),
                     [=](Graph& g) { return lm_ggml_timestep_embedding(g.context, g.f32({12}, 0, 100), width, 10000); },
                     1e-6});
}

}  // namespace

void shape_cases(std::vector<Case>& cases) {
  copies(cases);
  by_index(cases);
  joins(cases);
}

}  // namespace judge
