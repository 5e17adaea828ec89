// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that the older ggml has not.
#include "cases.hpp"

namespace judge {

namespace {

void columns(std::vector<Case>& cases) {
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16})
    for (const int stride : {1, 2, 5})
      for (const int crop : {0, 2})
        cases.push_back({"COL2IM_1D",
                         std::string(lm_ggml_type_name(type)) + " stride " + std::to_string(stride) + " crop " +
                             std::to_string(crop),
                         [=](Graph& g) {
                           constexpr int64_t kernel = 6, channels = 5, length = 19;
                           return lm_ggml_col2im_1d(g.context, g.input(type, {kernel * channels, length}), stride,
                                                    static_cast<int>(channels), crop);
                         },
                         type == LM_GGML_TYPE_F32 ? 1e-7 : kHalf});
}

// Keys of length 1, gates that forget, states that stay small.
void delta_net(std::vector<Case>& cases) {
  struct Kind {
    int64_t size, tokens, sequences, values;  // values: heads of them for each head of keys
    bool by_channel;
    int64_t states;
  };
  for (const Kind& kind : {Kind{32, 1, 1, 1, false, 1}, Kind{64, 7, 2, 1, false, 1}, Kind{64, 33, 1, 2, false, 1},
                           Kind{128, 5, 1, 1, false, 1}, Kind{64, 7, 2, 1, true, 1}, Kind{32, 65, 1, 2, true, 1},
                           Kind{64, 9, 2, 1, false, 4}, Kind{32, 3, 1, 1, true, 3}, Kind{16, 4, 1, 1, false, 1}})
    cases.push_back({"GATED_DELTA_NET",
                     "heads of " + std::to_string(kind.size) + ", " + std::to_string(kind.tokens) + " tokens of " +
                         std::to_string(kind.sequences) + ", " + std::to_string(kind.values) + " values a key" +
                         (kind.by_channel ? ", a gate each" : "") + ", " + std::to_string(kind.states) + " states",
                     [=](Graph& g) {
                       constexpr int64_t heads = 4;
                       const int64_t size = kind.size, t = kind.tokens, s = kind.sequences, all = heads * kind.values;
                       Tensor q = lm_ggml_l2_norm(g.context, g.f32({size, heads, t, s}), 1e-6f);
                       Tensor k = lm_ggml_l2_norm(g.context, g.f32({size, heads, t, s}), 1e-6f);
                       return lm_ggml_gated_delta_net(g.context, q, k, g.f32({size, all, t, s}),
                                                      g.f32({kind.by_channel ? size : 1, all, t, s}, -3, -1e-3f),
                                                      g.f32({1, all, t, s}, 0, 1), g.f32({size, size, all, s}),
                                                      kind.states);
                     },
                     1e-6});
}

void indexer(std::vector<Case>& cases) {
  for (const Type type : {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16, LM_GGML_TYPE_BF16, LM_GGML_TYPE_Q8_0, LM_GGML_TYPE_Q5_1,
                          LM_GGML_TYPE_Q5_0, LM_GGML_TYPE_Q4_1, LM_GGML_TYPE_Q4_0})
    for (const auto& [keys, rows, streams] : {std::tuple<int64_t, int64_t, int64_t>{96, 1, 1}, {113, 9, 1}, {64, 5, 2}})
      cases.push_back({"LIGHTNING_INDEXER", std::string(lm_ggml_type_name(type)) + " " + name_of({keys, rows, streams}),
                       [=, n = keys, b = rows, s = streams](Graph& g) {
                         constexpr int64_t width = 128, heads = 64;  // the only ones that the device claims
                         return lm_ggml_lightning_indexer(
                             g.context, g.f32({width, heads, b, s}), g.input(type, {width, 1, n, s}),
                             g.f32({heads, b, 1, s}, 0, 1), g.mask(LM_GGML_TYPE_F16, {n, b, 1, 1}, false));
                       },
                       1e-6});
}

void connections(std::vector<Case>& cases) {
  constexpr int64_t streams = 4;  // the only number that the device claims
  for (const int64_t tokens : {1, 17}) {
    for (const int rounds : {1, 2, 20})
      cases.push_back({"DSV4_HC_COMB", std::to_string(tokens) + " tokens, " + std::to_string(rounds) + " rounds",
                       [=](Graph& g) {
                         constexpr int64_t mixes = (2 + streams) * streams;
                         return lm_ggml_dsv4_hc_comb(g.context, g.f32({mixes, tokens}, -2, 2), g.f32({3}, -0.5f, 0.5f),
                                                     g.f32({mixes}, -0.25f, 0.25f), 1e-6f, rounds);
                       },
                       1e-6});
    for (const int64_t width : {31, 256}) {
      const std::string what = std::to_string(width) + " wide, " + std::to_string(tokens) + " tokens";
      cases.push_back({"DSV4_HC_PRE", what, [=](Graph& g) {
                         return lm_ggml_dsv4_hc_pre(g.context, g.f32({width, streams, tokens}),
                                                    g.f32({streams, tokens}, 0, 1));
                       }});
      cases.push_back({"DSV4_HC_POST", what, [=](Graph& g) {
                         return lm_ggml_dsv4_hc_post(g.context, g.f32({width, tokens}), g.f32({width, streams, tokens}),
                                                     g.f32({streams, tokens}, 0, 2),
                                                     g.f32({streams, streams, tokens}, 0, 1));
                       }});
    }
  }
}

}  // namespace

void recent_cases(std::vector<Case>& cases) {
  columns(cases);
  delta_net(cases);
  indexer(cases);
  connections(cases);
}

}  // namespace judge
