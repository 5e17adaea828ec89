// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Methods that know the space of their object, a rule at a time. All their combinations: spaces/generate.hpp.
#include "msl.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

/// Kernel `k` of one thread, whose buffers are `out` and two of zeros; what it leaves in the first `count` of out.
std::vector<int32_t> ints(const std::string& text, size_t count) {
  const Msl source("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  std::vector<int32_t> out(count, -1), first(256), second(256);
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out).bind(1, first).bind(2, second));
  return out;
}

using Ints = std::vector<int32_t>;

constexpr const char* kTag = R"(
struct Tag {
  int v;
  int where() const thread { return 1; }
  int where() const device { return 2; }
  int where() const constant { return 3; }
  int where() const threadgroup { return 4; }
  int where() device { return 5; }
};
)";

constexpr const char* kHead = "kernel void k(device int* out, device Tag* d, constant Tag& c) {\n";

std::string tag_error(const std::string& classes, const std::string& body) {
  return msl_error("#include <metal_stdlib>\nusing namespace metal;\n" + classes + kHead + body + "}\n");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the object's space decides which variant of a method runs, whatever way the object is reached") {
  const std::string text = std::string(kTag) + R"(
struct Holder { Tag tag; Tag row[2]; device Tag* at; };
struct Derived : Tag { int own; };
constant Tag kProgram = {3};
template <typename P> int by_pointer(P p) { return p->where(); }
template <typename T> int by_reference(device T& x) { return x.where(); }
device Tag& second(device Tag* d) { return d[1]; }
kernel void k(device int* out, device Holder* h, constant Holder& c) {
  threadgroup Holder g;
  threadgroup Derived gd;
  Holder t = {};
  const Holder ct = t;
  Derived dt = {};
  const device Tag& cd = h->tag;
  device Derived* dd = (device Derived*)h;
  t.at = &h->tag;
  auto& a = h->row[1];
  const auto lambda = [&] { return 100 * cd.where() + 10 * g.tag.where() + t.tag.where(); };
  int i = 0;
  out[i++] = t.tag.where();
  out[i++] = ct.row[1].where();
  out[i++] = h->tag.where();
  out[i++] = cd.where();
  out[i++] = c.tag.where();
  out[i++] = c.row[1].where();
  out[i++] = g.row[0].where();
  out[i++] = kProgram.where();
  out[i++] = t.at->where();
  out[i++] = dt.where();
  out[i++] = dd->where();
  out[i++] = gd.where();
  out[i++] = by_pointer(&h->tag);
  out[i++] = by_pointer(&cd);
  out[i++] = by_pointer(&t.tag);
  out[i++] = by_reference(h->tag);
  out[i++] = second(h->row).where();
  out[i++] = a.where();
  out[i++] = Tag(cd).where();
  out[i++] = (*(t.tag.v == 0 ? &h->row[0] : &h->row[1])).where();
  out[i++] = lambda();
  const Tag table[2] = {{1}, {2}};
  out[i++] = table[h->tag.v].where();
}
)";
  CHECK(ints(text, 22) == Ints{1, 1, 5, 2, 3, 3, 4, 3, 5, 1, 5, 4, 5, 2, 1, 5, 5, 5, 1, 5, 241, 1});
}

TEST_CASE("a method of a space calls others of its object in that space; on a copy, in the thread's") {
  const std::string text = R"(
struct Pair {
  int a, b;
  Pair times(Pair o) const { return Pair{a * o.a, b * o.b}; }
  Pair times(Pair o) const device { return Pair(*this).times(o); }
  int kind() const { return 1; }
  int kind() const device { return 2; }
  int both() const device { Pair copy = *this; return 100 * kind() + 10 * this->kind() + copy.kind(); }
  int in_lambda() const device { return [&] { return kind(); }() * 10 + [this] { return this->kind(); }(); }
};
kernel void k(device int* out, device Pair* d, constant Pair& c) {
  d[0] = Pair{2, 3};
  Pair made = d[0].times(Pair{5, 7});
  out[0] = made.a; out[1] = made.b; out[2] = d->both(); out[3] = d->in_lambda();
}
)";
  CHECK(ints(text, 4) == Ints{10, 21, 221, 22});
}

TEST_CASE("operators, conversions, assignments, comparisons, templates and const pairs have variants") {
  const std::string text = R"(
template <typename T> struct Num {
  T v;
  int operator+(int x) const thread { return 1; }
  int operator+(int x) const device { return 2; }
  int operator-() const thread { return 1; }
  int operator-() const device { return 2; }
  int operator[](int x) thread { return 1; }
  int operator[](int x) const thread { return 11; }
  int operator[](int x) device { return 2; }
  int operator[](int x) const device { return 12; }
  int operator()(int x) threadgroup { return 4; }
  int operator()(int x) thread { return 1; }
  bool operator==(int x) const thread { return x == 1; }
  bool operator==(int x) const device { return x == 2; }
  operator int() const thread { return 1; }
  operator int() const device { return 2; }
  operator int() const constant { return 3; }
  template <typename U> int as(U x) const thread { return 1; }
  template <typename U> int as(U x) const device { return 2; }
  device Num& operator=(thread const Num& o) device { v = 21; return *this; }
  device Num& operator=(device const Num& o) device { v = 22; return *this; }
  thread Num& operator=(thread const Num& o) thread { v = 11; return *this; }
  thread Num& operator=(device const Num& o) thread { v = 12; return *this; }
  device Num& operator+=(Num o) device { v += 1; return *this; }
  int out_of_line(int x) device;
  int out_of_line(int x) const device;
  int out_of_line(int x) thread;
  struct Inner { int kind() const device { return 2; } int kind() const thread { return 1; } } inner;
};
template <typename T> int Num<T>::out_of_line(int x) device { return 2; }
template <typename T> int Num<T>::out_of_line(int x) const device { return 12; }
template <typename T> int Num<T>::out_of_line(int x) thread { return 1; }
template <> int Num<short>::out_of_line(int x) device { return 72; }
template struct Num<int>;
kernel void k(device int* out, device Num<int>* d, constant Num<int>& c) {
  threadgroup Num<int> g;
  Num<int> t = {};
  const Num<int> ct = {};
  const device Num<int>& cd = d[1];
  device Num<short>* s = (device Num<short>*)d;
  int i = 0;
  out[i++] = 10 * (t + 1) + (d[0] + 1);
  out[i++] = 10 * -t + -d[0];
  out[i++] = t[0]; out[i++] = ct[0]; out[i++] = d[0][0]; out[i++] = cd[0];
  out[i++] = 10 * t(1) + g(1);
  out[i++] = 10 * (t == 1) + (d[0] == 2);
  out[i++] = static_cast<int>(t); out[i++] = int(d[0]); out[i++] = c;
  out[i++] = 10 * t.as(1.0f) + cd.as(1);
  d[0] = t; out[i++] = d[0].v;
  d[0] = cd; out[i++] = d[0].v;
  t = ct; out[i++] = t.v;
  t = d[1]; out[i++] = t.v;
  d[0] += t; out[i++] = d[0].v;
  out[i++] = t.out_of_line(1); out[i++] = d->out_of_line(1); out[i++] = cd.out_of_line(1); out[i++] = s->out_of_line(1);
  out[i++] = 10 * t.inner.kind() + d->inner.kind();
}
)";
  CHECK(ints(text, 22) == Ints{12, 12, 1, 11, 2, 12, 14, 11, 1, 2, 3, 12, 21, 22, 11, 12, 23, 1, 2, 12, 72, 12});
}

TEST_CASE("a method gives out its members, and its object, in the object's space") {
  const std::string text = R"(
template <typename T, size_t N> struct Cells {
  T cells[N ? N : 1];
  thread T& operator[](size_t i) thread { return cells[i]; }
  constexpr const thread T& operator[](size_t i) const thread { return cells[i]; }
  device T& operator[](size_t i) device { return cells[i]; }
  constexpr const device T& operator[](size_t i) const device { return cells[i]; }
  constexpr const constant T& operator[](size_t i) const constant { return cells[i]; }
  threadgroup T& operator[](size_t i) threadgroup { return cells[i]; }
  constexpr const threadgroup T& operator[](size_t i) const threadgroup { return cells[i]; }
  device T* data() device { return cells; }
  device Cells& self() device { return *this; }
  auto last() threadgroup -> threadgroup T& { return cells[N - 1]; }
};
constant Cells<int, 3> kTable = {{7, 8, 9}};
int space_of(thread const int& x) { return 1; }
int space_of(device const int& x) { return 2; }
int space_of(constant const int& x) { return 3; }
int space_of(threadgroup const int& x) { return 4; }
kernel void k(device int* out, device Cells<Cells<int, 2>, 2>* d, constant Cells<int, 4>& c) {
  threadgroup Cells<int, 4> g;
  Cells<int, 4> t = {};
  for (int n = 0; n < 4; ++n) g[n] = n;
  t[1] = 5;
  (*d)[1][0] = 6;
  device int* p = d->self()[1].data();
  threadgroup int& r = g[2];
  r += 10;
  g.last() = 20;
  out[0] = t[1] + p[0];
  out[1] = g[2] + g[3];
  out[2] = kTable[1] + c[0];
  out[3] = space_of(t[0]) * 1000 + space_of((*d)[0][1]) * 100 + space_of(c[0]) * 10 + space_of(g[0]);
}
)";
  CHECK(ints(text, 4) == Ints{11, 32, 8, 1234});
}

TEST_CASE("the space and const, volatile, & and noexcept stand in any order") {
  const std::string text = R"(
struct Num {
  int raw;
  int get() const { return 1; }
  int get() device const { return 2; }
  int get() volatile threadgroup { return 4; }
  int get() const volatile constant noexcept { return 3; }
  void set(int x) device { raw = x; }
  auto twice() device const -> int { return 2 * raw; }
  int side() device & { return 5; }
  int side() device const & { return 6; }
  int side() thread && { return 7; }
};
kernel void k(device int* out, device Num* a, constant Num& c) {
  threadgroup Num g;
  const device Num& ca = *a;
  a->set(4);
  out[0] = Num{}.get(); out[1] = a->get(); out[2] = c.get(); out[3] = g.get(); out[4] = a->twice();
  out[5] = a->side(); out[6] = ca.side(); out[7] = Num{}.side();
}
)";
  CHECK(ints(text, 8) == Ints{1, 2, 3, 4, 8, 5, 6, 7});
}

TEST_CASE("constructors have variants: the space of what is made decides") {
  const std::string text = R"(
struct Made {
  int v;
  Made() thread = default;
  Made() threadgroup = default;
  constexpr Made(int x) thread : v(1) {}
  constexpr Made(int x) constant : v(3) {}
  constexpr Made(int x) device : v(2) {}
};
constant Made kMade(0);
constant Made kRow[2] = {Made(0), 5};
kernel void k(device int* out, device int* a, device int* b) {
  threadgroup Made g;
  Made t(0);
  g = t;
  out[0] = t.v; out[1] = kMade.v; out[2] = kRow[0].v; out[3] = Made(4).v; out[4] = g.v;
  out[5] = kRow[1].v;
}
)";
  CHECK(ints(text, 6) == Ints{1, 3, 1, 1, 1, 3});
}

TEST_CASE("a method without a space takes objects of any, where its name has no variants") {
  const std::string text = R"(
struct Base { int which() const { return 1; } int which() const device { return 2; } };
struct Num : Base {
  int v;
  int plain() const { return v + helper(); }
  int helper() const { return 1; }
  using Base::which;
  int which() const threadgroup { return 4; }
};
kernel void k(device int* out, device Num* d, constant Num& c) {
  threadgroup Num g;
  g.v = 3;
  Num t = {};
  out[0] = d->plain() + c.plain() + g.plain();
  out[1] = 100 * t.which() + 10 * d->which() + g.which();
}
)";
  CHECK(ints(text, 2) == Ints{6, 124});
}

TEST_CASE("an object that no variant is for: an error, whichever would have fitted") {
  const std::string two =
      "struct Tag { int v; int f() const thread { return 1; } int f() const device { return 2; } };\n";
  CHECK(has(tag_error(two, "out[0] = c.f();\n"), "no matching member function for call to 'f'"));
  CHECK(has(tag_error(two, "threadgroup Tag g; out[0] = g.f();\n"), "this one is in 'threadgroup'"));
  const std::string plain = "struct Tag { int v; int f() const { return 1; } int f() const device { return 2; } };\n";
  CHECK(has(tag_error(plain, "out[0] = c.f();\n"), "this one is in 'constant'"));
  const std::string writes = "struct Tag { int v; int f() device { return 2; } };\n";
  CHECK(has(tag_error(writes, "const device Tag& r = *d; out[0] = r.f();\n"), "not marked const"));
  const std::string made = tag_error(writes, "Tag t; out[0] = t.f();\n");
  CHECK(has(made, "cannot initialize object parameter of type 'device Tag' with an expression of type 'Tag'"));
  const std::string only = "struct Tag { int v; int f() thread { return 1; } };\n";
  CHECK(has(tag_error(only, "out[0] = d->f();\n"), "this one is in 'device'"));
  // The plain one fits the argument better, and is for the thread.
  const std::string generic =
      "struct Tag { int v; int f(int) { return 1; } template <typename T> int f(T) device { return 2; } };\n";
  CHECK(has(tag_error(generic, "out[0] = d->f(1);\n"), "this one is in 'device'"));
}

TEST_CASE("what has no space by its type, and lies in one all the same") {
  const std::string shared = std::string(kTag) + "constexpr Tag kShared = {1};\n";
  CHECK(has(msl_error("#include <metal_stdlib>\nusing namespace metal;\n" + shared + kHead +
                      "out[0] = kShared.where();\n}\n"),
            "this one is in 'constant'"));
  const std::string outer =
      std::string(kTag).insert(std::string(kTag).find("int v;"),
                               "int plain() const { return helper(); } int helper() const { return where(); } ");
  CHECK(has(tag_error(outer, "out[0] = d->plain();\n"), "'plain' names no address space and calls 'where'"));
  const std::string member =
      std::string(
          "struct In { int v; thread In& operator=(thread const In& o) thread { v = 1; return *this; } device In& "
          "operator=(thread const In& o) device { v = 2; return *this; } };\n") +
      "struct Tag { In in; };\n";
  CHECK(has(tag_error(member, "Tag t; d[0] = t;\n"), "'operator=' names no address space and calls 'operator='"));
}

TEST_CASE("a choice between two objects of a buffer is one of them, in its space") {
  const std::string text = "#include <metal_stdlib>\nusing namespace metal;\n" + std::string(kTag) + kHead +
                           "out[0] = (out[1] ? d[0] : d[1]).where();\n}\n";
  const auto compiled = compile_msl(text);
  CHECK_MESSAGE(compiled.has_value(), (compiled ? "" : compiled.error().message));
}

TEST_CASE("what takes a reference to the thread's memory, beside functions for others, is for that alone") {
  const std::string both =
      "struct Tag { int v; };\nint f(thread Tag& x, int) { return 1; }\nint f(device const Tag& x, float) { return 2; "
      "}\n";
  CHECK(has(tag_error(both, "out[0] = f(d[0], 1);\n"), "no matching function for call to 'f'"));
}

TEST_CASE("spaces where none can be: errors that name them") {
  CHECK(has(tag_error("struct Tag { int v; static int f() device { return 1; } };\n", ""),
            "a static member function cannot be qualified with address space 'device'"));
  CHECK(has(tag_error("struct Tag { int v; ~Tag() threadgroup {} };\n", ""),
            "a destructor cannot be qualified with address space 'threadgroup'"));
  CHECK(has(tag_error("struct Tag { int v; };\nint f(int x) constant { return x; }\n", ""),
            "a function that is no member cannot be qualified with address space 'constant'"));
  CHECK(has(tag_error("struct Tag { int v; int f() device threadgroup { return 1; } };\n", ""),
            "one address space; 'device' is there already"));
  CHECK(has(tag_error("struct Tag { int v; };\n", "auto f = [](int x) device { return x; }; out[0] = f(1);\n"),
            "a lambda cannot be qualified with address space 'device'"));
  CHECK(has(tag_error(kTag, "device Tag& r = *d; out[0] = [r] { return r.where(); }();\n"),
            "'where' of an object that a lambda captured by copy"));
}

}  // namespace smelt::test
