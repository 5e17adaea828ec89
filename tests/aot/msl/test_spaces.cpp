// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Methods that know the space of their object, a rule at a time. All their combinations: spaces/generate.hpp.
#include "msl.hpp"

#include <doctest/doctest.h>

#include <array>

namespace smelt::test {
namespace {

/// Kernel `k` of one thread, whose buffers are `out` and zeros; what it leaves in the first `count` of out.
std::vector<int32_t> ints(const std::string& text, size_t count) {
  const Msl source("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  std::vector<int32_t> out(count, -1);
  std::array<std::vector<int32_t>, 13> zeros;
  Launch launch{.grid = {1, 1, 1}, .group = {1, 1, 1}};
  launch.bind(0, out);
  launch.threadgroup_bytes[0] = 64;
  for (uint32_t i = 0; i < zeros.size(); ++i) {
    zeros[i].resize(256);
    launch.bind(i + 1, zeros[i]);
  }
  source.run("k", launch);
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

TEST_CASE("bases of templates, unions, friends, deduced results, loops over ranges, what is declared elsewhere") {
  const std::string text = R"(
template <typename D> struct Crtp {
  int go() device { return static_cast<device D&>(*this).impl(); }
  int go() thread { return static_cast<thread D&>(*this).impl(); }
};
struct Im : Crtp<Im> { int v; int impl() device { return 2; } int impl() thread { return 1; } };
template <typename T> struct DepBase { T v; int f() const device { return 2; } int f() const thread { return 1; } };
template <typename T> struct Dep : DepBase<T> { int g() const device { return this->f(); } int g() const thread { return this->f(); } 
  auto& at() device { return this->v; } auto& at() thread { return this->v; } auto at() const constant -> decltype(auto) { return (this->v); } };
struct Rng { int c[3]; device int* begin() device { return c; } device int* end() device { return c + 3; } thread int* begin() thread { return c; } thread int* end() thread { return c + 3; } 
  device int* operator->() device { return c; } device int& operator*() device { return c[0]; } };
struct Un { union { int a; float b; }; int f() device { return a; } int f() thread { return a + 1; } };
union Uu { int a; float b; int f() const device { return 2; } int f() const thread { return 1; } };
struct Sta { static constant constexpr int k = 3; static int s() { return k; } int f() const volatile device { return 2; } int f() const volatile thread { return 1; } friend int g(const device Sta& s) { return s.f(); } friend int g(const thread Sta& s) { return s.f(); } };
struct Att { int v; [[clang::always_inline]] int f() const device __attribute__((always_inline)) { return 2; } int f() thread { return 1; } Att() = default; Att(const thread Att&) = default; explicit operator bool() const device { return true; } explicit operator bool() const thread { return false; } 
  device Att& operator++() device { ++v; return *this; } bool operator!() const device { return false; } int operator,(int x) device { return x; } 
  template <int N> int n() const device { return N; } template <int N> int n() const thread { return -N; } int del() device = delete; int del() thread { return 1; } };
struct Args { device Im* ims; constant Sta* stas; };
typedef struct { int x; int f() const device { return 2; } int f() const thread { return 1; } } Td;
namespace ns { struct O; } struct ns::O { int v; int f() const device; int f() const thread; }; int ns::O::f() const device { return 2; } int ns::O::f() const thread { return 1; }
struct Fwd; template <class T> int late(device T& t) { return t.f(); } struct Fwd { int f() device { return 2; } int f() thread { return 1; } };
constexpr int fact(int n) { return n; }
struct Ce { int v; constexpr int get() const thread { return v; } constexpr int get() const constant { return v + 1; } constexpr int get() const device { return v + 2; } };
constant constexpr Ce kCe = {4}; static_assert(kCe.get() == 5, ""); 
kernel void k(device int* out, device Im* d, device Dep<int>* dep, device Rng& r, device Un& un, device Uu& uu, device Sta& s, device Att* at, constant Args& args, threadgroup Td* td [[threadgroup(0)]], device Td* dtd, device ns::O& o, device Fwd& fw, volatile device Sta& vs) {
  Im im; Dep<int> de; Rng rr = {}; Un u = {}; Uu uuu = {}; Sta ss; Att a{}; Td t; ns::O oo; Fwd ff;
  int i = 0; device int& x = dep->at(); x = 3; thread int& y = de.at(); y = 4;
  out[i++] = im.go() * 10 + d->go();
  out[i++] = de.g() * 10 + dep->g();
  int sum = 0; for (device int& e : r) sum += ++e; for (thread int& e : rr) sum += ++e; out[i++] = sum;
  out[i++] = *r + u.f() * 10 + un.f();
  out[i++] = uuu.f() * 10 + uu.f();
  out[i++] = g(ss) * 100 + g(s) * 10 + vs.f();
  out[i++] = Sta::s() + s.s();
  out[i++] = (at[0] ? 2 : 1) * 10 + (a ? 2 : 1);
  ++at[0]; out[i++] = at[0].v + !at[0] + at[0].n<5>() + a.n<3>();
  out[i++] = a.f() * 10 + at->f();
  out[i++] = args.ims->go() * 10 + (at[0], 5);
  out[i++] = t.f() * 10 + dtd->f();
  out[i++] = oo.f() * 10 + o.f();
  out[i++] = late(fw);
  constexpr Ce ce = {7}; static_assert(ce.get() == 7, ""); out[i++] = ce.get() + kCe.get();
  out[i++] = [&] { return [&] { return d->go() * 10 + im.go(); }(); }();
}
)";
  CHECK(ints(text, 16) == Ints{12, 12, 6, 11, 12, 122, 6, 21, 3, 12, 25, 12, 12, 2, 12, 21});
}

TEST_CASE("nobody promised that an object is reached by `this` alone") {
  const std::string text = R"(
struct Cell {
  int v, w;
  int through(device int* p) device { v = 1; *p = 2; return v; }
  int other(device Cell& o) device { v = 3; o.v = 4; return v; }
  int other(thread Cell& o) thread { v = 5; o.v = 6; return v; }
  Cell made(thread Cell& o) thread { v = 7; o.v = 8; return *this; }
};
kernel void k(device int* out, device Cell* d) {
  Cell t;
  out[0] = d->through(&d->v);
  out[1] = d->other(*d);
  out[2] = t.other(t);
  out[3] = t.made(t).v;
}
)";
  CHECK(ints(text, 4) == Ints{2, 4, 6, 8});
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

TEST_CASE("what a function calls of its parameter, it calls of the argument") {
  const std::string converted =
      "struct Tag { int v; operator int() const thread { return 1; } operator int() const device { return 2; } };\n";
  CHECK(has(tag_error(converted, "out[0] = static_cast<int>(c);\n"), "this one is in 'constant'"));
  const std::string handed = std::string(kTag) + "int f(thread Tag& x) { return x.where(); }\n";
  CHECK(has(tag_error(handed, "out[0] = f(d[0]);\n"), "this one is in 'device'"));
}

TEST_CASE("by whatever way an object of another space comes to the thread's variant: an error") {
  // Functions, and what calls them with `d`, a pointer to Tags in device memory.
  constexpr const char* kWays[][2] = {
      {"int f(thread const Tag& x) { return x.where(); } int g(thread const Tag& x) { return f(x); } "
       "int h(thread const Tag& x) { return g(x); }",
       "h(*d)"},
      {"int f(thread const Tag* x) { return x->where(); } int g(thread const Tag* x) { return f(x + 1); }", "g(d)"},
      {"int f(thread const Tag& x) { thread const Tag* p; p = &x; return p[0].where(); }", "f(*d)"},
      {"thread const Tag& id(thread const Tag& x) { return x; } int f(thread const Tag& x) { return id(x).where(); }",
       "f(*d)"},
      {"int f(thread const Tag& x) { return [&] { return x.where(); }(); }", "f(*d)"},
      {"struct H { thread const Tag* x; int get() const { return x->where(); } };"
       "int f(thread const Tag& x) { H h{&x}; return h.get(); }",
       "f(*d)"},
      {"struct H { thread const Tag& x; H(thread const Tag& y) : x(y) {} int get() const { return x.where(); } };"
       "int f(thread const Tag& x) { return H(x).get(); }",
       "f(*d)"},
      {"template <typename F> int call(F f, thread const Tag& x) { return f(x); }"
       "struct F { int operator()(thread const Tag& x) const { return x.where(); } };",
       "call(F(), *d)"},
      {"int f(thread const Tag& x) { return x.where(); } int g(thread const Tag& x) { auto p = f; return p(x); }",
       "g(*d)"},
      {"struct Q : Tag { const thread Tag& self() const { return *this; } };", "((device Q*)d)->self().where()"},
      {"int f(thread const int* x) { return 1; } int f(device const int* x) { return 2; }"
       "struct Q { int v[2]; int get() const { return f(v); } int twice() const { return 2 * get(); } };",
       "((device Q*)d)->twice()"},
      {"struct Q { Tag t[2]; const thread Tag* begin() const { return t; } const thread Tag* end() const { return t + "
       "2; "
       "} }; int sum(device const Q& q) { int s = 0; for (const thread auto& x : q) s += x.where(); return s; }",
       "sum(*(device Q*)d)"},
      {"struct Q { array<Tag, 2> t; }; int f(thread const Tag& x) { return x.where(); }"
       "int g(thread const Q& q) { return f(q.t[1]); }",
       "g(*(device Q*)d)"},
  };
  for (const auto& way : kWays) {
    const std::string functions = way[0], call = way[1];
    const std::string message = tag_error(kTag + functions + "\n", "out[0] = " + call + ";\n");
    CHECK_MESSAGE(has(message, "'device'"), functions, message);
    CHECK_MESSAGE((has(message, "no matching") || has(message, "names no address space")), functions, message);
  }
}

TEST_CASE("what our headers make for the user's types hands objects on, too") {
  const std::string cell =
      "struct Cell { int v; Cell() thread = default; Cell(thread const Cell& o) thread { v = 1; } "
      "Cell(device const Cell& o) thread { v = 2; } };\n";
  const char* body = "Tag copy = *d; out[0] = copy.cells[1].v;\n";
  CHECK(has(tag_error(cell + "struct Tag { array<Cell, 2> cells; };\n", body),
            "no matching function for call to 'Cell'"));
  CHECK(has(tag_error(cell + "struct Tag { Cell cells[2]; };\n", body), "no matching function for call to 'Cell'"));
}

TEST_CASE("what is made in constant memory, part by part, by the thread's constructors: an error") {
  const std::string in =
      "struct In { int v; constexpr In(int x = 0) thread : v(1) {} constexpr In(int x = 0) constant : v(3) {} };\n";
  const std::string kWholes[] = {
      "struct Tag { In in; };\nconstant Tag kMade = {5};\n",
      "struct Tag { In in; };\nconstant Tag kMade = {};\n",
      "struct Tag { In in[2]; int w; };\nconstant Tag kMade[2] = {{{1, 2}, 3}, {}};\n",
      "struct Tag { In in; int w; constexpr Tag(int x) : w(x) {} };\nconstant Tag kMade(1);\n",
      "struct Tag { In in{1}; constexpr Tag() constant {} };\nconstant Tag kMade;\n",
      "struct Tag : In { constexpr Tag() constant : In(1) {} };\nconstant Tag kMade;\n",
      "struct Base : In { using In::In; };\nstruct Tag { Base base; };\nconstant Tag kMade = {};\n",
      "struct Tag { int w; constexpr Tag(int x) thread : w(x) {} constexpr Tag(int x) constant : w(2 * x) {}\n"
      "constexpr Tag() constant : Tag(1) {} };\nconstant Tag kMade;\n",
  };
  for (const std::string& whole : kWholes) {
    const std::string message = tag_error(in + whole, "");
    CHECK_MESSAGE(has(message, "has a constructor of its own for 'constant' memory"), whole, message);
  }
  // No such constructor, and a kernel that is one: what it makes is in the tree, and not whole.
  CHECK(has(
      tag_error(in + "struct Tag { In in; int w; };\nconstant Tag kMade = {1, 2};\nconstant Tag kNone = {nothing};\n",
                ""),
      "undeclared identifier 'nothing'"));
  CHECK(has(tag_error("struct Own { int v; Own(float); };\nstruct Tag { Own in; };\nconstant Tag kMade = {};\n", ""),
            "no matching constructor"));
  CHECK(has(tag_error("struct Tag { int v; kernel Tag(int) {} };\n", ""), "cannot be a member function"));
}

TEST_CASE("metal::array gives out elements in the space it lies in") {
  const std::string text = R"(
int space_of(thread const int& x) { return 1; }
int space_of(device const int& x) { return 2; }
int space_of(constant const int& x) { return 3; }
int space_of(threadgroup const int& x) { return 4; }
struct Rows { array<array<int, 2>, 3> rows; int sum() const { return rows[0][0] + rows[2][1]; } };
constexpr array<int, 3> kTable = {{7, 8, 9}};
kernel void k(device int* out, device Rows* d, constant Rows& c) {
  threadgroup array<int, 4> g;
  array<int, 4> t = {{1, 2, 3, 4}};
  for (int i = 0; i < 4; ++i) g[i] = i;
  device int& r = d->rows[2].back();
  r = 5;
  threadgroup int* p = g.data() + 1;
  *p = 6;
  const threadgroup array<int, 4>& cg = g;
  int sum = 0;
  for (threadgroup const int& x : cg) sum += x;
  device const int* from = ((const device Rows*)d)->rows[2].data();
  constant int* at = c.rows.front().begin();
  out[0] = 1000 * space_of(t[0]) + 100 * space_of(d->rows[0][1]) + 10 * space_of(c.rows[0][0]) + space_of(cg.front());
  out[1] = d->sum() + c.sum() + at[0];
  out[2] = sum + from[1] + kTable[1];
}
)";
  CHECK(ints(text, 3) == Ints{1234, 5, 24});
}

TEST_CASE("spaces where none can be: errors that name them") {
  CHECK(has(tag_error("struct Tag { int v; static int f() device { return 1; } };\n", ""),
            "a static member function cannot be qualified with address space 'device'"));
  CHECK(has(tag_error("struct Tag { int v; ~Tag() threadgroup {} };\n", ""),
            "a destructor cannot be qualified with address space 'threadgroup'"));
  CHECK(has(tag_error("struct Tag { int v; };\nint f(int x) constant { return x; }\n", ""),
            "a function that is not a member cannot be qualified with address space 'constant'"));
  CHECK(has(tag_error("struct Tag { int v; int f() device threadgroup { return 1; } };\n", ""),
            "one address space; 'device' is there already"));
  CHECK(has(tag_error("struct Tag { int v; };\n", "auto f = [](int x) device { return x; }; out[0] = f(1);\n"),
            "a lambda cannot be qualified with address space 'device'"));
  CHECK(has(tag_error(kTag, "device Tag& r = *d; out[0] = [r] { return r.where(); }();\n"),
            "'where' of an object that a lambda captured by copy"));
}

}  // namespace smelt::test
