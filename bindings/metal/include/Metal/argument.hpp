// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument buffers, by descriptors or as a function reads them. Since addresses are plain numbers on these devices, a
// program may as well write gpuAddress() of its buffers into the structure that its kernel declares.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class SMELT_METAL_API ArgumentDescriptor : public NS::Copying<ArgumentDescriptor> {
 public:
  static ArgumentDescriptor* argumentDescriptor();
  static ArgumentDescriptor* alloc();
  ArgumentDescriptor* init();
  DataType dataType() const;
  void setDataType(DataType type);
  NS::UInteger index() const;
  void setIndex(NS::UInteger index);
  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger length);
  BindingAccess access() const;
  void setAccess(BindingAccess access);
  NS::UInteger constantBlockAlignment() const;
  void setConstantBlockAlignment(NS::UInteger alignment);
};

/// Sets the members of an argument buffer by their [[id(n)]]. One made by a function has the layout of the structure
/// that its kernel reads. One made of descriptors lays values out as a C structure in the order of their indexes: 8
/// bytes for a pointer, a constant's own size and alignment.
class SMELT_METAL_API ArgumentEncoder : public NS::Referencing<ArgumentEncoder> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger encodedLength() const;
  NS::UInteger alignment() const;
  void setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset);
  void setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger startOffset, NS::UInteger arrayElement);
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);
  /// The program keeps the texture or sampler until the last launch that reads the buffer has ended. Null: none.
  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);
  /// Where the constant's bytes go. Constants that follow each other lie as in the structure.
  void* constantData(NS::UInteger index);
};

}  // namespace MTL
