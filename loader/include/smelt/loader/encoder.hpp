// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding arguments and dispatching. docs/reference/cpp.md; what a dispatch means: docs/design/loader.md 3.8.
#pragma once

#include "smelt/loader/library.hpp"
#include "smelt/loader/texture.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smelt::loader {

/// The memory that dispatches of one concurrent pass have accessed, for Encoder::set_pass. Thread-safe.
class ConcurrentPass;
/// A handle of a ConcurrentPass.
using ConcurrentPassRef = std::shared_ptr<ConcurrentPass>;
/// Makes an empty pass.
ConcurrentPassRef make_concurrent_pass();

/// How elements of a buffer form a tensor. Dimension 0 comes first, and is the innermost.
struct TensorShape {
  std::string element;            ///< "half", "float", "bfloat", "char", "uchar" or "int"
  std::vector<uint64_t> extents;  ///< in elements; 1 to 8 dimensions
  /// In elements; empty: without gaps. As in Metal, the stride of dimension 0 is 1, and every other stride is at least
  /// the stride of the dimension before it times the extent of that dimension.
  std::vector<uint64_t> strides;
};

/// The element type of a `tensor<half, ...>` argument, such as "half"; nothing for other arguments.
std::optional<std::string_view> tensor_element(const ArgInfo& argument);

/// Checks that the library has these visible functions, so that a table may name them. Ignores empty names. Errors:
/// function_not_found, function_kind, unsupported (it reads function constants).
Result<void> check_visible(const Library& library, std::span<const std::string_view> functions);

/// One stream of dispatches. Not thread-safe; different threads may use different encoders at once.
///
/// Bindings stay until they are replaced, also across set_pipeline. On the CPU a dispatch has run when it returns (but
/// see begin_concurrent); on Metal it has been encoded, and wait() commits and waits. Once the encoder has seen its
/// largest arguments, binding and dispatching allocate no memory.
class Encoder {
 public:
  /// Makes an encoder.
  static Result<std::unique_ptr<Encoder>> create(const DeviceRef& device);
  virtual ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// Sets the kernel of later dispatches.
  Result<void> set_pipeline(PipelineRef pipeline);
  /// Binds a buffer, from byte `offset` on, to [[buffer(index)]]. The encoder keeps it until it is replaced. An empty
  /// `buffer` binds the null address, for kernels that take it as "none"; checked code reports an access through it.
  /// Errors: `buffer_index` for an index above 30.
  Result<void> set_buffer(uint32_t index, BufferRef buffer, uint64_t offset = 0);
  /// Copies bytes, of any length, for [[buffer(index)]].
  Result<void> set_bytes(uint32_t index, ByteView bytes);
  /// Binds the caller's memory, which must stay valid until the dispatch has run. Errors: `unsupported` on devices
  /// other than the CPU.
  Result<void> set_memory(uint32_t index, std::span<std::byte> memory);
  /// Binds a `tensor<T, ...>` argument at [[buffer(index)]] to elements of `buffer`, from byte `offset` on. The encoder
  /// keeps the buffer until it is replaced. Errors: invalid_argument if the shape leaves the buffer or Metal does not
  /// allow it; `unsupported` on devices other than the CPU.
  Result<void> set_tensor(uint32_t index, BufferRef buffer, uint64_t offset, const TensorShape& shape);
  /// The same with an array, which must stay valid until the dispatch has run. Its last index is dimension 0. Unsigned
  /// elements of 16 bits stand for the bits of bfloat.
  Result<void> set_tensor(uint32_t index, const ArrayView& array);
  /// Sets the length of [[threadgroup(index)]] in bytes.
  Result<void> set_threadgroup_memory(uint32_t index, uint64_t bytes);
  /// Binds a texture to [[texture(index)]], 0 to 127, and keeps it until it is replaced. Errors: `unsupported` on
  /// devices other than the CPU.
  Result<void> set_texture(uint32_t index, TextureRef texture);
  /// Binds a sampler to [[sampler(index)]], 0 to 15, and keeps it until it is replaced. Errors: `unsupported` on
  /// devices other than the CPU.
  Result<void> set_sampler(uint32_t index, SamplerRef sampler);
  /// Declares a texture that kernels reach through an argument buffer, by the address of `Texture::cpu()`. The encoder
  /// keeps it until forget_used(), clear_bindings() or reset(). Checked code accepts only handles of these textures and
  /// samplers, and of bound ones.
  void use(TextureRef texture) { used_textures_.push_back(std::move(texture)); }
  /// The same for a sampler, by the address of `Sampler::cpu()`.
  void use(SamplerRef sampler) { used_samplers_.push_back(std::move(sampler)); }
  /// Forgets all textures and samplers of use().
  void forget_used();
  /// Binds a `visible_function_table<S>` argument at [[buffer(index)]] to visible functions of the kernel's library, by
  /// name. The names are copied; an empty name leaves its entry empty. Nothing: the null table. A dispatch fails if the
  /// kernel calls an entry that is empty, or whose function has another type or is in another library. Errors:
  /// `unsupported` on devices other than the CPU.
  Result<void> set_function_table(uint32_t index, std::optional<std::span<const std::string_view>> functions);
  /// Makes and binds memory that stands for an argument of a class of the form `record` (binding_classes.def), at the
  /// index of a buffer. The caller fills it, until the next call that binds this index. Errors: `unsupported` on
  /// devices other than the CPU.
  Result<std::span<std::byte>> make_record(BindingClass kind, uint32_t index, size_t bytes);
  /// Removes all bindings.
  void clear_bindings();
  /// Removes the pipeline and all bindings. Work that was dispatched still runs.
  void reset();

  /// Runs every thread of the grid exactly once, with the default group: what the kernel requires, else (min(limit, x),
  /// 1, 1). Groups at the edge are trimmed. If a component of `threads` is 0, it does nothing and succeeds.
  /// Errors: invalid_argument, group_zero, group_too_large, threadgroup_memory_too_large, argument_mismatch (a buffer,
  /// texture or sampler that the kernel uses is not bound, a buffer is shorter than its declared type, or a texture has
  /// the wrong type), buffer_bounds (checked code), cancelled, device_unavailable (offline).
  Result<void> dispatch_threads(Size3 threads);
  /// The same with groups of this size.
  Result<void> dispatch_threads(Size3 threads, Size3 group_size);
  /// The same for the first `rank` components of `threads`, 1 to 3; the others are 1. Without `group_size`: the
  /// default.
  Result<void> dispatch_threads(Size3 threads, std::optional<Size3> group_size, int rank);

  /// Runs a grid of whole threadgroups, each of which has all its threads.
  Result<void> dispatch_threadgroups(Size3 groups, Size3 group_size);

  /// Begins a pass of independent dispatches, as a Metal encoder of MTLDispatchTypeConcurrent: none writes memory that
  /// another one touches. The encoder keeps short ones, with a copy of their bindings, and runs them side by side on
  /// the device's threads. All have run when barrier(), end_concurrent() or wait() returns; memory of set_memory() must
  /// stay valid until then. A dispatch that is kept reports only wrong arguments; the call that runs it returns its
  /// error (the first in order; the others run too). Metal's device runs them one after the other.
  /// Code with the check `races` reports a dispatch that touches memory which an earlier one writes, without barrier()
  /// between the two.
  void begin_concurrent();
  /// Separates dispatches of the pass: later ones see what earlier ones wrote.
  Result<void> barrier();
  /// Ends the pass that begin_concurrent() began.
  Result<void> end_concurrent();

  /// For a concurrent pass that several encoders run, each on its own thread: dispatches belong to `pass`, after this
  /// many of its barriers, until the next call, also after reset(). Dispatches after more barriers come after all that
  /// are after fewer. The check `races` compares them. Null: they belong to no pass.
  void set_pass(ConcurrentPassRef pass, uint32_t barriers);

  /// Names the dispatches that follow in a trace (SMELT_TRACE), until it is replaced, also after reset().
  void set_trace_label(std::string label) { trace_label_ = std::move(label); }

  /// Waits until everything dispatched has run.
  virtual Result<void> wait();

  /// The device that it dispatches on.
  const DeviceRef& device() const { return device_; }
  /// The number of dispatches that did nothing because a component of the grid was 0.
  uint64_t empty_dispatches() const { return empty_dispatches_; }

 protected:
  static constexpr size_t kSlots = row_of(BindingClass::buffer).slots;
  static constexpr size_t kTextures = row_of(BindingClass::texture).slots;
  static constexpr size_t kSamplers = row_of(BindingClass::sampler).slots;
  struct Slot {
    BufferRef buffer;                ///< keeps it; empty for bytes and memory
    uint64_t offset = 0;             ///< into `buffer`
    std::vector<std::byte> inlined;  ///< set_bytes; its capacity is reused
    bool is_inline = false;
    bool is_null = false;
  };

  explicit Encoder(DeviceRef device) : device_(std::move(device)) {}
  virtual Result<void> run(const PipelineState& pipeline, const Size3& threads, const Size3& group) = 0;
  /// Until what was kept of a concurrent pass has run.
  virtual Result<void> run_kept();
  virtual bool takes_memory() const { return false; }
  /// Slots that are bound; of threadgroup memory those that have a length.
  SlotMask in_use(BindingClass kind) const { return bound_[kind]; }
  bool concurrent() const { return concurrent_; }
  /// That dispatches are of now; null: of none.
  ConcurrentPass* pass();
  uint32_t barriers() const { return barriers_; }

  // Laid out as the CPU code expects them, so that a launch passes them on as they are.
  std::array<void*, kSlots> addresses_{};
  std::array<uint64_t, kSlots> lengths_{};
  std::array<uint32_t, kSlots> threadgroup_lengths_{};
  std::array<Slot, kSlots> slots_;
  std::array<const smelt_cpu_texture*, kTextures> textures_{};
  std::array<const smelt_cpu_sampler*, kSamplers> samplers_{};
  std::array<TextureRef, kTextures> texture_refs_;
  std::array<SamplerRef, kSamplers> sampler_refs_;
  std::vector<TextureRef> used_textures_;
  std::vector<SamplerRef> used_samplers_;

 private:
  Result<void> check_textures(const PipelineState& pipeline) const;
  Result<void> check_length(const PipelineState& pipeline, const LeastBytes& least) const;
  Result<void> check_tensors(const PipelineState& pipeline) const;
  Result<void> bind_tensor(uint32_t index, std::span<std::byte> memory, uint64_t offset, const TensorShape& shape);
  Result<void> check_stage(const PipelineState& pipeline, const Size3& threads, const Size3& group) const;
  Result<void> check_slot(uint32_t index) const;
  Result<void> check_tables(const PipelineState& pipeline) const;
  void bind_slot(uint32_t index);
  void bind_inlined(uint32_t index);
  static tl::unexpected<Error> not_bound(const PipelineState& pipeline, const BindingSlot& slot);
  Result<void> run_traced(const PipelineState& pipeline, const Size3& threads, const Size3& group);

  DeviceRef device_;
  PipelineRef pipeline_;
  ByClass<SlotMask> bound_;
  SlotMask tensors_ = 0;  ///< of the buffers those that stand for tensors
  uint64_t empty_dispatches_ = 0;
  bool concurrent_ = false;
  ConcurrentPassRef pass_;
  uint32_t barriers_ = 0;  ///< of pass_, so far
  std::string trace_label_;
};

}  // namespace smelt::loader
