// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "commands.hpp"

#include "smelt/base/trace.hpp"

#include "function_table.hpp"

#include <bit>
#include <cstring>

namespace smelt::metal {

std::byte* ByteArena::place(size_t length) {
  if (used_ + length > kChunk) {
    chunks_.push_back(std::make_unique<Chunk>());
    used_ = 0;
  }
  std::byte* const at = chunks_.back()->bytes + used_;
  used_ = round_up(used_ + length, kAlignment);
  return at;
}

std::byte* ByteArena::copy(const void* bytes, size_t length) {
  std::byte* const at = place(length);
  std::memcpy(at, bytes, length);
  return at;
}

std::byte* ByteArena::zeros(size_t length) {
  std::byte* const at = place(length);
  std::memset(at, 0, length);
  return at;
}

namespace {

/// Metal wants lengths of threadgroup memory in this unit, so it is the least that there is.
constexpr uint64_t kLeastThreadgroup = 16;

Result<void> bind_one(const Bound& bound, loader::Encoder& encoder) {
  if (bound.object != nullptr) return bound.object->bind(encoder, bound.index);
  if (bound.kind == BindingClass::table) return encoder.set_function_table(bound.index, std::nullopt);
  if (bound.kind == BindingClass::threadgroup) return encoder.set_threadgroup_memory(bound.index, bound.bytes);
  if (bound.data == nullptr) return encoder.set_buffer(bound.index, nullptr);
  return encoder.set_memory(bound.index, {bound.data, bound.bytes});
}

Result<void> bind(const CommandList& list, const DispatchCommand& dispatch, loader::Encoder& encoder) {
  encoder.reset();
  SlotMask without_length = dispatch.pipeline->used[BindingClass::threadgroup];
  for (size_t i = 0; i < dispatch.bounds; ++i) {
    const Bound& bound = list.bounds[dispatch.first_bound + i];
    SMELT_TRY_VOID(bind_one(bound, encoder));
    if (bound.kind == BindingClass::threadgroup && bound.bytes != 0) without_length &= ~slot_mask(bound.index);
  }
  for (size_t i = 0; i < dispatch.uses; ++i) list.uses[dispatch.first_use + i]->use(encoder);
  // Metal lets a kernel have a threadgroup argument without a length: the program promises not to use it.
  for (; without_length != 0; without_length &= without_length - 1)
    SMELT_TRY_VOID(encoder.set_threadgroup_memory(lowest_slot(without_length), kLeastThreadgroup));
  return encoder.set_pipeline(dispatch.pipeline->pipeline);
}

loader::Size3 sizes(const MTL::Size& size) {
  return {size.width, size.height, size.depth};
}

Result<void> run_dispatch(const CommandList& list, const DispatchCommand& dispatch, loader::Encoder& encoder) {
  SMELT_TRY_VOID(bind(list, dispatch, encoder));
  loader::Size3 grid = sizes(dispatch.grid);
  if (dispatch.indirect != nullptr) {
    uint32_t counts[3];
    std::memcpy(counts, dispatch.indirect, sizeof(counts));
    grid = {counts[0], counts[1], counts[2]};
  }
  if (dispatch.counts_groups) return encoder.dispatch_threadgroups(grid, sizes(dispatch.group));
  return encoder.dispatch_threads(grid, sizes(dispatch.group), 3);
}

void trace_blit(const char* name, uint64_t bytes, const std::string& where, TraceClock::time_point start) {
  trace_event(name, "blit", start, TraceClock::now(), {{"pass", where}, {"bytes", std::to_string(bytes)}});
}

}  // namespace

Result<void> run_command(const CommandList& list, const Command& command, const std::string& where, Lane& lane) {
  if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
    if (tracing()) lane.encoder->set_trace_label(where);
    return run_dispatch(list, *dispatch, *lane.encoder);
  }
  const auto start = tracing() ? TraceClock::now() : TraceClock::time_point();
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    std::memmove(copy->destination, copy->source, copy->bytes);
    if (tracing()) trace_blit("copy", copy->bytes, where, start);
  } else if (const auto* fill = std::get_if<FillCommand>(&command)) {
    std::memset(fill->at, fill->value, fill->bytes);
    if (tracing()) trace_blit("fill", fill->bytes, where, start);
  } else if (const auto* box = std::get_if<BoxCopy>(&command)) {
    SMELT_TRY_VOID(run_copy(*box));
    if (tracing()) trace_blit("copy", box->bytes * box->rows * box->slices, where, start);
  } else if (const auto* mipmaps = std::get_if<MipmapCommand>(&command)) {
    SMELT_TRY_VOID(loader::generate_mipmaps(*mipmaps->texture));
    if (tracing()) trace_blit("mipmaps", mipmaps->texture->contents().size(), where, start);
  }
  return {};
}

}  // namespace smelt::metal
