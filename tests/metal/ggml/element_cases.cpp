// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element after the other: unary and binary functions, gated units, scaling.
#include "cases.hpp"

#include <limits>

namespace judge {

namespace {

double bound_of(Type type) {
  return type == LM_GGML_TYPE_F32 ? 1e-7 : kHalf;
}

const std::vector<Shape> kShapes = {{128, 2, 2, 2}, {5, 7, 11, 13}, {33}};
const std::vector<Type> kFloats = {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16};

void unary(std::vector<Case>& cases) {
  for (int i = 0; i < LM_GGML_UNARY_OP_COUNT; ++i) {
    const auto op = static_cast<lm_ggml_unary_op>(i);
    if (op == LM_GGML_UNARY_OP_XIELU) continue;  // has parameters: below
    for (const Type type : kFloats)
      for (const Shape& shape : kShapes)
        for (const bool rows : {false, true}) {  // rows: cut out of longer ones
          if (rows && shape.size() == 1) continue;
          cases.push_back(
              {lm_ggml_unary_op_name(op),
               std::string(lm_ggml_type_name(type)) + " " + name_of(shape) + (rows ? " rows of longer ones" : ""),
               [=](Graph& g) {
                 if (!rows) return lm_ggml_unary(g.context, g.input(type, shape, -10, 10), op);
                 Shape longer = shape;
                 longer[0] *= 3;
                 Tensor all = g.input(type, longer, -10, 10);
                 Tensor part = lm_ggml_view_4d(g.context, all, shape[0], shape[1], shape[2], shape[3], all->nb[1],
                                               all->nb[2], all->nb[3], 0);
                 return lm_ggml_unary(g.context, part, op);
               },
               bound_of(type)});
        }
  }
  for (const Type type : kFloats)
    cases.push_back(
        {"XIELU", lm_ggml_type_name(type),
         [=](Graph& g) { return lm_ggml_xielu(g.context, g.input(type, {128, 3}, -10, 10), 4.0f, 20.0f, 0.5f, 1e-7f); },
         bound_of(type)});
}

void gated(std::vector<Case>& cases) {
  for (int i = 0; i < LM_GGML_GLU_OP_COUNT; ++i) {
    const auto op = static_cast<lm_ggml_glu_op>(i);
    for (const Type type : kFloats)
      for (const Shape& shape : {Shape{128, 2, 2, 2}, Shape{10, 7, 11, 13}})
        for (const int kind : {0, 1, 2}) {
          if (op == LM_GGML_GLU_OP_SWIGLU_OAI && (kind != 2 || type != LM_GGML_TYPE_F32)) continue;
          static const char* const names[] = {"", " swapped", " split"};
          cases.push_back({lm_ggml_glu_op_name(op),
                           std::string(lm_ggml_type_name(type)) + " " + name_of(shape) + names[kind],
                           [=](Graph& g) {
                             Tensor a = g.input(type, shape, -10, 10);
                             if (kind != 2) return lm_ggml_glu(g.context, a, op, kind == 1);
                             Tensor b = g.input(type, shape, -10, 10);
                             if (op == LM_GGML_GLU_OP_SWIGLU_OAI)
                               return lm_ggml_swiglu_oai(g.context, a, b, 1.702f, 7.0f);
                             return lm_ggml_glu_split(g.context, a, b, op);
                           },
                           bound_of(type)});
        }
  }
}

void binary(std::vector<Case>& cases) {
  using Function = Tensor (*)(lm_ggml_context*, Tensor, Tensor);
  struct Binary {
    const char* name;
    Function function;
  };
  // The right side repeats along each dimension, or along none.
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{16, 5, 4, 3}, {16, 5, 4, 3}}, {{16, 5, 4, 3}, {1, 5, 4, 3}},  {{16, 6, 4, 3}, {16, 1, 4, 3}},
      {{16, 5, 4, 3}, {16, 5, 2, 3}}, {{16, 5, 4, 6}, {16, 5, 4, 2}}, {{16, 5, 4, 3}, {1, 1, 1, 1}},
      {{10, 5, 4, 3}, {5, 1, 4, 1}},  {{1280, 3}, {1280, 1}},         {{1, 9}, {1, 1}}};
  for (const Binary& op :
       {Binary{"ADD", lm_ggml_add}, Binary{"SUB", lm_ggml_sub}, Binary{"MUL", lm_ggml_mul}, Binary{"DIV", lm_ggml_div}})
    for (const Type type : kFloats)
      for (const auto& [left, right] : shapes) {
        const auto function = op.function;
        const Shape l = left, r = right;
        cases.push_back(
            {op.name, std::string(lm_ggml_type_name(type)) + " " + name_of(left) + " and " + name_of(right),
             [=](Graph& g) { return function(g.context, g.input(type, l, 0.9f, 1.1f), g.input(type, r, 0.9f, 1.1f)); },
             bound_of(type)});
      }
  for (const int more : {2, 3, 5, 8})  // a chain, which the back end may compute at once
    cases.push_back({"ADD", "a chain of " + std::to_string(more), [=](Graph& g) {
                       Tensor sum = g.f32({64, 5});
                       for (int i = 0; i < more; ++i) sum = lm_ggml_add(g.context, sum, g.f32({64, 5}));
                       return sum;
                     }});
  for (const int64_t experts : {4, 8})
    cases.push_back({"ADD_ID", std::to_string(experts) + " rows", [=](Graph& g) {
                       return lm_ggml_add_id(g.context, g.f32({96, 3, 10}), g.f32({96, experts}),
                                             g.integers({3, 10}, 0, static_cast<int>(experts)));
                     }});
}

void one_argument(std::vector<Case>& cases) {
  using Function = Tensor (*)(lm_ggml_context*, Tensor);
  struct One {
    const char* name;
    Function function;
    float low, high;
  };
  for (const One& op :
       {One{"SQR", lm_ggml_sqr, -10, 10}, One{"SQRT", lm_ggml_sqrt, 0, 50}, One{"LOG", lm_ggml_log, 0.1f, 10},
        One{"SIN", lm_ggml_sin, -6.5f, 6.5f}, One{"COS", lm_ggml_cos, -6.5f, 6.5f}})
    for (const Type type : kFloats)
      for (const Shape& shape : kShapes)
        cases.push_back({op.name, std::string(lm_ggml_type_name(type)) + " " + name_of(shape),
                         [=, f = op.function, low = op.low, high = op.high](Graph& g) {
                           return f(g.context, g.input(type, shape, low, high));
                         },
                         bound_of(type)});
  for (const Type type : kFloats)
    for (const Shape& shape : kShapes) {
      const std::string what = std::string(lm_ggml_type_name(type)) + " " + name_of(shape);
      cases.push_back({"CLAMP", what,
                       [=](Graph& g) { return lm_ggml_clamp(g.context, g.input(type, shape), -0.5f, 0.5f); },
                       bound_of(type)});
      cases.push_back({"LEAKY_RELU", what,
                       [=](Graph& g) { return lm_ggml_leaky_relu(g.context, g.input(type, shape), 0.1f, false); },
                       bound_of(type)});
      cases.push_back({"FILL", what, [=](Graph& g) { return lm_ggml_fill(g.context, g.input(type, shape), 2.5f); },
                       bound_of(type)});
    }
  for (const Shape& shape : kShapes) {
    cases.push_back({"SCALE", name_of(shape), [=](Graph& g) { return lm_ggml_scale(g.context, g.f32(shape), 2.5f); }});
    cases.push_back({"SCALE", name_of(shape) + " and an offset",
                     [=](Graph& g) { return lm_ggml_scale_bias(g.context, g.f32(shape), 2.5f, 1.5f); }});
    cases.push_back({"SILU_BACK", name_of(shape),
                     [=](Graph& g) { return lm_ggml_silu_back(g.context, g.f32(shape), g.f32(shape)); }});
  }
}

}  // namespace

void element_cases(std::vector<Case>& cases) {
  unary(cases);
  gated(cases);
  binary(cases);
  one_argument(cases);
}

}  // namespace judge
