// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/bytes.hpp"
#include "smelt/base/sort.hpp"
#include "smelt/loader/texture.hpp"

#include "Metal/Metal.hpp"
#include "constant_values.hpp"
#include "holder.hpp"
#include "library_object.hpp"
#include "pipeline_object.hpp"
#include "resource_object.hpp"
#include "validation.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::metal {
namespace {

struct ArgumentValues {
  static constexpr std::string_view kClass = "MTLArgumentDescriptor";
  MTL::DataType type = MTL::DataTypePointer;
  NS::UInteger index = 0;
  NS::UInteger count = 0;  // 0: not an array
  MTL::BindingAccess access = MTL::BindingAccessReadOnly;
  NS::UInteger alignment = 0;
};

/// Indexes of an argument buffer that follow each other: one, or the elements of an array.
struct Member {
  uint64_t offset = 0, bytes = 0;  // of the first element, and of each
  enum class Kind : uint8_t { pointer, constant, texture, sampler, other } kind = Kind::constant;
  uint64_t count = 1;
};

const char* word(Member::Kind kind) {
  constexpr const char* kWords[] = {"a buffer", "a constant", "a texture", "a sampler",
                                    "of a kind that is not supported"};
  return kWords[static_cast<size_t>(kind)];
}

/// Of what has no address the type says what it is.
Member::Kind kind_of(const loader::MemberInfo& member) {
  if (member.kind == MemberKind::pointer) return Member::Kind::pointer;
  if (member.kind == MemberKind::constant) return Member::Kind::constant;
  if (loader::texture_parameter(member.type_name)) return Member::Kind::texture;
  const bool is_sampler = member.type_name == "sampler" || member.type_name.starts_with("array<sampler,");
  return is_sampler ? Member::Kind::sampler : Member::Kind::other;
}

class ArgumentEncoderObject final : public MTL::ArgumentEncoder {
 public:
  std::string_view class_name() const override { return "MTLArgumentEncoder"; }
  DeviceObject* device_ = nullptr;
  Label label_;
  std::map<uint64_t, Member> members;  // by their first index
  uint64_t bytes = 0, alignment_ = 8;
  std::byte* at = nullptr;  // the argument buffer, from where it is written
  NS::SharedPtr<BufferObject> buffer;

  /// Where the member lies that is to be set; null, which is misuse, when it is not there or of another kind.
  std::byte* place(const char* call, uint64_t index, Member::Kind kind) const {
    const auto next = members.upper_bound(index);
    const auto found = next == members.begin() ? members.end() : std::prev(next);
    if (at == nullptr)
      misuse(call, "setArgumentBuffer was not called");
    else if (found == members.end() || index - found->first >= found->second.count)
      misuse(call, "no argument has index {}", index);
    else if (found->second.kind != kind)
      misuse(call, "the argument at index {} is {}", index, word(found->second.kind));
    else
      return at + found->second.offset + (index - found->first) * found->second.bytes;
    return nullptr;
  }
};

constexpr const char* kForFunction = "-[MTLFunction newArgumentEncoderWithBufferIndex:]";

/// The kernel's argument buffer at that index, after what is misuse has been said; null then. `function` keeps it.
const loader::ArgInfo* find_argument_buffer(const loader::Function& function, NS::UInteger index) {
  for (const loader::ArgInfo& argument : function.args()) {
    if (class_of(argument.kind) != BindingClass::buffer || argument.index != index) continue;
    if (argument.kind == ArgumentKind::buffer)
      misuse(kForFunction,
             "kernel '{}': '{}' at index {} is not an argument buffer: it holds no pointers and no [[id]]",
             function.name(), argument.name, index);
    else if (argument.members.empty())
      misuse(kForFunction,
             "kernel '{}': the library does not describe the members of '{}' at index {}; make a package from an older "
             "smelt again",
             function.name(), argument.name, index);
    else
      return &argument;
    return nullptr;
  }
  misuse(kForFunction, "kernel '{}' has no buffer at index {}", function.name(), index);
  return nullptr;
}

/// The structure as the kernel reads it. Null, which is misuse, for a library that contradicts itself.
NS::SharedPtr<ArgumentEncoderObject> encoder_of(DeviceObject& device, std::string_view kernel,
                                                const loader::ArgInfo& argument) {
  auto encoder = NS::TransferPtr(new ArgumentEncoderObject);
  encoder->device_ = &device;
  encoder->bytes = argument.size;
  encoder->alignment_ = std::max(argument.align, 1u);
  for (const loader::MemberInfo& from : argument.members) {
    const Member member{from.offset, from.size, kind_of(from), std::max(from.count, 1u)};
    const bool fits = member.offset + member.bytes * member.count <= argument.size &&
                      (member.kind == Member::Kind::constant || member.bytes == sizeof(uint64_t));
    if (!fits || !encoder->members.emplace(from.id, member).second) {
      misuse(kForFunction, "kernel '{}': member '{}' of '{}' has {} bytes at {}, index {}, in a structure of {}",
             kernel, from.name, argument.name, from.size, from.offset, from.id, argument.size);
      return {};
    }
  }
  return encoder;
}

ArgumentEncoderObject& from(MTL::ArgumentEncoder* encoder) {
  return static_cast<ArgumentEncoderObject&>(*encoder);
}
const ArgumentEncoderObject& from(const MTL::ArgumentEncoder* encoder) {
  return static_cast<const ArgumentEncoderObject&>(*encoder);
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(ArgumentDescriptor, ArgumentValues)
SMELT_VALUE(ArgumentDescriptor, DataType, dataType, setDataType, type)
SMELT_VALUE(ArgumentDescriptor, NS::UInteger, index, setIndex, index)
SMELT_VALUE(ArgumentDescriptor, NS::UInteger, arrayLength, setArrayLength, count)
SMELT_VALUE(ArgumentDescriptor, BindingAccess, access, setAccess, access)
SMELT_VALUE(ArgumentDescriptor, NS::UInteger, constantBlockAlignment, setConstantBlockAlignment, alignment)
ArgumentDescriptor* ArgumentDescriptor::argumentDescriptor() {
  return alloc()->init()->autorelease();
}

ArgumentEncoder* Device::newArgumentEncoder(const NS::Array* arguments) {
  constexpr const char* kCall = "-[MTLDevice newArgumentEncoderWithArguments:]";
  if (arguments == nullptr || arguments->count() == 0) return misuse(kCall, "there are no arguments"), nullptr;
  std::vector<const ArgumentDescriptor*> order;
  for (NS::UInteger i = 0; i < arguments->count(); ++i) order.push_back(arguments->object<ArgumentDescriptor>(i));
  smelt::sort_stably(order, [](auto* a, auto* b) { return a->index() < b->index(); });
  auto encoder = NS::TransferPtr(new ArgumentEncoderObject);
  encoder->device_ = &from(this);
  for (const ArgumentDescriptor* argument : order) {
    const bool is_pointer = argument->dataType() == DataTypePointer;
    const uint64_t bytes = is_pointer ? 8 : constant_bytes(argument->dataType());
    if (bytes == 0)
      return misuse(kCall, "the argument at index {} is of type {}, which is not supported", argument->index(),
                    static_cast<NS::UInteger>(argument->dataType())),
             nullptr;
    const uint64_t alignment = std::max<uint64_t>(bytes, argument->constantBlockAlignment());
    encoder->alignment_ = std::max(encoder->alignment_, alignment);
    for (uint64_t i = 0; i < std::max<uint64_t>(1, argument->arrayLength()); ++i) {
      const Member member{smelt::round_up(encoder->bytes, i == 0 ? alignment : bytes), bytes,
                          is_pointer ? Member::Kind::pointer : Member::Kind::constant};
      if (!encoder->members.emplace(argument->index() + i, member).second)
        return misuse(kCall, "index {} is used twice", argument->index() + i), nullptr;
      encoder->bytes = member.offset + bytes;
    }
  }
  encoder->bytes = smelt::round_up(encoder->bytes, encoder->alignment_);
  ArgumentEncoder* const made = encoder.get();
  encoder.detach();
  return made;
}

ArgumentEncoder* Function::newArgumentEncoder(NS::UInteger bufferIndex) {
  return newArgumentEncoder(bufferIndex, nullptr);
}
ArgumentEncoder* Function::newArgumentEncoder(NS::UInteger bufferIndex, const AutoreleasedArgument* reflection) {
  const std::string& name = from(this).name;
  LibraryObject& library = *from(this).library;
  // What the members are stands in the kernel's code, which the program is about to need anyway.
  const auto function = library.with_code(name).and_then(
      [&](const smelt::loader::LibraryRef& with_code) { return with_code->function(name); });
  if (!function) return misuse(kForFunction, "{}", function.error().message), nullptr;
  const smelt::loader::ArgInfo* const argument = find_argument_buffer(**function, bufferIndex);
  if (argument == nullptr) return nullptr;
  auto encoder = encoder_of(library.device, name, *argument);
  if (!encoder) return nullptr;
  if (reflection != nullptr) *const_cast<Argument**>(reflection) = argument_of(*argument);
  ArgumentEncoder* const made = encoder.get();
  encoder.detach();
  return made;
}

SMELT_LABEL_AND_DEVICE(ArgumentEncoder, from(this).label_, from(this).device_)
NS::UInteger ArgumentEncoder::encodedLength() const {
  return from(this).bytes;
}
NS::UInteger ArgumentEncoder::alignment() const {
  return from(this).alignment_;
}
void ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset) {
  constexpr const char* kCall = "-[MTLArgumentEncoder setArgumentBuffer:offset:]";
  ArgumentEncoderObject& encoder = from(this);
  encoder.at = nullptr;
  encoder.buffer.reset();
  if (argumentBuffer == nullptr) return;
  BufferObject& buffer = from(argumentBuffer);
  if (offset > buffer.bytes || encoder.bytes > buffer.bytes - offset) {
    misuse(kCall, "offset {} and {} encoded bytes go past the buffer's {}", offset, encoder.bytes, buffer.bytes);
    return;
  }
  if (offset % encoder.alignment_ != 0) {
    misuse(kCall, "offset {} is not a multiple of the alignment {}", offset, encoder.alignment_);
    return;
  }
  encoder.buffer = NS::RetainPtr(&buffer);
  encoder.at = buffer.start + offset;
}
void ArgumentEncoder::setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger startOffset,
                                        NS::UInteger arrayElement) {
  setArgumentBuffer(argumentBuffer, startOffset + arrayElement * encodedLength());
}
void ArgumentEncoder::setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLArgumentEncoder setBuffer:offset:atIndex:]";
  ArgumentEncoderObject& encoder = from(this);
  std::byte* const place = encoder.place(kCall, index, Member::Kind::pointer);
  if (place == nullptr) return;
  if (buffer != nullptr && offset > buffer->length()) {
    misuse(kCall, "offset {} at index {} is past the end of a buffer of {} bytes", offset, index, buffer->length());
    return;
  }
  const uint64_t address = buffer != nullptr ? buffer->gpuAddress() + offset : 0;
  std::memcpy(place, &address, sizeof(address));
}
void ArgumentEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) setBuffer(buffers[i], offsets[i], range.location + i);
}
void* ArgumentEncoder::constantData(NS::UInteger index) {
  return from(this).place("-[MTLArgumentEncoder constantDataAtIndex:]", index, Member::Kind::constant);
}
void ArgumentEncoder::setTexture(const Texture* texture, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLArgumentEncoder setTexture:atIndex:]";
  std::byte* const place = from(this).place(kCall, index, Member::Kind::texture);
  if (place == nullptr) return;
  const auto decoded = texture != nullptr ? from(texture).texture->decode() : smelt::Result<void>();
  if (!decoded) {
    misuse(kCall, "{}", decoded.error().message);
    return;
  }
  // What kernels for the CPU take for a texture: the address of what the loader says of it (schema/cpu_abi.h).
  const uint64_t handle = texture != nullptr ? reinterpret_cast<uintptr_t>(&from(texture).texture->cpu()) : 0;
  std::memcpy(place, &handle, sizeof(handle));
  from(this).buffer->handles.put(place, texture != nullptr ? from(texture).texture : nullptr);
}
void ArgumentEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) setTexture(textures[i], range.location + i);
}
void ArgumentEncoder::setSamplerState(const SamplerState* sampler, NS::UInteger index) {
  std::byte* const place =
      from(this).place("-[MTLArgumentEncoder setSamplerState:atIndex:]", index, Member::Kind::sampler);
  const uint64_t handle = sampler != nullptr ? reinterpret_cast<uintptr_t>(&from(sampler).sampler->cpu()) : 0;
  if (place == nullptr) return;
  std::memcpy(place, &handle, sizeof(handle));
  from(this).buffer->handles.put(place, sampler != nullptr ? from(sampler).sampler : nullptr);
}
void ArgumentEncoder::setSamplerStates(const SamplerState* const samplers[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) setSamplerState(samplers[i], range.location + i);
}

}  // namespace MTL
