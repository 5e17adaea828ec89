// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's messages as Metal's: types and spaces in Metal's words, places in the user's files only.
#pragma once

#include "smelt/aot/target.hpp"

#include "msl/syntax/token_filter.hpp"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceLocation.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::msl {

/// Collects messages in order. One that points into the standard library's headers is moved to the user's line that led
/// there; notes into them are dropped.
class DiagnosticCollector final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;

  /// The main file's name in messages.
  void set_main_name(std::string name) { main_name_ = std::move(name); }
  /// What the source is compiled as.
  void set_language(const Version& language) { language_ = language; }

  /// No more messages will come; call before reading the results.
  void close() { finish_message(); }
  const std::vector<std::string>& warnings() const { return warnings_; }
  size_t error_count() const { return errors_.size(); }
  /// What Clang refused and Metal has, so that it is read again in other words.
  const Learnt& refused() const { return refused_; }
  /// All errors with their notes: "x.metal:3:5: error: ..." and the source line below. Between them the warnings of
  /// attributes that nobody knows.
  std::string errors() const;
  /// One of that form, for what is found out later.
  std::string error_at(const clang::SourceManager& sources, clang::SourceLocation location,
                       std::string_view text) const;

 private:
  struct Message {
    std::string place, text, snippet, stack;
    unsigned file = 0, line = 0, column = 0;  ///< for the order; file: by first appearance
    bool is_error = false;
    bool is_attribute = false;  ///< about an attribute that nobody knows
    std::string_view feature;   ///< that is not supported: told once for each
    bool wants_place = false;   ///< it pointed into a header; the next note of the user's has the place
    std::vector<std::string> notes;
  };
  void finish_message();  ///< files the message that waited for its notes
  struct Place {
    std::string text, snippet;
    std::string stack;  ///< "In file included from x.metal:3:", a line each; empty in the main file
    std::string file;
    unsigned line = 0, column = 0;
    bool is_user = false;
  };
  Place place_of(const clang::Diagnostic& diagnostic) const;
  Place place_of(const clang::SourceManager& sources, clang::SourceLocation location) const;
  std::string include_stack(const clang::SourceManager& sources, const clang::PresumedLoc& place) const;
  void set_place(Message& message, Place place);

  std::string main_name_;
  Version language_;
  Message last_;
  bool has_last_ = false;
  struct Filed {
    unsigned file, line, column;
    bool is_error;
    std::string text, stack;
  };
  std::vector<Filed> errors_, attributes_;
  std::set<std::string_view> features_;  ///< told already
  std::string stack_of_warnings_;
  std::vector<std::string> warnings_, files_;
  Learnt refused_;
};

/// "__attribute__((opencl_global_device)) metal::vec<float, 4>" -> "device float4", and the like.
std::string in_metal_words(std::string text);

}  // namespace smelt::aot::msl
