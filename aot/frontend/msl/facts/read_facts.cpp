// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/read_facts.hpp"

#include "interface/limits.hpp"
#include "kernel_ir/builtins.hpp"
#include "msl/facts/annotations.hpp"
#include "msl/facts/handles.hpp"
#include "msl/facts/imageblock_reader.hpp"
#include "msl/facts/mesh_reader.hpp"
#include "msl/facts/missing_features.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/stage_reader.hpp"
#include "msl/facts/struct_members.hpp"
#include "msl/facts/tree_walk.hpp"
#include "msl/facts/visible_reader.hpp"
#include "msl/syntax/attributes.hpp"
#include "ops/intrinsics.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/Sema/Sema.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace smelt::aot::msl {
namespace {

using clang::AnnotateAttr;

std::string_view view(llvm::StringRef text) {
  return {text.data(), text.size()};
}

/// Kernels and functions of other stages (definitions, no implicit instantiations), and function constants, in the
/// order of the source.
class Collector final : public TreeWalk {
 public:
  std::vector<const clang::FunctionDecl*> kernels;
  std::vector<const clang::VarDecl*> constants, hardware;
  std::map<std::string, const clang::VarDecl*> truths;  ///< with a value of their own
  std::vector<const clang::FunctionDecl*> labelled;     ///< with the name of an operation of AIR
  Collector() : TreeWalk({.statements = false}) {}

 private:
  using TreeWalk::visit;
  bool visit(clang::Decl* decl) override {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) collect(*function);
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) collect(*variable);
    return true;
  }
  void collect(const clang::FunctionDecl& function) {
    if (const auto* label = function.getAttr<clang::AsmLabelAttr>();
        label != nullptr && label->getLabel().starts_with("air."))
      labelled.push_back(&function);
    if (function.isDependentContext()) return;
    // Of a declaration that is broken, by a type that is missing for one, Clang reads no body.
    if (function.isInvalidDecl() || !function.isThisDeclarationADefinition()) return;
    if (function.getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation) return;
    if (stage_of(function)) kernels.push_back(&function);
  }
  void collect(const clang::VarDecl& variable) {
    if (variable.isInvalidDecl() || !variable.hasGlobalStorage()) return;
    if (find_annotation(variable, "function_constant") != nullptr)
      constants.push_back(&variable);
    else if (const auto* label = variable.getAttr<clang::AsmLabelAttr>();
             label != nullptr && label->getLabel().starts_with(kernel_ir::kHardwareVariable))
      hardware.push_back(&variable);
    else if (variable.getType()->isBooleanType() && variable.hasInit() && variable.isFileVarDecl())
      truths.emplace(variable.getNameAsString(), &variable);
  }
};

/// [[texture(n)]] and the like: a class that is not compiled yet (binding_classes.def).
bool is_refused(std::string_view attribute) {
  const std::optional<BindingClass> kind = binding_class_named(attribute);
  return kind && !is_run(*kind);
}

constexpr int64_t kMostOrderGroup = 7;

std::string stage_function(Stage stage) {
  return fmt::format("{} function", stage_word(stage));
}

std::string a_stage_function(Stage stage) {
  return (stage == Stage::intersection || stage == Stage::object ? "an " : "a ") + stage_function(stage);
}

class Reader {
 public:
  explicit Reader(clang::Sema& sema) : sema_(sema), context_(sema.getASTContext()) {}

  Facts read() {
    Collector collector;
    collector.walk(context_);
    Facts facts;
    for (const clang::VarDecl* variable : collector.constants) read_constant(*variable, facts);
    for (const clang::VarDecl* variable : collector.hardware)
      for (const clang::AnnotateAttr* attribute : variable->specific_attrs<clang::AnnotateAttr>())
        builtin_value(*variable, metal_attribute(*attribute).str());
    for (const clang::FunctionDecl* function : collector.labelled) check_label(*function);
    std::set<const clang::FunctionDecl*> seen;
    for (const clang::FunctionDecl* kernel : collector.kernels)
      if (seen.insert(kernel->getCanonicalDecl()).second) read_kernel(*kernel, facts);
    for (const KernelSource& kernel : facts.kernels) check_conditions(kernel, collector.truths, facts);
    check_names(facts);
    return facts;
  }

 private:
  template <class... Args>
  void error(clang::SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    report_error(sema_, at, fmt::format(format, std::forward<Args>(args)...));
  }

  void read_constant(const clang::VarDecl& variable, Facts& facts) {
    if (variable.getDescribedVarTemplate() != nullptr || variable.getType()->isDependentType()) return;
    const AnnotateAttr& attribute = *find_annotation(variable, "function_constant");
    const auto index = number_of(attribute, context_);
    if (!index || *index < 0 || *index > 65535)
      return error(attribute.getLocation(), "'function_constant' attribute requires an index from 0 to 65535");
    const clang::QualType type = variable.getType();
    const VectorShape shape = vector_shape(type);
    if (!type->isArithmeticType() && shape.lanes == 0)
      return error(variable.getLocation(), "function constant '{}' has type '{}'; it must be a scalar or a vector",
                   view(variable.getName()), metal_name(type, context_));
    if (space_of(type) != 2)
      return error(variable.getLocation(), "function constant '{}' must be in address space 'constant'",
                   view(variable.getName()));
    if (variable.hasInit())
      return error(variable.getLocation(), "function constant '{}' cannot have an initializer",
                   view(variable.getName()));
    for (const ConstantSource& other : facts.constants)
      // Of one type they both have the value that is set for the index.
      if (other.fact.index == *index && other.fact.type_name != metal_name(type, context_))
        return error(variable.getLocation(),
                     "function constants '{}' and '{}' have the same index {} but different types", other.fact.name,
                     view(variable.getName()), *index);
    for (const ConstantSource& other : facts.constants)
      if (other.variable->getCanonicalDecl() == variable.getCanonicalDecl()) return;
    ConstantSource source{&variable, {}};
    source.fact.name = variable.getNameAsString();
    source.fact.type_name = metal_name(type, context_);
    source.fact.index = static_cast<unsigned>(*index);
    facts.constants.push_back(std::move(source));
  }

  /// float f(float) __asm("air.fast_rsqrt.f32"): taken when the operation is known; fit_operations looks at its types.
  void check_label(const clang::FunctionDecl& function) {
    const auto& label = *function.getAttr<clang::AsmLabelAttr>();
    const std::string_view name = view(label.getLabel());
    if (function.isThisDeclarationADefinition())
      error(label.getLocation(), "'{}' is an operation of AIR, which '{}' cannot define", name,
            function.getNameAsString());
    else if (air::forms(name).empty())
      error(label.getLocation(), "'{}' is not a known operation of AIR", name);
  }

  void read_kernel(const clang::FunctionDecl& function, Facts& facts) {
    const clang::SourceLocation at = function.getLocation();
    KernelSource source{&function, {}};
    source.fact.name = function.getQualifiedNameAsString();
    const AnnotateAttr* host_name = find_annotation(function, "host_name");
    if (host_name != nullptr) {
      source.fact.name = text_of(*host_name);
      if (source.fact.name.empty())
        error(host_name->getLocation(), "'host_name' attribute requires a string that is not empty");
    }
    source.fact.stage = stage_of(function).value_or(Stage::kernel);
    const bool is_kernel = has_threadgroups(source.fact.stage);
    const std::string noun = source.fact.stage == Stage::kernel ? "kernel" : stage_function(source.fact.stage);
    source.fact.early_fragment_tests =
        source.fact.stage == Stage::fragment && find_annotation(function, "early_fragment_tests") != nullptr;
    if (is_kernel && !function.getReturnType()->isVoidType())
      error(function.getReturnTypeSourceRange().isValid() ? function.getReturnTypeSourceRange().getBegin() : at,
            "{} must have void return type", noun);
    if (function.isVariadic()) error(at, "{} '{}' cannot take variable arguments", noun, function.getNameAsString());
    if (llvm::isa<clang::CXXMethodDecl>(function))
      error(at, "{} '{}' cannot be a member function", noun, function.getNameAsString());
    if (function.getNameAsString() == "main" && host_name == nullptr)
      error(at, "function cannot be called 'main' in Metal");
    for (const char* name : {"max_total_threads_per_threadgroup", "required_threads_per_threadgroup"}) {
      const AnnotateAttr* limit = find_annotation(function, name);
      if (limit == nullptr) continue;
      uint64_t threads = 1;
      for (const clang::Expr* value : limit->args()) {
        clang::Expr::EvalResult result;
        if (value->isValueDependent() || !value->EvaluateAsInt(result, context_))
          threads = 0;
        else
          threads *= result.Val.getInt().getLimitedValue(air::kMostThreads + 1);
      }
      if (threads == 0 || threads > air::kMostThreads || limit->args_size() == 0)
        error(limit->getLocation(), "'{}' attribute requires a number from 1 to {}", name, air::kMostThreads);
      else
        source.fact.max_threads = static_cast<unsigned>(threads);
    }
    source.fact.source_parameters = function.getNumParams();
    if (source.fact.stage == Stage::visible) {
      VisibleReader(sema_, source.fact).read(function);
      facts.kernels.push_back(std::move(source));
      return;
    }
    StageReader stages(sema_, source.fact);
    stages.read_patch(function);
    stages.read_intersection(function);
    for (unsigned i = 0; i < function.getNumParams(); ++i) {
      const clang::ParmVarDecl& parameter = *function.getParamDecl(i);
      if (MeshReader(sema_, source.fact).read(parameter, i)) continue;
      if (ImageblockReader(sema_, source.fact).read(parameter, i)) continue;
      const bool is_of_stage = !is_kernel || find_annotation(parameter, "stage_in") != nullptr;
      if (!is_of_stage || !stages.read_input(parameter, i)) read_parameter(parameter, i, source.fact);
    }
    if (is_kernel)
      stages.check_twice(function);
    else
      stages.read_results(function);
    assign_slots(function, source.fact);
    check_positions(function, source.fact);
    facts.kernels.push_back(std::move(source));
  }

  void read_parameter(const clang::ParmVarDecl& parameter, unsigned source, KernelFact& kernel) {
    if (parameter.isInvalidDecl()) return;
    ParameterFact fact;
    fact.source = source;
    fact.name = parameter.getNameAsString();
    const AnnotateAttr* resource = nullptr;
    const AnnotateAttr* hardware = nullptr;
    for (const auto* attribute : parameter.specific_attrs<AnnotateAttr>()) {
      const llvm::StringRef name = metal_attribute(*attribute);
      if (name.empty()) continue;
      const AttributeRow* row = find_attribute(view(name));
      if (row == nullptr) continue;
      switch (row->kind) {
        case AttributeKind::resource:
          resource = attribute;
          break;
        case AttributeKind::position:
        case AttributeKind::index:
          hardware = attribute;
          break;
        case AttributeKind::constant:
          fact.condition = text_of(*attribute);
          break;
        case AttributeKind::graphics:
          // naga names every parameter that it adds by [[user(name)]]; a kernel's memory has no order of fragments.
          if (name == "user" || (name == "raster_order_group" && kernel.stage == Stage::kernel)) break;
          if (name == "raster_order_group" && kernel.stage == Stage::fragment) {
            read_group(*attribute, fact);
            break;
          }
          if (name == "stage_in")  // Metal has it
            return error(attribute->getLocation(), "'stage_in' attribute in {} is not supported",
                         a_stage_function(kernel.stage));
          return error(attribute->getLocation(), "'{}' attribute does not apply to a parameter of {}", view(name),
                       a_stage_function(kernel.stage));
        default:
          break;
      }
    }
    if (hardware != nullptr) return read_builtin(parameter, *hardware, std::move(fact), kernel);
    read_buffer(parameter, resource, std::move(fact), kernel);
  }

  void read_group(const AnnotateAttr& attribute, ParameterFact& fact) {
    const auto group = number_of(attribute, context_);
    if (group && *group >= 0 && *group <= kMostOrderGroup)
      fact.raster_order_group = static_cast<unsigned>(*group);
    else
      error(attribute.getLocation(),
            "'raster_order_group' attribute parameter is out of bounds: must be between 0 and {}", kMostOrderGroup);
  }

  void read_builtin(const clang::ParmVarDecl& parameter, const AnnotateAttr& attribute, ParameterFact fact,
                    KernelFact& kernel) {
    const std::string name = metal_attribute(attribute).str();
    // Fragments run in simdgroups and quads; there is no grid of them.
    const bool is_of_stage =
        has_threadgroups(kernel.stage) ||
        (kernel.stage == Stage::fragment && (name == "thread_index_in_simdgroup" || name == "threads_per_simdgroup" ||
                                             name == "thread_index_in_quadgroup" || name == "thread_execution_width"));
    if (!is_of_stage)
      return error(attribute.getLocation(), "'{}' attribute does not apply to a parameter of {}", name,
                   a_stage_function(kernel.stage));
    const std::optional<ValueShape> value = builtin_value(parameter, name);
    if (!value) return;
    fact.binding = std::nullopt;
    fact.builtin = name;
    fact.value = *value;
    fact.type_name = metal_name(parameter.getType(), context_);
    kernel.parameters.push_back(std::move(fact));
  }

  /// Of a parameter or a variable that is this hardware value; nothing, with an error, where its type does not do.
  std::optional<ValueShape> builtin_value(const clang::VarDecl& variable, const std::string& name) {
    const bool is_position = find_attribute(name)->kind == AttributeKind::position;
    const clang::QualType type = variable.getType();
    const VectorShape shape = vector_shape(type);
    const clang::QualType element = shape.lanes != 0 ? shape.element : type;
    const auto* builtin = element.getCanonicalType()->getAs<clang::BuiltinType>();
    const bool is_uint = builtin != nullptr && builtin->getKind() == clang::BuiltinType::UInt;
    const bool is_ushort = builtin != nullptr && builtin->getKind() == clang::BuiltinType::UShort;
    const unsigned lanes = shape.lanes != 0 ? shape.lanes : 1;
    if ((!is_uint && !is_ushort) || lanes > (is_position ? 3u : 1u)) {
      error(variable.getLocation(), "type '{}' is not valid for attribute '{}': it must be {}",
            metal_name(type.getUnqualifiedType(), context_), name,
            is_position ? "ushort, ushort2, ushort3, uint, uint2 or uint3" : "ushort or uint");
      return std::nullopt;
    }
    return ValueShape{.lanes = lanes, .bits = is_uint ? 32u : 16u};
  }

  static BindingClass indexed_as(BindingClass kind) { return has_index_of_buffers(kind) ? BindingClass::buffer : kind; }

  void read_handle(const HandleType& handle, const AnnotateAttr* resource, ParameterFact fact, KernelFact& kernel) {
    const std::string_view word = to_string(indexed_as(handle.kind));
    if (resource != nullptr && metal_attribute(*resource) != llvm::StringRef(word.data(), word.size()))
      return error(resource->getLocation(), "'{}' attribute does not apply to a parameter of type '{}'; it is '{}'",
                   metal_attribute(*resource).str(), handle.name, word);
    fact.binding = handle.kind;
    fact.type_name = handle.name;
    fact.access = handle.access;
    fact.count = handle.count;
    fact.space = handle.count != 0 ? 0 : handle.kind == BindingClass::sampler ? 2 : 1;
    if (resource != nullptr && !read_slot(*resource, handle.kind, fact)) return;
    kernel.parameters.push_back(std::move(fact));
  }

  bool read_slot(const AnnotateAttr& resource, BindingClass kind, ParameterFact& fact) {
    const auto slot = number_of(resource, context_);
    const uint32_t slots = row_of(kind).slots;
    if (slot && *slot >= 0 && *slot < slots && *slot + std::max(fact.count, 1u) <= slots) {
      fact.slot = static_cast<unsigned>(*slot);
      return true;
    }
    if (slot && *slot >= 0 && *slot < slots) {
      error(resource.getLocation(), "'{}' attribute parameter is out of bounds: {} from {} on go past {}",
            metal_attribute(resource).str(), fact.count, *slot, slots - 1);
      return false;
    }
    error(resource.getLocation(), "'{}' attribute parameter is out of bounds: must be between 0 and {}",
          metal_attribute(resource).str(), slots - 1);
    return false;
  }

  void read_buffer(const clang::ParmVarDecl& parameter, const AnnotateAttr* resource, ParameterFact fact,
                   KernelFact& kernel) {
    const clang::QualType type = parameter.getType();
    const clang::SourceLocation at = parameter.getLocation();
    const std::string kind = resource != nullptr ? metal_attribute(*resource).str() : std::string();
    const bool is_indirect = type->isPointerType() || type->isReferenceType();
    const auto inside = handle_inside(is_indirect ? type->getPointeeType() : type, context_);
    if (inside && inside->kind == BindingClass::command_buffer)
      return error(at, "parameter '{}': Metal has a '{}' in a structure that a buffer holds, not as an argument",
                   fact.name, inside->name);
    if (const auto handle = handle_type(type, context_)) return read_handle(*handle, resource, std::move(fact), kernel);
    if (const auto handle = handle_array(type, context_))
      return read_handle(*handle, resource, std::move(fact), kernel);
    if (inside)
      return error(at,
                   "parameter '{}': an array of or a pointer to '{}' is not supported; array<T, n> by value is, and "
                   "a structure that holds it",
                   fact.name, inside->name);
    if (const std::string feature = beyond(is_indirect ? type->getPointeeType() : type);
        !feature.empty() || is_refused(kind))
      return error(at, "parameter '{}': {} are not supported; kernels work on buffers here", fact.name,
                   feature.empty() ? kind + "s" : "'" + feature + "' objects");
    if (!is_indirect) {
      if (resource == nullptr)
        return error(at, "invalid type '{}' for input declaration in {}", metal_name(type, context_),
                     a_stage_function(kernel.stage));
      return error(at, "'{}' attribute only applies to pointers and references, not to a value of type '{}'", kind,
                   metal_name(type, context_));
    }
    const clang::QualType pointee = type->getPointeeType();
    fact.space = space_of(pointee);
    fact.is_reference = type->isReferenceType();
    fact.is_const = pointee.isConstQualified();
    if (fact.space == 0)
      return error(at, "{} type must have explicit address space qualifier",
                   fact.is_reference ? "reference" : "pointer");
    if (fact.space > 3)
      return error(at, "parameter '{}': {} cannot take a {} to address space '{}'", fact.name,
                   a_stage_function(kernel.stage), fact.is_reference ? "reference" : "pointer", space_word(fact.space));
    if (pointee->isFunctionType()) return error(at, "a kernel cannot take a pointer to a function");
    if (pointee->isPointerType())
      return error(at, "parameter '{}' is a pointer to a pointer; argument buffers are not supported", fact.name);
    fact.binding = fact.space == 3 ? BindingClass::threadgroup : BindingClass::buffer;
    if (fact.space == 3 && kernel.stage != Stage::fragment && !has_threadgroups(kernel.stage))
      return error(at, "parameter '{}': {} cannot take threadgroup memory", fact.name, a_stage_function(kernel.stage));
    if (kind == "texture" || kind == "sampler")
      return error(resource->getLocation(), "'{}' attribute does not apply to a parameter of type '{}'", kind,
                   metal_name(type, context_));
    if (!kind.empty() && (kind == "threadgroup") != (fact.space == 3))
      return error(resource->getLocation(), "'{}' attribute does not apply to a parameter in address space '{}'", kind,
                   fact.space == 3   ? "threadgroup"
                   : fact.space == 2 ? "constant"
                                     : "device");
    fact.type_name = metal_name(pointee, context_);
    // Told already; and Clang does not come to an end when it is asked for the layout of a struct that holds itself.
    if (const auto* record = pointee->getAsCXXRecordDecl(); record != nullptr && record->isInvalidDecl()) return;
    if (!pointee->isVoidType()) {
      // A class of a template is there only once somebody needs it.
      if (!sema_.isCompleteType(at, pointee))
        return error(at, "parameter '{}' points to the incomplete type '{}'", fact.name, fact.type_name);
      fact.size = static_cast<uint64_t>(context_.getTypeSizeInChars(pointee).getQuantity());
      fact.align = static_cast<uint64_t>(context_.getTypeAlignInChars(pointee).getQuantity());
      const auto is_handle = [](const kernel_ir::StructField& field) { return !field.handle.empty(); };
      if (const auto trouble = read_members(sema_, pointee, fact))
        return error(trouble->at.isValid() ? trouble->at : at, "{}", trouble->text);
      if (fact.space == 3 && std::any_of(fact.fields.begin(), fact.fields.end(), is_handle))
        return error(at, "parameter '{}': textures and samplers cannot be in threadgroup memory", fact.name);
    }
    if (resource != nullptr && !read_slot(*resource, *fact.binding, fact)) return;
    kernel.parameters.push_back(std::move(fact));
  }

  static unsigned slots_of(const ParameterFact& parameter) { return std::max(parameter.count, 1u); }

  /// Explicit indices first; the others take, in order, the first that nobody has.
  void assign_slots(const clang::FunctionDecl& function, KernelFact& kernel) {
    ByClass<std::set<unsigned>> used;
    ByClass<std::map<unsigned, const ParameterFact*>> first;
    for (const ParameterFact& parameter : kernel.parameters) {
      if (!parameter.slot || !parameter.binding) continue;
      for (unsigned slot = *parameter.slot; slot < *parameter.slot + slots_of(parameter); ++slot) {
        used[indexed_as(*parameter.binding)].insert(slot);
        const auto [other, added] = first[indexed_as(*parameter.binding)].emplace(slot, &parameter);
        if (added || (!parameter.condition.empty() && !other->second->condition.empty())) continue;
        error(place_of(function, parameter.name), "cannot reserve '{}' resource location at index {}: '{}' has it",
              to_string(*parameter.binding), slot, other->second->name);
        break;
      }
    }
    for (ParameterFact& parameter : kernel.parameters) {
      if (parameter.slot || !parameter.binding) continue;
      auto& taken = used[indexed_as(*parameter.binding)];
      const unsigned count = slots_of(parameter);
      const auto is_taken = [&](unsigned slot) {
        const auto next = taken.lower_bound(slot);
        return next != taken.end() && *next < slot + count;
      };
      unsigned slot = 0;
      while (is_taken(slot)) ++slot;
      for (unsigned one = slot; one < slot + count; ++one) taken.insert(one);
      const BindingClassRow& row = row_of(indexed_as(*parameter.binding));
      if (slot + count > row.slots)
        error(place_of(function, parameter.name), "no {} is left for parameter '{}': there are {}",
              *parameter.binding == BindingClass::threadgroup ? "buffer" : row.name, parameter.name, row.slots);
      parameter.slot = slot;
    }
  }

  clang::SourceLocation place_of(const clang::FunctionDecl& function, std::string_view name) {
    for (const clang::ParmVarDecl* parameter : function.parameters())
      if (view(parameter->getName()) == name) return parameter->getLocation();
    return function.getLocation();
  }

  void check_positions(const clang::FunctionDecl& function, const KernelFact& kernel) {
    const ParameterFact* first = nullptr;
    std::map<std::string, const ParameterFact*> seen;
    for (const ParameterFact& parameter : kernel.parameters) {
      if (parameter.binding || !parameter.words.empty()) continue;
      // The older name of the same value.
      const bool is_width = parameter.builtin == "thread_execution_width";
      const auto [other, is_new] = seen.emplace(is_width ? "threads_per_simdgroup" : parameter.builtin, &parameter);
      if (!is_new && other->second->builtin == parameter.builtin)
        error(place_of(function, parameter.name), "attribute '{}' is on two parameters", parameter.builtin);
      else if (!is_new)
        error(place_of(function, parameter.name), "attributes '{}' and '{}' name one value, and are on two parameters",
              other->second->builtin, parameter.builtin);
      if (find_attribute(parameter.builtin)->kind != AttributeKind::position) continue;
      if (first == nullptr) first = &parameter;
      if (first->value.lanes != parameter.value.lanes)
        error(place_of(function, parameter.name),
              "expected input declarations with either all scalar types or all vector types with the same number of "
              "elements: '{}' is {}, '{}' is {}",
              first->name, first->type_name, parameter.name, parameter.type_name);
    }
  }

  /// What decides over an argument or a member is a function constant, or computed from such.
  void check_conditions(const KernelSource& kernel, const std::map<std::string, const clang::VarDecl*>& truths,
                        Facts& facts) {
    const auto check = [&](const std::string& condition) {
      if (condition.empty()) return;
      const auto is_it = [&](const ConstantSource& constant) { return constant.fact.name == condition; };
      if (const auto found = std::find_if(facts.constants.begin(), facts.constants.end(), is_it);
          found != facts.constants.end()) {
        if (found->fact.type_name != "bool")
          error(kernel.function->getLocation(),
                "'function_constant' attribute parameter '{}' in '{}' must be of type 'bool'; it is '{}'", condition,
                kernel.function->getNameAsString(), found->fact.type_name);
        return;
      }
      if (const auto truth = truths.find(condition); truth != truths.end()) {
        // Nobody else may use it, and then it would not be there.
        if (facts.predicates.insert(*truth).second)
          const_cast<clang::VarDecl*>(truth->second)->addAttr(clang::UsedAttr::CreateImplicit(context_));
      } else {
        error(kernel.function->getLocation(),
              "'function_constant' attribute parameter '{}' in '{}' must be a function constant, or a bool constant "
              "that is computed from such",
              condition, kernel.function->getNameAsString());
      }
    };
    for (const ParameterFact& parameter : kernel.fact.parameters) check(parameter.condition);
    for (const ResultFact& result : kernel.fact.results) check(result.condition);
  }

  void check_names(const Facts& facts) {
    std::map<std::string, const KernelSource*> seen;
    for (const KernelSource& kernel : facts.kernels) {
      const auto [other, added] = seen.emplace(kernel.fact.name, &kernel);
      if (added) continue;
      error(kernel.function->getLocation(),
            "two kernels have the name '{}'; give each instantiation a [[host_name(\"...\")]] of its own",
            kernel.fact.name);
    }
  }

  clang::Sema& sema_;
  clang::ASTContext& context_;
};

class Dropper final : public TreeWalk {
  using TreeWalk::visit;
  bool visit(clang::Decl* decl) override {
    if (decl->hasAttr<AnnotateAttr>()) decl->dropAttr<AnnotateAttr>();
    // Metal leaves threadgroup memory uninitialised; Clang would run constructors.
    auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable != nullptr && variable->isStaticLocal() && space_of(variable->getType()) == 3)
      variable->setInit(nullptr);
    return true;
  }
};

}  // namespace

Facts read_facts(clang::Sema& sema) {
  return Reader(sema).read();
}

void drop_annotations(clang::ASTContext& context) {
  Dropper().walk(context);
}

}  // namespace smelt::aot::msl
