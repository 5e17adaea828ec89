// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "library_object.hpp"
#include "pipeline_object.hpp"
#include "validation.hpp"

#include <thread>

namespace smelt::metal {

struct LinkedValues {
  static constexpr std::string_view kClass = "MTLLinkedFunctions";
  NS::SharedPtr<NS::Array> functions, binary, hidden;
  NS::SharedPtr<NS::Dictionary> groups;
};

struct PipelineValues {
  static constexpr std::string_view kClass = "MTLComputePipelineDescriptor";
  NS::SharedPtr<NS::String> label;
  NS::SharedPtr<MTL::Function> function;
  bool whole_simdgroups = false;
  NS::UInteger most_threads = 0;
  NS::UInteger call_depth = 1;
  bool indirect_commands = false;
  NS::SharedPtr<NS::Array> archives;
  NS::SharedPtr<MTL::LinkedFunctions> linked;
};

namespace {

void note_arguments(PipelineObject& made) {
  for (const loader::ArgInfo& argument : made.pipeline->args()) {
    const std::optional<BindingClass> kind = class_of(argument.kind);
    if (!kind || !is_run(*kind)) continue;
    const SlotMask slots = slot_mask(argument.index, argument.array_size);
    made.used[*kind] |= slots;
    if (*kind != BindingClass::buffer) continue;
    if (argument.conditional && argument.index < made.conditional.size())
      made.conditional[argument.index] = std::max(1u, argument.size);
    if (argument.access == Access::write || argument.access == Access::read_write) made.written |= slots;
  }
}

/// Whether a table of the kernel may have it: its code is among the kernel's.
Result<void> check_linked(const FunctionObject& function, const FunctionObject& kernel) {
  if (function.kind != FunctionKind::visible)
    return fail(Errc::function_kind, "function '{}': linked '{}' is a {} function; visible functions are linked",
                kernel.name, function.name, to_string(function.kind));
  if (function.library.get() != kernel.library.get())
    return fail(Errc::unsupported, "function '{}': linked '{}' is from another library; it must be from the kernel's",
                kernel.name, function.name);
  SMELT_TRY(const auto described, function.library->described(function.name));
  if (!described->constants().empty())
    return fail(Errc::unsupported,
                "function '{}': linked '{}' reads function constants, so it cannot be called through a table",
                kernel.name, function.name);
  return {};
}

Result<void> link_functions(PipelineObject& pipeline, const FunctionObject& kernel, const LinkedValues& values) {
  for (const NS::Array* list : {values.functions.get(), values.binary.get(), values.hidden.get()})
    for (NS::UInteger i = 0; list != nullptr && i < list->count(); ++i) {
      auto* const function = list->object<MTL::Function>(i);
      SMELT_TRY_VOID(check_linked(from(function), kernel));
      if (list != values.hidden.get()) pipeline.linked.push_back(NS::RetainPtr(function));
    }
  return {};
}

/// A descriptor with the function alone.
NS::SharedPtr<MTL::ComputePipelineDescriptor> plain(const MTL::Function* function) {
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function);
  return descriptor;
}

MTL::ComputePipelineState* give(Result<NS::SharedPtr<PipelineObject>> pipeline,
                                MTL::ComputePipelineReflection* const* reflection, NS::Error** error) {
  if (!pipeline) return library_error(error, pipeline.error());
  if (reflection != nullptr)
    *const_cast<MTL::ComputePipelineReflection**>(reflection) = reflection_of(*(*pipeline)->pipeline);
  PipelineObject* const made = pipeline->get();
  pipeline->detach();
  return made;
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(LinkedFunctions, LinkedValues)
SMELT_OBJECT(LinkedFunctions, NS::Array, functions, setFunctions, functions)
SMELT_OBJECT(LinkedFunctions, NS::Array, binaryFunctions, setBinaryFunctions, binary)
SMELT_OBJECT(LinkedFunctions, NS::Array, privateFunctions, setPrivateFunctions, hidden)
SMELT_OBJECT(LinkedFunctions, NS::Dictionary, groups, setGroups, groups)
LinkedFunctions* LinkedFunctions::linkedFunctions() {
  return alloc()->init()->autorelease();
}

SMELT_DESCRIPTOR(ComputePipelineDescriptor, PipelineValues)
SMELT_OBJECT(ComputePipelineDescriptor, NS::String, label, setLabel, label)
SMELT_OBJECT(ComputePipelineDescriptor, Function, computeFunction, setComputeFunction, function)
SMELT_VALUE(ComputePipelineDescriptor, bool, threadGroupSizeIsMultipleOfThreadExecutionWidth,
            setThreadGroupSizeIsMultipleOfThreadExecutionWidth, whole_simdgroups)
SMELT_VALUE(ComputePipelineDescriptor, NS::UInteger, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup,
            most_threads)
SMELT_VALUE(ComputePipelineDescriptor, NS::UInteger, maxCallStackDepth, setMaxCallStackDepth, call_depth)
SMELT_VALUE(ComputePipelineDescriptor, bool, supportIndirectCommandBuffers, setSupportIndirectCommandBuffers,
            indirect_commands)
SMELT_OBJECT(ComputePipelineDescriptor, NS::Array, binaryArchives, setBinaryArchives, archives)
SMELT_OBJECT(ComputePipelineDescriptor, LinkedFunctions, linkedFunctions, setLinkedFunctions, linked)
void ComputePipelineDescriptor::reset() {
  values_of(this) = {};
}

ComputePipelineState* Device::newComputePipelineState(const Function* computeFunction, NS::Error** error) {
  return newComputePipelineState(computeFunction, PipelineOptionNone, nullptr, error);
}
ComputePipelineState* Device::newComputePipelineState(const Function* computeFunction, PipelineOption options,
                                                      const AutoreleasedComputePipelineReflection* reflection,
                                                      NS::Error** error) {
  if (computeFunction == nullptr)
    return misuse("-[MTLDevice newComputePipelineStateWithFunction:error:]", "computeFunction is null"), nullptr;
  return newComputePipelineState(plain(computeFunction).get(), options, reflection, error);
}
ComputePipelineState* Device::newComputePipelineState(const ComputePipelineDescriptor* descriptor,
                                                      PipelineOption options,
                                                      const AutoreleasedComputePipelineReflection* reflection,
                                                      NS::Error** error) {
  constexpr const char* kCall = "-[MTLDevice newComputePipelineStateWithDescriptor:options:reflection:error:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  if (descriptor->computeFunction() == nullptr)
    return misuse(kCall, "the descriptor's computeFunction is null"), nullptr;
  return give(make_pipeline(from(this), *descriptor, options), reflection, error);
}
void Device::newComputePipelineState(const Function* computeFunction,
                                     const NewComputePipelineStateCompletionHandler& completionHandler) {
  newComputePipelineState(plain(computeFunction).get(), PipelineOptionNone,
                          [completionHandler](ComputePipelineState* state, ComputePipelineReflection*,
                                              NS::Error* error) { completionHandler(state, error); });
}
void Device::newComputePipelineState(const Function* computeFunction, PipelineOption options,
                                     const NewComputePipelineStateWithReflectionCompletionHandler& completionHandler) {
  newComputePipelineState(plain(computeFunction).get(), options, completionHandler);
}
void Device::newComputePipelineState(const ComputePipelineDescriptor* descriptor, PipelineOption options,
                                     const NewComputePipelineStateWithReflectionCompletionHandler& completionHandler) {
  const auto with = NS::TransferPtr(descriptor->copy());
  std::thread([this, with, options, completionHandler] {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::Error* error = nullptr;
    ComputePipelineReflection* reflection = nullptr;
    const auto state = NS::TransferPtr(newComputePipelineState(with.get(), options, &reflection, &error));
    completionHandler(state.get(), reflection, error);
  }).detach();
}

NS::String* ComputePipelineState::label() const {
  return from(this).label.get();
}
Device* ComputePipelineState::device() const {
  return from(this).device;
}
NS::UInteger ComputePipelineState::maxTotalThreadsPerThreadgroup() const {
  return from(this).most_threads;
}
NS::UInteger ComputePipelineState::threadExecutionWidth() const {
  return from(this).pipeline->thread_execution_width();
}
NS::UInteger ComputePipelineState::staticThreadgroupMemoryLength() const {
  return from(this).pipeline->static_threadgroup_memory_length();
}
ComputePipelineReflection* ComputePipelineState::reflection() const {
  return reflection_of(*from(this).pipeline);
}

}  // namespace MTL

namespace smelt::metal {

Result<NS::SharedPtr<PipelineObject>> make_pipeline(DeviceObject& device,
                                                    const MTL::ComputePipelineDescriptor& descriptor,
                                                    MTL::PipelineOption options) {
  const PipelineValues& values = MTL::values_of(&descriptor);
  const FunctionObject& function = from(values.function.get());
  if (&function.library->device != &device)
    return fail(Errc::invalid_argument, "function '{}' is of another device", function.name);
  if (values.indirect_commands)
    return fail(Errc::unsupported,
                "function '{}': supportIndirectCommandBuffers is set; indirect command buffers are not supported",
                function.name);
  auto made = NS::TransferPtr(new PipelineObject);
  if (values.linked) {
    SMELT_TRY_VOID(link_functions(*made, function, MTL::values_of(values.linked.get())));
  }
  SMELT_TRY(const BuiltPipeline built, build_pipeline(function, values.archives.get(),
                                                      (options & MTL::PipelineOptionFailOnBinaryArchiveMiss) != 0));
  made->pipeline = built.pipeline;
  made->device = &device;
  made->label.set(values.label.get());
  made->whole_simdgroups = values.whole_simdgroups;
  made->most_threads = made->pipeline->max_threads_per_threadgroup();
  if (values.most_threads > device.loader->limits().max_threads_per_threadgroup)
    return fail(Errc::invalid_argument, "function '{}': maxTotalThreadsPerThreadgroup {} is above the device's {}",
                function.name, values.most_threads, device.loader->limits().max_threads_per_threadgroup);
  if (values.most_threads != 0) made->most_threads = std::min<uint64_t>(made->most_threads, values.most_threads);
  note_arguments(*made);
  made->has_constants = built.has_constants;
  if (!made->has_constants) made->needed = made->pipeline->facts().needed[BindingClass::buffer];
  return made;
}

}  // namespace smelt::metal
