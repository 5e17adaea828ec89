// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "compute_encoder.hpp"
#include "validation.hpp"

namespace smelt::metal {
namespace {

BlitEncoderObject& from(MTL::BlitCommandEncoder* encoder) {
  return static_cast<BlitEncoderObject&>(*encoder);
}

/// Whether a range lies in a buffer; else what is wrong.
std::string trouble_with_range(const EncoderState& state, const char* what, const MTL::Buffer* buffer, uint64_t offset,
                               uint64_t bytes) {
  if (buffer == nullptr) return fmt::format("{} is null", what);
  if (smelt::metal::from(buffer).device != &state.buffer->queue->device)
    return fmt::format("{} is of another device", what);
  const uint64_t has = smelt::metal::from(buffer).bytes;
  if (offset <= has && bytes <= has - offset) return {};
  return fmt::format("{}: offset {} and {} bytes go past its {} bytes", what, offset, bytes, has);
}

/// Rows of a buffer that a copy touches; else what is wrong.
std::string trouble_with_rows(const EncoderState& state, const char* what, const MTL::Buffer* buffer, uint64_t offset,
                              uint64_t row_bytes, uint64_t image_bytes, const BoxCopy& copy) {
  if (copy.rows > 1 && row_bytes < copy.bytes)
    return fmt::format("{}BytesPerRow {} is less than a row of {} bytes", what, row_bytes, copy.bytes);
  if (copy.slices > 1 && image_bytes < row_bytes * copy.rows)
    return fmt::format("{}BytesPerImage {} is less than {} rows of {} bytes", what, image_bytes, copy.rows, row_bytes);
  if (copy.bytes == 0 || copy.rows == 0 || copy.slices == 0) return {};
  const uint64_t reach = (copy.slices - 1) * image_bytes + (copy.rows - 1) * row_bytes + copy.bytes;
  return trouble_with_range(state, fmt::format("{}Buffer", what).c_str(), buffer, offset, reach);
}

std::string trouble_with_texture(const EncoderState& state, const char* what, const MTL::Texture* texture) {
  if (texture == nullptr) return fmt::format("{} is null", what);
  if (smelt::metal::from(texture).device != &state.buffer->queue->device)
    return fmt::format("{} is of another device", what);
  return {};
}

BoxCopy copy_of(const TexelBox& box, const MTL::Size& size) {
  BoxCopy copy;
  copy.bytes = box.across * box.texel_bytes;
  copy.rows = box.rows;
  copy.slices = size.depth;
  return copy;
}
void read_from(BoxCopy& copy, const TexelBox& box) {
  copy.source = box.start;
  copy.source_row = box.row_bytes;
  copy.source_slice = box.slice_bytes;
}
void write_to(BoxCopy& copy, const TexelBox& box, const MTL::Texture* texture) {
  copy.into = smelt::metal::from(texture).texture.get();
  copy.destination = box.start;
  copy.destination_row = box.row_bytes;
  copy.destination_slice = box.slice_bytes;
}

/// Says what is wrong, or writes the copy down.
void add_copy(EncoderState& state, const char* call, const std::string& trouble, const BoxCopy& copy,
              MTL::Resource* source, MTL::Resource* destination) {
  if (!trouble.empty()) {
    state.buffer->reject(misuse(call, "{}", trouble));
    return;
  }
  state.buffer->keep_resource(source);
  state.buffer->keep_resource(destination);
  state.note_use(hazard_of(*source), false);
  state.note_use(hazard_of(*destination), true);
  state.add_to_only_unit(copy);
}

}  // namespace

BlitEncoderObject::~BlitEncoderObject() {
  if (state.ended) return;
  state.buffer->reject(misuse("-[MTLBlitCommandEncoder release]", "the encoder was released without endEncoding"));
  state.end(this);
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

void BlitCommandEncoder::copyFromBuffer(const Buffer* sourceBuffer, NS::UInteger sourceOffset,
                                        const Buffer* destinationBuffer, NS::UInteger destinationOffset,
                                        NS::UInteger size) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  std::string trouble = trouble_with_range(state, "sourceBuffer", sourceBuffer, sourceOffset, size);
  if (trouble.empty())
    trouble = trouble_with_range(state, "destinationBuffer", destinationBuffer, destinationOffset, size);
  if (trouble.empty() && sourceBuffer == destinationBuffer && sourceOffset != destinationOffset &&
      sourceOffset < destinationOffset + size && destinationOffset < sourceOffset + size)
    trouble = fmt::format("source offset {} and destination offset {} of {} bytes overlap in one buffer", sourceOffset,
                          destinationOffset, size);
  if (!trouble.empty()) {
    state.buffer->reject(misuse(kCall, "{}", trouble));
    return;
  }
  BufferObject& source = from(sourceBuffer);
  BufferObject& destination = from(destinationBuffer);
  state.buffer->keep_resource(&source);
  state.buffer->keep_resource(&destination);
  state.note_use(source.hazard, false);
  state.note_use(destination.hazard, true);
  state.add_to_only_unit(CopyCommand{source.start + sourceOffset, destination.start + destinationOffset, size});
}

void BlitCommandEncoder::fillBuffer(const Buffer* buffer, NS::Range range, uint8_t value) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder fillBuffer:range:value:]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  if (const std::string trouble = trouble_with_range(state, "buffer", buffer, range.location, range.length);
      !trouble.empty()) {
    state.buffer->reject(misuse(kCall, "{}", trouble));
    return;
  }
  BufferObject& to = from(buffer);
  state.buffer->keep_resource(&to);
  state.note_use(to.hazard, true);
  state.add_to_only_unit(FillCommand{to.start + range.location, range.length, value});
}

void BlitCommandEncoder::copyFromBuffer(const Buffer* sourceBuffer, NS::UInteger sourceOffset,
                                        NS::UInteger sourceBytesPerRow, NS::UInteger sourceBytesPerImage,
                                        Size sourceSize, const Texture* destinationTexture,
                                        NS::UInteger destinationSlice, NS::UInteger destinationLevel,
                                        Origin destinationOrigin) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder copyFromBuffer:...toTexture:...]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  BoxCopy copy;
  std::string trouble = trouble_with_texture(state, "destinationTexture", destinationTexture);
  if (trouble.empty()) {
    const TexelBox box =
        box_of(from(destinationTexture), destinationSlice, destinationLevel, destinationOrigin, sourceSize);
    copy = copy_of(box, sourceSize);
    write_to(copy, box, destinationTexture);
    trouble = !box.trouble.empty() ? box.trouble
                                   : trouble_with_rows(state, "source", sourceBuffer, sourceOffset, sourceBytesPerRow,
                                                       sourceBytesPerImage, copy);
  }
  if (trouble.empty()) {
    copy.source = from(sourceBuffer).start + sourceOffset;
    copy.source_row = sourceBytesPerRow;
    copy.source_slice = sourceBytesPerImage;
  }
  add_copy(state, kCall, trouble, copy, const_cast<Buffer*>(sourceBuffer), const_cast<Texture*>(destinationTexture));
}

void BlitCommandEncoder::copyFromTexture(const Texture* sourceTexture, NS::UInteger sourceSlice,
                                         NS::UInteger sourceLevel, Origin sourceOrigin, Size sourceSize,
                                         const Buffer* destinationBuffer, NS::UInteger destinationOffset,
                                         NS::UInteger destinationBytesPerRow, NS::UInteger destinationBytesPerImage) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder copyFromTexture:...toBuffer:...]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  BoxCopy copy;
  std::string trouble = trouble_with_texture(state, "sourceTexture", sourceTexture);
  if (trouble.empty()) {
    const TexelBox box = box_of(from(sourceTexture), sourceSlice, sourceLevel, sourceOrigin, sourceSize);
    copy = copy_of(box, sourceSize);
    read_from(copy, box);
    trouble = !box.trouble.empty() ? box.trouble
                                   : trouble_with_rows(state, "destination", destinationBuffer, destinationOffset,
                                                       destinationBytesPerRow, destinationBytesPerImage, copy);
  }
  if (trouble.empty()) {
    copy.destination = from(destinationBuffer).start + destinationOffset;
    copy.destination_row = destinationBytesPerRow;
    copy.destination_slice = destinationBytesPerImage;
  }
  add_copy(state, kCall, trouble, copy, const_cast<Texture*>(sourceTexture), const_cast<Buffer*>(destinationBuffer));
}

void BlitCommandEncoder::copyFromTexture(const Texture* sourceTexture, NS::UInteger sourceSlice,
                                         NS::UInteger sourceLevel, Origin sourceOrigin, Size sourceSize,
                                         const Texture* destinationTexture, NS::UInteger destinationSlice,
                                         NS::UInteger destinationLevel, Origin destinationOrigin) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder copyFromTexture:...toTexture:...]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  BoxCopy copy;
  std::string trouble = trouble_with_texture(state, "sourceTexture", sourceTexture);
  if (trouble.empty()) trouble = trouble_with_texture(state, "destinationTexture", destinationTexture);
  if (trouble.empty()) {
    const TexelBox source = box_of(from(sourceTexture), sourceSlice, sourceLevel, sourceOrigin, sourceSize);
    const TexelBox into =
        box_of(from(destinationTexture), destinationSlice, destinationLevel, destinationOrigin, sourceSize);
    copy = copy_of(source, sourceSize);
    read_from(copy, source);
    write_to(copy, into, destinationTexture);
    trouble = !source.trouble.empty() ? source.trouble : into.trouble;
    if (trouble.empty() && source.texel_bytes != into.texel_bytes)
      trouble = fmt::format("a texel of the source has {} bytes, one of the destination {}", source.texel_bytes,
                            into.texel_bytes);
    if (trouble.empty() && (source.across != into.across || source.rows != into.rows))
      trouble = fmt::format("{} x {} blocks of the source are {} x {} of the destination", source.across, source.rows,
                            into.across, into.rows);
  }
  add_copy(state, kCall, trouble, copy, const_cast<Texture*>(sourceTexture), const_cast<Texture*>(destinationTexture));
}

void BlitCommandEncoder::copyFromTexture(const Texture* sourceTexture, const Texture* destinationTexture) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder copyFromTexture:toTexture:]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  std::string trouble = trouble_with_texture(state, "sourceTexture", sourceTexture);
  if (trouble.empty()) trouble = trouble_with_texture(state, "destinationTexture", destinationTexture);
  if (trouble.empty() && (sourceTexture->mipmapLevelCount() != destinationTexture->mipmapLevelCount() ||
                          from(sourceTexture).texture->layers() != from(destinationTexture).texture->layers()))
    trouble = "the textures have other counts of levels or slices";
  if (!trouble.empty()) {
    state.buffer->reject(misuse(kCall, "{}", trouble));
    return;
  }
  for (uint32_t slice = 0; slice < from(sourceTexture).texture->layers(); ++slice)
    for (uint32_t level = 0; level < sourceTexture->mipmapLevelCount(); ++level) {
      const auto at = [&](NS::UInteger size) { return std::max<NS::UInteger>(size >> level, 1); };
      const Size size(at(sourceTexture->width()), at(sourceTexture->height()), at(sourceTexture->depth()));
      copyFromTexture(sourceTexture, slice, level, Origin(), size, destinationTexture, slice, level, Origin());
    }
}

void BlitCommandEncoder::generateMipmaps(const Texture* texture) {
  constexpr const char* kCall = "-[MTLBlitCommandEncoder generateMipmapsForTexture:]";
  EncoderState& state = from(this).state;
  if (!state.may_encode(kCall)) return;
  if (const std::string trouble = trouble_with_texture(state, "texture", texture); !trouble.empty()) {
    state.buffer->reject(misuse(kCall, "{}", trouble));
    return;
  }
  TextureObject& of = from(texture);
  state.buffer->keep_resource(&of);
  state.note_use(of.hazard, true);
  state.add_to_only_unit(MipmapCommand{of.texture});
}

void BlitCommandEncoder::synchronizeTexture(const Texture* texture, NS::UInteger, NS::UInteger) {
  synchronizeResource(texture);
}

void BlitCommandEncoder::synchronizeResource(const Resource* resource) {
  EncoderState& state = from(this).state;
  if (!state.may_encode("-[MTLBlitCommandEncoder synchronizeResource:]")) return;
  // There is one copy; what was written before is seen when this command buffer has completed, as on a Mac.
  state.buffer->keep_resource(const_cast<Resource*>(resource));
  state.note_use(hazard_of(*resource), false);
}
void BlitCommandEncoder::updateFence(const Fence* fence) {
  from(this).state.update_fence("-[MTLBlitCommandEncoder updateFence:]", fence);
}
void BlitCommandEncoder::waitForFence(const Fence* fence) {
  from(this).state.wait_for_fence("-[MTLBlitCommandEncoder waitForFence:]", fence);
}

}  // namespace MTL
