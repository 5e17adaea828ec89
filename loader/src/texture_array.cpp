// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays as textures: which type and pixel format an array's shape and elements are.
#include "smelt/loader/texture.hpp"
#include "smelt/schema/cpu_abi.h"

#include <algorithm>

namespace smelt::loader {
namespace {

/// What an index of an array counts, outermost first.
enum class Axis : uint8_t { element, face, depth, height, width, sample };

std::vector<Axis> axes_of(TextureType type) {
  using enum Axis;
  switch (type) {
    case TextureType::d1:
    case TextureType::buffer:
      return {width};
    case TextureType::d1_array:
      return {element, width};
    case TextureType::d2:
      return {height, width};
    case TextureType::d2_array:
      return {element, height, width};
    case TextureType::d2_multisample:
      return {height, width, sample};
    case TextureType::cube:
      return {face, height, width};
    case TextureType::cube_array:
      return {element, face, height, width};
    case TextureType::d3:
      return {depth, height, width};
    case TextureType::d2_multisample_array:
      return {element, height, width, sample};
  }
  return {};
}

std::string_view word_of(Axis axis) {
  constexpr std::string_view kWords[] = {"elements", "6 faces", "depth", "height", "width", "samples"};
  return kWords[static_cast<size_t>(axis)];
}

/// As NumPy calls it.
std::string_view element_name(ScalarType type) {
  constexpr std::string_view kNames[] = {"an unknown type", "bool",  "int8",   "uint8",   "int16",    "uint16", "int32",
                                         "uint32",          "int64", "uint64", "float16", "bfloat16", "float32"};
  return kNames[static_cast<size_t>(type)];
}

std::string shape_text(const ArrayView& array) {
  std::string text;
  for (const uint64_t length : array.shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", length);
  return fmt::format("{} of {}", text.empty() ? "one element" : text, element_name(array.element));
}

/// "height x width, or height x width x channels".
std::string shapes_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis axis : axes) text += fmt::format("{}{}", text.empty() ? "" : " x ", word_of(axis));
  return fmt::format("{}, or {} x channels", text, text);
}

/// Nothing where no format has numbers of these bits with that meaning.
std::optional<uint32_t> encoding_of(ScalarType element, std::optional<TexelKind> kind) {
  const bool is_float = !kind || *kind == TexelKind::floating;
  const bool is_signed = !kind || *kind == TexelKind::signed_integer;
  const bool is_unsigned = !kind || *kind == TexelKind::unsigned_integer;
  switch (element) {
    case ScalarType::u8:
      if (is_float) return SMELT_CPU_UNORM8;
      return is_unsigned ? std::optional<uint32_t>(SMELT_CPU_UINT8) : std::nullopt;
    case ScalarType::i8:
      if (is_float) return SMELT_CPU_SNORM8;
      return is_signed ? std::optional<uint32_t>(SMELT_CPU_SINT8) : std::nullopt;
    case ScalarType::u16:
      if (is_float) return SMELT_CPU_UNORM16;
      return is_unsigned ? std::optional<uint32_t>(SMELT_CPU_UINT16) : std::nullopt;
    case ScalarType::i16:
      if (is_float) return SMELT_CPU_SNORM16;
      return is_signed ? std::optional<uint32_t>(SMELT_CPU_SINT16) : std::nullopt;
    case ScalarType::u32:
      return is_unsigned ? std::optional<uint32_t>(SMELT_CPU_UINT32) : std::nullopt;
    case ScalarType::i32:
      return is_signed ? std::optional<uint32_t>(SMELT_CPU_SINT32) : std::nullopt;
    case ScalarType::f16:
      return is_float ? std::optional<uint32_t>(SMELT_CPU_FLOAT16) : std::nullopt;
    case ScalarType::f32:
      return is_float ? std::optional<uint32_t>(SMELT_CPU_FLOAT32) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Elements that a texture of that kind may have.
std::string_view elements_for(std::optional<TexelKind> kind, bool is_depth) {
  if (is_depth) return "float32 or uint16";
  if (!kind) return "float32, float16 or whole numbers of at most 32 bits";
  if (*kind == TexelKind::signed_integer) return "int8, int16 or int32";
  if (*kind == TexelKind::unsigned_integer) return "uint8, uint16 or uint32";
  return "float32, float16, uint8, uint16, int8 or int16";
}

Result<const PixelFormatFacts*> format_for(const ArrayView& array, const ArrayTexture& wanted, uint64_t channels) {
  const std::optional<uint32_t> encoding = encoding_of(array.element, wanted.kind);
  if (!encoding)
    return fail(Errc::argument_mismatch, "an array of {}: want elements of {}", shape_text(array),
                elements_for(wanted.kind, wanted.is_depth));
  if (wanted.is_depth) {
    const bool is_depth = channels == 1 && (*encoding == SMELT_CPU_FLOAT32 || *encoding == SMELT_CPU_UNORM16);
    if (!is_depth)
      return fail(Errc::argument_mismatch, "an array of {}: depth is one channel of float32 or uint16",
                  shape_text(array));
    return facts_of(*encoding == SMELT_CPU_FLOAT32 ? PixelFormat::depth32float : PixelFormat::depth16unorm);
  }
  for (const PixelFormatFacts& facts : pixel_formats())  // by number: those for depth and stencil come last
    if (facts.encoding == *encoding && facts.channels == channels && facts.order == SMELT_CPU_RGBA &&
        !facts.is_compressed())
      return &facts;
  if (channels == 3)
    return fail(Errc::argument_mismatch,
                "an array of {}: Metal has no pixel format of three channels; add a fourth, for alpha",
                shape_text(array));
  return fail(Errc::argument_mismatch, "an array of {}: a texel has 1, 2 or 4 channels, and they are the last index",
              shape_text(array));
}

/// The shape without its channels, and how many these are.
struct Layout {
  TextureType type = TextureType::d2;
  std::vector<Axis> axes;
  bool has_channels = false;
  uint64_t channels = 1;
};

Result<Layout> layout_of(const ArrayView& array, const ArrayTexture& wanted) {
  constexpr uint64_t kMostChannels = 4;
  const size_t rank = array.shape.size();
  Layout layout;
  if (wanted.type) {
    layout.type = *wanted.type;
  } else {
    const bool ends_in_channels = rank != 0 && array.shape.back() <= kMostChannels;
    if (rank == 1)
      layout.type = TextureType::d1;
    else if (rank != 2 && !(rank == 3 && ends_in_channels))
      return fail(Errc::argument_type, "an array of {}: say which type of texture it is", shape_text(array));
  }
  layout.axes = axes_of(layout.type);
  layout.has_channels = rank == layout.axes.size() + 1;
  if (!layout.has_channels && rank != layout.axes.size())
    return fail(Errc::argument_mismatch, "an array of {} for a {}: want {}", shape_text(array), to_string(layout.type),
                shapes_text(layout.axes));
  if (layout.has_channels) layout.channels = array.shape.back();
  return layout;
}

Result<TextureDescriptor> descriptor_of(const ArrayView& array, const Layout& layout, PixelFormat format) {
  TextureDescriptor descriptor{.type = layout.type, .format = format};
  for (size_t i = 0; i < layout.axes.size(); ++i) {
    const auto length = static_cast<uint32_t>(std::min<uint64_t>(array.shape[i], UINT32_MAX));
    switch (layout.axes[i]) {
      case Axis::element:
        descriptor.array_length = length;
        break;
      case Axis::face:
        if (length != 6)
          return fail(Errc::argument_mismatch, "an array of {} for a {}: a cube has 6 faces, here are {}",
                      shape_text(array), to_string(layout.type), length);
        break;
      case Axis::depth:
        descriptor.depth = length;
        break;
      case Axis::height:
        descriptor.height = length;
        break;
      case Axis::width:
        descriptor.width = length;
        break;
      case Axis::sample:
        descriptor.samples = length;
        break;
    }
  }
  return descriptor;
}

/// The distance of rows, 0 where they follow each other. All else must lie together.
Result<uint64_t> row_bytes_of(const ArrayView& array, const Layout& layout) {
  if (array.strides.empty()) return 0;
  uint64_t expected = bytes_of(array.element);
  uint64_t rows_apart = 0;
  for (size_t i = array.shape.size(); i-- > 0;) {
    const bool is_row = i < layout.axes.size() && layout.axes[i] == Axis::height;
    const bool counts = array.shape[i] > 1;
    if (is_row && counts && array.strides[i] > 0 && static_cast<uint64_t>(array.strides[i]) > expected)
      expected = rows_apart = static_cast<uint64_t>(array.strides[i]);
    if (counts && array.strides[i] != static_cast<int64_t>(expected))
      return fail(
          Errc::argument_mismatch,
          "an array of {} that does not lie in order (a slice with a step, a transposed view): only rows may be "
          "apart. Pass a contiguous copy",
          shape_text(array));
    expected *= array.shape[i];
  }
  return rows_apart;
}

Result<void> check_format(const ArrayView& array, const Layout& layout, const PixelFormatFacts& format) {
  const TexelElements texel = texel_elements(format);
  const bool fits = texel.element == array.element &&
                    (texel.channels == 0 ? !layout.has_channels : texel.channels == layout.channels);
  if (fits) return {};
  return fail(Errc::argument_mismatch, "an array of {} as {}: want {}{}", shape_text(array), format.name,
              element_name(texel.element),
              texel.channels == 0 ? ", one for each texel" : fmt::format(" with {} channels", texel.channels));
}

}  // namespace

TexelElements texel_elements(const PixelFormatFacts& format) {
  if (format.is_compressed()) return {ScalarType::u8, format.texel_bytes};  // bytes of a block
  const uint32_t channels = format.channels;
  switch (format.encoding) {
    case SMELT_CPU_UNORM8:
    case SMELT_CPU_UINT8:
    case SMELT_CPU_SRGB8:
      return {ScalarType::u8, channels};
    case SMELT_CPU_SNORM8:
    case SMELT_CPU_SINT8:
      return {ScalarType::i8, channels};
    case SMELT_CPU_UNORM16:
    case SMELT_CPU_UINT16:
      return {ScalarType::u16, channels};
    case SMELT_CPU_SNORM16:
    case SMELT_CPU_SINT16:
      return {ScalarType::i16, channels};
    case SMELT_CPU_FLOAT16:
      return {ScalarType::f16, channels};
    case SMELT_CPU_UINT32:
      return {ScalarType::u32, channels};
    case SMELT_CPU_SINT32:
      return {ScalarType::i32, channels};
    case SMELT_CPU_FLOAT32:
      return {ScalarType::f32, channels};
    default:
      return {format.texel_bytes == 2 ? ScalarType::u16 : ScalarType::u32, 0};
  }
}

Result<TextureRef> texture_over(const ArrayView& array, const ArrayTexture& wanted, std::shared_ptr<const void> owner) {
  SMELT_TRY(const Layout layout, layout_of(array, wanted));
  const PixelFormatFacts* format = nullptr;
  if (wanted.format) {
    format = facts_of(*wanted.format);
    if (format == nullptr) return no_pixel_format(static_cast<uint32_t>(*wanted.format));
    if (format->is_compressed())
      return fail(Errc::argument_mismatch,
                  "an array as the compressed format {}: its shape does not say how many "
                  "texels there are; want bytes of blocks with a width and a height",
                  format->name);
    SMELT_TRY_VOID(check_format(array, layout, *format));
  } else {
    SMELT_TRY(format, format_for(array, wanted, layout.channels));
  }
  SMELT_TRY(const TextureDescriptor descriptor, descriptor_of(array, layout, format->format));
  SMELT_TRY(const uint64_t row_bytes, row_bytes_of(array, layout));
  return Texture::over(descriptor, {array.data, SIZE_MAX / 2}, row_bytes, std::move(owner));
}

}  // namespace smelt::loader
