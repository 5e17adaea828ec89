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

/// What dispatches of one concurrent pass have touched (Encoder::set_pass). Any thread.
class ConcurrentPass;
using ConcurrentPassRef = std::shared_ptr<ConcurrentPass>;
ConcurrentPassRef make_concurrent_pass();

/// How elements of a buffer are a tensor. Dimension 0 comes first, and is the innermost.
struct TensorShape {
  std::string element;            ///< "half", "float", "bfloat", "char", "uchar" or "int"
  std::vector<uint64_t> extents;  ///< in elements; 1 to 8 dimensions
  /// In elements; empty: without gaps. As Metal has it: that of dimension 0 is 1, and each other is at least the one
  /// before times the extent there.
  std::vector<uint64_t> strides;
};

/// "half" of an argument tensor<half, ...>; nothing for other arguments.
std::optional<std::string_view> tensor_element(const ArgInfo& argument);

/// Whether the library has these visible functions, which a table may name. Empty names are passed over. Errors:
/// function_not_found, function_kind, unsupported (it reads function constants).
Result<void> check_visible(const Library& library, std::span<const std::string_view> functions);

/// One stream of dispatches. Not thread-safe; different encoders may be used from different threads at once.
///
/// Bindings stay until they are replaced, also across set_pipeline. On the cpu device a dispatch has run when it
/// returns (but see begin_concurrent); on Metal it has been encoded, and wait() commits and waits. Binding and
/// dispatching allocate nothing once the encoder has seen its largest arguments.
class Encoder {
 public:
  static Result<std::unique_ptr<Encoder>> create(const DeviceRef& device);
  virtual ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  Result<void> set_pipeline(PipelineRef pipeline);
  /// Indexes go from 0 to 30: `buffer_index` above. The encoder keeps the buffer until it is replaced. An empty
  /// `buffer` binds the null address, for kernels that take it as "none"; checked code faults when it is used.
  Result<void> set_buffer(uint32_t index, BufferRef buffer, uint64_t offset = 0);
  /// Copied now; any length.
  Result<void> set_bytes(uint32_t index, ByteView bytes);
  /// The caller's memory, borrowed until the dispatch has run. Only where the device shares it as it is (cpu):
  /// `unsupported` elsewhere.
  Result<void> set_memory(uint32_t index, std::span<std::byte> memory);
  /// What an argument tensor<T, ...> [[buffer(index)]] is: elements in `buffer`, from byte `offset` on. Kept until
  /// replaced. Errors: invalid_argument when the shape leaves the buffer or is none of Metal's; `unsupported` on
  /// devices other than the cpu.
  Result<void> set_tensor(uint32_t index, BufferRef buffer, uint64_t offset, const TensorShape& shape);
  /// The same of an array, borrowed until the dispatch has run. Its last index is dimension 0. Elements of 16 bits
  /// without a sign are the bits of bfloat.
  Result<void> set_tensor(uint32_t index, const ArrayView& array);
  Result<void> set_threadgroup_memory(uint32_t index, uint64_t bytes);
  /// [[texture(index)]], 0 to 127, and [[sampler(index)]], 0 to 15; kept until replaced. `unsupported` on devices other
  /// than the cpu.
  Result<void> set_texture(uint32_t index, TextureRef texture);
  Result<void> set_sampler(uint32_t index, SamplerRef sampler);
  /// What kernels reach by handles from memory: the addresses of `Texture::cpu()` and `Sampler::cpu()` in an argument
  /// buffer. Kept until forget_used(), clear_bindings() or reset(). Checked code takes no handle but of these and of
  /// what is bound.
  void use(TextureRef texture) { used_textures_.push_back(std::move(texture)); }
  void use(SamplerRef sampler) { used_samplers_.push_back(std::move(sampler)); }
  void forget_used();
  /// What an argument visible_function_table<S> [[buffer(index)]] is: visible functions by name, of the library that
  /// the kernel is from; an empty name leaves its entry empty. Nothing: the null table. Copied. A dispatch fails when
  /// the kernel calls an entry that is empty, or whose function has another type or is of another library.
  /// `unsupported` on devices other than the cpu.
  Result<void> set_function_table(uint32_t index, std::optional<std::span<const std::string_view>> functions);
  /// Memory for what stands for an argument of a class of the form `record` (binding_classes.def), at the index of a
  /// buffer: bound, and the caller's to fill until the next call that binds this index. `unsupported` on devices other
  /// than the cpu.
  Result<std::span<std::byte>> make_record(BindingClass kind, uint32_t index, size_t bytes);
  void clear_bindings();
  /// As new: no pipeline, nothing bound. What has been dispatched still runs.
  void reset();

  /// Runs every thread of the grid exactly once; edge groups are trimmed. A component 0 in `threads` is a no-op that
  /// succeeds. Default group: what the kernel requires, else (min(limit, x), 1, 1).
  /// Errors: invalid_argument, group_zero, group_too_large, threadgroup_memory_too_large, argument_mismatch (a buffer,
  /// texture or sampler that the kernel uses is not bound, a buffer is shorter than the type that the kernel reads
  /// there, or a texture is of another type than it takes), buffer_bounds (checked code), device_unavailable (offline).
  Result<void> dispatch_threads(Size3 threads);
  Result<void> dispatch_threads(Size3 threads, Size3 group_size);
  /// `rank`: how many components of `threads` are meant, 1 to 3; the others are 1. Without `group_size`: the default.
  Result<void> dispatch_threads(Size3 threads, std::optional<Size3> group_size, int rank);

  /// The same with the grid as a count of whole threadgroups, each of which has all its threads.
  Result<void> dispatch_threadgroups(Size3 groups, Size3 group_size);

  /// Until end_concurrent(), dispatches do not depend on each other: none writes what another of them touches, as in a
  /// Metal encoder of MTLDispatchTypeConcurrent. Short ones are kept, with a copy of their bindings, and run side by
  /// side on the device's threads; all have run when barrier(), end_concurrent() or wait() returns, and not before, so
  /// memory of set_memory() stays the encoder's until then. A dispatch that is kept says only whether its arguments are
  /// right; what goes wrong in it is the error of the call that ran it (the first in order; the others run all the
  /// same). Metal's device runs them one after the other, which is no less than was asked for.
  /// Code that looks for races compares them: a dispatch that touches what an earlier one writes, without barrier()
  /// between the two, is a finding.
  void begin_concurrent();
  /// Later dispatches see what earlier ones wrote.
  Result<void> barrier();
  Result<void> end_concurrent();

  /// For dispatches of one concurrent pass that several encoders run, on threads of their own: until the next call,
  /// also after reset(), dispatches are of that pass, behind that many of its barriers, and code that looks for races
  /// compares them. Those behind more barriers come after all that are behind fewer. Null: of none.
  void set_pass(ConcurrentPassRef pass, uint32_t barriers);

  /// What dispatches belong to, in a trace (SMELT_TRACE); until it is replaced, also after reset().
  void set_trace_label(std::string label) { trace_label_ = std::move(label); }

  /// Until everything dispatched has run.
  virtual Result<void> wait();

  const DeviceRef& device() const { return device_; }
  /// Dispatches that had nothing to do because a grid component was 0.
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

  // Laid out as the CPU code wants them, so that a launch passes them on as they are.
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
