// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encoders write down and lanes carry out.
#pragma once

#include "hazards.hpp"
#include "pipeline_object.hpp"
#include "resource_object.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

namespace smelt::metal {

class EventObject;
class FenceObject;

/// One argument of a dispatch.
struct Bound {
  uint32_t index = 0;
  BindingClass kind = BindingClass::buffer;
  std::byte* data = nullptr;  ///< of a buffer; null: a null pointer
  uint64_t bytes = 0;
  const Bindable* object = nullptr;  ///< kept by the command buffer; null: memory, or the null table
};

struct DispatchCommand {
  const PipelineObject* pipeline = nullptr;
  size_t first_bound = 0, bounds = 0;  ///< in CommandList::bounds
  size_t first_use = 0, uses = 0;      ///< in CommandList::uses
  MTL::Size grid;                      ///< threads, or groups
  bool counts_groups = false;
  const std::byte* indirect = nullptr;  ///< three counts of groups, read when it runs; `grid` is nothing then
  MTL::Size group;
};
struct CopyCommand {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  uint64_t bytes = 0;
};
struct FillCommand {
  std::byte* at = nullptr;
  uint64_t bytes = 0;
  uint8_t value = 0;
};
struct MipmapCommand {
  loader::TextureRef texture;
};
using Command = std::variant<DispatchCommand, CopyCommand, FillCommand, BoxCopy, MipmapCommand>;

/// Commands that run one after the other on one lane.
struct Unit {
  size_t first = 0, count = 0;    ///< in CommandList::commands
  std::vector<ResourceUse> uses;  ///< of tracked resources
  bool after_barrier = false;     ///< waits for all earlier units of its pass
  uint32_t barriers = 0;          ///< of its pass before it
};

/// One pass, or one signal or wait of an event, in the order of encoding.
struct Step {
  enum class Kind : uint8_t { pass, signal, wait } kind = Kind::pass;
  std::vector<Unit> units;
  loader::ConcurrentPassRef concurrent;  ///< of a concurrent pass
  std::vector<NS::SharedPtr<FenceObject>> waits, updates;
  NS::SharedPtr<EventObject> event;
  uint64_t value = 0;
  std::string label;
};

/// Bytes that stay where they are: what setBytes copies.
class ByteArena {
 public:
  std::byte* copy(const void* bytes, size_t length);
  std::byte* zeros(size_t length);

 private:
  std::byte* place(size_t length);
  static constexpr size_t kChunk = 16384, kAlignment = 64;
  struct alignas(kAlignment) Chunk {
    std::byte bytes[kChunk];
  };
  std::vector<std::unique_ptr<Chunk>> chunks_;
  size_t used_ = kChunk;
};

struct CommandList {
  std::vector<Command> commands;
  std::vector<Bound> bounds;
  std::vector<const Reachable*> uses;  ///< only for checked code; the command buffer keeps them
  std::vector<Step> steps;
  ByteArena arena;
  std::vector<NS::SharedPtr<NS::Object>> kept;  ///< what commands use, each once
};

/// Runs one command. `where` is for the trace.
Result<void> run_command(const CommandList& list, const Command& command, const std::string& where, Lane& lane);

}  // namespace smelt::metal
