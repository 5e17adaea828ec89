// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All threads of a group at once, statement by statement. A mask says who is here.
#include "program.hpp"

#include <cstring>

namespace smelt::test::reference {
namespace {

using Mask = std::vector<bool>;
constexpr uint32_t kSimd = 32;

bool any_of(const Mask& mask) {
  for (const bool bit : mask)
    if (bit) return true;
  return false;
}

class Group {
 public:
  Group(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& group,
        const std::array<uint32_t, 3>& position, Data& data)
      : grid_(grid), position_(position), data_(data) {
    for (int i = 0; i < 3; ++i) {
      origin_[i] = position[i] * group[i];
      size_[i] = std::min(group[i], grid[i] - origin_[i]);
    }
    threads_ = size_[0] * size_[1] * size_[2];
    variables_.assign(threads_ * kVariables, 0);
    words_.assign(threads_ * kPrivateWords, 0);
    counters_.assign(threads_ * 16, 0);
    shared_.assign(threads_, 0);
    for (uint32_t t = 0; t < threads_; ++t)
      for (uint32_t v = 0; v < kVariables; ++v) variables_[t * kVariables + v] = t * (v + 1) + v;
  }

  void run(const Program& program) { block(program.body, Mask(threads_, true)); }

 private:
  struct Jumps {
    Mask left, skipped;
  };

  uint32_t place(uint32_t t, uint32_t i) const {
    return origin_[i] + (i == 0 ? t % size_[0] : i == 1 ? t / size_[0] % size_[1] : t / (size_[0] * size_[1]));
  }

  uint32_t value(const Expression& e, uint32_t t) const {
    using Kind = Expression::Kind;
    const auto a = [&] { return value(*e.a, t); };
    const auto b = [&] { return value(*e.b, t); };
    switch (e.kind) {
      case Kind::constant:
        return e.value;
      case Kind::variable:
        return variables_[t * kVariables + e.value];
      case Kind::counter:
        return counters_[t * 16 + e.value];
      case Kind::parameter:
        return data_.parameters[e.value];
      case Kind::input:
        return data_.input[a() % kInputWords];
      case Kind::own_word:
        return words_[t * kPrivateWords + a() % kPrivateWords];
      case Kind::thread_index:
        return t;
      case Kind::lane:
        return t % kSimd;
      case Kind::simdgroup:
        return t / kSimd;
      case Kind::position:
        return place(t, e.value);
      case Kind::group:
        return position_[e.value];
      case Kind::add:
        return a() + b();
      case Kind::subtract:
        return a() - b();
      case Kind::multiply:
        return a() * b();
      case Kind::bit_and:
        return a() & b();
      case Kind::bit_or:
        return a() | b();
      case Kind::bit_xor:
        return a() ^ b();
      case Kind::shift_left:
        return a() << (b() & 31);
      case Kind::shift_right:
        return a() >> (b() & 31);
      case Kind::shift_arithmetic:
        return static_cast<uint32_t>(static_cast<int32_t>(a()) >> (b() & 31));
      case Kind::divide:
        return a() / (b() | 1);
      case Kind::remainder:
        return a() % (b() | 1);
      case Kind::signed_divide:
        return static_cast<uint32_t>(static_cast<int32_t>(a() >> 1) / static_cast<int32_t>(b() | 1));
      case Kind::less:
        return a() < b();
      case Kind::signed_less:
        return static_cast<int32_t>(a()) < static_cast<int32_t>(b());
      case Kind::equal:
        return (a() & 3) == (b() & 3);
      case Kind::choose:
        return (a() & 1) != 0 ? b() : value(*e.c, t);
      case Kind::narrow_8:
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(a())));
      case Kind::narrow_16:
        return a() & 0xffff;
      case Kind::wide_product:
        return static_cast<uint32_t>(uint64_t{a()} * b() >> 32);
      case Kind::as_float:
        return static_cast<uint32_t>(static_cast<float>(a() & 0xffff) * 0.5f + static_cast<float>(b() & 0xff));
    }
    return 0;
  }

  template <class Body>
  void each(const Mask& mask, Body body) {
    for (uint32_t t = 0; t < threads_; ++t)
      if (mask[t]) body(t);
  }

  static Mask minus(Mask a, const Mask& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] && !b[i];
    return a;
  }
  static Mask both(Mask a, const Mask& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
    return a;
  }

  Mask where(const Mask& mask, const Expression& condition) {
    Mask result(threads_);
    each(mask, [&](uint32_t t) { result[t] = (value(condition, t) & 1) != 0; });
    return result;
  }

  /// Gives who comes out at the end.
  Mask block(const Block& statements, Mask mask) {
    for (const Statement& s : statements) {
      if (!any_of(mask)) break;
      mask = statement(s, std::move(mask));
    }
    return mask;
  }

  Mask statement(const Statement& s, Mask mask) {
    using Kind = Statement::Kind;
    switch (s.kind) {
      case Kind::assign:
        each(mask, [&](uint32_t t) { variables_[t * kVariables + s.variable] = value(*s.a, t); });
        return mask;
      case Kind::store_word:
        each(mask, [&](uint32_t t) { words_[t * kPrivateWords + value(*s.a, t) % kPrivateWords] = value(*s.b, t); });
        return mask;
      case Kind::branch: {
        const Mask yes = where(mask, *s.a);
        const Mask no = minus(mask, yes);
        return both(block(s.first, yes), block(s.second, no));
      }
      case Kind::select_case: {
        Mask cases[3] = {Mask(threads_), Mask(threads_), Mask(threads_)};
        each(mask, [&](uint32_t t) { cases[std::min(value(*s.a, t) & 3, 2u)][t] = true; });
        const Mask fallen = block(s.first, cases[0]);
        const Mask second = block(s.second, both(fallen, cases[1]));
        return both(second, block(s.third, cases[2]));
      }
      case Kind::loop:
        return loop(s, std::move(mask));
      case Kind::leave:
        jumps_.back().left = both(jumps_.back().left, mask);
        return Mask(threads_);
      case Kind::skip:
        jumps_.back().skipped = both(jumps_.back().skipped, mask);
        return Mask(threads_);
      case Kind::finish:
        each(mask, [&](uint32_t t) {
          data_.output[(place(t, 2) * grid_[1] + place(t, 1)) * grid_[0] + place(t, 0)] = value(*s.a, t);
        });
        return Mask(threads_);
      case Kind::add_to_bin:
        each(mask, [&](uint32_t t) { data_.bins[value(*s.a, t) % kBins] += value(*s.b, t); });
        return mask;
      case Kind::exchange:
        each(mask, [&](uint32_t t) { shared_[t] = value(*s.a, t); });
        each(mask, [&](uint32_t t) { variables_[t * kVariables + s.variable] = shared_[value(*s.b, t) % threads_]; });
        return mask;
      case Kind::count:
        each(mask, [&](uint32_t t) { counts_[value(*s.a, t) & 3] += value(*s.b, t); });
        each(mask, [&](uint32_t t) {
          uint32_t& v = variables_[t * kVariables + s.variable];
          v = counts_[v & 3];
        });
        return mask;
      case Kind::collective:
        for (uint32_t first = 0; first < threads_; first += kSimd) collective(s, mask, first);
        return mask;
    }
    return mask;
  }

  Mask loop(const Statement& s, Mask mask) {
    // The bound is evaluated once.
    std::vector<uint32_t> bounds(threads_);
    each(mask, [&](uint32_t t) {
      bounds[t] = std::min(value(*s.a, t), 6u);
      counters_[t * 16 + s.depth] = 0;
    });
    Mask out(threads_);
    Mask running = mask;
    for (;;) {
      each(running, [&](uint32_t t) {
        if (counters_[t * 16 + s.depth] < bounds[t]) return;
        out[t] = true;
        running[t] = false;
      });
      if (!any_of(running)) return out;
      jumps_.push_back({Mask(threads_), Mask(threads_)});
      const Mask through = block(s.first, running);
      out = both(out, jumps_.back().left);
      running = both(through, jumps_.back().skipped);
      jumps_.pop_back();
      each(running, [&](uint32_t t) { ++counters_[t * 16 + s.depth]; });
    }
  }

  void collective(const Statement& s, const Mask& mask, uint32_t first) {
    const uint32_t end = std::min(first + kSimd, threads_);
    uint32_t active = 0;
    uint32_t a[kSimd] = {};
    uint32_t b[kSimd] = {};
    for (uint32_t t = first; t < end; ++t) {
      if (!mask[t]) continue;
      active |= 1u << (t - first);
      a[t - first] = value(*s.a, t);
      b[t - first] = value(*s.b, t);
    }
    for (uint32_t lane = 0; lane < kSimd; ++lane)
      if (active >> lane & 1)
        variables_[(first + lane) * kVariables + s.variable] =
            lane_result(static_cast<Operation>(s.operation), lane, active, a, b);
  }

  static uint32_t lane_result(Operation operation, uint32_t lane, uint32_t active, const uint32_t* a,
                              const uint32_t* b) {
    const auto fold = [&](uint32_t start, uint32_t low, uint32_t high, auto combine) {
      uint32_t result = start;
      for (uint32_t l = low; l < high; ++l)
        if (active >> l & 1) result = combine(result, a[l]);
      return result;
    };
    const auto add = [](uint32_t x, uint32_t y) { return x + y; };
    const auto from = [&](uint32_t source) { return active >> source & 1 ? a[source] : 0u; };
    uint32_t lowest = 0;
    while (!(active >> lowest & 1)) ++lowest;
    uint32_t votes = 0;
    for (uint32_t l = 0; l < kSimd; ++l) votes |= (active >> l & a[l] & 1) << l;
    switch (operation) {
      case Operation::sum:
        return fold(0, 0, kSimd, add);
      case Operation::minimum:
        return fold(~0u, 0, kSimd, [](uint32_t x, uint32_t y) { return std::min(x, y); });
      case Operation::signed_maximum:
        return fold(0x80000000u, 0, kSimd, [](uint32_t x, uint32_t y) {
          return static_cast<uint32_t>(std::max(static_cast<int32_t>(x), static_cast<int32_t>(y)));
        });
      case Operation::bit_or:
        return fold(0, 0, kSimd, [](uint32_t x, uint32_t y) { return x | y; });
      case Operation::bit_xor:
        return fold(0, 0, kSimd, [](uint32_t x, uint32_t y) { return x ^ y; });
      case Operation::prefix_inclusive:
        return fold(0, 0, lane + 1, add);
      case Operation::prefix_exclusive:
        return fold(0, 0, lane, add);
      case Operation::ballot:
        return votes;
      case Operation::all:
        return votes == active;
      case Operation::any:
        return votes != 0;
      case Operation::is_first:
        return lane == lowest;
      case Operation::broadcast_first:
        return a[lowest];
      case Operation::shuffle:
        return from(b[lane] & 31);
      case Operation::shuffle_xor:
        return from(lane ^ 5);
      case Operation::shuffle_down:
        return from(lane + 3 < kSimd ? lane + 3 : lane);
      case Operation::quad_sum:
        return fold(0, lane & ~3u, (lane & ~3u) + 4, add);
      case Operation::quad_shuffle_xor:
        return from(lane ^ 2);
      case Operation::barrier:
        return a[lane];
    }
    return 0;
  }

  std::array<uint32_t, 3> grid_, position_, origin_{}, size_{};
  Data& data_;
  uint32_t threads_ = 0;
  std::vector<uint32_t> variables_, words_, counters_, shared_;
  uint32_t counts_[4] = {};
  std::vector<Jumps> jumps_;
};

}  // namespace

void evaluate(const Program& program, const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& group,
              Data& data) {
  std::array<uint32_t, 3> groups{};
  for (int i = 0; i < 3; ++i) groups[i] = (grid[i] + group[i] - 1) / group[i];
  for (uint32_t z = 0; z < groups[2]; ++z)
    for (uint32_t y = 0; y < groups[1]; ++y)
      for (uint32_t x = 0; x < groups[0]; ++x) Group(grid, group, {x, y, z}, data).run(program);
}

}  // namespace smelt::test::reference
