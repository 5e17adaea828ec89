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
