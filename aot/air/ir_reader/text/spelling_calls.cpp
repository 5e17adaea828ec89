// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spelling rules that look at whole calls: intrinsics whose signature or name moved, and atomicrmw operations that
// LLVM 19 does not have.
#include "ir_reader/text/respeller.hpp"

#include <algorithm>
#include <optional>

namespace smelt::aot::input {
namespace {

struct Rename {
  std::string_view newer;
  std::string_view known;
};
// Prefixes up to the type suffix.
constexpr Rename kRenames[] = {
    {"llvm.stepvector.", "llvm.experimental.stepvector."},
    {"llvm.vector.partial.reduce.add.", "llvm.experimental.vector.partial.reduce.add."},
};

constexpr std::string_view kAmdgcn = "llvm.amdgcn.";

bool is_ordering(std::string_view word) {
  return word == "monotonic" || word == "acquire" || word == "release" || word == "acq_rel" || word == "seq_cst";
}

/// The same name with another middle, quoted when it was.
std::string with_name(std::string_view token, std::string_view name) {
  return token.size() > 1 && token[1] == '"' ? fmt::format("@\"{}\"", name) : fmt::format("@{}", name);
}

/// A function that does `operation` on `*p` by compare-exchange: LLVM 19 cannot say it in one instruction.
std::string compare_exchange_loop(std::string_view name, std::string_view operation, std::string_view pointer,
                                  std::string_view type, std::string_view scope, std::string_view ordering,
                                  std::string_view align, bool is_volatile) {
  const bool floating = operation == "fmaximum" || operation == "fminimum";
  std::string_view bits = type;  // cmpxchg takes integers only
  std::string_view suffix;
  if (floating) {
    bits = type == "float" ? "i32" : type == "double" ? "i64" : "i16";
    suffix = type == "float" ? "f32" : type == "double" ? "f64" : type == "half" ? "f16" : "bf16";
  }
  std::string compute;
  if (operation == "usub_cond") {
    compute = fmt::format(
        "  %enough = icmp uge {0} %seen, %v\n  %less = sub {0} %seen, %v\n"
        "  %wanted = select i1 %enough, {0} %less, {0} %seen\n",
        type);
  } else if (operation == "usub_sat") {
    compute = fmt::format("  %wanted = call {0} @llvm.usub.sat.{0}({0} %seen, {0} %v)\n", type);
  } else {
    compute = fmt::format(
        "  %old = bitcast {0} %seen to {1}\n  %best = call {1} @llvm.{2}.{3}({1} %old, {1} %v)\n"
        "  %wanted = bitcast {1} %best to {0}\n",
        bits, type, operation.substr(1), suffix);
  }
  const std::string_view failure = ordering == "seq_cst"                            ? "seq_cst"
                                   : ordering == "acquire" || ordering == "acq_rel" ? "acquire"
                                                                                    : "monotonic";
  const std::string_view marker = is_volatile ? "volatile " : "";
  std::string text =
      fmt::format("\ndefine internal {0} @{1}({2} %p, {0} %v) alwaysinline nounwind {{\nentry:\n", type, name, pointer);
  text += fmt::format("  %first = load atomic {}{}, {} %p {}monotonic{}\n  br label %again\nagain:\n", marker, bits,
                      pointer, scope, align);
  text += fmt::format("  %seen = phi {} [ %first, %entry ], [ %now, %again ]\n", bits);
  text += compute;
  text += fmt::format("  %pair = cmpxchg {0}{1} %p, {2} %seen, {2} %wanted {3}{4} {5}{6}\n", marker, pointer, bits,
                      scope, ordering, failure, align);
  text += fmt::format(
      "  %now = extractvalue {{ {0}, i1 }} %pair, 0\n  %done = extractvalue {{ {0}, i1 }} %pair, 1\n"
      "  br i1 %done, label %leave, label %again\nleave:\n",
      bits);
  text += floating ? fmt::format("  %result = bitcast {} %now to {}\n  ret {} %result\n}}\n", bits, type, type)
                   : fmt::format("  ret {} %now\n}}\n", type);
  return text;
}

}  // namespace

Respeller::Next Respeller::global(size_t at) {
  const std::string_view name = bare_name(text(at));
  if (!name.starts_with("llvm.")) return at + 1;
  if (name.starts_with(kAmdgcn)) {
    replace(at, at, with_name(text(at), name.substr(5)), Rule::amdgcn_intrinsic);
    strip_immarg_ = at < declaration_end_;
    return at + 1;
  }
  for (const Rename& rename : kRenames) {
    if (!name.starts_with(rename.newer)) continue;
    replace(at, at, with_name(text(at), fmt::format("{}{}", rename.known, name.substr(rename.newer.size()))),
            Rule::renamed_intrinsic);
    return at + 1;
  }
  if (is(at + 1, "(")) {
    if (name.starts_with("llvm.lifetime.")) lifetime(at + 1);
    if (name.starts_with("llvm.masked.")) masked(at + 1, name);
  }
  return at + 1;
}

void Respeller::lifetime(size_t open) {
  if (parts(open, closing(open)).size() != 1) return;
  insert_after(open, open < declaration_end_ ? "i64 immarg, " : "i64 -1, ", Rule::lifetime_size);
}

// The alignment was an operand after the pointer; since 22 it is the pointer's attribute, 1 when absent.
void Respeller::masked(size_t open, std::string_view name) {
  const bool loads = name.starts_with("llvm.masked.load.") || name.starts_with("llvm.masked.gather.");
  const bool stores = name.starts_with("llvm.masked.store.") || name.starts_with("llvm.masked.scatter.");
  if (!loads && !stores) return;
  const auto arguments = parts(open, closing(open));
  if (arguments.size() != 3) return;
  const auto [first, last] = arguments[loads ? 0 : 1];
  if (open < declaration_end_) {
    insert_after(last - 1, ", i32 immarg", Rule::masked_alignment);
    return;
  }
  std::string alignment = "1";
  for (size_t i = first; i + 1 < last; ++i) {
    if (!is(i, "align") || list_.tokens[i + 1].kind != TokenKind::number) continue;
    alignment = std::string(text(i + 1));
    replace(i, i + 1, "", Rule::masked_alignment);  // 19 does not allow it on a vector of pointers
    break;
  }
  insert_after(last - 1, fmt::format(", i32 {}", alignment), Rule::masked_alignment);
}

// %r = atomicrmw [volatile] OP PTRTYPE PTR, TYPE VALUE [syncscope("S")] ORDERING[, align N][, !md !n]*
Respeller::Next Respeller::atomicrmw(size_t at) {
  size_t op = at + 1;
  const bool is_volatile = is(op, "volatile");
  if (is_volatile) ++op;
  const std::string_view operation = text(op);
  const bool integer = operation == "usub_cond" || operation == "usub_sat";
  if (!integer && operation != "fmaximum" && operation != "fminimum") return at + 1;
  const auto unclear = [&] { return stop(at, "'atomicrmw {}' is not of the form that LLVM prints", operation); };

  const size_t pointer = op + 1;
  size_t pointer_value = pointer + 1;
  if (is(pointer_value, "addrspace") && is(pointer_value + 1, "(")) pointer_value = closing(pointer_value + 1) + 1;
  size_t comma = pointer_value;
  for (size_t depth = 0; comma < count() && (depth > 0 || !is(comma, ",")); ++comma) {
    if (is(comma, "(")) ++depth;
    if (is(comma, ")") && depth > 0) --depth;
  }
  const size_t type = comma + 1;
  size_t ordering = type + 1;
  while (ordering < count() && list_.tokens[ordering].line <= list_.tokens[at].line + 8 &&
         !is_ordering(text(ordering)) && !is(ordering, "syncscope"))
    ++ordering;
  if (!is(pointer, "ptr") || comma >= count() || ordering >= count() || ordering < type + 2) return unclear();
  const size_t value_end = ordering - 1;

  std::string scope;
  if (is(ordering, "syncscope") && is(ordering + 1, "(")) {
    const size_t close = closing(ordering + 1);
    scope = std::string(between(ordering, close)) + " ";
    ordering = close + 1;
  }
  if (!is_ordering(text(ordering))) return unclear();
  size_t last = ordering;
  std::string align;
  if (is(last + 1, ",") && is(last + 2, "align")) {
    align = fmt::format(", align {}", text(last + 3));
    last += 3;
  }
  const std::string_view type_name = text(type);
  const bool known =
      integer ? type_name.size() > 1 && type_name[0] == 'i'
              : type_name == "float" || type_name == "half" || type_name == "bfloat" || type_name == "double";
  if (!known)
    return stop(at, "'atomicrmw {}' on {}: only single integers and floats are supported", operation, type_name);
  if (align.empty()) {  // cmpxchg on the same type wants the same: LLVM's default is the type's size
    const std::string_view bits = integer                 ? type_name.substr(1)
                                  : type_name == "float"  ? "32"
                                  : type_name == "double" ? "64"
                                                          : "16";
    if (bits == "8") align = ", align 1";
    if (bits == "16") align = ", align 2";
    if (bits == "32") align = ", align 4";
    if (bits == "64") align = ", align 8";
  }

  const std::string_view pointer_type = between(pointer, pointer_value - 1);
  const std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", operation, pointer_type, type_name, scope, text(ordering),
                                      align, is_volatile);
  auto [found, added] = helpers_.try_emplace(key);
  if (added) {
    found->second = fmt::format("smelt.atomicrmw.{}.{}", operation, helpers_.size() - 1);
    appendix_ += compare_exchange_loop(found->second, operation, pointer_type, type_name, scope, text(ordering), align,
                                       is_volatile);
  }
  replace(at, last,
          fmt::format("call {} @{}({}, {})", type_name, found->second, between(pointer, comma - 1),
                      between(type, value_end)),
          Rule::atomicrmw_operation);
  return last + 1;
}

}  // namespace smelt::aot::input
