// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "texture.hpp"

#include "docstrings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "parameter.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace smelt::python {
namespace {

using namespace pybind11::literals;
using loader::ArgInfo;
using loader::ScalarType;
using loader::Texture;
using loader::TextureDescriptor;
using loader::TextureRef;
using loader::TextureType;

/// Throws for arrays that are no image in any format.
loader::ArrayView view_of(const Tensor& tensor, std::string_view what) {
  if (tensor.rank > Tensor::kKnownRank)
    raise(Errc::argument_mismatch, "{}: an array of {} dimensions is not a texture", what, tensor.rank);
  const ScalarType element = scalar_of(tensor.kind, tensor.item);
  if (element == ScalarType::unknown)
    raise(Errc::argument_mismatch,
          "{}: an array of {}, which no pixel format has; convert it (array.astype(numpy.float32))", what,
          element_name(tensor.kind, tensor.item));
  const auto rank = static_cast<size_t>(tensor.rank);
  return {tensor.data, std::span(tensor.shape).first(rank), std::span(tensor.strides).first(rank), element};
}

template <class T>
T unwrap_at(Result<T> result, std::string_view what) {
  if (!result) raise(Error{result.error().code, fmt::format("{}: {}", what, result.error().message), {}});
  return std::move(*result);
}

std::string place_of(const ArgInfo& argument, size_t position) {
  return fmt::format("argument {} '{}' ({})", position, argument.name, argument.type_name);
}

bool is_written(const ArgInfo& argument) {
  return argument.access == Access::write || argument.access == Access::read_write;
}

GridSize grid_of(const Texture& texture) {
  const TextureDescriptor& of = texture.descriptor();
  switch (of.type) {
    case TextureType::d1:
    case TextureType::buffer:
      return {{of.width, 1, 1}, 1};
    case TextureType::d1_array:
      return {{of.width, texture.layers(), 1}, 2};
    case TextureType::d2:
    case TextureType::d2_multisample:
      return {{of.width, of.height, 1}, 2};
    case TextureType::d3:
      return {{of.width, of.height, of.depth}, 3};
    default:
      return {{of.width, of.height, texture.layers()}, 3};
  }
}

/// An array, held for as long as somebody holds the texture.
struct HeldTensor {
  Tensor tensor;
  ~HeldTensor() {
    if (interpreter_ends()) {
      tensor.forget();
      owner.release();
      return;
    }
    const GilTaken gil;
    tensor.release();
    owner.release().dec_ref();
  }
  py::object owner;
};

/// The same texels in memory of its own, with all levels.
TextureRef with_levels(const Texture& from) {
  TextureDescriptor descriptor = from.descriptor();
  descriptor.levels =
      static_cast<uint32_t>(std::bit_width(std::max({descriptor.width, descriptor.height, descriptor.depth})));
  TextureRef made = unwrap(Texture::create(descriptor));
  for (uint32_t layer = 0; layer < from.layers(); ++layer) {
    const Texture::Part source = unwrap(from.part(0, layer)), into = unwrap(made->part(0, layer));
    for (uint32_t row = 0; row < into.height * into.depth; ++row)
      std::memcpy(into.bytes.data() + row * into.row_bytes, source.bytes.data() + row * source.row_bytes,
                  into.row_bytes);
  }
  unwrap(loader::generate_mipmaps(*made));
  return made;
}

/// How large a texture is whose array does not say it: one of blocks.
struct BlockSize {
  std::optional<uint32_t> width, height;
  uint32_t depth = 1, array_length = 1, levels = 1;
  bool is_given() const { return width || height || depth != 1 || array_length != 1 || levels != 1; }
};

/// A texture over the blocks of a compressed format: bytes, whatever elements the array has.
PythonTexture texture_of_blocks(std::shared_ptr<HeldTensor> held, const loader::PixelFormatFacts& format,
                                TextureType type, const BlockSize& size) {
  if (!size.width || !size.height)
    raise(Errc::invalid_argument,
          "Texture: blocks of {} do not say how many texels they are; want width= and height=", format.name);
  if (!held->tensor.contiguous)
    raise(Errc::argument_mismatch, "Texture: blocks of {} that do not lie in order; pass a contiguous copy",
          format.name);
  const TextureDescriptor descriptor{.type = type,
                                     .format = format.format,
                                     .width = *size.width,
                                     .height = *size.height,
                                     .depth = size.depth,
                                     .array_length = size.array_length,
                                     .levels = size.levels};
  const std::span blocks(held->tensor.data, static_cast<size_t>(held->tensor.bytes));
  const bool writable = held->tensor.writable;
  return {unwrap_at(Texture::over(descriptor, blocks, 0, std::move(held)), "Texture"), writable};
}

PythonTexture make_texture(const py::object& array, const std::optional<std::string>& format,
                           const std::optional<std::string>& type, bool mipmaps, std::optional<uint32_t> width,
                           std::optional<uint32_t> height, uint32_t depth, uint32_t array_length, uint32_t levels) {
  const BlockSize size{width, height, depth, array_length, levels};
  const loader::PixelFormatFacts* facts = nullptr;
  loader::ArrayTexture wanted;
  if (type) {
    const auto parameter = loader::texture_parameter(*type);
    if (!parameter)
      raise(Errc::invalid_argument, "Texture: '{}' is not a type; want texture2d, texture3d, texturecube, depth2d, ...",
            *type);
    wanted.type = parameter->type;
    wanted.is_depth = parameter->is_depth;
    if (type->find('<') != std::string::npos) wanted.kind = parameter->kind;
  }
  if (format) {
    facts = loader::pixel_format_named(*format);
    if (facts == nullptr) raise(loader::no_pixel_format(*format).value().in("Texture"));
    wanted.format = facts->format;
  }
  auto held = std::make_shared<HeldTensor>();
  if (!held->tensor.take(array, 0))
    raise(Errc::argument_type, "Texture: want an array (buffer protocol, DLPack or __array_interface__), got {}",
          type_name(array));
  held->owner = array;
  if (facts != nullptr && facts->is_compressed()) {
    PythonTexture made = texture_of_blocks(std::move(held), *facts, wanted.type.value_or(TextureType::d2), size);
    if (mipmaps) unwrap(loader::generate_mipmaps(*made.texture));  // says why not
    return made;
  }
  if (size.is_given())
    raise(Errc::invalid_argument, "Texture: sizes are for compressed formats; for others the array's shape gives them");
  const loader::ArrayView view = view_of(held->tensor, "Texture");
  const bool writable = held->tensor.writable;
  TextureRef texture = unwrap_at(loader::texture_over(view, wanted, std::move(held)), "Texture");
  if (mipmaps) return {with_levels(*texture), true};
  return {std::move(texture), writable};
}

/// struct's letter for an element.
std::string letter_of(ScalarType element) {
  constexpr std::string_view kLetters[] = {"B", "?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "H", "f"};
  return std::string(kLetters[static_cast<size_t>(element)]);
}

/// One level of one layer, for the buffer protocol.
struct LevelView {
  TextureRef texture;
  Texture::Part part;
  bool writable;

  py::buffer_info info() const {
    const TextureDescriptor& of = texture->descriptor();
    const loader::TexelElements texel = loader::texel_elements(*loader::facts_of(of.format));
    const auto item = static_cast<py::ssize_t>(loader::bytes_of(texel.element));
    const py::ssize_t texel_bytes = item * std::max(texel.channels, 1u);
    const loader::PixelFormatFacts& format = *loader::facts_of(of.format);
    std::vector<py::ssize_t> shape, strides;
    const auto add = [&](uint64_t length, uint64_t stride) {
      shape.push_back(static_cast<py::ssize_t>(length));
      strides.push_back(static_cast<py::ssize_t>(stride));
    };
    const bool is_flat =
        of.type == TextureType::d1 || of.type == TextureType::d1_array || of.type == TextureType::buffer;
    if (of.type == TextureType::d3) add(part.depth, part.slice_bytes);
    if (!is_flat) add(format.blocks_down(part.height), part.row_bytes);
    add(format.blocks_across(part.width), static_cast<uint64_t>(texel_bytes) * of.samples);
    if (of.samples > 1) add(of.samples, static_cast<uint64_t>(texel_bytes));
    if (texel.channels > 1) add(texel.channels, static_cast<uint64_t>(item));
    return {part.bytes.data(), item,     letter_of(texel.element), static_cast<py::ssize_t>(shape.size()), shape,
            strides,           !writable};
  }
};

py::object level_of(const PythonTexture& self, uint32_t level, uint32_t layer) {
  const py::object view = py::cast(LevelView{self.texture, unwrap(self.texture->part(level, layer)), self.writable});
  return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(view.ptr()));
}

/// "filter::linear" of filter="linear", "lod_clamp(0, 2)" of lod_clamp=(0, 2).
std::string words_of(std::string words, const py::kwargs& states) {
  for (const auto& [name, value] : states) {
    const bool is_word = py::isinstance<py::str>(value);
    const bool is_pair = py::isinstance<py::tuple>(value) || py::isinstance<py::list>(value);
    if (!words.empty()) words += ", ";
    words += py::cast<std::string>(py::str(name));
    if (is_word) {
      words += "::" + py::cast<std::string>(value);
      continue;
    }
    std::string numbers;
    const py::object all = is_pair ? py::tuple(py::reinterpret_borrow<py::object>(value)) : py::make_tuple(value);
    for (const py::handle one : all) numbers += (numbers.empty() ? "" : ", ") + py::cast<std::string>(py::str(one));
    words += "(" + numbers + ")";
  }
  return words;
}

PythonSampler make_sampler(const std::string& given, const py::kwargs& states) {
  std::string words = words_of(given, states);
  return {unwrap(loader::Sampler::create(unwrap(loader::sampler_of_words(words)))), words};
}

}  // namespace

void TextureArguments::bind(loader::Encoder& encoder, const ArgInfo& argument, py::handle value, size_t position) {
  if (value.is_none()) {
    if (argument.conditional) return;
    raise(Errc::argument_type,
          "{}: None is for an argument that a function constant removes, and this one is always there",
          place_of(argument, position));
  }
  if (argument.array_size == 1) return bind_slot(encoder, argument, argument.index, value, position);
  const bool is_list = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  const size_t count = is_list ? py::len(value) : 0;
  if (!is_list || count != argument.array_size)
    raise(Errc::argument_mismatch, "{}: an array of {}; want a list of as many, got {}", place_of(argument, position),
          argument.array_size, is_list ? fmt::format("one of {}", count) : type_name(value));
  uint32_t slot = argument.index;
  for (const py::handle one : py::reinterpret_borrow<py::sequence>(value))
    bind_slot(encoder, argument, slot++, one, position);
}

void TextureArguments::bind_slot(loader::Encoder& encoder, const ArgInfo& argument, uint32_t slot, py::handle value,
                                 size_t position) {
  if (argument.kind == ArgumentKind::sampler) {
    if (!py::isinstance<PythonSampler>(value))
      raise(Errc::argument_type, "{}: want a smelt.Sampler, got {}", place_of(argument, position), type_name(value));
    unwrap(encoder.set_sampler(slot, py::cast<const PythonSampler&>(value).sampler));
    return;
  }
  TextureRef texture = texture_of(argument, value, position);
  if (is_written(argument) && !written_) written_ = grid_of(*texture);
  unwrap(encoder.set_texture(slot, std::move(texture)));
}

TextureRef TextureArguments::texture_of(const ArgInfo& argument, py::handle value, size_t position) {
  const auto writes = [&](bool writable) {
    if (writable || !is_written(argument)) return;
    raise(Errc::argument_type, "{}: the kernel writes to it, and the {} is read-only; pass a copy (numpy.array)",
          place_of(argument, position), type_name(value));
  };
  if (py::isinstance<PythonTexture>(value)) {
    const auto& made = py::cast<const PythonTexture&>(value);
    // A launch says of blocks that kernels cannot write them at all.
    if (!loader::facts_of(made.texture->descriptor().format)->is_compressed()) writes(made.writable);
    return made.texture;
  }
  Tensor& tensor = tensors_.emplace_back();
  if (!tensor.take(value, position))
    raise(Errc::argument_type,
          "{}: want a smelt.Texture or an array (buffer protocol, DLPack or __array_interface__), got {}",
          place_of(argument, position), type_name(value));
  writes(tensor.writable);
  loader::ArrayTexture wanted;
  if (const auto parameter = loader::texture_parameter(argument.type_name)) {
    wanted.type = parameter->type;
    wanted.kind = parameter->kind;
    wanted.is_depth = parameter->is_depth;
  }
  const std::string place = place_of(argument, position);
  return unwrap_at(loader::texture_over(view_of(tensor, place), wanted), place);
}

void TextureArguments::release() {
  tensors_.clear();
  written_.reset();
}

void bind_texture(py::module_& module) {
  py::class_<LevelView>(module, "_TextureLevel", py::buffer_protocol(), py::module_local())
      .def_buffer([](LevelView& view) { return view.info(); });
  const auto size = [](uint32_t TextureDescriptor::* of) {
    return [of](const PythonTexture& self) { return self.texture->descriptor().*of; };
  };
  py::class_<PythonTexture>(module, "Texture", kTexture)
      .def(py::init(&make_texture), "array"_a, "format"_a = py::none(), py::kw_only(), "type"_a = py::none(),
           "mipmaps"_a = false, "width"_a = py::none(), "height"_a = py::none(), "depth"_a = 1, "array_length"_a = 1,
           "levels"_a = 1)
      .def_property_readonly(
          "type", [](const PythonTexture& self) { return text(loader::to_string(self.texture->descriptor().type)); })
      .def_property_readonly(
          "format",
          [](const PythonTexture& self) { return text(loader::facts_of(self.texture->descriptor().format)->name); })
      .def_property_readonly("width", size(&TextureDescriptor::width))
      .def_property_readonly("height", size(&TextureDescriptor::height))
      .def_property_readonly("depth", size(&TextureDescriptor::depth))
      .def_property_readonly("array_length", size(&TextureDescriptor::array_length))
      .def_property_readonly("levels", size(&TextureDescriptor::levels))
      .def_property_readonly("samples", size(&TextureDescriptor::samples))
      .def("level", &level_of, "level"_a = 0, "layer"_a = 0)
      .def("__repr__", [](const PythonTexture& self) {
        const TextureDescriptor& of = self.texture->descriptor();
        return fmt::format("<smelt.Texture {} {} of {} x {} x {}>", loader::to_string(of.type),
                           loader::facts_of(of.format)->name, of.width, of.height,
                           std::max(of.depth, self.texture->layers()));
      });
  py::class_<PythonSampler>(module, "Sampler", kSampler)
      .def(py::init(&make_sampler), "words"_a = "")
      .def("__repr__", [](const PythonSampler& self) { return fmt::format("<smelt.Sampler '{}'>", self.words); });
}

}  // namespace smelt::python
