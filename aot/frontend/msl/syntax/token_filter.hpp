// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal to the C++ that Clang parses, token by token, between preprocessor and parser (docs/design/metal-front-end.md
// 5).
//
//   MSL                                   becomes
//   kernel, [[kernel]]                    annotate attribute "msl.kernel"
//   device, constant, threadgroup         the address-space attributes of target_info.cpp; thread: nothing
//   threadgroup T x[n]; in a function     the same and `static`: Clang has no automatic variables in a space;
//   constant T x[n] = ...; likewise       the same
//   a space behind a method's ')'         an attribute of our own that gives `this` the space (method_spaces.hpp)
//   constant T x[n] as a parameter        constant T *x: Clang has no space on an array parameter
//   [[buffer(0)]], [[host_name("k")]] ... annotate attributes "msl.buffer", ... with the arguments, GNU's but for
//   T* x [[id(0)]][3]                     T* x [[clang::annotate("msl.id", 0)]][3]
//   [[function_constant(3)]]              the same, and the variable becomes `extern`
//   1.0h, 1.0bf, 0.5                      half(1.0f), __bf16(1.0f), 0.5f: Metal has no double
//   c ? a : b, where one is no lvalue     each arm in ::__msl_arm(), which gives class values with a space by value
//   static_cast<T>                        ::__msl_cast<T>, which also converts half <-> bfloat
//   (T)x, T(x), where told to             ::__msl_cast_to<T>()->*x, ::__msl_cast<T>(x): see `casts` below
//   "text"                                "text"__msl, an array in space constant
//   __func__                              (*(::__msl_characters<sizeof(__func__)>*)(::size_t)&__func__), the same
//   v.xy, where it is read                v.__get_xy(), the getter of the property
//   is_function_constant_defined(c)       ::__smelt_function_constant_defined(&c)
//
// Only the user's tokens change; those of system headers pass. What is put in has the place of what it stands for, so
// that diagnostics point at the user's line and column.
#pragma once

#include "smelt/base/metal.hpp"

#include "clang/Basic/SourceLocation.h"
#include "clang/Lex/Token.h"

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace smelt::aot::msl {

/// What only the parser knows, from when it read the same tokens before: such a source is read twice. Places, as raw
/// encodings.
struct Learnt {
  using Places = std::set<clang::SourceLocation::UIntTy>;
  Places casts;    ///< between half and bfloat, which Clang refuses: which T in `T(x)` are types, and half or bfloat?
  Places choices;  ///< '?' of class values in two spaces, or of two types that Clang does not join
  size_t size() const { return casts.size() + choices.size(); }
};

class TokenFilter {
 public:
  /// `learnt`: borrowed.
  TokenFilter(clang::Preprocessor& preprocessor, const Learnt& learnt, Version language)
      : preprocessor_(preprocessor), learnt_(learnt), language_(language) {}

  /// Lexes the main file to its end and puts the translation in front of the parser.
  void run();

  /// The words behind `thread`, as raw encodings of expansion places, sorted: the tree does not show it any more.
  std::vector<clang::SourceLocation::UIntTy> take_thread_words();

 private:
  using Token = clang::Token;

  // The main loop and what it is made of: token_filter.cpp.
  void read_all();
  void step();
  bool in_system_header(clang::SourceLocation at);
  bool is_word(size_t at, std::string_view word) const;
  size_t skip_balanced(size_t at) const;
  size_t skip_attributes(size_t at) const;
  void put(std::string_view text, clang::SourceLocation at);
  void copy() { out_.push_back(in_[at_++]); }

  // Declarations: token_filter_declarations.cpp.
  bool word(std::string_view name);
  void space(std::string_view name);
  bool declares_object(size_t at) const;
  bool declares_function(size_t at) const;
  bool at_statement() const;
  bool in_declaration() const;
  bool becomes_static(std::string_view space) const;
  void find_array_parameter();
  bool has_function_constant(size_t at) const;
  bool at_program_scope() const { return brackets_.empty() || brackets_.back() == Bracket::of_namespace; }
  bool hardware_variable();
  void refuse_resource_variable();

  void refuse_before(std::string_view word);
  bool unsupported_word();

  // Spaces of methods: token_filter_methods.cpp.
  bool is_space_word(size_t at) const;
  bool is_object_data(size_t at) const;
  bool is_method_qualifier() const;
  size_t last_parameter_list() const;
  void method_space();

  // Attributes: token_filter_attributes.cpp.
  bool attribute_list();
  bool is_inside_declarator(size_t at, size_t end) const;
  void one_attribute(std::string_view name, size_t open, size_t close, clang::SourceLocation at, bool is_inside);

  // Expressions: token_filter_expressions.cpp.
  bool number();
  bool literal();
  void skip_literals();
  bool cast();
  bool conditional();
  void count_brackets(const clang::Token& token);
  void find_own_swizzles();
  bool swizzle();
  bool is_library_swizzle(size_t at) const;
  bool is_simple_arm(size_t at) const;
  void open_arm(clang::SourceLocation at, bool is_false_arm, bool by_value);
  void close_arm(clang::SourceLocation at);

  // Which arms are values by their tokens: token_filter_arms.cpp.
  void find_type_names();
  bool has_value_arm(size_t question) const;
  size_t end_of_arm(size_t at) const;
  bool is_value(size_t begin, size_t end) const;
  size_t skip_type(size_t at, size_t end) const;

  struct Arm {
    int depth;
    bool is_false_arm;
    bool by_value;
    bool is_wrapped;
  };
  enum class Bracket : unsigned char { parenthesis, square, of_class, of_namespace, of_code };
  Bracket kind_of_brace() const;

  clang::Preprocessor& preprocessor_;
  const Learnt& learnt_;
  Version language_;
  std::vector<Token> in_, out_;
  size_t plain_literals_until_ = 0;  ///< literals before this token are the compiler's, not the program's
  size_t at_ = 0;
  int depth_ = 0;                  ///< of brackets of all kinds
  std::vector<Bracket> brackets_;  ///< the open ones
  std::vector<Arm> arms_;
  size_t inside_declarator_until_ = 0;  ///< where the last attribute ended that stood between a name and its bounds
  bool in_function_constant_ = false;   ///< its index may be a name; elsewhere that is a condition
  std::vector<clang::SourceLocation::UIntTy> thread_words_;
  std::set<std::string> own_swizzles_, type_names_;
  std::unordered_map<size_t, std::string_view> put_before_;
  std::unordered_map<size_t, size_t> skip_to_;
  std::unordered_map<std::string, std::vector<Token>> fragments_;
  clang::FileID last_file_;
  bool last_is_system_ = false;
};

}  // namespace smelt::aot::msl
