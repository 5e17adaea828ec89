// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, pools, images that grow.
#include "cases.hpp"

namespace judge {

namespace {

const std::vector<Type> kKernels = {LM_GGML_TYPE_F32, LM_GGML_TYPE_F16};
double bound_of(Type type) {
  return type == LM_GGML_TYPE_F16 ? kHalf : 1e-6;
}

void convolutions(std::vector<Case>& cases) {
  for (const Type type : kKernels)
    for (const int stride : {1, 2})
      for (const int pad : {0, 1})
        for (const int dilation : {1, 2}) {
          const std::string what = std::string(lm_ggml_type_name(type)) + " stride " + std::to_string(stride) +
                                   " pad " + std::to_string(pad) + " dilation " + std::to_string(dilation);
          cases.push_back({"IM2COL", what,
                           [=](Graph& g) {
                             return lm_ggml_im2col(g.context, g.input(type, {3, 3, 4, 2}), g.f32({12, 10, 4, 2}),
                                                   stride, stride, pad, pad, dilation, dilation, true, type);
                           },
                           bound_of(type)});
          cases.push_back({"CONV_2D", what,
                           [=](Graph& g) {
                             return lm_ggml_conv_2d_direct(g.context, g.input(type, {3, 2, 4, 5}),
                                                           g.f32({13, 11, 4, 2}), stride, stride, pad, pad, dilation,
                                                           dilation);
                           },
                           bound_of(type)});
          cases.push_back({"CONV_2D_DW", what,
                           [=](Graph& g) {
                             return lm_ggml_conv_2d_dw_direct(g.context, g.input(type, {3, 3, 1, 6}),
                                                              g.f32({17, 14, 6, 2}), stride, stride, pad, pad, dilation,
                                                              dilation);
                           },
                           bound_of(type)});
        }
  for (const Type type : kKernels) {
    for (const int stride : {1, 2})
      cases.push_back({"CONV_3D", std::string(lm_ggml_type_name(type)) + " stride " + std::to_string(stride),
                       [=](Graph& g) {
                         return lm_ggml_conv_3d_direct(g.context, g.input(type, {3, 3, 2, 3 * 4}),
                                                       g.f32({8, 7, 6, 3 * 2}), stride, stride, stride, 1, 1, 0, 1, 1,
                                                       1, 3, 2, 4);
                       },
                       bound_of(type)});
    for (const int stride : {1, 2, 3}) {
      cases.push_back({"CONV_TRANSPOSE_1D", std::string(lm_ggml_type_name(type)) + " stride " + std::to_string(stride),
                       [=](Graph& g) {
                         return lm_ggml_conv_transpose_1d(g.context, g.input(type, {5, 4, 3}), g.f32({20, 3}), stride,
                                                          0, 1);
                       },
                       bound_of(type)});
      cases.push_back({"CONV_TRANSPOSE_2D", std::string(lm_ggml_type_name(type)) + " stride " + std::to_string(stride),
                       [=](Graph& g) {
                         return lm_ggml_conv_transpose_2d_p0(g.context, g.input(type, {3, 2, 4, 3}), g.f32({7, 6, 3}),
                                                             stride);
                       },
                       bound_of(type)});
    }
  }
}

void pools(std::vector<Case>& cases) {
  for (const auto kind : {LM_GGML_OP_POOL_MAX, LM_GGML_OP_POOL_AVG})
    for (const int size : {1, 2, 3})
      for (const int stride : {1, 2}) {
        const std::string what = std::string(kind == LM_GGML_OP_POOL_MAX ? "largest" : "mean") + " of " +
                                 std::to_string(size) + " stride " + std::to_string(stride);
        cases.push_back({"POOL_2D", what,
                         [=](Graph& g) {
                           return lm_ggml_pool_2d(g.context, g.f32({10, 11, 3, 2}), kind, size, size, stride, stride, 0,
                                                  0);
                         },
                         1e-7});
        cases.push_back({"POOL_1D", what,
                         [=](Graph& g) { return lm_ggml_pool_1d(g.context, g.f32({10, 3, 2}), kind, size, stride, 0); },
                         1e-7});
      }
}

void scaling(std::vector<Case>& cases) {
  for (const auto mode : {LM_GGML_SCALE_MODE_NEAREST, LM_GGML_SCALE_MODE_BILINEAR, LM_GGML_SCALE_MODE_BICUBIC})
    for (const int factor : {2, 3})
      cases.push_back({"UPSCALE", "mode " + std::to_string(mode) + " by " + std::to_string(factor),
                       [=](Graph& g) { return lm_ggml_upscale(g.context, g.f32({9, 7, 3, 2}), factor, mode); }, 1e-6});
  for (const auto mode : {LM_GGML_SCALE_MODE_NEAREST, LM_GGML_SCALE_MODE_BILINEAR})
    cases.push_back({"UPSCALE", "mode " + std::to_string(mode) + " to other sides",
                     [=](Graph& g) {
                       return lm_ggml_interpolate(g.context, g.f32({5, 7, 3, 2}), 8, 12, 6, 4,
                                                  static_cast<uint32_t>(mode));
                     },
                     1e-6});
}

}  // namespace

void image_cases(std::vector<Case>& cases) {
  convolutions(cases);
  pools(cases);
  scaling(cases);
}

}  // namespace judge
