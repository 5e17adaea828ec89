// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs launches on the machine that this program is for, such as aarch64 under QEMU: judge.py writes them to its input
// (class Machine there has the form) and reads from its output what each wrote to its memory.
#include "smelt/loader/encoder.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace smelt;
using namespace smelt::loader;

namespace {

void read(void* into, size_t size) {
  if (std::fread(into, 1, size, stdin) != size) std::exit(std::feof(stdin) ? 0 : 1);
}
uint32_t number() {
  uint32_t value = 0;
  read(&value, sizeof value);
  return value;
}
std::vector<std::byte> bytes() {
  std::vector<std::byte> made(number());
  read(made.data(), made.size());
  return made;
}
std::string text() {
  const std::vector<std::byte> from = bytes();
  return {reinterpret_cast<const char*>(from.data()), from.size()};
}
void write(std::span<const std::byte> from) {
  std::fwrite(from.data(), 1, from.size(), stdout);
}

/// What an argument is: judge.py has the same numbers.
enum Kind : uint32_t { kept, memory, value, picture, structure };

struct Argument {
  Kind kind;
  uint32_t slot, first, second;  ///< kept: which; picture: its size; structure: what is kept, and the buffer of a slot
  std::string format;
  std::vector<std::byte> data;
};

Argument argument() {
  Argument made{static_cast<Kind>(number()), number(), number(), number(), text(), bytes()};
  return made;
}

using Kept = std::vector<BufferRef>;

Result<void> bind(Encoder& encoder, const DeviceRef& device, const Kept& buffers, std::vector<Argument>& all,
                  Argument& one, Kept& alive) {
  switch (one.kind) {
    case kept:
      return encoder.set_buffer(one.slot, buffers.at(one.first));
    case memory: {
      SMELT_TRY(BufferRef buffer, device->wrap(one.data));
      alive.push_back(buffer);
      return encoder.set_buffer(one.slot, buffer);
    }
    case value:
      return encoder.set_bytes(one.slot, one.data);
    case picture: {
      TextureDescriptor descriptor;
      const PixelFormatFacts* const facts = pixel_format_named(one.format);
      if (facts == nullptr) return no_pixel_format(one.format);
      descriptor.format = facts->format;
      descriptor.width = one.first;
      descriptor.height = one.second;
      SMELT_TRY(TextureRef texture, Texture::over(descriptor, one.data, uint64_t{one.first} * facts->texel_bytes));
      return encoder.set_texture(one.slot, texture);
    }
    case structure: {  // { address of what is kept, number, address of a buffer }
      uint64_t words[3] = {buffers.at(one.first)->gpu_address(), 0, 0};
      std::memcpy(&words[1], one.data.data(), one.data.size());
      for (Argument& other : all)
        if (other.kind == memory && other.slot == one.second) words[2] = reinterpret_cast<uintptr_t>(other.data.data());
      return encoder.set_bytes(one.slot, std::as_bytes(std::span(words)));
    }
  }
  return {};
}

Result<void> launch(const LibraryRef& library, const Kept& buffers, std::vector<Argument>& arguments) {
  const std::string name = text();
  const uint32_t grid[2] = {number(), number()}, group[2] = {number(), number()};
  ConstantValues constants;
  const uint32_t count = number();
  for (uint32_t i = 0; i < count; ++i) constants.set(i, uint64_t{number()});
  arguments.resize(number());
  for (Argument& one : arguments) one = argument();
  SMELT_TRY(const FunctionRef function, library->function(name));
  SMELT_TRY(const PipelineRef pipeline, function->pipeline(constants));
  SMELT_TRY(const auto encoder, Encoder::create(library->device()));
  SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
  Kept alive;
  for (Argument& one : arguments) SMELT_TRY_VOID(bind(*encoder, library->device(), buffers, arguments, one, alive));
  SMELT_TRY_VOID(encoder->dispatch_threads({grid[0], grid[1], 1}, {group[0], group[1], 1}));
  return encoder->wait();
}

Result<LibraryRef> load(const std::string& path) {
  DeviceOptions options;
  options.threads = 1;
  SMELT_TRY(const DeviceRef device, Device::open(DeviceKind::cpu, options));
  return Library::load_file(device, path);
}

void answer(const Result<void>& done) {
  const std::string message = done ? "" : done.error().message;
  const auto length = static_cast<uint32_t>(message.size());
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(message)));
}

}  // namespace

int main() {
  const Result<LibraryRef> library = load(text());
  answer(library ? Result<void>() : tl::unexpected(library.error()));
  std::fflush(stdout);
  if (!library) return 1;
  std::vector<std::vector<std::byte>> memory(number());
  Kept buffers;
  for (auto& one : memory) {
    one = bytes();
    const Result<BufferRef> buffer = (*library)->device()->wrap(one);
    if (!buffer) return 1;
    buffers.push_back(*buffer);
  }
  for (;;) {
    std::vector<Argument> arguments;
    answer(launch(*library, buffers, arguments));
    for (const Argument& one : arguments)
      if (one.kind == Kind::memory || one.kind == picture) write(one.data);
    std::fflush(stdout);
  }
}
