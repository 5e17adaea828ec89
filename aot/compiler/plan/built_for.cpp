// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a file was built for, as a row of its own: its versions are kept, whatever we would stamp today.
#include "smelt/aot/object.hpp"
#include "smelt/aot/simulators.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "inputs/kind.hpp"
#include "interface/module_metadata.hpp"
#include "llvm_support/bitstream_check.hpp"
#include "llvm_support/guard.hpp"
#include "units/units.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace smelt::aot {
namespace {

/// Platform, system and name; nothing for other platforms.
std::optional<Target> target_of(std::string_view triple) {
  const auto parts = air::parse_triple(triple);
  if (!parts) return std::nullopt;
  Target target;
  target.platform = parts->platform;
  target.os = parts->os;
  target.name = fmt::format("{}{}", target_word(target.platform), target.os.major);
  if (target.os.minor != 0) target.name += fmt::format(".{}", target.os.minor);
  if (parts->simulator) target = simulator_of(std::move(target));
  target.triple = triple;
  return target;
}

std::optional<Target> target_of_module(ByteView file) {
  const auto facts = check_bitstream(file);
  if (!facts) return std::nullopt;
  llvm::LLVMContext context;
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(as_text(facts->bitcode), ""), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return std::nullopt;
  }
  if (auto error = (*module)->materializeMetadata()) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  const auto air = air::air_version(**module);
  auto target = target_of((*module)->getTargetTriple());
  if (!air || !target) return std::nullopt;
  target->air = *air;
  target->language = air::language_version(**module).value_or(Version{});
  for (const Target& known : known_targets())
    if (known.platform == target->platform && known.os.major == target->os.major)
      target->container_patch = known.container_patch;
  return target;
}

}  // namespace

std::optional<Target> built_for(const metallib::Library& library) {
  if (library.functions.empty()) return std::nullopt;
  const metallib::Function& function = library.functions.front();
  const auto facts = check_bitstream(library.module_of(function).bitcode());  // LLVM reads nothing of it
  if (!facts) return std::nullopt;
  auto target = target_of(facts->triple);
  if (!target) return std::nullopt;
  target->air = {function.versions.air_major, function.versions.air_minor, 0};
  target->language = {function.versions.language_major, function.versions.language_minor, 0};
  target->container_patch = library.patch;
  return target;
}

std::optional<Target> target_of_triple(std::string_view triple) {
  const auto parts = air::parse_triple(triple);
  if (!parts || parts->simulator) return std::nullopt;
  std::string name = fmt::format("{}{}", target_word(parts->platform), parts->os.major);
  if (parts->os.minor != 0) name += fmt::format(".{}", parts->os.minor);
  const auto target = parse_target(name);
  return target ? std::optional(*target) : std::nullopt;
}

std::optional<Target> built_for(ByteView file) {
  switch (input::detect_kind(file)) {
    case input::Kind::metallib:
    case input::Kind::universal: {
      const auto images = metallib::find_images(file);
      if (!images) return std::nullopt;
      const auto library = metallib::read(images->front().bytes);
      return library ? built_for(*library) : std::nullopt;
    }
    case input::Kind::bitcode:
    case input::Kind::wrapped_bitcode: {
      // LLVM reads bytes from outside: what ends it is as good as no answer.
      const auto target = contained({}, [&] { return Result<std::optional<Target>>(target_of_module(file)); });
      return target.value_or(std::nullopt);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace smelt::aot
