// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/imageblock_reader.hpp"

#include "kernel_ir/handles.hpp"
#include "msl/facts/annotations.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/stage_reader.hpp"
#include "msl/facts/struct_members.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {
namespace {

constexpr int64_t kMostPlaneColours = 8;
constexpr size_t kMostPlanes = 1024;

std::string number_word(uint64_t value) {
  return fmt::format("#{}", value);
}

bool has_plane_colours(const clang::CXXRecordDecl& record) {
  return std::any_of(record.field_begin(), record.field_end(),
                     [](const clang::FieldDecl* field) { return find_annotation(*field, "color") != nullptr; });
}

/// The members from `at` on that are as deep as the first, and what is inside them, as a node of AIR's.
void add_plane_fields(const std::vector<kernel_ir::StructField>& fields, size_t& at, std::vector<std::string>& words) {
  const unsigned depth = fields[at].depth;
  words.insert(words.end(), {"air.struct_type_info", "("});
  while (at < fields.size() && fields[at].depth == depth) {
    const kernel_ir::StructField& field = fields[at++];
    if (at < fields.size() && fields[at].depth > depth) add_plane_fields(fields, at, words);
    words.insert(words.end(), {number_word(field.offset), number_word(field.size), number_word(field.count),
                               field.type_name, field.name});
  }
  words.emplace_back(")");
}

}  // namespace

template <class... Args>
bool ImageblockReader::refuse(clang::SourceLocation at, std::string_view format, const Args&... args) {
  report_error(sema_, at, fmt::vformat(format, fmt::make_format_args(args...)));
  return false;
}

bool ImageblockReader::read(const clang::ParmVarDecl& parameter, unsigned source) {
  if (parameter.isInvalidDecl()) return false;
  const auto* special =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(parameter.getType()->getAsCXXRecordDecl());
  if (special == nullptr || !is_library(*special) || special->getName() != "imageblock") return false;
  const clang::SourceLocation at = parameter.getLocation();
  const std::string name = parameter.getNameAsString();
  if (fact_.stage != Stage::kernel) {
    refuse(at,
           "parameter '{}': a {} function cannot take an imageblock; it gets its own element as [[imageblock_data]]",
           name, stage_word(fact_.stage));
    return true;
  }
  const clang::QualType type = special->getTemplateArgs()[0].getAsType();
  const clang::CXXRecordDecl* const record = structure_of(type);
  const auto* layout = special->getTemplateArgs()[1].getAsType()->getAsCXXRecordDecl();
  if (record == nullptr || layout == nullptr || !sema_.isCompleteType(at, type) || record->getNumBases() != 0 ||
      record->field_empty()) {
    refuse(at, "parameter '{}': the type of an imageblock must be a structure with members and without bases", name);
    return true;
  }
  const bool with_colours = has_plane_colours(*record);
  const bool is_implicit = with_colours && layout->getName() != "imageblock_layout_explicit";
  if (with_colours && !is_implicit) {
    refuse(at, "parameter '{}': [[color(n)]] needs a member of an imageblock with implicit layout", name);
    return true;
  }
  if (!with_colours && layout->getName() == "imageblock_layout_implicit") {
    refuse(at, "parameter '{}': each member of an imageblock with implicit layout needs a [[color(n)]]", name);
    return true;
  }
  const char* const word = is_implicit ? "implicit" : "explicit";
  for (const ParameterFact& other : fact_.parameters)
    if (is_imageblock(other) && other.words[1] == word) {
      refuse(at, "parameter '{}': '{}' is the imageblock with {} layout already", name, other.name, word);
      return true;
    }
  ParameterFact fact;
  fact.binding = std::nullopt;
  fact.name = name;
  fact.source = source;
  fact.value.space = kernel_ir::kImageblockSpace;
  fact.value.is_wrapped = true;
  const clang::ASTContext& context = sema_.getASTContext();
  fact.size = static_cast<uint64_t>(context.getTypeSizeInChars(type).getQuantity());
  fact.align = static_cast<uint64_t>(context.getTypeAlignInChars(type).getQuantity());
  if (const clang::AnnotateAttr* attribute = find_annotation(parameter, "function_constant"))
    fact.condition = text_of(*attribute);
  if (!read_planes(*record, 0, is_implicit, fact)) return true;
  fact.words = {std::string(kImageblockKind), word};
  if (is_implicit)
    add_implicit_words(fact);
  else if (!add_explicit_words(type, at, fact))
    return true;
  if (find_annotation(parameter, "alias_implicit_imageblock") != nullptr) {
    if (is_implicit) {
      refuse(at, "parameter '{}': [[alias_implicit_imageblock]] needs an imageblock with explicit layout", name);
      return true;
    }
    fact.words.emplace_back("air.alias_implicit_imageblock");
  }
  fact.words.insert(fact.words.end(), {"air.arg_type_align_size", number_word(fact.align)});
  fact.type_name = fmt::format("imageblock<{}, layout_{}>", metal_name(type, context), word);
  fact.size = 0;  // it points to nothing of the source
  fact_.parameters.push_back(std::move(fact));
  return true;
}

/// What is read and written, one by one.
bool ImageblockReader::read_planes(const clang::CXXRecordDecl& record, uint64_t offset, bool is_implicit,
                                   ParameterFact& fact) {
  const clang::ASTContext& context = sema_.getASTContext();
  const clang::ASTRecordLayout& layout = context.getASTRecordLayout(&record);
  for (const clang::FieldDecl* field : record.fields()) {
    const clang::SourceLocation at = field->getLocation();
    const uint64_t place = offset + layout.getFieldOffset(field->getFieldIndex()) / 8;
    clang::QualType type = field->getType();
    unsigned count = 0;
    if (const auto* array = context.getAsConstantArrayType(type)) {
      count = static_cast<unsigned>(array->getSize().getLimitedValue(UINT32_MAX));
      type = array->getElementType();
    }
    const std::string type_name = metal_name(type, context);
    if (fact.planes.size() >= kMostPlanes)
      return refuse(at, "an imageblock of more than {} members is not supported", kMostPlanes);
    if (const clang::CXXRecordDecl* const inner = structure_of(type); inner != nullptr && !is_implicit && count == 0) {
      if (!read_planes(*inner, place, is_implicit, fact)) return false;
      continue;
    }
    ResultFact plane;
    plane.name = field->getNameAsString();
    plane.type_name = type_name;
    plane.offset = place;
    const auto shape = shape_of(type);
    if (shape && shape->bits != 1)
      plane.value = *shape;
    else
      plane.value.lanes = 0;
    plane.value.count = count;
    if (is_implicit) {
      const clang::AnnotateAttr* colour = find_annotation(*field, "color");
      const auto index = colour != nullptr ? number_of(*colour, context) : std::nullopt;
      if (!index || *index < 0 || *index >= kMostPlaneColours)
        return refuse(at, "member '{}' of an imageblock with implicit layout needs a [[color(n)]] from 0 to {}",
                      plane.name, kMostPlaneColours - 1);
      if (plane.value.lanes == 0 || plane.value.bits < 16 || count != 0)
        return refuse(at, "type '{}' is not valid for attribute 'color'",
                      count != 0 ? fmt::format("{} [{}]", type_name, count) : type_name);
      plane.words = {number_word(static_cast<uint64_t>(*index))};
      for (const ResultFact& other : fact.planes)
        if (other.words == plane.words)
          return refuse(at, "'{}' and '{}' have the same [[color({})]]", other.name, plane.name, *index);
    }
    fact.planes.push_back(std::move(plane));
  }
  return true;
}

void ImageblockReader::add_implicit_words(ParameterFact& fact) const {
  fact.words.insert(fact.words.end(), {"air.struct_type_info", "("});
  for (const ResultFact& plane : fact.planes) {
    const uint64_t lanes = plane.value.lanes == 3 ? 4 : plane.value.lanes;
    fact.words.insert(fact.words.end(),
                      {number_word(plane.offset.value_or(0)), number_word(lanes * plane.value.bits / 8), number_word(0),
                       plane.type_name, plane.name, "air.render_target", plane.words[0]});
  }
  fact.words.emplace_back(")");
}

bool ImageblockReader::add_explicit_words(clang::QualType type, clang::SourceLocation at, ParameterFact& fact) {
  if (const auto trouble = read_members(sema_, type, fact))
    return refuse(trouble->at.isValid() ? trouble->at : at, "{}", trouble->text);
  if (fact.is_argument_buffer || fact.fields.empty())
    return refuse(at, "parameter '{}': an imageblock that holds pointers, textures or samplers is not supported",
                  fact.name);
  fact.words.insert(fact.words.end(), {"air.imageblock_data_size", number_word(fact.size)});
  size_t first = 0;
  add_plane_fields(fact.fields, first, fact.words);
  fact.fields.clear();
  return true;
}

}  // namespace smelt::aot::msl
