// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as AIR text, the way a front end without optimiser would write it: variables in memory, one block for each
// turn of control flow.
#include "launch.hpp"
#include "program.hpp"

#include <fmt/format.h>

namespace smelt::test::reference {
namespace {

class Emitter {
 public:
  explicit Emitter(const Program& program) : program_(program) {}

  std::string run(const std::string& name) {
    prologue();
    block(program_.body);
    line("ret void");
    std::string text = kAirHeader;
    text +=
        "@shared = internal unnamed_addr addrspace(3) global [1024 x i32] undef, align 4\n"
        "@counts = internal unnamed_addr addrspace(3) global [4 x i32] undef, align 4\n";
    text += fmt::format(
        "define void @{}(ptr addrspace(2) %parameters, ptr addrspace(1) %input, ptr addrspace(1) %output,\n"
        "    ptr addrspace(1) %bins, <3 x i32> %position, <3 x i32> %group, i32 %index, i32 %lane, i32 %simd,\n"
        "    <3 x i32> %grid, <3 x i32> %size) #0 {{\n{}}}\n",
        name, body_);
    for (const auto& [declared, type] : declarations_) text += fmt::format("declare {} #1\n", type);
    text +=
        "attributes #0 = { convergent nounwind }\n"
        "attributes #1 = { convergent nounwind willreturn }\n"
        "!air.kernel = !{!0}\n";
    text += fmt::format("!0 = !{{ptr @{}, !1, !2}}\n!1 = !{{}}\n", name);
    std::string nodes;
    std::string list;
    const char* access[] = {"air.read", "air.read", "air.read_write", "air.read_write"};
    for (int i = 0; i < 4; ++i) {
      nodes += fmt::format(
          "!{} = !{{i32 {}, !\"air.buffer\", !\"air.location_index\", i32 {}, i32 1, !\"{}\", !\"air.address_space\", "
          "i32 {}}}\n",
          10 + i, i, i, access[i], i == 0 ? 2 : 1);
      list += fmt::format("!{}, ", 10 + i);
    }
    const char* builtins[] = {"thread_position_in_grid",        "threadgroup_position_in_grid",
                              "thread_index_in_threadgroup",    "thread_index_in_simdgroup",
                              "simdgroup_index_in_threadgroup", "threads_per_grid",
                              "threads_per_threadgroup"};
    for (int i = 0; i < 7; ++i) {
      nodes += fmt::format("!{} = !{{i32 {}, !\"air.{}\"}}\n", 20 + i, 4 + i, builtins[i]);
      list += fmt::format("!{}{}", 20 + i, i < 6 ? ", " : "");
    }
    return text + fmt::format("!2 = !{{{}}}\n", list) + nodes;
  }

 private:
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  std::string fresh() { return fmt::format("%t{}", next_++); }
  std::string label() { return fmt::format("b{}", next_++); }
  void start(const std::string& name) { body_ += name + ":\n"; }
  void go(const std::string& to) { line("br label %" + to); }
  void go(const std::string& condition, const std::string& yes, const std::string& no) {
    line(fmt::format("br i1 {}, label %{}, label %{}", condition, yes, no));
  }
  template <class... Args>
  std::string let(fmt::format_string<Args...> format, Args&&... args) {
    const std::string result = fresh();
    line(result + " = " + fmt::format(format, std::forward<Args>(args)...));
    return result;
  }

  void prologue() {
    start("entry");
    for (unsigned v = 0; v < kVariables; ++v) line(fmt::format("%v{} = alloca i32, align 4", v));
    for (unsigned c = 0; c < 16; ++c) line(fmt::format("%c{} = alloca i32, align 4", c));
    line("%words = alloca [8 x i32], align 4");
    for (unsigned v = 0; v < kVariables; ++v) {
      const std::string product = let("mul i32 %index, {}", v + 1);
      store_variable(v, let("add i32 {}, {}", product, v));
    }
    for (unsigned w = 0; w < kPrivateWords; ++w)
      line(fmt::format("store i32 0, ptr {}, align 4", let("getelementptr [8 x i32], ptr %words, i64 0, i64 {}", w)));
    for (const char* triple : {"position", "group", "grid", "size"})
      for (int i = 0; i < 3; ++i)
        line(fmt::format("%{}{} = extractelement <3 x i32> %{}, i64 {}", triple, i, triple, i));
    line("%plane = mul i32 %size0, %size1");
    line("%threads = mul i32 %plane, %size2");
    if (!program_.shared) return;
    line(fmt::format("store i32 0, ptr addrspace(3) {}, align 4", shared_at("%index")));
    const std::string first = let("icmp eq i32 %index, 0");
    const std::string clear = label();
    const std::string ready = label();
    go(first, clear, ready);
    start(clear);
    line("store [4 x i32] zeroinitializer, ptr addrspace(3) @counts, align 4");
    go(ready);
    start(ready);
    barrier();
  }

  void barrier() {
    declare("air.wg.barrier", "void @air.wg.barrier(i32, i32)");
    line("call void @air.wg.barrier(i32 2, i32 1) #1");
  }
  void declare(const std::string& name, const std::string& type) {
    for (const auto& known : declarations_)
      if (known.first == name) return;
    declarations_.emplace_back(name, type);
  }

  std::string wide(const std::string& value) { return let("zext i32 {} to i64", value); }
  std::string shared_at(const std::string& index) {
    return let("getelementptr [1024 x i32], ptr addrspace(3) @shared, i64 0, i64 {}", wide(index));
  }
  void store_variable(uint32_t v, const std::string& value) {
    line(fmt::format("store i32 {}, ptr %v{}, align 4", value, v));
  }
  std::string flag(const std::string& bit) { return let("zext i1 {} to i32", bit); }

  std::string value(const Expression& e) {
    using Kind = Expression::Kind;
    switch (e.kind) {
      case Kind::constant:
        return fmt::to_string(static_cast<int32_t>(e.value));
      case Kind::variable:
        return let("load i32, ptr %v{}, align 4", e.value);
      case Kind::counter:
        return let("load i32, ptr %c{}, align 4", e.value);
      case Kind::parameter:
        return let("load i32, ptr addrspace(2) {}, align 4",
                   let("getelementptr i32, ptr addrspace(2) %parameters, i64 {}", e.value));
      case Kind::thread_index:
        return "%index";
      case Kind::lane:
        return "%lane";
      case Kind::simdgroup:
        return "%simd";
      case Kind::position:
        return fmt::format("%position{}", e.value);
      case Kind::group:
        return fmt::format("%group{}", e.value);
      default:
        break;
    }
    const std::string a = value(*e.a);
    switch (e.kind) {
      case Kind::input: {
        const std::string at = wide(let("and i32 {}, {}", a, kInputWords - 1));
        return let("load i32, ptr addrspace(1) {}, align 4",
                   let("getelementptr i32, ptr addrspace(1) %input, i64 {}", at));
      }
      case Kind::own_word:
        return let("load i32, ptr {}, align 4", word_at(a));
      case Kind::narrow_8:
        return let("sext i8 {} to i32", let("trunc i32 {} to i8", a));
      case Kind::narrow_16:
        return let("zext i16 {} to i32", let("trunc i32 {} to i16", a));
      default:
        break;
    }
    const std::string b = value(*e.b);
    switch (e.kind) {
      case Kind::shift_left:
        return let("shl i32 {}, {}", a, let("and i32 {}, 31", b));
      case Kind::shift_right:
        return let("lshr i32 {}, {}", a, let("and i32 {}, 31", b));
      case Kind::shift_arithmetic:
        return let("ashr i32 {}, {}", a, let("and i32 {}, 31", b));
      case Kind::divide:
        return let("udiv i32 {}, {}", a, let("or i32 {}, 1", b));
      case Kind::remainder:
        return let("urem i32 {}, {}", a, let("or i32 {}, 1", b));
      case Kind::signed_divide:
        return let("sdiv i32 {}, {}", let("lshr i32 {}, 1", a), let("or i32 {}, 1", b));
      case Kind::less:
        return flag(let("icmp ult i32 {}, {}", a, b));
      case Kind::signed_less:
        return flag(let("icmp slt i32 {}, {}", a, b));
      case Kind::equal:
        return flag(let("icmp eq i32 {}, {}", let("and i32 {}, 3", a), let("and i32 {}, 3", b)));
      case Kind::choose: {
        const std::string bit = let("trunc i32 {} to i1", a);
        return let("select i1 {}, i32 {}, i32 {}", bit, b, value(*e.c));
      }
      case Kind::wide_product: {
        const std::string x = wide(a);
        return let("trunc i64 {} to i32", let("lshr i64 {}, 32", let("mul i64 {}, {}", x, wide(b))));
      }
      case Kind::as_float: {
        declare("air.convert.f.f32.u.i32", "float @air.convert.f.f32.u.i32(i32)");
        declare("air.convert.u.i32.f.f32", "i32 @air.convert.u.i32.f.f32(float)");
        const std::string x = let("call float @air.convert.f.f32.u.i32(i32 {})", let("and i32 {}, 65535", a));
        const std::string y = let("call float @air.convert.f.f32.u.i32(i32 {})", let("and i32 {}, 255", b));
        const std::string sum = let("fadd float {}, {}", let("fmul float {}, 5.0e-1", x), y);
        return let("call i32 @air.convert.u.i32.f.f32(float {})", sum);
      }
      default:
        break;
    }
    const char* operation = e.kind == Kind::add        ? "add"
                            : e.kind == Kind::subtract ? "sub"
                            : e.kind == Kind::multiply ? "mul"
                            : e.kind == Kind::bit_and  ? "and"
                            : e.kind == Kind::bit_or   ? "or"
                                                       : "xor";
    return let("{} i32 {}, {}", operation, a, b);
  }

  std::string word_at(const std::string& index) {
    return let("getelementptr [8 x i32], ptr %words, i64 0, i64 {}",
               wide(let("and i32 {}, {}", index, kPrivateWords - 1)));
  }

  void block(const Block& statements) {
    for (const Statement& s : statements) statement(s);
  }

  void statement(const Statement& s) {
    using Kind = Statement::Kind;
    switch (s.kind) {
      case Kind::assign:
        return store_variable(s.variable, value(*s.a));
      case Kind::store_word: {
        const std::string at = word_at(value(*s.a));
        return line(fmt::format("store i32 {}, ptr {}, align 4", value(*s.b), at));
      }
      case Kind::branch:
        return branch(s);
      case Kind::select_case:
        return select_case(s);
      case Kind::loop:
        return loop(s);
      case Kind::leave:
        return jump(loops_.back().second);
      case Kind::skip:
        return jump(loops_.back().first);
      case Kind::finish: {
        const std::string row = let("add i32 {}, %position1", let("mul i32 %position2, %grid1"));
        const std::string at = let("add i32 {}, %position0", let("mul i32 {}, %grid0", row));
        const std::string address = let("getelementptr i32, ptr addrspace(1) %output, i64 {}", wide(at));
        line(fmt::format("store i32 {}, ptr addrspace(1) {}, align 4", value(*s.a), address));
        line("ret void");
        return start(label());
      }
      case Kind::add_to_bin: {
        declare("air.atomic.global.add.u.i32",
                "i32 @air.atomic.global.add.u.i32(ptr addrspace(1) nocapture, i32, i32, i32, i1)");
        const std::string at = wide(let("and i32 {}, {}", value(*s.a), kBins - 1));
        const std::string address = let("getelementptr i32, ptr addrspace(1) %bins, i64 {}", at);
        let("call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) {}, i32 {}, i32 0, i32 2, i1 true) #1", address,
            value(*s.b));
        return;
      }
      case Kind::exchange: {
        line(fmt::format("store i32 {}, ptr addrspace(3) {}, align 4", value(*s.a), shared_at("%index")));
        barrier();
        const std::string from = shared_at(let("urem i32 {}, %threads", value(*s.b)));
        store_variable(s.variable, let("load i32, ptr addrspace(3) {}, align 4", from));
        return barrier();
      }
      case Kind::count: {
        declare("air.atomic.local.add.u.i32",
                "i32 @air.atomic.local.add.u.i32(ptr addrspace(3) nocapture, i32, i32, i32, i1)");
        const std::string at = count_at(value(*s.a));
        let("call i32 @air.atomic.local.add.u.i32(ptr addrspace(3) {}, i32 {}, i32 0, i32 1, i1 true) #1", at,
            value(*s.b));
        barrier();
        const std::string chosen = count_at(let("load i32, ptr %v{}, align 4", s.variable));
        store_variable(s.variable, let("load i32, ptr addrspace(3) {}, align 4", chosen));
        return barrier();
      }
      case Kind::collective:
        return collective(s);
    }
  }

  std::string count_at(const std::string& index) {
    return let("getelementptr [4 x i32], ptr addrspace(3) @counts, i64 0, i64 {}", wide(let("and i32 {}, 3", index)));
  }

  void jump(const std::string& to) {
    go(to);
    start(label());  // nothing comes here
  }

  void branch(const Statement& s) {
    const std::string yes = label();
    const std::string no = label();
    const std::string after = label();
    go(let("trunc i32 {} to i1", value(*s.a)), yes, no);
    start(yes);
    block(s.first);
    go(after);
    start(no);
    block(s.second);
    go(after);
    start(after);
  }

  void select_case(const Statement& s) {
    const std::string labels[4] = {label(), label(), label(), label()};
    const std::string chosen = let("and i32 {}, 3", value(*s.a));
    line(fmt::format("switch i32 {}, label %{} [ i32 0, label %{} i32 1, label %{} ]", chosen, labels[2], labels[0],
                     labels[1]));
    start(labels[0]);
    block(s.first);
    go(labels[1]);
    start(labels[1]);
    block(s.second);
    go(labels[3]);
    start(labels[2]);
    block(s.third);
    go(labels[3]);
    start(labels[3]);
  }

  void loop(const Statement& s) {
    const std::string head = label();
    const std::string inside = label();
    const std::string latch = label();
    const std::string after = label();
    const std::string asked = value(*s.a);
    const std::string small = let("icmp ult i32 {}, 6", asked);
    const std::string bound = let("select i1 {}, i32 {}, i32 6", small, asked);
    line(fmt::format("store i32 0, ptr %c{}, align 4", s.depth));
    go(head);
    start(head);
    const std::string counter = let("load i32, ptr %c{}, align 4", s.depth);
    go(let("icmp ult i32 {}, {}", counter, bound), inside, after);
    start(inside);
    loops_.emplace_back(latch, after);
    block(s.first);
    loops_.pop_back();
    go(latch);
    start(latch);
    const std::string next = let("add i32 {}, 1", let("load i32, ptr %c{}, align 4", s.depth));
    line(fmt::format("store i32 {}, ptr %c{}, align 4", next, s.depth));
    go(head);
    start(after);
  }

  std::string call(const char* result, const std::string& name, const std::string& types, const std::string& operands) {
    declare(name, fmt::format("{} @{}({})", result, name, types));
    return let("call {} @{}({}) #1", result, name, operands);
  }

  std::string shuffle(const std::string& name, const std::string& a, const std::string& operand) {
    return call("i32", name, "i32, i16", fmt::format("i32 {}, i16 {}", a, let("trunc i32 {} to i16", operand)));
  }

  void collective(const Statement& s) {
    const std::string a = value(*s.a);
    const std::string b = value(*s.b);
    const auto unary = [&](const char* name) { return call("i32", name, "i32", "i32 " + a); };
    const auto vote = [&](const char* name) {
      return flag(call("i1", name, "i1", "i1 " + let("trunc i32 {} to i1", a)));
    };
    std::string result;
    switch (static_cast<Operation>(s.operation)) {
      case Operation::sum:
        result = unary("air.simd_sum.u.i32");
        break;
      case Operation::minimum:
        result = unary("air.simd_min.u.i32");
        break;
      case Operation::signed_maximum:
        result = unary("air.simd_max.s.i32");
        break;
      case Operation::bit_or:
        result = unary("air.simd_or.u.i32");
        break;
      case Operation::bit_xor:
        result = unary("air.simd_xor.u.i32");
        break;
      case Operation::prefix_inclusive:
        result = unary("air.simd_prefix_inclusive_sum.u.i32");
        break;
      case Operation::prefix_exclusive:
        result = unary("air.simd_prefix_exclusive_sum.u.i32");
        break;
      case Operation::ballot:
        result =
            let("trunc i64 {} to i32", call("i64", "air.simd_ballot.i64", "i1", "i1 " + let("trunc i32 {} to i1", a)));
        break;
      case Operation::all:
        result = vote("air.simd_all");
        break;
      case Operation::any:
        result = vote("air.simd_any");
        break;
      case Operation::is_first:
        result = flag(call("i1", "air.simd_is_first", "", ""));
        break;
      case Operation::broadcast_first:
        result = unary("air.simd_broadcast_first.u.i32");
        break;
      case Operation::shuffle:
        result = shuffle("air.simd_shuffle.u.i32", a, let("and i32 {}, 31", b));
        break;
      case Operation::shuffle_xor:
        result = shuffle("air.simd_shuffle_xor.u.i32", a, "5");
        break;
      case Operation::shuffle_down:
        result = shuffle("air.simd_shuffle_down.u.i32", a, "3");
        break;
      case Operation::quad_sum:
        result = unary("air.quad_sum.u.i32");
        break;
      case Operation::quad_shuffle_xor:
        result = shuffle("air.quad_shuffle_xor.u.i32", a, "2");
        break;
      case Operation::barrier:
        declare("air.simdgroup.barrier", "void @air.simdgroup.barrier(i32, i32)");
        line("call void @air.simdgroup.barrier(i32 2, i32 4) #1");
        result = a;
        break;
    }
    store_variable(s.variable, result);
  }

  const Program& program_;
  std::string body_;
  unsigned next_ = 0;
  std::vector<std::pair<std::string, std::string>> declarations_;
  std::vector<std::pair<std::string, std::string>> loops_;  // latch, after
};

}  // namespace

std::string emit(const Program& program, const std::string& name) {
  return Emitter(program).run(name);
}

}  // namespace smelt::test::reference
