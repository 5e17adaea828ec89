// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "constant_values.hpp"
#include "pipeline_object.hpp"

namespace smelt::metal {
namespace {

/// What the three public classes show.
struct ArgumentFacts {
  std::string name;
  BindingClass kind = BindingClass::buffer;
  Access access = Access::read_write;
  uint32_t index = 0;
  bool unused = false, conditional = false;
  uint32_t bytes = 0, alignment = 0, count = 1;
  MTL::DataType type = MTL::DataTypeNone;
};

/// What objects of all of them hold.
struct WithFacts {
  ArgumentFacts facts;
};

template <class Public>
class ArgumentObject final : public Public, public WithFacts {
 public:
  std::string_view class_name() const override {
    return std::is_same_v<Public, MTL::Argument> ? "MTLArgument" : "MTLBinding";
  }
};
using BufferObjectOf = ArgumentObject<MTL::BufferBinding>;
using ThreadgroupObjectOf = ArgumentObject<MTL::ThreadgroupBinding>;
using OtherObjectOf = ArgumentObject<MTL::Binding>;
using PlainObjectOf = ArgumentObject<MTL::Argument>;

const ArgumentFacts& facts_of(const MTL::Binding* binding) {
  return dynamic_cast<const WithFacts*>(binding)->facts;
}
const ArgumentFacts& facts_of(const MTL::Argument* argument) {
  return static_cast<const PlainObjectOf*>(argument)->facts;
}

class ReflectionObject final : public MTL::ComputePipelineReflection {
 public:
  NS::SharedPtr<NS::Array> bindings_, arguments_;
  std::string_view class_name() const override { return "MTLComputePipelineReflection"; }
};

template <class Object>
Object* made(const ArgumentFacts& facts) {
  auto* object = new Object;
  object->facts = facts;
  object->autorelease();
  return object;
}

ArgumentFacts facts_from(const loader::ArgInfo& info, BindingClass kind) {
  ArgumentFacts facts;
  facts.name = info.name;
  facts.kind = kind;
  facts.access = info.access;
  facts.index = info.index;
  facts.unused = info.unused;
  facts.conditional = info.conditional;
  facts.bytes = info.size;
  facts.alignment = info.align;
  facts.count = info.array_size;
  facts.type = data_type_named(info.type_name);
  if (facts.type == MTL::DataTypeNone && info.size != 0) facts.type = MTL::DataTypeStruct;
  return facts;
}

/// The public class differs from class to class. Null: Metal's interface shows none of this one here.
NS::Object* binding_of(const ArgumentFacts& facts) {
  switch (form_of(facts.kind)) {
    case BindingForm::memory:
      return made<BufferObjectOf>(facts);
    case BindingForm::threadgroup:
      return made<ThreadgroupObjectOf>(facts);
    case BindingForm::record:
      return made<OtherObjectOf>(facts);
    case BindingForm::handle:
      break;
  }
  return nullptr;
}

MTL::BindingAccess access_of(const ArgumentFacts& facts) {
  if (facts.access == Access::write) return MTL::BindingAccessWriteOnly;
  return facts.access == Access::read_write ? MTL::BindingAccessReadWrite : MTL::BindingAccessReadOnly;
}

/// MTLBindingType and MTLArgumentType have the same numbers.
static_assert(MTL::BindingTypeSampler == static_cast<int>(MTL::ArgumentTypeSampler));
static_assert(MTL::BindingTypeVisibleFunctionTable == static_cast<int>(MTL::ArgumentTypeVisibleFunctionTable));
constexpr MTL::BindingType kBindingTypes[] = {
#define SMELT_BINDING_CLASS(name, slots, support, noun, form, metal) MTL::BindingType##metal,
#include "smelt/base/binding_classes.def"
};
template <class Type>
Type type_of(const ArgumentFacts& facts) {
  return static_cast<Type>(kBindingTypes[static_cast<size_t>(facts.kind)]);
}

}  // namespace

MTL::ComputePipelineReflection* reflection_of(const loader::PipelineState& pipeline) {
  std::vector<NS::Object*> bindings, arguments;
  for (const loader::ArgInfo& info : pipeline.args()) {
    const std::optional<BindingClass> kind = class_of(info.kind);
    if (!kind || !is_run(*kind)) continue;
    const ArgumentFacts facts = facts_from(info, *kind);
    if (NS::Object* const binding = binding_of(facts)) {
      bindings.push_back(binding);
      arguments.push_back(made<PlainObjectOf>(facts));
    }
  }
  auto* reflection = new ReflectionObject;
  reflection->bindings_ = NS::RetainPtr(array_of(bindings));
  reflection->arguments_ = NS::RetainPtr(array_of(arguments));
  reflection->autorelease();
  return reflection;
}

MTL::Argument* argument_of(const loader::ArgInfo& info) {
  return made<PlainObjectOf>(facts_from(info, class_of(info.kind).value_or(BindingClass::buffer)));
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

NS::Array* ComputePipelineReflection::bindings() const {
  return static_cast<const ReflectionObject*>(this)->bindings_.get();
}
NS::Array* ComputePipelineReflection::arguments() const {
  return static_cast<const ReflectionObject*>(this)->arguments_.get();
}

NS::String* Binding::name() const {
  return string_of(facts_of(this).name);
}
BindingType Binding::type() const {
  return type_of<BindingType>(facts_of(this));
}
BindingAccess Binding::access() const {
  return access_of(facts_of(this));
}
NS::UInteger Binding::index() const {
  return facts_of(this).index;
}
bool Binding::used() const {
  return !facts_of(this).unused;
}
bool Binding::argument() const {
  return !facts_of(this).conditional;
}
NS::UInteger BufferBinding::bufferAlignment() const {
  return facts_of(this).alignment;
}
NS::UInteger BufferBinding::bufferDataSize() const {
  return facts_of(this).bytes;
}
DataType BufferBinding::bufferDataType() const {
  return facts_of(this).type;
}
NS::UInteger ThreadgroupBinding::threadgroupMemoryAlignment() const {
  return facts_of(this).alignment;
}
NS::UInteger ThreadgroupBinding::threadgroupMemoryDataSize() const {
  return facts_of(this).bytes;
}

NS::String* Argument::name() const {
  return string_of(facts_of(this).name);
}
ArgumentType Argument::type() const {
  return type_of<ArgumentType>(facts_of(this));
}
BindingAccess Argument::access() const {
  return access_of(facts_of(this));
}
NS::UInteger Argument::index() const {
  return facts_of(this).index;
}
bool Argument::active() const {
  return !facts_of(this).unused;
}
NS::UInteger Argument::bufferAlignment() const {
  return facts_of(this).alignment;
}
NS::UInteger Argument::bufferDataSize() const {
  return facts_of(this).bytes;
}
DataType Argument::bufferDataType() const {
  return facts_of(this).type;
}
NS::UInteger Argument::threadgroupMemoryAlignment() const {
  return facts_of(this).alignment;
}
NS::UInteger Argument::threadgroupMemoryDataSize() const {
  return facts_of(this).bytes;
}
NS::UInteger Argument::arrayLength() const {
  return facts_of(this).count;
}

}  // namespace MTL
