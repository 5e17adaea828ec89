// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers and encoders in C.
#include "handles.hpp"

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::c_api;

namespace {

/// The size_t of a C caller on a 32-bit host cannot hold every 64-bit size.
Result<size_t> to_size(uint64_t size, const char* function) {
  if (size > SIZE_MAX / 2) return fail(Errc::invalid_argument, "{}: {} bytes cannot be addressed", function, size);
  return static_cast<size_t>(size);
}

Result<Size3> to_size3(const uint64_t* values, size_t rank) {
  if (values == nullptr) return null_argument("smelt_encoder_dispatch_threads", "threads");
  if (rank < 1 || rank > 3)
    return fail(Errc::invalid_argument, "smelt_encoder_dispatch_threads: rank {}; want 1, 2 or 3", rank);
  return Size3{values[0], rank > 1 ? values[1] : 1, rank > 2 ? values[2] : 1};
}

}  // namespace

void smelt_encoder_retain(smelt_encoder* handle) {
  retain(handle);
}
void smelt_encoder_release(smelt_encoder* handle) {
  release(handle);
}
void smelt_buffer_retain(smelt_buffer* handle) {
  retain(handle);
}
void smelt_buffer_release(smelt_buffer* handle) {
  release(handle);
}

smelt_status smelt_buffer_create(smelt_device* device, uint64_t size, smelt_buffer** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || out == nullptr) return null_argument("smelt_buffer_create", "device or out");
    SMELT_TRY(const size_t bytes, to_size(size, "smelt_buffer_create"));
    return give(out, device->ref->make_buffer(bytes));
  });
}

smelt_status smelt_buffer_wrap(smelt_device* device, void* memory, uint64_t size, void (*on_release)(void* context),
                               void* context, smelt_buffer** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || out == nullptr || (memory == nullptr && size != 0))
      return null_argument("smelt_buffer_wrap", "device, memory or out");
    SMELT_TRY(const size_t bytes, to_size(size, "smelt_buffer_wrap"));
    CallersMemory owner(on_release, context, memory);
    SMELT_TRY(BufferRef buffer, device->ref->wrap({static_cast<std::byte*>(memory), bytes}, owner.ref()));
    *out = new smelt_buffer(std::move(buffer));
    owner.take();
    return {};
  });
}

smelt_status smelt_buffer_contents(smelt_buffer* buffer, void** contents, uint64_t* size) {
  clear(contents);
  clear(size);
  return guard([&]() -> Result<void> {
    if (buffer == nullptr || contents == nullptr) return null_argument("smelt_buffer_contents", "buffer or contents");
    *contents = buffer->ref->contents().data();
    if (size != nullptr) *size = buffer->ref->size();
    return {};
  });
}

smelt_status smelt_buffer_gpu_address(const smelt_buffer* buffer, uint64_t* address) {
  clear(address);
  return guard([&]() -> Result<void> {
    if (buffer == nullptr || address == nullptr) return null_argument("smelt_buffer_gpu_address", "buffer or address");
    *address = buffer->ref->gpu_address();
    return {};
  });
}

smelt_status smelt_encoder_create(smelt_device* device, smelt_encoder** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (device == nullptr || out == nullptr) return null_argument("smelt_encoder_create", "device or out");
    return give(out, Encoder::create(device->ref));
  });
}

smelt_status smelt_encoder_set_pipeline(smelt_encoder* encoder, smelt_pipeline* pipeline) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || pipeline == nullptr)
      return null_argument("smelt_encoder_set_pipeline", "encoder or pipeline");
    return encoder->ref->set_pipeline(pipeline->ref);
  });
}

smelt_status smelt_encoder_set_buffer(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer, uint64_t offset) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_set_buffer", "encoder");
    return encoder->ref->set_buffer(index, buffer != nullptr ? buffer->ref : BufferRef(), offset);
  });
}

smelt_status smelt_encoder_set_bytes(smelt_encoder* encoder, uint32_t index, const void* data, size_t size) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || (data == nullptr && size != 0))
      return null_argument("smelt_encoder_set_bytes", "encoder or data");
    return encoder->ref->set_bytes(index, {static_cast<const std::byte*>(data), size});
  });
}

smelt_status smelt_encoder_set_memory(smelt_encoder* encoder, uint32_t index, void* data, size_t size) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || (data == nullptr && size != 0))
      return null_argument("smelt_encoder_set_memory", "encoder or data");
    return encoder->ref->set_memory(index, {static_cast<std::byte*>(data), size});
  });
}

smelt_status smelt_encoder_set_threadgroup_memory(smelt_encoder* encoder, uint32_t index, uint64_t bytes) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_set_threadgroup_memory", "encoder");
    return encoder->ref->set_threadgroup_memory(index, bytes);
  });
}

smelt_status smelt_encoder_set_texture(smelt_encoder* encoder, uint32_t index, smelt_texture* texture) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || texture == nullptr)
      return null_argument("smelt_encoder_set_texture", "encoder or texture");
    return encoder->ref->set_texture(index, texture->ref);
  });
}

smelt_status smelt_encoder_set_sampler(smelt_encoder* encoder, uint32_t index, smelt_sampler* sampler) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || sampler == nullptr)
      return null_argument("smelt_encoder_set_sampler", "encoder or sampler");
    return encoder->ref->set_sampler(index, sampler->ref);
  });
}

smelt_status smelt_encoder_set_tensor(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer, uint64_t offset,
                                      const smelt_tensor_shape* given) {
  return guard([&]() -> Result<void> {
    constexpr const char* kFunction = "smelt_encoder_set_tensor";
    if (encoder == nullptr || buffer == nullptr || given == nullptr)
      return null_argument(kFunction, "encoder, buffer or shape");
    SMELT_TRY(const smelt_tensor_shape shape, read_options(given, kFunction));
    if (shape.element == nullptr || shape.extents == nullptr) return null_argument(kFunction, "element or extents");
    constexpr size_t kMostRank = 8;
    if (shape.rank > kMostRank)
      return fail(Errc::invalid_argument, "{}: {} dimensions; want 1 to {}", kFunction, shape.rank, kMostRank);
    TensorShape of{shape.element, {shape.extents, shape.extents + shape.rank}, {}};
    if (shape.strides != nullptr) of.strides.assign(shape.strides, shape.strides + shape.rank);
    return encoder->ref->set_tensor(index, buffer->ref, offset, of);
  });
}

smelt_status smelt_encoder_set_tensor_array(smelt_encoder* encoder, uint32_t index, const smelt_array* given) {
  return guard([&]() -> Result<void> {
    constexpr const char* kFunction = "smelt_encoder_set_tensor_array";
    if (encoder == nullptr || given == nullptr) return null_argument(kFunction, "encoder or array");
    SMELT_TRY(const ArrayView view, view_of(given, kFunction));
    return encoder->ref->set_tensor(index, view);
  });
}

smelt_status smelt_encoder_set_function_table(smelt_encoder* encoder, uint32_t index, const char* const* names,
                                              size_t count) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_set_function_table", "encoder");
    if (names == nullptr && count != 0)
      return fail(Errc::invalid_argument, "smelt_encoder_set_function_table: null names, and {} of them", count);
    if (names == nullptr) return encoder->ref->set_function_table(index, std::nullopt);
    std::vector<std::string_view> functions;
    for (size_t i = 0; i < count; ++i) functions.emplace_back(names[i] != nullptr ? names[i] : "");
    return encoder->ref->set_function_table(index, functions);
  });
}

smelt_status smelt_encoder_dispatch_threads(smelt_encoder* encoder, const uint64_t* threads, size_t rank,
                                            const uint64_t* group_size) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_dispatch_threads", "encoder");
    SMELT_TRY(const Size3 grid, to_size3(threads, rank));
    std::optional<Size3> group;
    if (group_size != nullptr) {
      SMELT_TRY(group, to_size3(group_size, rank));
    }
    return encoder->ref->dispatch_threads(grid, group, static_cast<int>(rank));
  });
}

smelt_status smelt_encoder_dispatch_threadgroups(smelt_encoder* encoder, const uint64_t* groups,
                                                 const uint64_t* group_size) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr || groups == nullptr || group_size == nullptr)
      return null_argument("smelt_encoder_dispatch_threadgroups", "encoder, groups or group_size");
    return encoder->ref->dispatch_threadgroups({groups[0], groups[1], groups[2]},
                                               {group_size[0], group_size[1], group_size[2]});
  });
}

smelt_status smelt_encoder_begin_concurrent(smelt_encoder* encoder) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_begin_concurrent", "encoder");
    encoder->ref->begin_concurrent();
    return {};
  });
}

smelt_status smelt_encoder_barrier(smelt_encoder* encoder) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_barrier", "encoder");
    return encoder->ref->barrier();
  });
}

smelt_status smelt_encoder_end_concurrent(smelt_encoder* encoder) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_end_concurrent", "encoder");
    return encoder->ref->end_concurrent();
  });
}

smelt_status smelt_encoder_reset(smelt_encoder* encoder) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_reset", "encoder");
    encoder->ref->reset();
    return {};
  });
}

smelt_status smelt_encoder_wait(smelt_encoder* encoder) {
  return guard([&]() -> Result<void> {
    if (encoder == nullptr) return null_argument("smelt_encoder_wait", "encoder");
    return encoder->ref->wait();
  });
}
