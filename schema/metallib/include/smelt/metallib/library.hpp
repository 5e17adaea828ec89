// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Metal library as values: everything that the container says, nothing about where its bytes lie. read() makes one,
// write() turns one into bytes, and for every file that read() accepts the bytes come out the same.
//
// Offsets and sizes are not kept, because they follow from the rest: `OFFT`, `MDSZ`, section ranges, the file size and
// reflection padding are computed when writing. What is free in a file is kept: tag order, unknown tags, group-size
// convention, section order, paddings.
#pragma once

#include "smelt/base/digest.hpp"
#include "smelt/metallib/layout.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::metallib {

/// A tag whose payload is bytes. Borrowed: see Library::owners.
struct Tag {
  Fourcc name;
  ByteView payload;
};

/// One function's public or private metadata.
struct TagGroup {
  std::vector<Tag> tags;      ///< in file order, without ENDT
  bool counts_itself = true;  ///< linker dialect; false: tool dialect
};

/// One blob of the bitcode section, as hashed: wrapper, bitcode, padding. Never looked into beyond the wrapper.
struct Module {
  ByteView blob;
  /// The LLVM bitcode without wrapper and padding ("BC" C0 DE ...). Empty when the blob holds none, which read()
  /// refuses.
  ByteView bitcode() const;
};

/// AIR and language version of a function, `VERS`.
struct Versions {
  uint16_t air_major = 0, air_minor = 0;
  uint16_t language_major = 0, language_minor = 0;
  auto operator<=>(const Versions&) const = default;
};

struct Function {
  std::string name;
  std::optional<uint8_t> type;  ///< a FunctionType; absent in no known file, but readers of others allow it
  Digest hash;                  ///< SHA-256 of the module's blob; read() checks it unless told otherwise
  Versions versions;
  uint32_t public_group = 0;   ///< index into Library::public_metadata
  uint32_t private_group = 0;  ///< index into Library::private_metadata
  uint32_t module = 0;         ///< index into Library::modules; two functions may share one
  /// Index into Library::sources->archives. In a library without sources, the offset into its symbol companion's.
  std::optional<uint64_t> source;
  std::optional<uint32_t> reflection;   ///< index into Library::reflection->entries
  std::optional<uint8_t> tessellation;  ///< bits 0-1 patch type (1 triangle, 2 quad), 2-7 control points
  std::optional<uint8_t> layer_type;    ///< MTLDataType of the render-target array index
  /// Which tags are written, in order. Those above are made from the fields; others carry their payload.
  std::vector<Tag> tags;
};

/// Archived sources (HSRC, HSRD).
struct Sources {
  std::string_view command;                   ///< the linker's command line
  std::optional<std::string_view> directory;  ///< its working directory; present exactly in HSRD
  std::vector<std::vector<Tag>> archives;     ///< each normally one SARC: id NUL, then a bzip2 stream of a tar
};

/// Reflection list (RLST). The payload of an RBUF is its flatbuffer; the zeros that align it are made when writing.
struct Reflection {
  std::vector<std::vector<Tag>> entries;
};

enum class Section : uint8_t {
  functions,  ///< function list and header extension
  public_metadata,
  private_metadata,
  bitcode,
  sources,
  dynamic_header,
  variables,
  imports,
  reflection,
  scripts,
};
inline constexpr size_t kSectionCount = 10;
std::string_view to_string(Section section);

/// A section's turn in the file.
struct Place {
  Section section = Section::functions;
  uint32_t padding_before = 0;  ///< zero bytes
  bool operator==(const Place&) const = default;
};

/// Threads: a value; share it const. Copies share the bytes.
struct Library {
  bool built_for_macos = true;
  uint16_t patch = 7;  ///< container 1.2.patch
  bool stub = false;
  uint8_t file_type = 0;  ///< a FileType
  bool is_64bit = false;
  uint8_t platform = 0;  ///< a Platform
  uint16_t os_major = 0;
  uint8_t os_minor = 0, os_patch = 0;

  std::vector<Function> functions;
  /// Header extension in file order, without ENDT; payloads of tags that name a section (HSRD, RLST, ...) are made when
  /// writing and empty here. Absent in 1.2.2.
  std::optional<std::vector<Tag>> extension;
  std::vector<TagGroup> public_metadata, private_metadata;
  std::vector<Module> modules;
  std::optional<Sources> sources;
  std::optional<std::vector<Tag>> dynamic_header;
  std::optional<ByteView> variables, imports, scripts;  ///< as they are
  std::optional<Reflection> reflection;

  /// File order of the sections. Empty: standard_order().
  std::vector<Place> order;
  uint32_t padding_after = 0;  ///< zero bytes behind the last section

  /// What the views above stand on, when the library owns it; a library read without an owner borrows from the caller.
  std::vector<std::shared_ptr<const void>> owners;
  /// Moves bytes into the library and returns the view that stays valid.
  ByteView keep(Bytes bytes);

  const Module& module_of(const Function& function) const { return modules[function.module]; }
  const TagGroup& public_of(const Function& function) const { return public_metadata[function.public_group]; }
  const TagGroup& private_of(const Function& function) const { return private_metadata[function.private_group]; }
  /// The first function of that exact name, or null.
  const Function* find(std::string_view name) const;
  /// The 16 bytes of the extension's UUID, if any.
  std::optional<ByteView> uuid() const;
  bool has(Section section) const;
  /// The order of docs/formats/metallib.md 1, with the sections this library has.
  std::vector<Place> standard_order() const;
};

/// The first tag of that name, or null.
const Tag* find_tag(const std::vector<Tag>& tags, Fourcc name);
/// The section an extension tag stands for, if it is one that does.
std::optional<Section> section_of(Fourcc extension_tag);

}  // namespace smelt::metallib
