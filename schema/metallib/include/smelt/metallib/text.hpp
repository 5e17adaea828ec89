// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library as text: how people see one, and how they make one, broken ones included. tests/metallib/cases has
// examples.
//
//   metallib text 1                     # comments run to the line's end
//   container 1.2.7
//   built_for_macos yes
//   file_type executable                # core_image, dynamic_library, symbol_companion, or a number
//   platform macos                      # or a number
//   64_bit yes
//   os 14.0.0
//   function "foo"                      # then its tags in order; each line writes one tag
//     NAME
//     TYPE kernel
//     HASH computed                     # or 64 hexadecimal digits
//     OFFT public 0 private 0 module 0  # which group, which module, counting from 0 in this text
//     VERS air 2.6 language 3.1
//     MDSZ
//     SOFF 0                            # which archive;  RFLT 0: which entry;  TESS 5;  LAYR 33
//     WHAT 0102                         # any other tag: a payload
//   extension
//     HDYN                              # tags that name a section have no payload here
//     UUID 000102030405060708090a0b0c0d0e0f
//   public linker                       # one metadata group; linker: its size counts itself; tool: it does not
//     CNST u16:1 z"n" u8:29 u16:0 u8:1
//   private linker
//   module wrapped { 4243c0de }         # bitcode; wrapper and padding are added. `module blob` takes bytes as they are
//   sources "air-lld ..." "/tmp"        # directory for HSRD, none for HSRC
//     archive
//       SARC z"0" { ... }
//   dynamic
//     NAME z"foo.metallib"
//   reflection
//     entry
//       RBUF { ... }                    # the flatbuffer; zeros that align it are added
//   variables {}                        # imports, scripts: bytes as they are
//   place functions public_metadata private_metadata pad:8 bitcode    # when the order is not the usual one
//   pad_after 0
//
// A payload is a row of items: hexadecimal bytes, "text", z"text" (with its NUL), u8:N u16:N u32:N u64:N, zero:N. It
// ends with the line, except inside { }, which may span lines.
//
// Then, to break things, applied in order to the finished bytes:
//   set header.file_size 2147483648     # a number of the file by its name (Field::path)
//   poke function[0].HASH+3 ff          # bytes at a name or an offset
//   truncate 100
//   append 00
#pragma once

#include "smelt/metallib/library.hpp"

namespace smelt::metallib {

/// The text whose from_text() is write(library), byte for byte. About twice the size of the file.
Result<std::string> to_text(const Library& library);

/// The bytes that the text describes, which need not be a valid library. Errors: invalid_argument with the line.
/// Runs of zeros are limited to 64 MiB in all.
Result<Bytes> from_text(std::string_view text);

}  // namespace smelt::metallib
