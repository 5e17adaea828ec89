// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way a gang goes to memory, against threads one by one.
#include "harness.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

using namespace smelt;
using namespace smelt::test;

namespace {

Buffers numbers(size_t bytes) {
  Buffers buffers(3);
  for (auto& buffer : buffers) buffer.resize(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    buffers[0][i] = static_cast<uint8_t>(i * 37 + (i >> 8) * 11);
    buffers[2][i] = static_cast<uint8_t>((i * 2654435761u >> 24) % 3 != 0 ? 1 : 0);
  }
  return buffers;
}

const std::vector<Group> kGroups = {{{32, 1, 1}}, {{70, 1, 1}}, {{16, 4, 1}}, {{5, 3, 2}}};

void check(const std::string& text, size_t bytes = 1 << 16) {
  const std::pair<Cpu, bool> ways[] = {{Cpu::native, false}, {Cpu::native, true}, {Cpu::v3, false}, {Cpu::v3, true}};
  for (const auto& [cpu, one_function] : ways) {
    CAPTURE(text);
    CAPTURE(one_function);
    LaneKernel kernel(text, "kernel", cpu);
    auto made = kernel.vectorise(one_function);
    REQUIRE_MESSAGE(made, made.error().message);
    kernel.compile();
    const std::string difference = compare(kernel, numbers(bytes), kGroups);
    CHECK_MESSAGE(difference.empty(), difference);
  }
}

// A kernel whose threads run `work` where their flag is set, or all of them. %i is the thread's index.
std::string flagged_work(const std::string& before, const std::string& work, bool flagged = true) {
  return fmt::format(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {{
entry:
  %i = zext i32 %index to i64
  {before}
  %pc = getelementptr i8, ptr addrspace(1) %buffer2, i64 %i
  %c = load i8, ptr addrspace(1) %pc
  %on = icmp ne i8 %c, {never}
  br i1 %on, label %work, label %end
work:
  {work}
  br label %end
end:
  ret void
}}
)",
                     fmt::arg("before", before), fmt::arg("work", work), fmt::arg("never", flagged ? 0 : 9));
}

// Moves one value of `type` per thread, from and to `stride` bytes apart, for all threads or those with a flag.
std::string move(const std::string& type, unsigned stride, unsigned align, bool flagged) {
  return flagged_work("",
                      fmt::format(R"(
  %o = mul i64 %i, {stride}
  %from = getelementptr i8, ptr addrspace(1) %buffer0, i64 %o
  %to = getelementptr i8, ptr addrspace(1) %buffer1, i64 %o
  %x = load {type}, ptr addrspace(1) %from, align {align}
  store {type} %x, ptr addrspace(1) %to, align {align})",
                                  fmt::arg("type", type), fmt::arg("stride", stride), fmt::arg("align", align)),
                      flagged);
}

// Where a lane goes follows from its number alone: %at, in bytes, from %index (of which the low bits are known) or
// %lane.
struct Pattern {
  const char* name;
  const char* code;
};
const Pattern kPatterns[] = {
    {"blocks of 18 bytes, two lanes each", R"(
  %half = lshr i32 %lane, 1
  %block = mul i32 %half, 18
  %odd = and i32 %lane, 1
  %inside = shl i32 %odd, 3
  %sum = add i32 %block, %inside
  %at = zext i32 %sum to i64)"},
    {"a transposed tile", R"(
  %row = and i32 %index, 7
  %column = lshr i32 %index, 3
  %rows = shl i32 %row, 6
  %columns = shl i32 %column, 4
  %sum = add i32 %rows, %columns
  %at = zext i32 %sum to i64)"},
    {"lanes that share a place", R"(
  %quarter = lshr i32 %lane, 2
  %sum = shl i32 %quarter, 4
  %at = zext i32 %sum to i64)"},
    {"crossed over", R"(
  %other = xor i32 %lane, 21
  %sum = shl i32 %other, 4
  %at = zext i32 %sum to i64)"},
    {"thirds", R"(
  %row = udiv i32 %lane, 3
  %column = urem i32 %lane, 3
  %rows = mul i32 %row, 272
  %columns = shl i32 %column, 5
  %sum = add i32 %rows, %columns
  %at = zext i32 %sum to i64)"},
    {"far apart", R"(
  %row = and i32 %lane, 3
  %column = lshr i32 %lane, 2
  %rows = mul i32 %row, 8192
  %columns = shl i32 %column, 4
  %set = or i32 %columns, 256
  %sum = add i32 %rows, %set
  %at = zext i32 %sum to i64)"},
    {"16 bits, which wrap in some lanes", R"(
  %half = lshr i32 %lane, 1
  %short = trunc i32 %half to i16
  %size = trunc i32 %width to i16
  %near = sub i16 %size, 37
  %wraps = add i16 %short, %near
  %wide = zext i16 %wraps to i64
  %small = and i64 %wide, 2047
  %at = shl i64 %small, 4)"},
    {"16 bits, which do not", R"(
  %half = lshr i32 %lane, 1
  %short = trunc i32 %half to i16
  %size = trunc i32 %width to i16
  %more = add i16 %short, %size
  %wide = sext i16 %more to i64
  %at = shl i64 %wide, 4)"},
};
struct Moved {
  const char* type;
  unsigned bytes;
};
const Moved kMoved[] = {{"i8", 1},        {"i16", 2},          {"float", 4},    {"i64", 8},
                        {"<4 x i16>", 8}, {"<4 x float>", 16}, {"<3 x i16>", 8}};

std::string patterned(const Pattern& pattern, const Moved& moved, bool loads, bool flagged) {
  const std::string own = fmt::format(R"(
  %place = mul i64 %i, 16
  %mine = getelementptr i8, ptr addrspace(1) %buffer{}, i64 %place
  %theirs = getelementptr i8, ptr addrspace(1) %buffer{}, i64 %at)",
                                      loads ? 1 : 0, loads ? 0 : 1);
  const unsigned align = moved.bytes > 2 ? 2 : moved.bytes;
  const std::string work =
      fmt::format(R"({}
  %v = load {}, ptr addrspace(1) %{}, align {}
  store {} %v, ptr addrspace(1) %{}, align {})",
                  own, moved.type, loads ? "theirs" : "mine", align, moved.type, loads ? "mine" : "theirs", align);
  std::string text = flagged_work(pattern.code, work, flagged);
  const std::string from = "i32 %index, i32 %lid.x)";
  text.replace(text.find(from), from.size(), "i32 %index, i32 %lane, i32 %size.x, i32 %lid.x)");
  const std::string entry = "entry:\n";
  // A scalar that is the same for all and that nobody knows.
  return text.replace(text.find(entry), entry.size(), "entry:\n  %width = add i32 %size.x, 0\n");
}

// Rows of lanes that lie side by side, as far apart as only the launch knows, and the same but for one lane.
std::string rows_of(unsigned lanes, unsigned bytes, bool but_one) {
  return fmt::format(R"(
  %row = udiv i32 %lane, {lanes}
  %column = urem i32 %lane, {lanes}
  %few = and i32 %width, 3
  %more = add i32 %few, 16
  %lines = mul i32 %row, %more
  %rows = shl i32 %lines, 5
  %columns = mul i32 %column, {bytes}
  %all = add i32 %rows, %columns
  %is = icmp eq i32 %lane, {which}
  %off = select i1 %is, i32 2, i32 0
  %sum = add i32 %all, %off
  %at = zext i32 %sum to i64)",
                     fmt::arg("lanes", lanes), fmt::arg("bytes", bytes), fmt::arg("which", but_one ? 13 : 99));
}

TEST_CASE("lanes that lie side by side when the kernel runs") {
  const Moved moved[] = {{"<2 x i16>", 4},    {"<2 x float>", 8}, {"<4 x i16>", 8},
                         {"<4 x float>", 16}, {"<8 x half>", 16}, {"<4 x i8>", 4}};
  for (const Moved& one : moved)
    for (const unsigned lanes : {2u, 64 / one.bytes, 32u})
      for (const bool but_one : {false, true})
        for (const bool loads : {true, false}) {
          const std::string code = rows_of(lanes, one.bytes, but_one);
          check(patterned({"rows", code.c_str()}, one, loads, /*flagged=*/but_one && lanes == 2));
        }
}

TEST_CASE("threadgroup memory near lane 0, but where lanes wrap round inside it") {
  std::vector<Pattern> patterns(std::begin(kPatterns), std::end(kPatterns));
  patterns.push_back({"8 bits, which wrap", R"(
  %short = trunc i32 %lane to i8
  %size = trunc i32 %width to i8
  %near = sub i8 %size, 37
  %wraps = add i8 %short, %near
  %wide = zext i8 %wraps to i64
  %at = shl i64 %wide, 4)"});
  patterns.push_back({"16 bits, which wrap where the memory ends", R"(
  %short = trunc i32 %lane to i16
  %size = trunc i32 %width to i16
  %twice = shl i16 %short, 2
  %near = sub i16 %size, 92
  %wraps = add i16 %twice, %near
  %at = zext i16 %wraps to i64)"});
  for (const Pattern& pattern : patterns)
    for (const Moved& moved : kMoved) {
      CAPTURE(pattern.name);
      CAPTURE(moved.type);
      std::string text = patterned(pattern, moved, /*loads=*/true, /*flagged=*/false);
      const auto replace = [&text](const std::string& from, const std::string& to) {
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
      };
      replace("%theirs = getelementptr i8, ptr addrspace(1) %buffer0",
              "%theirs = getelementptr i8, ptr addrspace(3) %memory");
      replace("ptr addrspace(1) %theirs, align", "ptr addrspace(3) %theirs, align");
      replace("i32 %lid.x)", "i32 %lid.x, ptr addrspace(3) %memory)");
      // At the head, where lane 0 is on.
      replace("br i1 %on, label %work, label %end", "br label %work");
      check(text);
    }
}

TEST_CASE("lanes at constant distances load and store in pieces") {
  for (const Pattern& pattern : kPatterns)
    for (const Moved& moved : kMoved)
      for (const bool loads : {true, false}) {
        CAPTURE(pattern.name);
        CAPTURE(moved.type);
        check(patterned(pattern, moved, loads, /*flagged=*/(moved.bytes + loads) % 3 == 0));
      }
}

}  // namespace

TEST_CASE("values of every type, side by side and apart") {
  const struct {
    const char* type;
    unsigned stride, align;
  } cases[] = {{"i8", 1, 1},
               {"i16", 2, 2},
               {"half", 2, 2},
               {"i32", 4, 4},
               {"float", 4, 4},
               {"i64", 8, 8},
               {"float", 8, 4},
               {"float", 12, 4},
               {"i8", 3, 1},
               {"<2 x float>", 8, 8},
               {"<4 x float>", 16, 16},
               {"<3 x float>", 16, 16},
               {"<3 x float>", 12, 4},
               {"<4 x half>", 8, 8},
               {"<4 x i8>", 4, 4},
               {"<2 x float>", 24, 8},
               {"<4 x float>", 4, 4},
               {"{ float, i32 }", 8, 4},
               {"<{ i8, float, i8 }>", 8, 1},
               {"<4 x float>", 40, 8}};
  for (const auto& one : cases) {
    // Threads that overlap write in order, and only one by one is there an order to compare with.
    check(move(one.type, one.stride, one.align, false));
    check(move(one.type, one.stride, one.align, true));
  }
}

TEST_CASE("indices that wrap round inside a gang") {
  // 16-bit positions 65510, 65511, ... 65535, 0, 1, ...: the lanes are not adjacent after all.
  check(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {
  %n = trunc i32 %index to i16
  %w = add i16 %n, -26
  %i = zext i16 %w to i64
  %s = sext i16 %w to i64
  %back = add i64 %s, 26
  %from = getelementptr i8, ptr addrspace(1) %buffer0, i64 %i
  %x = load i8, ptr addrspace(1) %from
  %to = getelementptr i8, ptr addrspace(1) %buffer1, i64 %i
  store i8 %x, ptr addrspace(1) %to
  %to2 = getelementptr i8, ptr addrspace(1) %buffer1, i64 %back
  %to3 = getelementptr i8, ptr addrspace(1) %to2, i64 1000
  store i8 %x, ptr addrspace(1) %to3
  ret void
}
)");
}

TEST_CASE("indices that wrap round inside a gang, in addresses of every form") {
  const char* const forms[] = {"%at = add i64 %i, 128",
                               "%d = mul i64 %i, 2\n  %at = add i64 %d, 300",
                               "%d = shl i64 %i, 1\n  %at = add i64 %d, 300",
                               "%d = add i64 %i, %l\n  %at = add i64 %d, 128",
                               "%d = sub i64 %l, %i\n  %at = add i64 %d, 300",
                               "%d = xor i64 %i, 1\n  %at = add i64 %d, 130"};
  for (const char* widen : {"zext", "sext"})
    for (const char* type : {"half", "float", "<3 x i16>"})
      for (const char* form : forms) {
        CAPTURE(widen);
        CAPTURE(type);
        CAPTURE(form);
        check(fmt::format(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {{
  %n = trunc i32 %index to i8
  %w = add i8 %n, -26
  %i = {} i8 %w to i64
  %l = zext i32 %lid.x to i64
  {}
  %from = getelementptr {}, ptr addrspace(1) %buffer0, i64 %at
  %x = load {}, ptr addrspace(1) %from, align 1
  %to = getelementptr {}, ptr addrspace(1) %buffer1, i64 %at
  store {} %x, ptr addrspace(1) %to, align 1
  ret void
}}
)",
                          widen, form, type, type, type, type));
      }
}

TEST_CASE("private arrays, by lane and by element") {
  for (const char* type : {"i8", "i16", "i32", "i64", "float"}) {
    const bool real = std::string(type) == "float";
    check(fmt::format(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {{
entry:
  %a = alloca [12 x {type}]
  %i = zext i32 %index to i64
  br label %fill
fill:
  %k = phi i64 [ 0, %entry ], [ %k1, %fill ]
  %at = add i64 %i, %k
  %from = getelementptr {type}, ptr addrspace(1) %buffer0, i64 %at
  %x = load {type}, ptr addrspace(1) %from
  %slot = getelementptr inbounds [12 x {type}], ptr %a, i64 0, i64 %k
  store {type} %x, ptr %slot
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, 12
  br i1 %more, label %fill, label %read
read:
  %j = urem i32 %index, 11
  %j64 = zext i32 %j to i64
  %own = getelementptr inbounds [12 x {type}], ptr %a, i64 0, i64 %j64
  %y = load {type}, ptr %own
  %pair = load <2 x {type}>, ptr %own, align 1
  %z = extractelement <2 x {type}> %pair, i32 1
  %s = {add} {type} %y, %z
  %to = getelementptr {type}, ptr addrspace(1) %buffer1, i64 %i
  store {type} %s, ptr addrspace(1) %to
  ret void
}}
)",
                      fmt::arg("type", type), fmt::arg("add", real ? "fadd" : "add")));
  }
  // Two views of one array: no common element size, so one array after another.
  check(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {
  %a = alloca [4 x i32]
  call void @llvm.memset.p0.i64(ptr %a, i8 5, i64 16, i1 false)
  %i = zext i32 %index to i64
  %from = getelementptr i8, ptr addrspace(1) %buffer0, i64 %i
  %x = load i8, ptr addrspace(1) %from
  %j = and i32 %index, 15
  %j64 = zext i32 %j to i64
  %byte = getelementptr inbounds i8, ptr %a, i64 %j64
  store i8 %x, ptr %byte
  %word = lshr i32 %j, 2
  %w64 = zext i32 %word to i64
  %place = getelementptr inbounds i32, ptr %a, i64 %w64
  %y = load i32, ptr %place
  %to = getelementptr i32, ptr addrspace(1) %buffer1, i64 %i
  store i32 %y, ptr addrspace(1) %to
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
)");
}

// Hostile metadata makes LLVM find such values undefined.
TEST_CASE("a value that goes round a loop of lanes and was never set") {
  check(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {
entry:
  %i = zext i32 %index to i64
  %px = getelementptr i32, ptr addrspace(1) %buffer0, i64 %i
  %x = load i32, ptr addrspace(1) %px
  %rounds = and i32 %x, 7
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %u = phi float [ undef, %entry ], [ %v, %loop ]
  %v = fmul float %u, 2.0
  %next = add i32 %k, 1
  %more = icmp ult i32 %k, %rounds
  br i1 %more, label %loop, label %left
left:
  %last = phi float [ %u, %loop ]
  br label %after
after:
  %kept = phi float [ %last, %left ]
  %bits = bitcast float %kept to i32
  %nothing = and i32 %bits, 0
  %r = add i32 %next, %nothing
  %to = getelementptr i32, ptr addrspace(1) %buffer1, i64 %i
  store i32 %r, ptr addrspace(1) %to
  ret void
}
)");
}

// Facts that LLVM derives from a condition hold where lanes are on. What lanes share is lane 0's, which may be off.
TEST_CASE("facts that do not hold for lane 0, which is off") {
  const struct {
    const char* name;
    unsigned first;     // what is added to the index to make %t
    const char* is_on;  // of %t
    const char* code;   // %at, a 64-bit offset
    unsigned align;
  } cases[] = {
      {"or disjoint", 1, "and i32 %t, 1",
       "%n = or disjoint i32 %t, 1\n  %w = zext i32 %n to i64\n  %at = shl i64 %w, 2", 4},
      {"or disjoint, widened first", 1, "and i32 %t, 1", R"(
  %w = zext i32 %t to i64
  %w1 = or disjoint i64 %w, 1
  %at = shl nuw nsw i64 %w1, 2)",
       4},
      {"or disjoint with a variable", 1, "and i32 %t, 1", R"(
  %u = load i32, ptr addrspace(1) %buffer2
  %one = and i32 %u, 1
  %n = or disjoint i32 %t, %one
  %w = zext i32 %n to i64
  %at = shl nuw nsw i64 %w, 2)",
       4},
      {"or disjoint in bytes", 1, "and i32 %t, 1", R"(
  %b = shl nuw nsw i32 %t, 2
  %b4 = or disjoint i32 %b, 4
  %at = zext nneg i32 %b4 to i64)",
       4},
      {"or disjoint of 16 bits", 1, "and i32 %t, 1", R"(
  %s = trunc nuw nsw i32 %t to i16
  %s1 = or disjoint i16 %s, 1
  %w = zext nneg i16 %s1 to i64
  %at = shl i64 %w, 2)",
       4},
      {"a sum of what is not negative", -3u, "and i32 %t, -256", R"(
  %n = add nuw nsw i32 %t, 4
  %w = zext nneg i32 %n to i64
  %at = shl nuw nsw i64 %w, 2)",
       4},
      {"a greater alignment", 1, "and i32 %t, 15", "%w = zext nneg i32 %t to i64\n  %at = shl nuw nsw i64 %w, 2", 64},
  };
  for (const auto& one : cases)
    for (const bool loads : {true, false}) {
      CAPTURE(std::string(one.name));
      // Where a buffer begins differs from copy to copy.
      const bool aligned = one.align > 4;
      const std::string text = fmt::format(
          R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {{
entry:
  %i = zext i32 %index to i64
  %t = add i32 %index, {first}
  %low = {is_on}
  %on = icmp eq i32 %low, 0
  %address = ptrtoint ptr addrspace(1) %buffer{other} to i64
  %behind = add i64 %address, 63
  %even = and i64 %behind, -64
  %base = inttoptr i64 %even to ptr addrspace(1)
  br i1 %on, label %work, label %end
work:
  {code}
  %place = mul i64 %i, 4
  %mine = getelementptr inbounds i8, ptr addrspace(1) %buffer{own}, i64 %place
  %theirs = getelementptr inbounds i8, ptr addrspace(1) {base}, i64 %at
  %x = load i32, ptr addrspace(1) {from}
  %y = and i32 %x, {kept}
  store i32 %y, ptr addrspace(1) {to}
  br label %end
end:
  ret void
}}
)",
          fmt::arg("first", one.first), fmt::arg("is_on", one.is_on), fmt::arg("code", one.code),
          fmt::arg("own", loads ? 1 : 0), fmt::arg("other", loads ? 0 : 1), fmt::arg("kept", aligned ? 0 : -1),
          fmt::arg("base", aligned ? "%base"
                           : loads ? "%buffer0"
                                   : "%buffer1"),
          fmt::arg("from", loads ? fmt::format("%theirs, align {}", one.align) : "%mine, align 4"),
          fmt::arg("to", loads ? "%mine, align 4" : fmt::format("%theirs, align {}", one.align)));
      if (loads || !aligned) check(text);
    }
}

TEST_CASE("what lanes that skipped an arm bring, where those in it bring nothing") {
  for (const char* brought : {"%u", "%index"})
    check(fmt::format(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {{
entry:
  %i = zext i32 %index to i64
  %u = load i32, ptr addrspace(1) %buffer0
  %pc = getelementptr i8, ptr addrspace(1) %buffer2, i64 %i
  %c = load i8, ptr addrspace(1) %pc
  %on = icmp ne i8 %c, 0
  %to = getelementptr i32, ptr addrspace(1) %buffer1, i64 %i
  br i1 %on, label %work, label %end
work:
  store i32 1, ptr addrspace(1) %to
  br label %end
end:
  %v = phi i32 [ undef, %work ], [ {}, %entry ]
  br i1 %on, label %done, label %more
more:
  store i32 %v, ptr addrspace(1) %to
  br label %done
done:
  ret void
}}
)",
                      brought));
}

TEST_CASE("several lanes write one place: the last one wins") {
  check(flagged_work("store i32 %index, ptr addrspace(1) %buffer1", R"(
  %second = getelementptr i32, ptr addrspace(1) %buffer1, i64 1
  store i32 %index, ptr addrspace(1) %second
  %third = getelementptr i32, ptr addrspace(1) %buffer1, i64 2
  %v = insertelement <2 x i32> <i32 3, i32 poison>, i32 %index, i32 1
  store <2 x i32> %v, ptr addrspace(1) %third
  %h = lshr i64 %i, 2
  %o = add i64 %h, 8
  %few = getelementptr i32, ptr addrspace(1) %buffer1, i64 %o
  store i32 %index, ptr addrspace(1) %few)"));
}

TEST_CASE("atomics to one place and to many, with and without results") {
  const struct {
    const char* operation;
    const char* type;
    const char* operand;
  } cases[] = {{"add", "i32", "%x"},  {"sub", "i32", "%x"},  {"and", "i32", "%x"}, {"or", "i32", "%x"},
               {"xor", "i32", "%x"},  {"max", "i32", "%x"},  {"min", "i32", "%x"}, {"umax", "i32", "%x"},
               {"umin", "i32", "%x"}, {"xchg", "i32", "%x"}, {"add", "i32", "3"},  {"fadd", "float", "2.0"},
               {"umax", "i64", "%w"}};
  for (const auto& one : cases) {
    for (const char* place : {"0", "%few"}) {
      for (bool used : {false, true}) {
        const std::string store = used ? fmt::format("store {} %r, ptr addrspace(1) %to", one.type) : "";
        check(flagged_work(
            R"(
  %few = urem i64 %i, 5
  %px = getelementptr i32, ptr addrspace(1) %buffer0, i64 %i
  %x = load i32, ptr addrspace(1) %px
  %w = zext i32 %x to i64)",
            fmt::format(R"(
  %p = getelementptr {type}, ptr addrspace(1) %buffer1, i64 {place}
  %r = atomicrmw {operation} ptr addrspace(1) %p, {type} {operand} monotonic
  %o = add i64 %i, 64
  %to = getelementptr {type}, ptr addrspace(1) %buffer1, i64 %o
  {store})",
                        fmt::arg("operation", one.operation), fmt::arg("type", one.type),
                        fmt::arg("operand", one.operand), fmt::arg("place", place), fmt::arg("store", store))));
      }
    }
  }
  check(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {
  %i = zext i32 %index to i64
  %few = urem i64 %i, 3
  %p = getelementptr i32, ptr addrspace(1) %buffer1, i64 %few
  %pair = cmpxchg ptr addrspace(1) %p, i32 0, i32 %index monotonic monotonic
  %old = extractvalue { i32, i1 } %pair, 0
  %ok = extractvalue { i32, i1 } %pair, 1
  %k = zext i1 %ok to i32
  %s = add i32 %old, %k
  %o = add i64 %i, 64
  %to = getelementptr i32, ptr addrspace(1) %buffer1, i64 %o
  store i32 %s, ptr addrspace(1) %to
  ret void
}
)");
}

TEST_CASE("words taken apart into bytes and put together again") {
  check(R"(
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %index, i32 %lid.x) {
  %i = zext i32 %index to i64
  %from = getelementptr i32, ptr addrspace(1) %buffer0, i64 %i
  %x = load i32, ptr addrspace(1) %from
  %b = bitcast i32 %x to <4 x i8>
  %t = shufflevector <4 x i8> %b, <4 x i8> poison, <4 x i32> <i32 2, i32 0, i32 3, i32 1>
  %w = add <4 x i8> %t, <i8 1, i8 2, i8 3, i8 4>
  %n = and i32 %index, 3
  %e = extractelement <4 x i8> %w, i32 %n
  %v = insertelement <4 x i8> %w, i8 %e, i32 2
  %h = bitcast <4 x i8> %v to <2 x i16>
  %y = bitcast <2 x i16> %h to i32
  %s = call i8 @llvm.vector.reduce.add.v4i8(<4 x i8> %v)
  %s32 = zext i8 %s to i32
  %z = xor i32 %y, %s32
  %to = getelementptr i32, ptr addrspace(1) %buffer1, i64 %i
  store i32 %z, ptr addrspace(1) %to
  ret void
}
declare i8 @llvm.vector.reduce.add.v4i8(<4 x i8>)
)");
}
