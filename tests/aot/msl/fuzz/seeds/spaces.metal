// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

template <typename T, size_t N>
struct Cells {
  T cells[N ? N : 1];
  thread T& operator[](size_t i) thread { return cells[i]; }
  constexpr const thread T& operator[](size_t i) const thread { return cells[i]; }
  device T& operator[](size_t i) device { return cells[i]; }
  constexpr const device T& operator[](size_t i) device const { return cells[i]; }
  constexpr const constant T& operator[](size_t i) const constant { return cells[i]; }
  auto last() threadgroup -> threadgroup T& { return cells[N - 1]; }
  int size() const volatile { return N; }
};

struct Base {
  float v;
  float get() const device noexcept;
  float get() const thread { return v; }
  explicit operator float() const thread { return v; }
  explicit operator float() const device { return v + 1; }
  device Base& operator=(thread const Base& o) device { v = o.v; return *this; }
  thread Base& operator=(thread const Base& o) thread { v = o.v; return *this; }
};
float Base::get() const device noexcept { return v + float(*this); }

struct Derived : Base {
  Cells<Base, 3> row;
  using Base::get;
  float get() threadgroup { return 3; }
  template <typename U> U as(U x) const device { return x + U(get()); }
  template <typename U> U as(U x) const thread { return x; }
};

constant Cells<float, 2> kTable = {{1, 2}};

kernel void spaces(device Derived* d, constant Derived& c, device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup Cells<float, 4> g;
  g.last() = kTable[i & 1];
  Base t = {2};
  Derived own = {};
  d[i].row[1] = t;
  auto f = [&](uint n) { return d[n].as(1.0f) + own.as(2) + c.row[0].v; };
  out[i] = f(i) + static_cast<float>(d[i].row[0]) + g.size() + (i > 2 ? t : own).get();
}
