// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translation units: what Apple's tools keep in .air files and in archives of them, between compiler and linker.
//
//   compile() with CompileOptions::object   a source's entry points and functions, a module each, as a library
//   make_object                             that library as one AIR module: the .air file
//   resolve_objects                         objects that call each other's functions, joined
//   compile() again                         objects and libraries to one library
#pragma once

#include "smelt/aot/compile.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

/// The library's functions as one AIR module in Apple's wrapper, for `target`, which the library was built for. Empty
/// bytes: a unit that has none. `options` are those of its compile. Deterministic. Errors: those of reading a library;
/// compile_failed when its modules do not go together.
Result<Bytes> make_object(ByteView library, const Target& target, const CompileOptions& options);

struct ObjectSymbol {
  enum class Kind : uint8_t {
    entry,      ///< a kernel or another entry point
    function,   ///< one that other objects may call
    undefined,  ///< called here, and another object has to have it
  };
  std::string name;  ///< as the compiler mangles it
  Kind kind = Kind::entry;
  std::string stage;  ///< of an entry: "kernel", ...
};

/// Symbols of an AIR module (bitcode, bare or wrapped) in the module's order; bodies are not read. Bounded.
Result<std::vector<ObjectSymbol>> object_symbols(ByteView object, std::string_view name);

/// One file of a link, after resolve_objects.
struct Linked {
  std::string name;
  Bytes joined;    ///< of objects that need each other: one module of all of them
  ByteView bytes;  ///< `joined`, or what was given
};

/// What there is to compile of these objects and libraries: those that call functions of others are one with them, the
/// rest stays as it was. Entry points keep their names; other functions are for the objects alone, and gone.
/// Errors: compile_failed for a function that two objects have or that none has; each message names both ends.
Result<std::vector<Linked>> resolve_objects(std::span<const Source> files);

/// Whether these bytes are for the linker as they are: bitcode, a library or an archive. Their beginning tells.
bool is_link_input(ByteView file);

/// What "target triple" says in text of LLVM IR; empty for other bytes, or where it says nothing.
std::string_view ir_triple(ByteView file);

/// The target of an AIR module or a library. Nothing for other bytes, or for a platform that is not a target.
std::optional<Target> built_for(ByteView file);

struct ArchiveMember {
  std::string name;
  ByteView bytes;  ///< into the archive
};
/// "!<arch>": what metal-ar writes, with GNU's or BSD's way of long names. Bounded.
bool is_archive(ByteView file);
Result<std::vector<ArchiveMember>> read_archive(ByteView file, std::string_view name);
/// Deterministic: no dates, no owners.
Result<Bytes> write_archive(std::span<const ArchiveMember> members);

struct PreprocessOptions {
  bool line_markers = true;  ///< "# 12 "file.h""
  bool comments = false;
  bool macro_comments = false;  ///< those of #define lines too
  bool macros = false;          ///< the #define lines that hold at the end, instead of the text
};
struct Preprocessed {
  std::string text;
  /// Each header when it was entered, in that order: its path behind as many dots as there are files round it, and a
  /// space.
  std::vector<std::string> headers;
};
/// Metal source after the preprocessor. Errors as of compile().
Result<Preprocessed> preprocess(const Source& source, const CompileOptions& options, const PreprocessOptions& with);

}  // namespace smelt::aot
