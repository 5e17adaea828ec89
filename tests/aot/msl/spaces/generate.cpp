// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>

namespace smelt::test {
namespace {

enum class Space : uint8_t { thread, device, constant, threadgroup };
constexpr std::array<const char*, 4> kWords = {"thread", "device", "constant", "threadgroup"};
const char* word_of(Space space) {
  return kWords[static_cast<size_t>(space)];
}

/// How a method is written and called. All take an int and give one, but for `at`, `assign` and conversions.
enum class Kind : uint8_t { named, call, subscript, plus, negate, equal, conversion, at, assign };

/// What a variant does besides saying its number: it calls another method of its own object, or of a member.
struct Inner {
  size_t method = 0;
  bool of_member = false;  ///< of the member `in`
  unsigned how = 0;        ///< "m(1)", "this->m(1)", "(*this).m(1)", or on a copy of the object
};

struct Variant {
  std::optional<Space> space;  ///< none: for the thread, or for any where no variant of the name has one
  bool is_const = false;
  bool is_outside = false;  ///< defined out of the class
  bool qualifier_first = false;
  bool trailing_result = false;
  int number = 0;
  Space from = Space::thread;  ///< assign: of the other object
  std::optional<Inner> inner;
};

struct Method {
  Kind kind = Kind::named;
  std::string name;
  bool is_template = false;
  std::vector<Variant> variants;

  bool has_spaces() const {
    for (const Variant& one : variants)
      if (one.space) return true;
    return false;
  }
};

struct Class {
  std::string name;
  bool is_template = false;
  std::optional<size_t> base, member;
  bool brings_names = false;  ///< using Base::name of what it hides
  std::vector<Method> methods;

  std::string type() const { return is_template ? name + "<int>" : name; }
};

struct Object {
  Space space;
  bool is_const;
};

/// A class whose constructors have variants: for the thread and for constant memory, or one that names no space. What
/// makes an object makes its base and its member where the object lies.
struct Maker {
  std::string name;
  std::optional<size_t> base, member;
  bool is_aggregate = false;  ///< no constructor of its own; then it has no base
  bool has_spaces = false;
  bool by_default = false;  ///< the member has its value by its declaration, not by the constructor
  int for_thread = 0, for_constant = 0;

  bool differs() const { return has_spaces && for_thread != for_constant; }
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  SpacesProgram run() {
    const size_t count = 3 + pick(3);
    for (size_t i = 0; i < count; ++i) classes_.push_back(make_class(i));
    const size_t makers = 2 + pick(4);
    for (size_t i = 0; i < makers; ++i) makers_.push_back(make_maker(i));
    write_classes();
    write_makers();
    write_kernel();
    return std::move(program_);
  }

 private:
  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  bool chance(unsigned percent) { return pick(100) < percent; }

  // ---- The classes ----

  Class make_class(size_t index) {
    Class made;
    made.name = fmt::format("K{}", index);
    made.is_template = chance(40);
    if (index > 0 && chance(50)) made.base = pick(index);
    if (index > 0 && chance(60)) made.member = pick(index);
    made.brings_names = made.base && chance(50);
    std::set<std::string> taken;
    const size_t count = 2 + pick(4);
    for (size_t i = 0; i < count; ++i) {
      Method method = make_method(made);
      if (taken.insert(method.name).second) made.methods.push_back(std::move(method));
    }
    return made;
  }

  Method make_method(const Class& owner) {
    Method made;
    made.kind = static_cast<Kind>(pick(14) < 5 ? 0 : 1 + pick(8));
    constexpr const char* kNames[] = {"",           "operator()",   "operator[]", "operator+", "operator-",
                                      "operator==", "operator int", "at",         "operator="};
    made.name = made.kind == Kind::named ? fmt::format("m{}", pick(4)) : kNames[static_cast<size_t>(made.kind)];
    made.is_template = made.kind == Kind::named && chance(25);
    if (made.kind == Kind::assign) {
      for (const Space to : {Space::thread, Space::device, Space::threadgroup})
        if (to == Space::thread || chance(70))
          for (const Space from : {Space::thread, Space::device, Space::constant, Space::threadgroup})
            made.variants.push_back(make_variant(to, false, from));
      return made;
    }
    const bool may_name_none = made.kind != Kind::at;
    if (may_name_none && chance(15)) {  // the name has no variants
      made.variants.push_back(make_variant(std::nullopt, chance(70)));
    } else {
      std::vector<std::optional<Space>> spaces;
      for (const Space space : {Space::thread, Space::device, Space::constant, Space::threadgroup})
        if (chance(75)) spaces.emplace_back(space);
      if (spaces.empty()) spaces.emplace_back(Space::device);
      if (may_name_none && spaces[0] == Space::thread && chance(40)) spaces[0] = std::nullopt;
      for (const auto& space : spaces) {
        const unsigned which = space == Space::constant ? 1 : static_cast<unsigned>(pick(3));
        if (which != 1) made.variants.push_back(make_variant(space, false));
        if (which != 0) made.variants.push_back(make_variant(space, true));
      }
    }
    for (Variant& variant : made.variants)
      if (made.kind != Kind::at && chance(45)) variant.inner = make_inner(made, owner, variant);
    return made;
  }

  Variant make_variant(std::optional<Space> space, bool is_const, Space from = Space::thread) {
    Variant made;
    made.space = space;
    made.is_const = is_const;
    made.is_outside = chance(25);
    made.qualifier_first = chance(40);
    made.trailing_result = chance(15);
    made.from = from;
    made.number = ++numbers_;
    return made;
  }

  /// Of what is there already: no method calls itself, by whatever way.
  std::optional<Inner> make_inner(const Method& caller, const Class& owner, const Variant& variant) {
    Inner made;
    made.of_member = owner.member && chance(50);
    const Class& where = made.of_member ? classes_[*owner.member] : owner;
    if (where.methods.empty()) return std::nullopt;
    made.method = pick(where.methods.size());
    const Method& called = where.methods[made.method];
    if (called.kind == Kind::assign || called.name == caller.name || is_brought(where, called)) return std::nullopt;
    made.how = static_cast<unsigned>(pick(4));
    const Object object = {made.how == 3 ? Space::thread : variant.space.value_or(Space::thread),
                           made.how != 3 && variant.is_const};
    if (!value_of(where, called, object, false)) return std::nullopt;
    return made;
  }

  /// Whether the class has variants of the same name from its base, too.
  bool is_brought(const Class& owner, const Method& method) const { return brought(owner, method) != nullptr; }
  const Method* brought(const Class& owner, const Method& method) const {
    if (!owner.brings_names || method.kind == Kind::assign || method.kind == Kind::conversion) return nullptr;
    for (const Method& other : classes_[*owner.base].methods)
      if (other.name == method.name) return &other;
    return nullptr;
  }

  // ---- The model ----

  /// The variant that the object finds; null: none.
  static const Variant* find(const Method& method, Object object) {
    const Variant* found = nullptr;
    const bool takes_any = !method.has_spaces();
    for (const Variant& one : method.variants) {
      if (!takes_any && one.space.value_or(Space::thread) != object.space) continue;
      if (object.is_const && !one.is_const) continue;
      if (found == nullptr || (found->is_const && !one.is_const)) found = &one;
    }
    return found;
  }

  /// What a call gives; nothing: it must be refused. `any`: the object may be in any space, as that of a method without
  /// one.
  static constexpr int kFactor = 7;
  std::optional<int64_t> value_of(const Class& owner, const Method& method, Object object, bool any) const {
    const Variant* found = find(method, object);
    if (found == nullptr) return std::nullopt;
    if (method.kind == Kind::at) return static_cast<int64_t>(object.space) + 1;
    if (!found->inner) return found->number;
    const Inner& inner = *found->inner;
    const Class& where = inner.of_member ? classes_[*owner.member] : owner;
    const Method& called = where.methods[inner.method];
    const bool on_copy = inner.how == 3;
    // `this` of a method without a space is the thread's; if the object is elsewhere, a variant would be the wrong one.
    const bool elsewhere = !on_copy && !method.has_spaces() && (any || object.space != Space::thread);
    if (elsewhere && called.has_spaces()) return std::nullopt;
    const Object own = {on_copy ? Space::thread : found->space.value_or(Space::thread), !on_copy && found->is_const};
    const auto value = value_of(where, called, own, elsewhere);
    if (!value) return std::nullopt;
    return (found->number + kFactor * *value) % 1000003;
  }

  // ---- Text of the classes ----

  std::string expression(const Method& method, const std::string& object, bool is_pointer = false) const {
    const std::string value = is_pointer ? "(*" + object + ")" : object;
    switch (method.kind) {
      case Kind::named:
        return fmt::format("{}{}{}(1)", object, is_pointer ? "->" : ".", method.name);
      case Kind::at:
        return fmt::format("space_of({}{}at())", object, is_pointer ? "->" : ".");
      case Kind::call:
        return value + "(1)";
      case Kind::subscript:
        return value + "[1]";
      case Kind::plus:
        return "(" + value + " + 1)";
      case Kind::negate:
        return "(-" + value + ")";
      case Kind::equal:
        return "(" + value + " == 1)";
      case Kind::conversion:
        return "static_cast<int>(" + value + ")";
      case Kind::assign:
        break;
    }
    return {};
  }

  std::string inner_text(const Class& owner, const Variant& variant) const {
    const Inner& inner = *variant.inner;
    const Class& where = inner.of_member ? classes_[*owner.member] : owner;
    const Method& called = where.methods[inner.method];
    const std::string own = inner.of_member ? "in" : "(*this)";
    switch (inner.how) {
      case 0: {
        if (inner.of_member || called.kind != Kind::named) return expression(called, own);
        return called.name + "(1)";
      }
      case 1:
        return inner.of_member ? expression(called, "this->in") : expression(called, "this", true);
      case 2:
        return expression(called, inner.of_member ? "((*this).in)" : "(*this)");
      default:
        return expression(called, fmt::format("{}({})", where.type(), own));
    }
  }

  std::string declarator(const Class& owner, const Method& method, const Variant& variant, bool inside) const {
    const std::string scope = inside ? "" : (owner.is_template ? owner.name + "<T>::" : owner.name + "::");
    const std::string space = variant.space ? word_of(*variant.space) : "";
    const std::string constness = variant.is_const ? "const" : "";
    std::string behind = variant.qualifier_first ? space + " " + constness : constness + " " + space;
    std::string result = "int", parameters = "int x";
    if (method.is_template) parameters = "U x";
    if (method.kind == Kind::at)
      result = fmt::format("{}{} int&", variant.is_const && *variant.space != Space::constant ? "const " : "",
                           word_of(*variant.space));
    if (method.kind == Kind::at || method.kind == Kind::negate || method.kind == Kind::conversion) parameters = "";
    if (method.kind == Kind::assign) {
      const std::string type = owner.is_template ? owner.name + "<T>" : owner.name;
      result = fmt::format("{} {}&", word_of(*variant.space), type);
      parameters = fmt::format("{} const {}& o", word_of(variant.from), type);
    }
    if (method.kind == Kind::conversion)
      result = "";
    else if (variant.trailing_result && !result.empty() && method.kind != Kind::assign) {
      behind += " -> " + result;
      result = "auto";
    }
    return fmt::format("{}{} {}{}({}) {}", method.is_template ? "template <typename U> " : "", result, scope,
                       method.name, parameters, behind);
  }

  std::string body(const Class& owner, const Method& method, const Variant& variant) const {
    if (method.kind == Kind::at) return "{ return v; }";
    if (method.kind == Kind::assign) return fmt::format("{{ v = {} + 0 * o.v; return *this; }}", variant.number);
    if (!variant.inner) return fmt::format("{{ return {}; }}", variant.number);
    return fmt::format("{{ return ({} + {} * {}) % 1000003; }}", variant.number, kFactor, inner_text(owner, variant));
  }

  void write_classes() {
    std::string& text = program_.text;
    text += "#include <metal_stdlib>\nusing namespace metal;\n";
    for (size_t i = 0; i < kWords.size(); ++i)
      text += fmt::format("int space_of({} const int& x) {{ return {}; }}\n", kWords[i], i + 1);
    for (const Class& one : classes_) {
      if (one.is_template) text += "template <typename T> ";
      text += "struct " + one.name;
      if (one.base) text += " : " + classes_[*one.base].type();
      text += " {\n  int v;\n";
      if (one.member) text += fmt::format("  {} in;\n", classes_[*one.member].type());
      std::set<std::string> names;
      for (const Method& method : one.methods) names.insert(method.name);
      if (one.brings_names)
        for (const Method& method : classes_[*one.base].methods)
          if (names.count(method.name) != 0 && method.kind != Kind::assign && method.kind != Kind::conversion)
            text += fmt::format("  using {}::{};\n", classes_[*one.base].type(), method.name);
      std::string outside;
      for (const Method& method : one.methods)
        for (const Variant& variant : method.variants) {
          const std::string code = body(one, method, variant);
          if (!variant.is_outside) {
            text += fmt::format("  {} {}\n", declarator(one, method, variant, true), code);
            continue;
          }
          text += fmt::format("  {};\n", declarator(one, method, variant, true));
          outside += fmt::format("{}{} {}\n", one.is_template ? "template <typename T> " : "",
                                 declarator(one, method, variant, false), code);
        }
      text += "};\n" + outside;
    }
  }

  // ---- Constructors ----

  Maker make_maker(size_t index) {
    Maker made;
    made.name = fmt::format("M{}", index);
    if (index > 0 && chance(60)) made.member = pick(index);
    made.is_aggregate = made.member && chance(30);
    if (index > 0 && !made.is_aggregate && chance(40)) made.base = pick(index);
    made.by_default = chance(30);
    made.for_thread = made.for_constant = ++numbers_;
    if (made.is_aggregate) return made;
    made.has_spaces = chance(60);
    if (made.has_spaces && chance(60)) made.for_constant = ++numbers_;
    return made;
  }

  /// Those that must be refused as they stand are in no program that must compile.
  void write_makers() {
    for (const Maker& one : makers_)
      if (!is_refused(one)) program_.text += definition(one);
  }

  std::string definition(const Maker& one) const {
    std::string text = "struct " + one.name;
    if (one.base) text += " : " + makers_[*one.base].name;
    text += " {\n";
    const bool has_value = one.by_default && !one.is_aggregate;
    if (one.member) text += fmt::format("  {} in{};\n", makers_[*one.member].name, has_value ? "{1}" : "");
    text += "  int w;\n";
    const auto constructor = [&](const char* space, int number) {
      std::string made;
      if (one.base) made = makers_[*one.base].name + (makers_[*one.base].is_aggregate ? "{1}, " : "(1), ");
      if (one.member && !has_value) made += "in{1}, ";
      text += fmt::format("  constexpr {}(int x) {} : {}w({}) {{}}\n", one.name, space, made, number);
    };
    if (!one.is_aggregate) constructor(one.has_spaces ? "thread" : "", one.for_thread);
    if (one.has_spaces) constructor("constant", one.for_constant);
    text += "};\n";
    return text;
  }

  /// A constructor for constant memory whose parts would be made by others: an error wherever it is made.
  bool is_refused(const Maker& maker) const {
    if (maker.has_spaces && has_part_that_differs(maker)) return true;
    for (const auto& part : {maker.base, maker.member})
      if (part && is_refused(makers_[*part])) return true;
    return false;
  }

  /// Whether a part of the object would have another value, had it been made in constant memory.
  bool has_part_that_differs(const Maker& maker) const {
    for (const auto& part : {maker.base, maker.member})
      if (part && (makers_[*part].differs() || has_part_that_differs(makers_[*part]))) return true;
    return false;
  }

  struct Made {
    std::string text;
    int value;
  };
  /// The numbers of an object and of its parts; `object` ends with "." or with a class and "::".
  void values_of(const Maker& maker, const std::string& object, bool in_constant, std::vector<Made>& made) const {
    if (!maker.is_aggregate) made.push_back({object + "w", in_constant ? maker.for_constant : maker.for_thread});
    if (maker.member) values_of(makers_[*maker.member], object + "in.", in_constant, made);
    if (maker.base) {
      const std::string whole = object.substr(0, object.rfind('.') + 1);
      values_of(makers_[*maker.base], whole + makers_[*maker.base].name + "::", in_constant, made);
    }
  }

  void made_objects(std::string& before, std::string& calls) {
    for (const Maker& one : makers_) {
      constexpr const char* kForms[] = {"{}(1)", "{}{{1}}", "{} = {{1}}", "{}[2] = {{1, 2}}"};
      const size_t form = one.is_aggregate ? 1 + pick(2) : pick(4);
      const std::string name = "kMade" + one.name;
      const std::string text =
          fmt::format("constant {} {};\n", one.name, fmt::format(fmt::runtime(kForms[form]), name));
      const std::string object = form == 3 ? name + "[1]" : name;
      if (is_refused(one)) {
        std::string all;
        for (const Maker& other : makers_)
          if (is_refused(other)) all += definition(other);
        program_.refused.push_back(program_.text + all + "kernel void k(device int* out) { out[0] = 1; }\n");
        continue;
      }
      std::vector<Made> made;
      values_of(one, "made" + one.name + ".", false, made);
      calls += fmt::format("  const {0} made{0}{{1}};\n", one.name);
      if (has_part_that_differs(one)) {
        program_.refused.push_back(program_.text + text + "kernel void k(device int* out) { out[0] = " + object +
                                   ".w; }\n");
      } else {
        before += text;
        values_of(one, object + ".", true, made);
      }
      for (const Made& value : made) write_call(calls, value.text, value.value);
    }
  }

  // ---- Calls by way of others ----

  /// Functions that hand an object on, whose parameter is one in the thread's memory: by_way0, by_way1, ... The last
  /// one's name.
  std::string write_way(std::string& helpers, const std::string& type, const std::string& inner) {
    std::string last = fmt::format("way{}", ways_++);
    helpers += fmt::format("int {}(thread const {}& x) {{ return {}; }}\n", last, type, inner);
    for (size_t depth = pick(3); depth > 0; --depth) {
      const std::string next = fmt::format("way{}", ways_++);
      const std::string head = fmt::format("int {}(thread const {}& x)", next, type);
      switch (pick(7)) {
        case 0:
          helpers += fmt::format("{} {{ return {}(x); }}\n", head, last);
          break;
        case 1:
          helpers += fmt::format("{} {{ thread const {}& r = x; return {}(r); }}\n", head, type, last);
          break;
        case 2:
          helpers += fmt::format("{} {{ thread const {}* p = &x; return {}(p[0]); }}\n", head, type, last);
          break;
        case 3:
          helpers += fmt::format("{} {{ return [&] {{ return {}(x); }}(); }}\n", head, last);
          break;
        case 4:
          helpers += fmt::format("thread const {0}& given{1}(thread const {0}& x) {{ return x; }}\n", type, next);
          helpers += fmt::format("{} {{ return {}(given{}(x)); }}\n", head, last, next);
          break;
        case 5:
          helpers += fmt::format("struct Held{} {{ thread const {}& x; int get() const {{ return {}(x); }} }};\n", next,
                                 type, last);
          helpers += fmt::format("{} {{ Held{} held{{x}}; return held.get(); }}\n", head, next);
          break;
        default:
          helpers +=
              fmt::format("template <typename T> int generic{}(thread const T& x) {{ return {}(x); }}\n", next, last);
          helpers += fmt::format("{} {{ return generic{}(x); }}\n", head, next);
      }
      last = next;
    }
    return last;
  }

  /// An object of the thread finds the thread's variants by whatever way; one of another space must be refused, unless
  /// the space makes no difference.
  void ways(std::string& helpers, std::string& calls) {
    unsigned refused = 0;
    for (unsigned tries = 0; tries < 8; ++tries) {
      const size_t index = pick(classes_.size());
      const auto found = find_method(classes_[index]);
      if (!found || found->method->kind == Kind::assign || is_brought(*found->owner, *found->method)) continue;
      const Method& method = *found->method;
      const auto value = value_of(*found->owner, method, {Space::thread, true}, false);
      const bool is_built_in = method.kind == Kind::plus || method.kind == Kind::negate || method.kind == Kind::equal;
      if (!value || (is_built_in && !method.has_spaces())) continue;
      std::string more;
      const std::string way = write_way(more, classes_[index].type(), expression(method, "x"));
      const Place place = make_place(index);
      const std::string text = fmt::format("{}({}{})", way, place.is_pointer ? "*" : "", place.text);
      const bool makes_no_difference =
          !method.has_spaces() && value_of(*found->owner, method, {Space::thread, true}, true) == value;
      helpers += more;
      if (place.object.space == Space::thread || makes_no_difference)
        write_call(calls, text, *value);
      else if (refused < 2)
        refused_ways_.push_back({more, text}), ++refused;
    }
  }

  /// Assignments of a whole whose member has variants: member by member, in the thread's memory.
  void whole_assignments(std::string& calls) {
    const auto assigns = [&](const Class& type) -> const Method* {
      for (const Method& method : type.methods)
        if (method.kind == Kind::assign) return &method;
      return nullptr;
    };
    for (size_t i = 0; i < classes_.size(); ++i) {
      const Class& whole = classes_[i];
      if (!whole.member || whole.base || assigns(whole) != nullptr) continue;
      const Method* method = assigns(classes_[*whole.member]);
      if (method == nullptr) continue;
      for (const Variant& one : method->variants) {
        if (*one.space != Space::thread) continue;
        if (one.from == Space::thread) {
          calls += fmt::format("  t{0} = ct{0};\n", i);
          write_call(calls, fmt::format("t{}.in.v", i), one.number);
        } else if (one.from == Space::device) {
          refused_ways_.push_back({"", fmt::format("((t{0} = *d{0}).in.v)", i)});
        }
      }
    }
  }

  // ---- Calls ----

  /// What the class and its bases have under a name; derived names hide, unless they are brought along.
  struct Found {
    const Class* owner;
    const Method* method;
  };

  /// The model's answer, variants from the base included. `may_ask` becomes false where what Metal says is not known.
  std::optional<int64_t> value_in(const Found& found, Object object, bool& may_ask) const {
    const Method& own = *found.method;
    const Method* more = brought(*found.owner, own);
    if (more == nullptr) return value_of(*found.owner, own, object, false);
    const Class& base = classes_[*found.owner->base];
    const auto names_none = [](const Variant& one) { return !one.space; };
    const bool is_plain = std::none_of(own.variants.begin(), own.variants.end(), names_none) &&
                          std::none_of(more->variants.begin(), more->variants.end(), names_none);
    may_ask = is_plain && !is_brought(base, *more) && own.is_template == more->is_template;
    if (!may_ask) return std::nullopt;
    const Variant* mine = find(own, object);
    const Variant* theirs = find(*more, object);
    // An equal variant of the class hides the base's; a better one is taken wherever it is from.
    const bool is_theirs = theirs != nullptr && (mine == nullptr || (mine->is_const && !theirs->is_const));
    return is_theirs ? value_of(base, *more, object, false) : value_of(*found.owner, own, object, false);
  }

  /// An object of the class, in words, and where it lies.
  struct Place {
    std::string text;
    bool is_pointer = false;
    Object object;
  };

  Place make_place(size_t index) {
    const std::string type = classes_[index].type();
    const std::string n = std::to_string(index);
    switch (pick(17)) {
      case 0:
        return {"t" + n, false, {Space::thread, false}};
      case 1:
        return {"ct" + n, false, {Space::thread, true}};
      case 2:
        return {"rt" + n, false, {Space::thread, false}};
      case 3:
        return {"(&t" + n + ")", true, {Space::thread, false}};
      case 4:
        return {fmt::format("{}(d{}[1])", type, n), false, {Space::thread, false}};
      case 5:
        return {"d" + n, true, {Space::device, false}};
      case 6:
        return {"d" + n + "[1]", false, {Space::device, false}};
      case 7:
        return {"rd" + n, false, {Space::device, false}};
      case 8:
        return {"cd" + n, true, {Space::device, true}};
      case 9:
        return {"crd" + n, false, {Space::device, true}};
      case 10:
        return {"c" + n, false, {Space::constant, true}};
      case 11:
        return {"(&c" + n + ")", true, {Space::constant, true}};
      case 12:
        return {"kProgram" + n, false, {Space::constant, true}};
      case 13:
        return {"g" + n, false, {Space::threadgroup, false}};
      case 14:
        return {"ga" + n + "[1]", false, {Space::threadgroup, false}};
      case 15:
        return {"crg" + n, false, {Space::threadgroup, true}};
      default:
        return {fmt::format("(*(d{0}->v != 0 ? d{0} : d{0} + 1))", n), false, {Space::device, false}};
    }
  }

  /// A method that objects of the class have, own or inherited, and the class that it is of.
  std::optional<Found> find_method(const Class& type) {
    std::vector<Found> all;
    std::set<std::string> hidden;
    for (const Class* one = &type;; one = &classes_[*one->base]) {
      for (const Method& method : one->methods)
        if (hidden.count(method.name) == 0 && !(one != &type && method.kind == Kind::assign))
          all.push_back({one, &method});
      for (const Method& method : one->methods) hidden.insert(method.name);
      if (!one->base) break;
    }
    if (all.empty()) return std::nullopt;
    return all[pick(all.size())];
  }

  void write_call(std::string& kernel, const std::string& text, int64_t value) {
    kernel += fmt::format("  out[{}] = {};\n", program_.expected.size(), text);
    program_.expected.push_back(static_cast<int32_t>(value));
    program_.calls.push_back(text);
  }

  std::string kernel_head() const {
    std::string head = "kernel void k(device int* out [[buffer(0)]]";
    std::string locals;
    unsigned slot = 1;
    for (size_t i = 0; i < classes_.size(); ++i) {
      const std::string type = classes_[i].type();
      head += fmt::format(
          ",\n  device {0}* d{1} [[buffer({2})]], const device {0}* cd{1} [[buffer({3})]], constant {0}& c{1} "
          "[[buffer({4})]]",
          type, i, slot, slot + 1, slot + 2);
      slot += 3;
      locals += fmt::format(
          "  {0} t{1} = {{}}; const {0} ct{1} = t{1}; thread {0}& rt{1} = t{1}; device {0}& rd{1} = *d{1}; const "
          "device {0}& crd{1} = *cd{1};\n",
          type, i);
      locals += fmt::format("  threadgroup {0} g{1}; threadgroup {0} ga{1}[2]; const threadgroup {0}& crg{1} = g{1};\n",
                            type, i);
    }
    return head + ") {\n" + locals;
  }

  void write_kernel() {
    std::string before;
    for (size_t i = 0; i < classes_.size(); ++i)
      before += fmt::format("constant {} kProgram{} = {{}};\n", classes_[i].type(), i);
    const std::string head = program_.text + before + kernel_head();
    std::string calls;
    unsigned helpers = 0;
    std::string helper_text;
    for (unsigned tries = 0; tries < 160 && program_.expected.size() < 90; ++tries) {
      const size_t index = pick(classes_.size());
      const auto found = find_method(classes_[index]);
      if (!found) continue;
      const Place place = make_place(index);
      const Method& method = *found->method;
      if (method.kind == Kind::assign) {
        assign(calls, index, method, place);
        continue;
      }
      const std::string text = expression(method, place.text, place.is_pointer);
      bool may_ask = true;
      const auto value = value_in(*found, place.object, may_ask);
      if (!value) {
        // An operator that no variant takes may still be the built-in one, on what a conversion gives.
        may_ask &= method.kind != Kind::plus && method.kind != Kind::negate && method.kind != Kind::equal;
        if (may_ask && program_.refused.size() < 2 && chance(30))
          program_.refused.push_back(head + "  out[0] = " + text + ";\n}\n");
        continue;
      }
      switch (pick(6)) {
        case 0:
          write_call(calls, fmt::format("[&] {{ return {}; }}()", text), *value);
          break;
        case 1:
          if (place.is_pointer) {
            // By way of a template, whose parameter brings the space along.
            helper_text += fmt::format("template <typename P> int by_way_of{}(P p) {{ return {}; }}\n", helpers,
                                       expression(method, "p", true));
            write_call(calls, fmt::format("by_way_of{}({})", helpers++, place.text), *value);
            break;
          }
          [[fallthrough]];
        case 2:
          if (!place.is_pointer && place.object.space != Space::thread) {
            calls += fmt::format("  auto& a{} = {};\n", program_.expected.size(), place.text);
            write_call(calls, expression(method, fmt::format("a{}", program_.expected.size())), *value);
            break;
          }
          [[fallthrough]];
        default:
          write_call(calls, text, *value);
      }
    }
    member_calls(calls);
    ways(helper_text, calls);
    whole_assignments(calls);
    made_objects(before, calls);
    for (const auto& [functions, call] : refused_ways_)
      program_.refused.push_back(program_.text + before + functions + kernel_head() + "  out[0] = " + call + ";\n}\n");
    program_.buffers = static_cast<unsigned>(1 + 3 * classes_.size());
    program_.text = program_.text + before + helper_text + kernel_head() + calls + "}\n";
  }

  /// x.in.m(), x.in.in.m(): a member lies where its object does.
  void member_calls(std::string& calls) {
    for (unsigned tries = 0; tries < 40; ++tries) {
      const size_t index = pick(classes_.size());
      if (!classes_[index].member) continue;
      Place place = make_place(index);
      std::string text = place.text + (place.is_pointer ? "->in" : ".in");
      size_t inner = *classes_[index].member;
      if (classes_[inner].member && chance(50)) {
        text += ".in";
        inner = *classes_[inner].member;
      }
      const auto found = find_method(classes_[inner]);
      if (!found) continue;
      if (found->method->kind == Kind::assign) continue;
      bool may_ask = true;
      const auto value = value_in(*found, place.object, may_ask);
      if (value) write_call(calls, expression(*found->method, text), *value);
    }
  }

  void assign(std::string& calls, size_t index, const Method& method, const Place& to) {
    if (to.object.is_const || to.is_pointer || to.text.back() == ')') return;
    const Place from = make_place(index);
    for (const Variant& one : method.variants)
      if (*one.space == to.object.space && one.from == from.object.space) {
        const std::string other = from.is_pointer ? "*" + from.text : from.text;
        calls += fmt::format("  {} = {};\n", to.text, other);
        return write_call(calls, to.text + ".v", one.number);
      }
  }

  std::mt19937_64 random_;
  int numbers_ = 0;
  unsigned ways_ = 0;
  std::vector<Class> classes_;
  std::vector<Maker> makers_;
  std::vector<std::pair<std::string, std::string>> refused_ways_;  ///< functions, and a call of the last of them
  SpacesProgram program_;
};

}  // namespace

SpacesProgram make_spaces_program(uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace smelt::test
