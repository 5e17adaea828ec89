// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of the struct behind a buffer, as a front end knows them and as air/ writes them into the argument's
// metadata (docs/formats/air.md 1.6). Between the two they are text in the attribute kArgStructType, one line a member:
//
//   offset;size;count;type name;name;depth
//   offset;size;count;type name;name;id;space;const;target size;target align;handle;depth     of an argument buffer
//
// The members of a structure inside follow it, one deeper; their offsets and ids count from its own.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace smelt::aot::kernel_ir {

struct StructField {
  uint64_t offset = 0;
  uint64_t size = 0;            ///< of one element
  uint64_t count = 0;           ///< array elements; 0: no array. Of array<T, n> of handles too
  std::string type_name, name;  ///< the type of a pointer's target; of array<T, n> of handles, of all of it
  uint64_t id = 0;              ///< [[id(n)]], or what follows from the members before; of argument buffers
  unsigned space = 0;           ///< of a pointer's target; 0: no pointer
  bool is_const = false;        ///< the target
  uint64_t target_size = 0, target_align = 0;
  std::string handle;  ///< of a texture its access, "sample"; of another handle its class, "sampler"; else empty
  unsigned depth = 0;  ///< structures round it
};

struct StructFields {
  std::vector<StructField> fields;
  bool is_argument_buffer = false;  ///< a member, at any depth, is a pointer or has an [[id]]
};

std::string to_text(const StructFields& fields);
/// Lines that are none are left out.
StructFields parse_struct_fields(llvm::StringRef text);

}  // namespace smelt::aot::kernel_ir
