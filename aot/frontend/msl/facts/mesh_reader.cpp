// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/mesh_reader.hpp"

#include "msl/facts/annotations.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/stage_reader.hpp"
#include "msl/facts/struct_members.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Sema.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

constexpr unsigned kObjectData = 6, kMeshSpace = 7;
constexpr uint64_t kMostVertices = 256, kMostPrimitives = 512;
/// The enumerators of metal::topology, in their order.
constexpr std::string_view kTopologies[] = {"point", "line", "triangle"};

const clang::CXXRecordDecl* metal_class(clang::QualType type, llvm::StringRef name) {
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr && is_library(*record) && record->getName() == name ? record : nullptr;
}

/// Values that go from stage to stage are numbered; the others are known by what they are.
void number_data(std::vector<ResultFact>& values, const char* kind) {
  unsigned next = 0;
  for (ResultFact& value : values)
    if (value.words[0] == "air.vertex_output") value.words = {kind, fmt::format("#{}", next++), value.words[1]};
}

void add_nodes(std::vector<std::string>& words, const std::vector<ResultFact>& values) {
  words.emplace_back("(");
  for (const ResultFact& value : values) {
    words.emplace_back("(");
    words.insert(words.end(), value.words.begin(), value.words.end());
    words.insert(words.end(), {"air.arg_type_name", value.type_name});
    if (!value.name.empty()) words.insert(words.end(), {"air.arg_name", value.name});
    words.emplace_back(")");
  }
  words.emplace_back(")");
}

}  // namespace

template <class... Args>
void MeshReader::refuse(clang::SourceLocation at, std::string_view format, const Args&... args) {
  report_error(sema_, at, fmt::vformat(format, fmt::make_format_args(args...)));
}

bool MeshReader::read(const clang::ParmVarDecl& parameter, unsigned source) {
  if (parameter.isInvalidDecl()) return false;
  ParameterFact fact;
  fact.binding = std::nullopt;
  fact.name = parameter.getNameAsString();
  fact.source = source;
  const bool is_mesh = metal_class(parameter.getType(), "mesh") != nullptr;
  const bool is_grid = metal_class(parameter.getType(), "mesh_grid_properties") != nullptr;
  const bool is_payload = find_annotation(parameter, "payload") != nullptr;
  const bool is_allowed = is_mesh   ? fact_.stage == Stage::mesh
                          : is_grid ? fact_.stage == Stage::object
                                    : fact_.stage == Stage::mesh || fact_.stage == Stage::object;
  if ((is_mesh || is_grid || is_payload) && !is_allowed) {
    refuse(parameter.getLocation(), "parameter '{}': {} is not allowed in a {} function", fact.name,
           is_mesh   ? "a mesh"
           : is_grid ? "'mesh_grid_properties'"
                     : "a payload",
           stage_word(fact_.stage));
    return true;
  }
  if (is_mesh) {
    read_mesh(parameter, std::move(fact));
  } else if (is_grid) {
    fact.value.space = 3;
    fact.type_name = "mesh_grid_properties";
    fact.words = {"air.mesh_grid_properties"};
    fact_.parameters.push_back(std::move(fact));
  } else if (is_payload) {
    read_payload(parameter, std::move(fact));
  }
  return is_mesh || is_grid || is_payload;
}

void MeshReader::read_mesh(const clang::ParmVarDecl& parameter, ParameterFact fact) {
  const clang::SourceLocation at = parameter.getLocation();
  const clang::ASTContext& context = sema_.getASTContext();
  if (!sema_.isCompleteType(at, parameter.getType())) return;
  const auto* special =
      llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(parameter.getType()->getAsCXXRecordDecl());
  if (special == nullptr || special->getTemplateArgs().size() != 5) return;
  const clang::TemplateArgumentList& arguments = special->getTemplateArgs();
  const clang::QualType vertex = arguments[0].getAsType(), primitive = arguments[1].getAsType();
  const uint64_t vertices = arguments[2].getAsIntegral().getLimitedValue();
  const uint64_t primitives = arguments[3].getAsIntegral().getLimitedValue();
  const uint64_t topology = arguments[4].getAsIntegral().getLimitedValue();
  if (vertices == 0 || vertices > kMostVertices || primitives == 0 || primitives > kMostPrimitives)
    return refuse(at, "'{}': a mesh has 1 to {} vertices and 1 to {} primitives", fact.name, kMostVertices,
                  kMostPrimitives);
  if (topology >= std::size(kTopologies)) return refuse(at, "'{}': unknown topology of a mesh", fact.name);
  for (const ParameterFact& other : fact_.parameters)
    if (!other.vertices.empty()) return refuse(at, "'{}': '{}' is the mesh already", fact.name, other.name);
  // A vertex is what a vertex function returns; what a primitive may have is its own.
  KernelFact of_vertex, of_primitive;
  of_vertex.stage = Stage::vertex;
  of_primitive.stage = Stage::mesh;
  StageReader(sema_, of_vertex).read_given(vertex, parameter);
  if (!primitive->isVoidType()) {
    if (structure_of(primitive) == nullptr)
      return refuse(at, "'{}': a primitive must be a structure or void", fact.name);
    StageReader(sema_, of_primitive).read_given(primitive, parameter);
  }
  fact.vertices = std::move(of_vertex.results);
  fact.primitives = std::move(of_primitive.results);
  number_data(fact.vertices, "air.mesh_vertex_data");
  number_data(fact.primitives, "air.mesh_primitive_data");
  fact.words = {"air.mesh", "(", "air.mesh_type_info"};
  add_nodes(fact.words, fact.vertices);
  add_nodes(fact.words, fact.primitives);
  fact.words.insert(fact.words.end(), {fmt::format("#{}", vertices), fmt::format("#{}", primitives),
                                       fmt::format("air.{}", kTopologies[topology]), ")"});
  fact.type_name = fmt::format("mesh<{}, {}, {}, {}, {}>", metal_name(vertex, context), metal_name(primitive, context),
                               vertices, primitives, kTopologies[topology]);
  fact.value.space = kMeshSpace;
  fact_.parameters.push_back(std::move(fact));
}

void MeshReader::read_payload(const clang::ParmVarDecl& parameter, ParameterFact fact) {
  const clang::SourceLocation at = parameter.getLocation();
  const clang::QualType type = parameter.getType();
  if (!type->isPointerType() && !type->isReferenceType())
    return refuse(at, "'{}': a payload is a reference or a pointer to object_data", fact.name);
  const clang::QualType pointee = type->getPointeeType();
  if (space_of(pointee) != kObjectData || !sema_.isCompleteType(at, pointee))
    return refuse(at, "'{}': a payload is a reference or a pointer to object_data", fact.name);
  if (fact_.stage == Stage::mesh && !pointee.isConstQualified())
    return refuse(at, "'{}': the payload of a mesh function is const", fact.name);
  const clang::ASTContext& context = sema_.getASTContext();
  fact.type_name = metal_name(pointee, context);
  fact.size = static_cast<uint64_t>(context.getTypeSizeInChars(pointee).getQuantity());
  fact.align = static_cast<uint64_t>(context.getTypeAlignInChars(pointee).getQuantity());
  fact.is_reference = type->isReferenceType();
  if (const auto trouble = read_members(sema_, pointee, fact))
    return refuse(trouble->at.isValid() ? trouble->at : at, "{}", trouble->text);
  if (fact.is_argument_buffer) return refuse(at, "'{}': a payload that holds pointers is not supported", fact.name);
  fact.words = {"air.payload"};
  if (!fact.fields.empty()) {
    fact.words.insert(fact.words.end(), {"air.struct_type_info", "("});
    for (const kernel_ir::StructField& field : fact.fields)
      if (field.depth == 0)
        fact.words.insert(fact.words.end(), {fmt::format("#{}", field.offset), fmt::format("#{}", field.size),
                                             fmt::format("#{}", field.count), field.type_name, field.name});
    fact.words.emplace_back(")");
  }
  fact.words.insert(fact.words.end(), {"air.arg_type_size", fmt::format("#{}", fact.size), "air.arg_type_align_size",
                                       fmt::format("#{}", fact.align)});
  fact.value.space = kObjectData;
  fact_.parameters.push_back(std::move(fact));
}

}  // namespace smelt::aot::msl
