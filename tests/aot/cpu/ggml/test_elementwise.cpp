// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that work on one element at a time.
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

namespace smelt::test {
namespace {

using Function = double (*)(double);

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * x * (1 + 0.044715 * x * x)));
}
double gelu_quick(double x) {
  return x * sigmoid(1.702 * x);
}
double gelu_erf(double x) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}
double silu(double x) {
  return x * sigmoid(x);
}

struct Unary {
  const char* name;
  Function want;
  double from = -6;
  double to = 6;
};

const Unary kUnary[] = {
    {"relu", [](double x) { return std::max(x, 0.0); }},
    {"sigmoid", sigmoid},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"gelu", gelu},
    {"gelu_quick", gelu_quick},
    {"gelu_erf", gelu_erf},
    {"silu", silu},
    {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"sqr", [](double x) { return x * x; }},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0, 100},
    {"sin", [](double x) { return std::sin(x); }, -20, 20},
    {"cos", [](double x) { return std::cos(x); }, -20, 20},
    {"log", [](double x) { return std::log(x); }, 1e-3, 100},
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"sgn", [](double x) { return static_cast<double>((x > 0) - (x < 0)); }},
    {"step", [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"hardswish", [](double x) { return x * std::clamp((x + 3) / 6, 0.0, 1.0); }},
    {"hardsigmoid", [](double x) { return std::clamp((x + 3) / 6, 0.0, 1.0); }},
    {"exp", [](double x) { return std::exp(x); }, -20, 20},
};

Tensor between(Extents ne, uint32_t seed, double from, double to) {
  Tensor tensor(Type::f32, ne);
  tensor.fill(seed).each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    tensor.set(from + (to - from) * (tensor.at(i0, i1, i2, i3) + 1) / 2, i0, i1, i2, i3);
  });
  return tensor;
}

constexpr uint32_t kCount = 1003;
constexpr uint32_t kCount4 = 250;

/// The launch that ggml makes for kernels without shape: a threadgroup of one thread for each element or four.
void launch_flat(Call& call, bool four) {
  call.groups({four ? kCount4 : kCount, 1, 1}, {1, 1, 1});
}

TEST_CASE("unary operations") {
  if (!have_ggml()) return;
  uint32_t seed = 1;
  for (const Unary& operation : kUnary)
    for (const bool four : {false, true}) {
      const Tensor x = between({four ? 4 * kCount4 : kCount, 1, 1, 1}, ++seed, operation.from, operation.to);
      Call call(std::string("kernel_") + operation.name + (four ? "_f32_4" : "_f32"));
      call.in(0, x).out(1, Tensor(x).poison());
      launch_flat(call, four);
      call.run().expect(1, [&](int64_t i, int64_t, int64_t, int64_t) { return operation.want(x.at(i)); });
    }
}

TEST_CASE("scale, clamp, leaky_relu: unary with parameters") {
  if (!have_ggml()) return;
  for (const bool four : {false, true}) {
    const std::string type = four ? "_f32_4" : "_f32";
    const Tensor x = between({four ? 4 * kCount4 : kCount, 1, 1, 1}, 77, -3, 3);
    const auto run = [&](Call& call, auto want) {
      call.in(1, x).out(2, Tensor(x).poison());
      launch_flat(call, four);
      call.run().expect(2, [&](int64_t i, int64_t, int64_t, int64_t) { return want(x.at(i)); });
    };
    Call scale("kernel_scale" + type);
    run(scale.set("scale", 1.5).set("bias", 0.25), [](double v) { return 1.5 * v + 0.25; });
    Call clamp("kernel_clamp" + type);
    run(clamp.set("min", -0.5).set("max", 1.25), [](double v) { return std::clamp(v, -0.5, 1.25); });
    Call leaky("kernel_leaky_relu" + type);
    run(leaky.set("slope", 0.125), [](double v) { return v > 0 ? v : 0.125 * v; });
  }
}

TEST_CASE("binary operations: rows broadcast along every dimension") {
  if (!have_ggml()) return;
  const Tensor a = between({67, 5, 3, 2}, 5, -2, 2);
  const Tensor b = between({67, 1, 3, 1}, 6, 0.5, 2);
  const auto want = [&](const std::string& operation, double x, double y) {
    return operation == "add" ? x + y : operation == "sub" ? x - y : operation == "mul" ? x * y : x / y;
  };
  for (const std::string operation : {"add", "sub", "mul", "div"}) {
    Call call("kernel_" + operation + "_fuse_1");
    call.describe("0", a).describe("1", b).describe("", a).set("offs", 0).set("o1", 0);
    call.in(1, a).in(2, b).out(3, Tensor(a).poison()).groups({5, 3, 2}, {32, 1, 1});
    call.run().expect(3, [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
      return want(operation, a.at(i0, i1, i2, i3), b.at(i0, 0, i2, 0));
    });
  }
  // A row of four-vectors for all rows: src1 has as many elements as a row.
  const Tensor c = between({64, 7, 1, 1}, 7, -2, 2);
  const Tensor row = between({64, 1, 1, 1}, 8, 0.5, 2);
  for (const std::string operation : {"add", "sub", "mul", "div"}) {
    Call call("kernel_" + operation + "_row_c4_fuse_1");
    call.describe("0", c).describe("1", row).describe("", c).set("offs", 0).set("o1", 0);
    call.in(1, c).in(2, row).out(3, Tensor(c).poison()).groups({64 * 7 / 4, 1, 1}, {1, 1, 1});
    call.run().expect(
        3, [&](int64_t i0, int64_t i1, int64_t, int64_t) { return want(operation, c.at(i0, i1), row.at(i0)); });
  }
}

TEST_CASE("fused additions: several operands in one buffer") {
  if (!have_ggml()) return;
  const Tensor a = between({50, 4, 2, 1}, 15, -2, 2);
  const Tensor b = between({50, 4, 2, 3}, 16, -2, 2);  // three operands, one after another
  Tensor first(Type::f32, {50, 4, 2, 1});
  Call call("kernel_add_fuse_3");
  call.describe("0", a).describe("1", first).describe("", a).set("offs", 0);
  for (size_t i = 0; i < 3; ++i) call.set("o1", static_cast<double>(b.nb()[3] * i), i);
  call.in(1, a).in(2, b).out(3, Tensor(a).poison()).groups({4, 2, 1}, {32, 1, 1});
  call.run().expect(3, [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
    return a.at(i0, i1, i2) + b.at(i0, i1, i2, 0) + b.at(i0, i1, i2, 1) + b.at(i0, i1, i2, 2);
  });
}

TEST_CASE("gated linear units") {
  if (!have_ggml()) return;
  static constexpr double kAlpha = 1.702;
  static constexpr double kLimit = 2.5;
  struct Glu {
    const char* name;
    std::function<double(double, double)> want;
  };
  const Glu kinds[] = {
      {"reglu", [](double x, double g) { return std::max(x, 0.0) * g; }},
      {"geglu", [](double x, double g) { return gelu(x) * g; }},
      {"swiglu", [](double x, double g) { return silu(x) * g; }},
      {"geglu_erf", [](double x, double g) { return gelu_erf(x) * g; }},
      {"geglu_quick", [](double x, double g) { return gelu_quick(x) * g; }},
      {"swiglu_oai",
       [](double x, double g) {
         const double low = std::min(x, kLimit);
         return low * sigmoid(kAlpha * low) * (1 + std::clamp(g, -kLimit, kLimit));
       }},
  };
  const Tensor a = between({90, 5, 1, 1}, 25, -4, 4);
  const Tensor b = between({90, 5, 1, 1}, 26, -4, 4);
  for (const Glu& kind : kinds) {
    Call call(std::string("kernel_") + kind.name + "_f32");
    call.set("ne00", 90).set("nb01", 360).set("ne10", 90).set("nb11", 360).set("ne0", 90).set("nb1", 360);
    call.set("i00", 0).set("i10", 0).set("alpha", kAlpha).set("limit", kLimit);
    call.in(1, a).in(2, b).out(3, Tensor(a).poison()).groups({5, 1, 1}, {45, 1, 1});
    call.run().expect(3,
                      [&](int64_t i0, int64_t i1, int64_t, int64_t) { return kind.want(a.at(i0, i1), b.at(i0, i1)); },
                      {2e-5, 1e-6});
  }
}

TEST_CASE("repeat and add_id") {
  if (!have_ggml()) return;
  for (const Type type : {Type::f32, Type::f16, Type::i32}) {
    Tensor a(type, {6, 3, 1, 2});
    a.fill(31, 1000);
    Tensor out(type, {12, 9, 2, 2});
    Call call("kernel_repeat_" + std::string(traits(type).name));
    call.describe("0", a).describe("", out).in(1, a).out(2, out.poison()).groups({9, 2, 2}, {12, 1, 1});
    call.run().expect(2, [&](int64_t i0, int64_t i1, int64_t, int64_t i3) { return a.at(i0 % 6, i1 % 3, 0, i3); },
                      {0, 0});
  }
  const Tensor a = between({40, 3, 4, 1}, 33, -2, 2);  // values of three experts for four tokens
  const Tensor bias = between({40, 8, 1, 1}, 34, -2, 2);
  Tensor ids(Type::i32, {3, 4, 1, 1});
  ids.fill_with([](int64_t i0, int64_t i1, int64_t, int64_t) { return static_cast<double>((3 * i0 + 5 * i1) % 8); });
  Call call("kernel_add_id");
  call.set("ne0", 40).set("ne1", 3).set("nb01", 160).set("nb02", 480).set("nb11", 160).set("nb21", 12);
  call.in(1, a).in(2, bias).in(3, ids).out(4, Tensor(a).poison()).groups({3, 4, 1}, {40, 1, 1});
  call.run().expect(4, [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
    return a.at(i0, i1, i2) + bias.at(i0, static_cast<int64_t>(ids.at(i1, i2)));
  });
}

TEST_CASE("arange and timestep_embedding") {
  if (!have_ggml()) return;
  Tensor out(Type::f32, {100, 1, 1, 1});
  Call arange("kernel_arange_f32");
  arange.set("ne0", 100).set("start", 2).set("step", 0.5).out(1, out.poison()).groups({1, 1, 1}, {64, 1, 1});
  arange.run().expect(1, [](int64_t i, int64_t, int64_t, int64_t) { return 2 + 0.5 * static_cast<double>(i); });

  const Tensor steps = between({5, 1, 1, 1}, 44, 0, 50);
  Tensor embedded(Type::f32, {64, 5, 1, 1});
  Call call("kernel_timestep_embedding_f32");
  call.set("nb1", 256).set("dim", 64).set("max_period", 10000);
  call.in(1, steps).out(2, embedded.poison()).groups({5, 1, 1}, {32, 1, 1});
  call.run().expect(2,
                    [&](int64_t i, int64_t row, int64_t, int64_t) {
                      const double frequency = std::exp(-std::log(10000.0) * static_cast<double>(i % 32) / 32);
                      const double angle = steps.at(row) * frequency;
                      return i < 32 ? std::cos(angle) : std::sin(angle);
                    },
                    {1e-4, 1e-5});
}

TEST_CASE("optimiser steps") {
  if (!have_ggml()) return;
  const Tensor x = between({500, 1, 1, 1}, 51, -1, 1);
  const Tensor gradient = between({500, 1, 1, 1}, 52, -1, 1);
  Tensor sgd_parameters(Type::f32, {2, 1, 1, 1});
  sgd_parameters.fill_with([](int64_t i, int64_t, int64_t, int64_t) { return i == 0 ? 0.1 : 0.01; });
  Call sgd("kernel_opt_step_sgd_f32");
  sgd.set("np", 500).out(1, x).in(2, gradient).in(3, sgd_parameters).groups({4, 1, 1}, {125, 1, 1});
  sgd.run().expect(
      1, [&](int64_t i, int64_t, int64_t, int64_t) { return x.at(i) * (1 - 0.1 * 0.01) - 0.1 * gradient.at(i); });

  const Tensor m = between({500, 1, 1, 1}, 53, -1, 1);
  const Tensor v = between({500, 1, 1, 1}, 54, 0, 1);
  const double parameters[] = {0.01, 0.9, 0.99, 1e-8,
                               0.02, 1.5, 2.5};  // alpha, beta1, beta2, eps, decay, beta1h, beta2h
  Tensor adamw_parameters(Type::f32, {7, 1, 1, 1});
  adamw_parameters.fill_with([&](int64_t i, int64_t, int64_t, int64_t) { return parameters[i]; });
  Call adamw("kernel_opt_step_adamw_f32");
  adamw.set("np", 500).out(1, x).in(2, gradient).out(3, m).out(4, v).in(5, adamw_parameters);
  adamw.groups({4, 1, 1}, {125, 1, 1}).run();
  const auto next_m = [&](int64_t i) { return 0.9 * m.at(i) + 0.1 * gradient.at(i); };
  const auto next_v = [&](int64_t i) { return 0.99 * v.at(i) + 0.01 * gradient.at(i) * gradient.at(i); };
  adamw.expect(3, [&](int64_t i, int64_t, int64_t, int64_t) { return next_m(i); });
  adamw.expect(4, [&](int64_t i, int64_t, int64_t, int64_t) { return next_v(i); });
  adamw.expect(1, [&](int64_t i, int64_t, int64_t, int64_t) {
    return x.at(i) * (1 - 0.01 * 0.02) - 0.01 * (next_m(i) * 1.5) / (std::sqrt(next_v(i) * 2.5) + 1e-8);
  });
}

}  // namespace
}  // namespace smelt::test
