// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/bytes.hpp"

#include "Metal/Metal.hpp"
#include "constant_values.hpp"
#include "holder.hpp"
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

/// One index of an argument buffer.
struct Member {
  uint64_t offset = 0, bytes = 0;
  bool is_pointer = false;
};

class ArgumentEncoderObject final : public MTL::ArgumentEncoder {
 public:
  std::string_view class_name() const override { return "MTLArgumentEncoder"; }
  DeviceObject* device_ = nullptr;
  Label label_;
  std::map<uint64_t, Member> members;
  uint64_t bytes = 0, alignment_ = 8;
  std::byte* at = nullptr;  // the argument buffer, from where it is written
  NS::SharedPtr<BufferObject> buffer;

  /// The member to be set; null, which is misuse, when it is not there or of the other kind.
  const Member* member(const char* call, uint64_t index, bool is_pointer) const {
    const auto found = members.find(index);
    if (at == nullptr)
      misuse(call, "setArgumentBuffer was not called");
    else if (found == members.end())
      misuse(call, "no argument has index {}", index);
    else if (found->second.is_pointer != is_pointer)
      misuse(call, "the argument at index {} is {}", index, is_pointer ? "a constant" : "a buffer");
    else
      return &found->second;
    return nullptr;
  }
};

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
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->index() < b->index(); });
  auto encoder = NS::TransferPtr(new ArgumentEncoderObject);
  encoder->device_ = &from(this);
  for (const ArgumentDescriptor* argument : order) {
    const bool is_pointer = argument->dataType() == DataTypePointer;
    const uint64_t bytes = is_pointer ? 8 : constant_bytes(argument->dataType());
    if (bytes == 0)
      return misuse(kCall, "the argument at index {} is of type {}, which is not here", argument->index(),
                    static_cast<NS::UInteger>(argument->dataType())),
             nullptr;
    const uint64_t alignment = std::max<uint64_t>(bytes, argument->constantBlockAlignment());
    encoder->alignment_ = std::max(encoder->alignment_, alignment);
    for (uint64_t i = 0; i < std::max<uint64_t>(1, argument->arrayLength()); ++i) {
      const Member member{smelt::round_up(encoder->bytes, i == 0 ? alignment : bytes), bytes, is_pointer};
      if (!encoder->members.emplace(argument->index() + i, member).second)
        return misuse(kCall, "index {} is there twice", argument->index() + i), nullptr;
      encoder->bytes = member.offset + bytes;
    }
  }
  encoder->bytes = smelt::round_up(encoder->bytes, encoder->alignment_);
  ArgumentEncoder* const made = encoder.get();
  encoder.detach();
  return made;
}

Device* ArgumentEncoder::device() const {
  return from(this).device_;
}
NS::String* ArgumentEncoder::label() const {
  return from(this).label_.get();
}
void ArgumentEncoder::setLabel(const NS::String* label) {
  from(this).label_.set(label);
}
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
  const Member* const member = encoder.member(kCall, index, true);
  if (member == nullptr) return;
  if (buffer != nullptr && offset > buffer->length()) {
    misuse(kCall, "offset {} at index {} is past the end of a buffer of {} bytes", offset, index, buffer->length());
    return;
  }
  const uint64_t address = buffer != nullptr ? buffer->gpuAddress() + offset : 0;
  std::memcpy(encoder.at + member->offset, &address, sizeof(address));
}
void ArgumentEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i) setBuffer(buffers[i], offsets[i], range.location + i);
}
void* ArgumentEncoder::constantData(NS::UInteger index) {
  ArgumentEncoderObject& encoder = from(this);
  const Member* const member = encoder.member("-[MTLArgumentEncoder constantDataAtIndex:]", index, false);
  return member != nullptr ? encoder.at + member->offset : nullptr;
}

}  // namespace MTL
