// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mutants.hpp"

#include "bytes.hpp"
#include "records.hpp"
#include "typed.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::test {
namespace {

/// Integers of the container that speak about the rest of it.
std::string change_fields(Bytes& file, const std::vector<metallib::Field>& fields, std::mt19937_64& random) {
  std::string story = "fields:";
  for (uint64_t left = 1 + random() % 3; left != 0 && !fields.empty(); --left) {
    const metallib::Field& field = fields[random() % fields.size()];
    const size_t size = std::min<size_t>(field.size, 8);
    uint64_t value = 0;
    std::memcpy(&value, file.data() + field.offset, size);
    switch (random() % 4) {
      case 0:
        value += 1;
        break;
      case 1:
        value -= 1 + random() % 8;
        break;
      case 2:
        value = hostile_word(random);
        break;
      default:
        value ^= uint64_t{1} << (random() % (8 * size));
    }
    std::memcpy(file.data() + field.offset, &value, size);
    story += " " + field.path;
  }
  return story;
}

/// Bytes outside of the module: header, lists, metadata, reflection.
void change_container(Bytes& file, uint64_t module_at, uint64_t module_size, std::mt19937_64& random) {
  const uint64_t free = file.size() - module_size;
  for (uint64_t left = 1 + random() % 4; left != 0 && free != 0; --left) {
    uint64_t at = random() % free;
    if (at >= module_at) at += module_size;
    if (random() % 3 == 0)
      file[at] = static_cast<std::byte>(random());
    else
      file[at] ^= std::byte{1} << (random() % 8);
  }
}

std::string change_module_of(Bytes& module, std::mt19937_64& random) {
  const auto way = random() % 10;
  if (way >= 7) {
    std::string story;
    // What LLVM's verifier refuses is changed again, then its bits.
    for (int tries = 0; tries < 4; ++tries)
      if (auto changed = change_module(module, random, story)) {
        module = std::move(*changed);
        return story;
      }
  } else if (way >= 3) {
    if (auto blocks = read_records(module)) {
      const std::string story = change_records(*blocks, random);
      module = write_records(*blocks);
      return story;
    }
  }
  change_bytes(module, random);
  return "bits of the module";
}

}  // namespace

Mutant make_mutant(const std::vector<Original>& originals, uint64_t number) {
  // Neighbouring seeds of this generator begin alike.
  std::mt19937_64 random(number * 0x9E3779B97F4A7C15u + 1);
  random.discard(8);
  const Original& original = draw(originals, random);
  metallib::Library library = original.library;
  Mutant mutant{{}, original.name, {}, to_bytes(original.module)};
  const auto way = random() % 20;
  if (way >= 3) {
    mutant.story = change_module_of(mutant.module, random);
    library.modules.front().blob = library.keep(metallib::wrap_bitcode(mutant.module));
    library.functions.front().hash = sha256(library.modules.front().blob);
  }
  std::vector<metallib::Field> fields;
  auto written = metallib::write(library, &fields);
  auto layout = metallib::layout_of(library);
  if (!written || !layout) {
    mutant.story += ", which no container can hold";
    return mutant;
  }
  mutant.file = std::move(*written);
  const metallib::Layout::Span& bitcode = (*layout)[metallib::Section::bitcode];
  switch (way) {
    case 0:
      mutant.story = change_fields(mutant.file, fields, random);
      break;
    case 1:
      change_container(mutant.file, bitcode.offset, bitcode.size, random);
      mutant.story = "bytes of the container";
      break;
    case 2:
      change_bytes(mutant.file, random);
      mutant.story = "bytes of the file";
      break;
    default:
      break;
  }
  return mutant;
}

}  // namespace smelt::test
