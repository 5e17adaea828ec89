// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What works along a sequence: rotary embeddings, attention, state spaces and other recurrences.
#include "cases.hpp"

#include <cmath>

namespace judge {

namespace {

void rope_back(std::vector<Case>& cases) {
  for (const int mode : {0, LM_GGML_ROPE_TYPE_NEOX})
    for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16})
      for (const bool yarn : {false, true})
        cases.push_back(
            {"ROPE_BACK",
             std::string(mode == 0 ? "plain " : "neox ") + lm_ggml_type_name(type) + (yarn ? " scaled" : ""),
             [=](Graph& g) {
               return lm_ggml_rope_ext_back(g.context, g.input(type, {80, 8, 5, 2}), g.integers({5}, 0, 500), nullptr,
                                            32, mode, 512, 10000, yarn ? 0.5f : 1.0f, yarn ? 0.7f : 0.0f,
                                            yarn ? 1.3f : 1.0f, 32, 1);
             },
             type == LM_GGML_TYPE_F16 ? kHalf : 1e-6});
}

void rope(std::vector<Case>& cases) {
  struct Kind {
    const char* name;
    int mode;
    Shape shape;
    int width;
  };
  for (const Kind& kind : {Kind{"plain", 0, {128, 8, 5, 1}, 128}, Kind{"part of the head", 0, {80, 8, 5, 2}, 32},
                           Kind{"neox", LM_GGML_ROPE_TYPE_NEOX, {64, 4, 5, 1}, 64},
                           Kind{"neox, part", LM_GGML_ROPE_TYPE_NEOX, {80, 4, 5, 2}, 20},
                           Kind{"mrope", LM_GGML_ROPE_TYPE_MROPE, {128, 6, 5, 1}, 128},
                           Kind{"vision", LM_GGML_ROPE_TYPE_VISION, {80, 6, 5, 1}, 40}})
    for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16})
      for (const bool yarn : {false, true})
        for (const bool factors : {false, true}) {
          const std::string what = std::string(kind.name) + " " + lm_ggml_type_name(type) + (yarn ? " scaled" : "") +
                                   (factors ? " with factors" : "");
          cases.push_back({"ROPE", what,
                           [=](Graph& g) {
                             const bool multi = (kind.mode & LM_GGML_ROPE_TYPE_MROPE) != 0;
                             Tensor x = g.input(type, kind.shape);
                             Tensor positions = g.integers({kind.shape[2] * (multi ? 4 : 1)}, 0, 500);
                             Tensor by = factors ? g.f32({kind.shape[0] / 2}, 0.9f, 1.1f) : nullptr;
                             const float scale = yarn ? 0.5f : 1.0f, extra = yarn ? 0.7f : 0.0f,
                                         attention = yarn ? 1.3f : 1.0f;
                             if (!multi)
                               return lm_ggml_rope_ext(g.context, x, positions, by, kind.width, kind.mode, 512, 10000,
                                                       scale, extra, attention, 32, 1);
                             int sections[4] = {kind.width / 4, kind.width / 4, 0, 0};
                             return lm_ggml_rope_multi(g.context, x, positions, by, kind.width, sections, kind.mode,
                                                       512, 10000, scale, extra, attention, 32, 1);
                           },
                           type == LM_GGML_TYPE_F16 ? kHalf : 1e-6});
        }
}

// As many as there are queries; an older ggml wants more.
int64_t mask_rows(int64_t rows) {
#ifdef LM_GGML_KQ_MASK_PAD
  return LM_GGML_PAD(rows, LM_GGML_KQ_MASK_PAD);
#else
  return rows;
#endif
}

void attention(std::vector<Case>& cases) {
  const std::vector<Type> types = {LM_GGML_TYPE_F16,  LM_GGML_TYPE_F32,  LM_GGML_TYPE_BF16, LM_GGML_TYPE_Q8_0,
                                   LM_GGML_TYPE_Q4_0, LM_GGML_TYPE_Q4_1, LM_GGML_TYPE_Q5_0, LM_GGML_TYPE_Q5_1};
  for (const Type type : types)
    for (const int64_t head : {64, 128, 40, 80, 96, 256})
      for (const int64_t rows : {1, 3, 32}) {
        if (!fits(type, head)) continue;
        if (type != LM_GGML_TYPE_F16 && head != 64 && head != 128) continue;
        for (const int kind : {0, 1, 2, 3}) {  // plain; masked; alibi; a soft cap
          if (kind > 1 && (head != 64 || type != LM_GGML_TYPE_F16)) continue;
          static const char* const names[] = {"", " masked", " alibi", " capped"};
          cases.push_back({"FLASH_ATTN_EXT",
                           std::string(lm_ggml_type_name(type)) + " heads of " + std::to_string(head) + ", " +
                               std::to_string(rows) + " rows" + names[kind],
                           [=](Graph& g) {
                             const int64_t keys = 113;
                             Tensor q = g.f32({head, rows, 4, 1});
                             Tensor k = g.input(type, {head, keys, 2, 1}), v = g.input(type, {head, keys, 2, 1});
                             Tensor mask = kind == 1 || kind == 2
                                               ? g.mask(LM_GGML_TYPE_F16, {keys, mask_rows(rows)}, true)
                                               : nullptr;
                             Tensor y = lm_ggml_flash_attn_ext(g.context, q, k, v, mask,
                                                               1 / std::sqrt(static_cast<float>(head)),
                                                               kind == 2 ? 8.0f : 0.0f, kind == 3 ? 10.0f : 0.0f);
                             lm_ggml_flash_attn_ext_set_prec(y, LM_GGML_PREC_F32);
                             return y;
                           },
                           kProducts});
        }
      }
  cases.push_back({"FLASH_ATTN_EXT", "with sinks",
                   [](Graph& g) {
                     Tensor y = lm_ggml_flash_attn_ext(
                         g.context, g.f32({64, 5, 4, 1}), g.input(LM_GGML_TYPE_F16, {64, 96, 2, 1}),
                         g.input(LM_GGML_TYPE_F16, {64, 96, 2, 1}), g.mask(LM_GGML_TYPE_F16, {96, mask_rows(5)}, true),
                         0.125f, 0, 0);
                     lm_ggml_flash_attn_ext_add_sinks(y, g.f32({4}));
                     return y;
                   },
                   kProducts});
}

void state_space(std::vector<Case>& cases) {
  for (const int64_t width : {3, 4, 9})
    for (const int64_t tokens : {1, 7})
      cases.push_back({"SSM_CONV", std::to_string(width) + " wide, " + std::to_string(tokens) + " tokens",
                       [=](Graph& g) {
                         return lm_ggml_ssm_conv(g.context, g.f32({width - 1 + tokens, 256, 2}), g.f32({width, 256}));
                       },
                       1e-6});
  for (const int64_t tokens : {1, 32}) {
    cases.push_back({"SSM_SCAN", "first kind, " + std::to_string(tokens) + " tokens",
                     [=](Graph& g) {
                       return lm_ggml_ssm_scan(g.context, g.f32({16, 1, 128, 2}), g.f32({1, 128, tokens, 2}),
                                               g.f32({128, tokens, 2}), g.f32({16, 128}, -1, 0),
                                               g.f32({16, 1, tokens, 2}), g.f32({16, 1, tokens, 2}),
                                               g.integers({2}, {1, 0}));
                     },
                     1e-6});
    cases.push_back({"SSM_SCAN", "second kind, " + std::to_string(tokens) + " tokens",
                     [=](Graph& g) {
                       return lm_ggml_ssm_scan(g.context, g.f32({128, 64, 4, 2}), g.f32({64, 4, tokens, 2}),
                                               g.f32({4, tokens, 2}), g.f32({1, 4}, -1, 0), g.f32({128, 2, tokens, 2}),
                                               g.f32({128, 2, tokens, 2}), g.integers({2}, {1, 0}));
                     },
                     1e-6});
  }
}

void recurrences(std::vector<Case>& cases) {
  for (const auto& [tokens, sequences] : {std::pair<int64_t, int64_t>{1, 1}, {32, 1}, {32, 4}}) {
    const int64_t t = tokens, s = sequences;
    const std::string what = std::to_string(t) + " tokens of " + std::to_string(s);
    const Shape all = {64, 8, t};
    cases.push_back({"RWKV_WKV6", what,
                     [=](Graph& g) {
                       return lm_ggml_rwkv_wkv6(g.context, g.f32(all), g.f32(all), g.f32(all), g.f32({64, 8}),
                                                g.f32(all, 0, 1), g.f32({64 * 64 * 8, s}));
                     },
                     1e-6});
    cases.push_back({"RWKV_WKV7", what,
                     [=](Graph& g) {
                       const auto unit = [&] {
                         return lm_ggml_l2_norm(g.context, g.f32(all), 1e-7f);
                       };  // else states grow without end
                       Tensor r = g.f32(all), w = g.f32(all, 0, 1), k = g.f32(all), v = g.f32(all);
                       Tensor a = unit(), b = unit();
                       return lm_ggml_rwkv_wkv7(g.context, r, w, k, v, a, b, g.f32({64 * 64 * 8, s}));
                     },
                     1e-6});
  }
}

}  // namespace

void sequence_cases(std::vector<Case>& cases) {
  rope(cases);
  rope_back(cases);
  attention(cases);
  state_space(cases);
  recurrences(cases);
}

}  // namespace judge
