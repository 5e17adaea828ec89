// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_texture.hpp"

namespace smelt::cli {
namespace {

using loader::ArgInfo;
using loader::ScalarType;

struct NamedText {
  std::string name, rest;
};

Result<NamedText> split_name(const std::string& text, std::string_view option, std::string_view wanted) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) return fail(Errc::invalid_argument, "{} '{}': want {}", option, text, wanted);
  return NamedText{text.substr(0, equals), text.substr(equals + 1)};
}

ScalarType scalar_of(std::string_view type) {
  constexpr std::string_view kWords[] = {"",    "bool", "i8",  "u8",  "i16",  "u16", "i32",
                                         "u32", "i64",  "u64", "f16", "bf16", "f32"};
  for (size_t i = 1; i < std::size(kWords); ++i)
    if (kWords[i] == type) return static_cast<ScalarType>(i);
  return ScalarType::unknown;
}

/// The argument of that name or index.
Result<const ArgInfo*> argument_named(const loader::Function& function, std::string_view name, ArgumentKind kind) {
  std::string known;
  for (const ArgInfo& argument : function.args()) {
    if (argument.kind != kind) continue;
    if (argument.name == name || fmt::format("{}", argument.index) == name) return &argument;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", argument.name);
  }
  return fail(Errc::invalid_argument, "kernel '{}' has no {} '{}'; it has {}", function.name(), to_string(kind), name,
              known.empty() ? "none" : known);
}

}  // namespace

Result<RunTexture> parse_texture(const std::string& text) {
  SMELT_TRY(NamedText named, split_name(text, "--texture", "NAME=ARG or NAME:FORMAT=ARG"));
  RunTexture texture;
  const size_t colon = named.name.find(':');
  texture.name = named.name.substr(0, colon);
  if (colon != named.name.npos) {
    const std::string format = named.name.substr(colon + 1);
    const loader::PixelFormatFacts* const facts = loader::pixel_format_named(format);
    if (facts == nullptr)
      return tl::unexpected(loader::no_pixel_format(format).value().in(fmt::format("--texture '{}'", text)));
    texture.format = facts->format;
  }
  SMELT_TRY(texture.argument, parse_argument(named.rest));
  if (texture.argument.is_scalar)
    return fail(Errc::invalid_argument, "--texture '{}': a texture must be an array, not a number", text);
  if (texture.argument.array.fortran_order)
    return fail(Errc::argument_type, "--texture '{}': the array is in Fortran's order; want C's", text);
  return texture;
}

Result<RunSampler> parse_run_sampler(const std::string& text) {
  SMELT_TRY(const NamedText named,
            split_name(text, "--sampler", "NAME=STATES, as 'by=filter::linear, address::repeat'"));
  SMELT_TRY(const loader::SamplerDescriptor descriptor, loader::sampler_of_words(named.rest));
  SMELT_TRY(loader::SamplerRef sampler, loader::Sampler::create(descriptor));
  return RunSampler{named.name, std::move(sampler)};
}

Result<void> bind_texture(loader::Encoder& encoder, const loader::Function& function, const RunTexture& texture,
                          std::span<std::byte> texels) {
  SMELT_TRY(const ArgInfo* const argument, argument_named(function, texture.name, ArgumentKind::texture));
  const NpyArray& array = texture.argument.array;
  loader::ArrayTexture wanted;
  wanted.format = texture.format;
  if (const auto parameter = loader::texture_parameter(argument->type_name)) {
    wanted.type = parameter->type;
    wanted.kind = parameter->kind;
    wanted.is_depth = parameter->is_depth;
  }
  if (scalar_of(array.type) == ScalarType::unknown)
    return fail(Errc::argument_type, "texture '{}': no pixel format has elements of {}", texture.name, array.type);
  const loader::ArrayView view{texels.data(), array.shape, {}, scalar_of(array.type)};
  auto made = loader::texture_over(view, wanted);
  if (!made) return tl::unexpected(std::move(made).error().in(fmt::format("texture '{}'", texture.name)));
  return encoder.set_texture(argument->index, std::move(*made));
}

Result<void> bind_sampler(loader::Encoder& encoder, const loader::Function& function, const RunSampler& sampler) {
  SMELT_TRY(const ArgInfo* const argument, argument_named(function, sampler.name, ArgumentKind::sampler));
  return encoder.set_sampler(argument->index, sampler.sampler);
}

}  // namespace smelt::cli
