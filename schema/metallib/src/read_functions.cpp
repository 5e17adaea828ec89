// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read_functions.hpp"

#include "smelt/metallib/metadata.hpp"

namespace smelt::metallib {
namespace {

struct FixedLength {
  Fourcc name;
  uint64_t length;
};
constexpr FixedLength kFixedLengths[] = {
    {tag::type, 1},        {tag::hash, 32},         {tag::offsets, 24},          {tag::versions, 8},
    {tag::module_size, 8}, {tag::source_offset, 8}, {tag::reflection_offset, 8}, {tag::tessellation, 1},
    {tag::layer, 1},
};

Result<void> check_length(const RawTag& raw, std::string_view what) {
  for (const FixedLength& fixed : kFixedLengths)
    if (raw.name == fixed.name && raw.payload.size() != fixed.length)
      return fail(Errc::corrupt, "{}: {} at byte {} has {} bytes, want {}", what, raw.name.text(), raw.at,
                  raw.payload.size(), fixed.length);
  return {};
}

Result<void> read_name(Function& function, const RawTag& raw, std::string_view what) {
  SMELT_TRY(const std::string_view name, parse_text(raw.payload, "function name", raw.at));
  if (!is_utf8(name)) return fail(Errc::corrupt, "{}: name at byte {} is not UTF-8", what, raw.at);
  function.name = name;
  return {};
}

/// Takes one tag into the function's fields; returns false for a tag that has none.
Result<bool> take_tag(Function& function, Links& links, const RawTag& raw, std::string_view what) {
  SMELT_TRY_VOID(check_length(raw, what));
  const std::byte* bytes = raw.payload.data();
  if (raw.name == tag::name) {
    SMELT_TRY_VOID(read_name(function, raw, what));
  } else if (raw.name == tag::type) {
    function.type = load_le<uint8_t>(bytes);
  } else if (raw.name == tag::hash) {
    std::memcpy(function.hash.bytes.data(), bytes, function.hash.bytes.size());
  } else if (raw.name == tag::offsets) {
    links.public_offset = load_le<uint64_t>(bytes);
    links.private_offset = load_le<uint64_t>(bytes + 8);
    links.module_offset = load_le<uint64_t>(bytes + 16);
  } else if (raw.name == tag::versions) {
    function.versions = {load_le<uint16_t>(bytes), load_le<uint16_t>(bytes + 2), load_le<uint16_t>(bytes + 4),
                         load_le<uint16_t>(bytes + 6)};
  } else if (raw.name == tag::module_size) {
    links.module_size = load_le<uint64_t>(bytes);
  } else if (raw.name == tag::source_offset) {
    links.source_offset = load_le<uint64_t>(bytes);
  } else if (raw.name == tag::reflection_offset) {
    links.reflection_offset = load_le<uint64_t>(bytes);
  } else if (raw.name == tag::tessellation) {
    function.tessellation = load_le<uint8_t>(bytes);
  } else if (raw.name == tag::layer) {
    function.layer_type = load_le<uint8_t>(bytes);
  } else {
    return false;
  }
  return true;
}

Result<void> read_function(Cursor& list, uint32_t index, FunctionList& result) {
  const std::string what = fmt::format("function {}", index);
  Links links{.at = list.offset()};
  SMELT_TRY(const uint32_t size, list.read<uint32_t>());
  if (size < 4 + kEndSize || size - 4 > list.left())
    return fail(Errc::corrupt, "{} at byte {}: group claims {} bytes, the list has {} left", what, links.at, size,
                list.left() + 4);
  SMELT_TRY(Cursor group, list.sub(size - 4, what));
  SMELT_TRY(const std::vector<RawTag> tags, read_tags(group, TagList::function, what));
  if (!group.at_end())
    return fail(Errc::corrupt, "{} at byte {}: ENDT is {} bytes before the end of its group", what, links.at,
                group.left());

  Function function;
  for (const RawTag& raw : tags) {
    SMELT_TRY(const bool modelled, take_tag(function, links, raw, what));
    function.tags.push_back({raw.name, modelled ? ByteView{} : raw.payload});
  }
  for (const Fourcc needed : {tag::name, tag::hash, tag::offsets, tag::versions})
    if (!find_tag(function.tags, needed))
      return fail(Errc::corrupt, "{} at byte {}: no {}", what, links.at, needed.text());
  result.functions.push_back(std::move(function));
  result.links.push_back(links);
  return {};
}

}  // namespace

std::string describe(const Function& function, size_t index) {
  return fmt::format("function {} '{}'", index, function.name);
}

Result<FunctionList> read_function_list(ByteView bytes, uint64_t at) {
  Cursor list(bytes, "function list", at);
  SMELT_TRY(const uint32_t count, list.read<uint32_t>());
  if (count > kMaxFunctions || uint64_t{count} * (4 + kEndSize) > list.left())
    return fail(Errc::corrupt, "function list at byte {}: claims {} functions, has {} bytes", at, count, list.left());
  FunctionList result;
  for (uint32_t i = 0; i < count; ++i) SMELT_TRY_VOID(read_function(list, i, result));
  if (!list.at_end())
    return fail(Errc::corrupt, "function list at byte {}: {} bytes after its last function", at, list.left());
  return result;
}

}  // namespace smelt::metallib
