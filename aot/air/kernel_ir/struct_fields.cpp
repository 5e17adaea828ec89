// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_ir/struct_fields.hpp"

#include "llvm/ADT/SmallVector.h"

#include <fmt/format.h>

namespace smelt::aot::kernel_ir {
namespace {

constexpr size_t kPlainParts = 6, kAllParts = 12;

uint64_t number(llvm::StringRef text) {
  uint64_t value = 0;
  return text.getAsInteger(10, value) ? 0 : value;
}

}  // namespace

std::string to_text(const StructFields& fields) {
  std::string text;
  for (const StructField& field : fields.fields) {
    text += fmt::format("{};{};{};{};{}", field.offset, field.size, field.count, field.type_name, field.name);
    if (fields.is_argument_buffer)
      text += fmt::format(";{};{};{:d};{};{};{}", field.id, field.space, field.is_const, field.target_size,
                          field.target_align, field.handle);
    text += fmt::format(";{}\n", field.depth);
  }
  return text;
}

StructFields parse_struct_fields(llvm::StringRef text) {
  StructFields result;
  llvm::SmallVector<llvm::StringRef, 8> lines;
  text.split(lines, '\n', -1, false);
  for (const llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef, kAllParts> parts;
    line.split(parts, ';');
    if (parts.size() != kPlainParts && parts.size() != kAllParts) continue;
    StructField field{.offset = number(parts[0]),
                      .size = number(parts[1]),
                      .count = number(parts[2]),
                      .type_name = parts[3].str(),
                      .name = parts[4].str(),
                      .depth = static_cast<unsigned>(number(parts.back()))};
    if (parts.size() == kAllParts) {
      result.is_argument_buffer = true;
      field.id = number(parts[5]);
      field.space = static_cast<unsigned>(number(parts[6]));
      field.is_const = number(parts[7]) != 0;
      field.target_size = number(parts[8]);
      field.target_align = number(parts[9]);
      field.handle = parts[10].str();
    }
    result.fields.push_back(std::move(field));
  }
  return result;
}

}  // namespace smelt::aot::kernel_ir
