// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "constant_object.hpp"
#include "holder.hpp"
#include "library_object.hpp"

#include <thread>

namespace smelt::metal {
namespace {

class ConstantObject final : public MTL::FunctionConstant {
 public:
  std::string name_;
  MTL::DataType type_ = MTL::DataTypeNone;
  uint32_t index_ = 0;
  bool required_ = true;
  std::string_view class_name() const override { return "MTLFunctionConstant"; }
};
const ConstantObject& from(const MTL::FunctionConstant* constant) {
  return static_cast<const ConstantObject&>(*constant);
}

struct FunctionValues {
  static constexpr std::string_view kClass = "MTLFunctionDescriptor";
  NS::SharedPtr<NS::String> name, specialised;
  NS::SharedPtr<MTL::FunctionConstantValues> constants;
  MTL::FunctionOptions options = MTL::FunctionOptionNone;
  NS::SharedPtr<NS::Array> archives;
};

Result<NS::SharedPtr<FunctionObject>> find_function(LibraryObject& library, const NS::String* name,
                                                    const MTL::FunctionConstantValues* constants) {
  auto made = NS::TransferPtr(new FunctionObject);
  made->library = NS::RetainPtr(&library);
  made->name = text_of(name);
  SMELT_TRY(made->kind, library.kind_of(made->name));
  if (constants != nullptr) made->constants = set_of(constants);
  return made;
}

MTL::Function* give(Result<NS::SharedPtr<FunctionObject>> function, NS::Error** error) {
  if (!function) return library_error(error, function.error());
  FunctionObject* const made = function->get();
  function->detach();
  return made;
}

MTL::FunctionType type_of(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::vertex:
      return MTL::FunctionTypeVertex;
    case FunctionKind::fragment:
      return MTL::FunctionTypeFragment;
    case FunctionKind::visible:
      return MTL::FunctionTypeVisible;
    case FunctionKind::intersection:
      return MTL::FunctionTypeIntersection;
    case FunctionKind::mesh:
      return MTL::FunctionTypeMesh;
    case FunctionKind::object:
      return MTL::FunctionTypeObject;
    default:
      return MTL::FunctionTypeKernel;
  }
}

}  // namespace

Result<BuiltPipeline> build_pipeline(const FunctionObject& function, const NS::Array* archives, bool only) {
  SMELT_TRY(const auto library, function.library->with_code(function.name, archives, only));
  SMELT_TRY(const auto with_code, library->function(function.name));
  BuiltPipeline built;
  built.has_constants = !with_code->constants().empty();
  if (function.constants) {
    SMELT_TRY(const auto values, function.constants->bind(*with_code));
    SMELT_TRY(built.pipeline, with_code->pipeline(values));
  } else {
    // Without values at all it is no kernel yet: Metal refuses to make a pipeline of it, too.
    SMELT_TRY(built.pipeline, with_code->pipeline());
  }
  return built;
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

NS::String* FunctionConstant::name() const {
  return string_of(from(this).name_);
}
DataType FunctionConstant::type() const {
  return from(this).type_;
}
NS::UInteger FunctionConstant::index() const {
  return from(this).index_;
}
bool FunctionConstant::required() const {
  return from(this).required_;
}

SMELT_DESCRIPTOR(FunctionDescriptor, FunctionValues)
SMELT_OBJECT(FunctionDescriptor, NS::String, name, setName, name)
SMELT_OBJECT(FunctionDescriptor, NS::String, specializedName, setSpecializedName, specialised)
SMELT_VALUE(FunctionDescriptor, FunctionOptions, options, setOptions, options)
SMELT_OBJECT(FunctionDescriptor, NS::Array, binaryArchives, setBinaryArchives, archives)
FunctionDescriptor* FunctionDescriptor::functionDescriptor() {
  return alloc()->init()->autorelease();
}
FunctionConstantValues* FunctionDescriptor::constantValues() const {
  return values_of(this).constants.get();
}
void FunctionDescriptor::setConstantValues(const FunctionConstantValues* values) {
  values_of(this).constants = NS::TransferPtr(values != nullptr ? values->copy() : nullptr);
}

Function* Library::newFunction(const NS::String* functionName) {
  return give(find_function(from(this), functionName, nullptr), nullptr);
}
Function* Library::newFunction(const NS::String* functionName, const FunctionConstantValues* constantValues,
                               NS::Error** error) {
  return give(find_function(from(this), functionName, constantValues), error);
}
Function* Library::newFunction(const FunctionDescriptor* descriptor, NS::Error** error) {
  if (descriptor == nullptr)
    return misuse("-[MTLLibrary newFunctionWithDescriptor:error:]", "descriptor is null"), nullptr;
  auto function = find_function(from(this), descriptor->name(), descriptor->constantValues());
  if (function) {
    (*function)->specialised = text_of(descriptor->specializedName());
    (*function)->options = descriptor->options();
  }
  return give(std::move(function), error);
}
void Library::newFunction(const NS::String* functionName, const FunctionConstantValues* constantValues,
                          const NewFunctionCompletionHandler& completionHandler) {
  const auto descriptor = NS::TransferPtr(FunctionDescriptor::alloc()->init());
  descriptor->setName(functionName);
  descriptor->setConstantValues(constantValues);
  newFunction(descriptor.get(), completionHandler);
}
void Library::newFunction(const FunctionDescriptor* descriptor, const NewFunctionCompletionHandler& completionHandler) {
  const auto self = NS::RetainPtr(this);
  const auto with = NS::TransferPtr(descriptor->copy());
  std::thread([self, with, completionHandler] {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::Error* error = nullptr;
    const auto function = NS::TransferPtr(self->newFunction(with.get(), &error));
    completionHandler(function.get(), error);
  }).detach();
}

SMELT_LABEL_AND_DEVICE(Function, from(this).label, &from(this).library->device)
FunctionType Function::functionType() const {
  return type_of(from(this).kind);
}
NS::String* Function::name() const {
  const FunctionObject& function = from(this);
  return string_of(function.specialised.empty() ? function.name : function.specialised);
}
FunctionOptions Function::options() const {
  return from(this).options;
}
NS::Dictionary* Function::functionConstantsDictionary() const {
  std::vector<NS::Object*> names, constants;
  const auto described = from(this).library->described(from(this).name);
  if (!described) return NS::Dictionary::dictionary();  // making a pipeline of it says why
  for (const smelt::loader::ConstantInfo& info : (*described)->constants()) {
    auto* constant = new ConstantObject;
    constant->autorelease();
    constant->name_ = info.name;
    constant->type_ = data_type_named(info.type_name);
    constant->index_ = info.index;
    constant->required_ = info.required;
    constants.push_back(constant);
    names.push_back(string_of(info.name));
  }
  return NS::Dictionary::dictionary(constants.data(), names.data(), names.size());
}

}  // namespace MTL
