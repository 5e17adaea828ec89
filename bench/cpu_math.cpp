// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How exact and how fast is the math that goes into CPU slices? Each function, lowered from its air call and compiled
// for x86-64-v3 as a slice would be, is measured against double libm (accuracy) and against libm and libmvec (speed).
//
//   bench_cpu_math                speed: nanoseconds per element, a loop over 4096 floats in cache
//   bench_cpu_math accuracy N     largest error in ulp over every Nth float (and all halves); docs/design/cpu-math.md
//   has the table
#include "jit.hpp"
#include "ulp.hpp"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#define VECTOR(name) __m256 _ZGVdN8v_##name(__m256)
VECTOR(expf);
VECTOR(exp2f);
VECTOR(exp10f);
VECTOR(logf);
VECTOR(log2f);
VECTOR(log10f);
VECTOR(sinf);
VECTOR(cosf);
VECTOR(tanf);
VECTOR(asinf);
VECTOR(acosf);
VECTOR(atanf);
VECTOR(sinhf);
VECTOR(coshf);
VECTOR(tanhf);
VECTOR(asinhf);
VECTOR(acoshf);
VECTOR(atanhf);
#undef VECTOR
__m256 _ZGVdN8vv_powf(__m256, __m256);
__m256 _ZGVdN8vv_atan2f(__m256, __m256);
}

namespace {

using Loop = void(int64_t, void*, const void*, const void*, const void*);
using smelt::test::Jit;
using smelt::test::loop_over;
using smelt::test::ulp_distance;

double sinpi(double x) {
  if (std::isinf(x)) return NAN;
  const double y = x - 2 * std::rint(x / 2), a = std::fabs(y);
  if (a == std::rint(a)) return 0;
  if (a <= 0.25) return std::sin(y * M_PI);
  if (a <= 0.75) return std::copysign(std::cos((a - 0.5) * M_PI), y);
  return std::copysign(std::sin((1 - a) * M_PI), y);
}
double cospi(double x) {
  if (std::isinf(x)) return NAN;
  const double a = std::fabs(x - 2 * std::rint(x / 2));
  if (a <= 0.25) return std::cos(a * M_PI);
  if (a <= 0.75) return a == 0.5 ? 0 : std::sin((0.5 - a) * M_PI);
  return -std::cos((1 - a) * M_PI);
}
double tanpi(double x) {
  return sinpi(x) / cospi(x);
}
double rsqrt(double x) {
  return 1 / std::sqrt(x);
}

struct Function {
  const char* name;
  double (*exact)(double);
  float (*libm)(float);
  __m256 (*libmvec)(__m256);
  bool has_fast;
  float low, high;  // for the speed, and where the fast form is measured too
};
const Function kFunctions[] = {
    {"acos", std::acos, acosf, _ZGVdN8v_acosf, false, -1, 1},
    {"acosh", std::acosh, acoshf, _ZGVdN8v_acoshf, false, 1, 50},
    {"asin", std::asin, asinf, _ZGVdN8v_asinf, false, -1, 1},
    {"asinh", std::asinh, asinhf, _ZGVdN8v_asinhf, false, -50, 50},
    {"atan", std::atan, atanf, _ZGVdN8v_atanf, false, -10, 10},
    {"atanh", std::atanh, atanhf, _ZGVdN8v_atanhf, false, -1, 1},
    {"cos", std::cos, cosf, _ZGVdN8v_cosf, true, -3.14159f, 3.14159f},
    {"cosh", std::cosh, coshf, _ZGVdN8v_coshf, false, -10, 10},
    {"cospi", cospi, nullptr, nullptr, false, -1, 1},
    {"exp", std::exp, expf, _ZGVdN8v_expf, true, -80, 80},
    {"exp10", exp10, exp10f, _ZGVdN8v_exp10f, false, -30, 30},
    {"exp2", std::exp2, exp2f, _ZGVdN8v_exp2f, true, -100, 100},
    {"log", std::log, logf, _ZGVdN8v_logf, true, 0.001f, 1000},
    {"log10", std::log10, log10f, _ZGVdN8v_log10f, true, 0.001f, 1000},
    {"log2", std::log2, log2f, _ZGVdN8v_log2f, true, 0.001f, 1000},
    {"rsqrt", rsqrt, nullptr, nullptr, true, 0.001f, 1000},
    {"sin", std::sin, sinf, _ZGVdN8v_sinf, true, -3.14159f, 3.14159f},
    {"sinh", std::sinh, sinhf, _ZGVdN8v_sinhf, false, -10, 10},
    {"sinpi", sinpi, nullptr, nullptr, false, -1, 1},
    {"sqrt", std::sqrt, sqrtf, nullptr, false, 0.001f, 1000},
    {"tan", std::tan, tanf, _ZGVdN8v_tanf, true, -3.14159f, 3.14159f},
    {"tanh", std::tanh, tanhf, _ZGVdN8v_tanhf, false, -10, 10},
    {"tanpi", tanpi, nullptr, nullptr, false, -1, 1},
};

std::string module_text() {
  std::string air;
  for (const Function& f : kFunctions) {
    const std::string name = f.name;
    air += loop_over(name, "air." + name + ".f32", "float", {"float"});
    air += loop_over(name + "_half", "air." + name + ".f16", "half", {"half"});
    if (f.has_fast) air += loop_over("fast_" + name, "air.fast_" + name + ".f32", "float", {"float"});
  }
  for (const std::string name : {"pow", "fast_pow", "atan2", "fmod", "fast_fmod"})
    air += loop_over(name, "air." + name + ".f32", "float", {"float", "float"});
  return air;
}

// ---- speed
// ------------------------------------------------------------------------------------------------------------

constexpr int kCount = 4096;

/// Nanoseconds per element: the best of 15 runs, each long enough to time.
double best_time(auto&& work) {
  double best = 1e30;
  for (int run = 0; run < 15; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / (10.0 * kCount));
  }
  return best;
}
std::string cell(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return value > 0 ? text : "-";
}

void print_speed(const Jit& jit) {
  alignas(32) static float in[kCount], other[kCount], out[kCount];
  std::printf(
      "| function | range | precise | fast | libm, one by one | libmvec, 8 wide |\n| --- | --- | --- | --- | --- | --- "
      "|\n");
  for (const Function& f : kFunctions) {
    for (int i = 0; i < kCount; ++i)
      in[i] = f.low + (f.high - f.low) * static_cast<float>((i * 7919) % kCount) / static_cast<float>(kCount);
    const auto ours = [&](const std::string& name) {
      auto* loop = jit.function<Loop>(name);
      return best_time([&] { loop(kCount, out, in, nullptr, nullptr); });
    };
    const double precise = ours(f.name), fast = f.has_fast ? ours(std::string("fast_") + f.name) : 0;
    const double scalar = f.libm ? best_time([&] {
      for (int i = 0; i < kCount; ++i) out[i] = f.libm(in[i]);
    })
                                 : 0;
    const double vector = f.libmvec ? best_time([&] {
      for (int i = 0; i < kCount; i += 8) _mm256_store_ps(out + i, f.libmvec(_mm256_load_ps(in + i)));
    })
                                    : 0;
    std::printf("| %s | %g to %g | %s | %s | %s | %s |\n", f.name, f.low, f.high, cell(precise).c_str(),
                cell(fast).c_str(), cell(scalar).c_str(), cell(vector).c_str());
  }
  for (int i = 0; i < kCount; ++i) {
    in[i] = 0.1f + static_cast<float>((i * 7919) % kCount) / 100;
    other[i] = static_cast<float>((i * 31) % 100) / 10 - 5;
  }
  const auto ours = [&](const char* name) {
    auto* loop = jit.function<Loop>(name);
    return best_time([&] { loop(kCount, out, in, other, nullptr); });
  };
  const auto scalar = [&](float (*function)(float, float)) {
    return best_time([&] {
      for (int i = 0; i < kCount; ++i) out[i] = function(in[i], other[i]);
    });
  };
  const auto vector = [&](__m256 (*function)(__m256, __m256)) {
    return best_time([&] {
      for (int i = 0; i < kCount; i += 8)
        _mm256_store_ps(out + i, function(_mm256_load_ps(in + i), _mm256_load_ps(other + i)));
    });
  };
  std::printf("| pow | 0.1 to 41, -5 to 5 | %s | %s | %s | %s |\n", cell(ours("pow")).c_str(),
              cell(ours("fast_pow")).c_str(), cell(scalar(powf)).c_str(), cell(vector(_ZGVdN8vv_powf)).c_str());
  std::printf("| atan2 | the same | %s | - | %s | %s |\n", cell(ours("atan2")).c_str(), cell(scalar(atan2f)).c_str(),
              cell(vector(_ZGVdN8vv_atan2f)).c_str());
  std::printf("| fmod | the same | %s | %s | %s | - |\n", cell(ours("fmod")).c_str(), cell(ours("fast_fmod")).c_str(),
              cell(scalar(fmodf)).c_str());
}

// ---- accuracy
// ---------------------------------------------------------------------------------------------------------

struct Worst {
  double ulps = 0, absolute = 0;
  float at = 0;
};
/// Over every `step`th float in [low, high].
Worst measure(Loop* loop, double (*exact)(double), uint32_t step, float low, float high) {
  Worst worst;
  std::vector<float> in, out(kCount);
  const auto flush = [&] {
    loop(static_cast<int64_t>(in.size()), out.data(), in.data(), nullptr, nullptr);
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = exact(in[i]), distance = ulp_distance(out[i], want);
      if (distance > worst.ulps) worst.ulps = distance, worst.at = in[i];
      if (std::isfinite(want)) worst.absolute = std::max(worst.absolute, std::fabs(out[i] - want));
    }
    in.clear();
  };
  for (uint64_t bits = 0; bits < 0x1'0000'0000; bits += step) {
    const float x = smelt::test::float_of(static_cast<uint32_t>(bits));
    if (!(x >= low && x <= high) || (std::fabs(x) < 0x1p-126f && x != 0)) continue;
    in.push_back(x);
    if (in.size() == kCount) flush();
  }
  if (!in.empty()) flush();
  return worst;
}

/// In units of half, over all of them.
double measure_half(Loop* loop, double (*exact)(double)) {
  std::vector<uint16_t> in(65536), out(65536);
  for (uint32_t i = 0; i < 65536; ++i) in[i] = static_cast<uint16_t>(i);
  loop(65536, out.data(), in.data(), nullptr, nullptr);
  double worst = 0;
  for (uint32_t i = 0; i < 65536; ++i) {
    const float x = smelt::test::half_to_float(in[i]), got = smelt::test::half_to_float(out[i]);
    const double want = exact(x);
    if (std::isnan(want) && std::isnan(got)) continue;
    if (std::isinf(got) || std::fabs(want) >= 65504) {
      if (smelt::test::half_from(want) != out[i]) worst = std::max(worst, smelt::test::kWrong);
      continue;
    }
    const int exponent = want == 0 ? -14 : std::max(std::ilogb(want), -14);
    worst = std::max(worst, std::fabs(got - want) / std::ldexp(1.0, exponent - 10));
  }
  return worst;
}

void print_accuracy(const Jit& jit, uint32_t step) {
  std::printf(
      "every %uth float\n| function | precise, ulp | at | fast, ulp | on | fast, absolute | half, ulp |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n",
      step);
  for (const Function& f : kFunctions) {
    const Worst precise = measure(jit.function<Loop>(f.name), f.exact, step, -INFINITY, INFINITY);
    const double half = measure_half(jit.function<Loop>(std::string(f.name) + "_half"), f.exact);
    std::printf("| %s | %.3f | %a | ", f.name, precise.ulps, precise.at);
    if (f.has_fast) {
      const Worst fast = measure(jit.function<Loop>(std::string("fast_") + f.name), f.exact, step, f.low, f.high);
      std::printf("%.2f | %g to %g | %.2g", fast.ulps, f.low, f.high, fast.absolute);
    } else {
      std::printf("as precise | | ");
    }
    std::printf(" | %.3f |\n", half);
    std::fflush(stdout);
  }
  // Two operands: random bits, half of them where the result is an ordinary number.
  const struct {
    const char* name;
    double (*exact)(double, double);
  } binary[] = {{"pow", std::pow}, {"fast_pow", std::pow}, {"atan2", std::atan2}, {"fmod", std::fmod}};
  uint64_t state = 1;
  const auto random_bits = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  };
  for (const auto& f : binary) {
    Worst worst;
    float at_y = 0;
    std::vector<float> x(kCount), y(kCount), out(kCount);
    const uint64_t rounds = 0x1'0000'0000 / step / kCount / 4;
    for (uint64_t round = 0; round < rounds; ++round) {
      for (int i = 0; i < kCount; ++i) {
        x[i] = smelt::test::float_of(random_bits());
        y[i] = smelt::test::float_of(random_bits());
        if (i % 2) {
          x[i] = std::exp2(static_cast<float>(random_bits() % 20000) / 500 - 20);
          y[i] = (static_cast<float>(random_bits() % 20000) - 10000) / 1000;
        }
        if (std::fabs(x[i]) < 0x1p-126f) x[i] = 1.5f;
        if (std::fabs(y[i]) < 0x1p-126f) y[i] = 2.5f;
      }
      jit.function<Loop>(f.name)(kCount, out.data(), x.data(), y.data(), nullptr);
      for (int i = 0; i < kCount; ++i) {
        const double distance = ulp_distance(out[i], f.exact(x[i], y[i]));
        if (distance > worst.ulps) worst.ulps = distance, worst.at = x[i], at_y = y[i];
      }
    }
    std::printf("%s: %.3f ulp at %a, %a\n", f.name, worst.ulps, worst.at, at_y);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Jit jit(module_text());
  if (argc > 1 && std::strcmp(argv[1], "accuracy") == 0)
    print_accuracy(jit, argc > 2 ? static_cast<uint32_t>(std::max(1, std::atoi(argv[2]))) : 997);
  else
    print_speed(jit);
}
