// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_stage.hpp"

#include <algorithm>
#include <array>

namespace smelt::cli {
namespace {

using loader::ArgInfo;
using loader::ArgumentKind;

/// As .npy files say it, by ScalarType.
constexpr std::array<std::string_view, 13> kElementNames = {"",    "bool", "i8",  "u8",  "i16",  "u16", "i32",
                                                            "u32", "i64",  "u64", "f16", "bf16", "f32"};

Result<std::pair<std::string, std::string>> split_stage_words(const std::string& text, std::string_view option,
                                                              std::string_view value) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    return fail(Errc::invalid_argument, "{} '{}': want NAME={}", option, text, value);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<const ArgInfo*> find_array(const loader::Function& function, ArgumentKind kind, std::string_view name) {
  std::string known;
  for (const ArgInfo& argument : function.args()) {
    if (argument.kind != kind) continue;
    if (argument.name == name) return &argument;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", argument.name);
  }
  return fail(Errc::argument_mismatch, "{} function '{}' has no {} '{}'; it has {}", to_string(function.kind()),
              function.name(), kind == ArgumentKind::stage_input ? "input" : "result", name,
              known.empty() ? "none" : known);
}

/// Of one number; empty for a type that files do not have.
std::string element_of_array(const ArgInfo& argument) {
  return std::string(kElementNames.at(static_cast<size_t>(loader::parse_value_type(argument.type_name).scalar)));
}

}  // namespace

Result<StageInput> parse_stage_input(const std::string& text) {
  SMELT_TRY(const auto words, split_stage_words(text, "--input", "ARG"));
  StageInput input{words.first, {}};
  SMELT_TRY(input.argument, parse_argument(words.second));
  if (input.argument.write_to || input.argument.is_scalar)
    return fail(Errc::invalid_argument, "--input '{}': want an array to read, as x.npy or f32[1024]", text);
  return input;
}

Result<StageOutput> parse_stage_output(const std::string& text) {
  SMELT_TRY(auto words, split_stage_words(text, "--output", "FILE"));
  return StageOutput{std::move(words.first), std::move(words.second)};
}

bool is_stage_array(const ArgInfo& argument) {
  return argument.kind == ArgumentKind::stage_input || argument.kind == ArgumentKind::stage_output;
}

Result<void> bind_stage_input(loader::Encoder& encoder, const loader::Function& function, const StageInput& input) {
  SMELT_TRY(const ArgInfo* argument, find_array(function, ArgumentKind::stage_input, input.name));
  const std::string wanted = element_of_array(*argument);
  const NpyArray& array = input.argument.array;
  if (array.type != wanted)
    return fail(Errc::argument_mismatch, "input '{}' of '{}' is {}: want an array of {}, not of {}", input.name,
                function.name(), argument->type_name, wanted, array.type);
  const uint64_t numbers = argument->size / std::max(element_bytes(wanted).value_or(1), 1u);
  const bool fits = numbers == 1 ? array.shape.size() == 1 : array.shape.size() == 2 && array.shape[1] == numbers;
  if (!fits || array.fortran_order)
    return fail(Errc::argument_mismatch, "input '{}' of '{}' is {}: want an array of shape ({}) in C's order",
                input.name, function.name(), argument->type_name, numbers == 1 ? "n" : fmt::format("n, {}", numbers));
  SMELT_TRY(const loader::BufferRef buffer, encoder.device()->make_buffer(array.data.size()));
  std::copy(array.data.begin(), array.data.end(), buffer->contents().begin());
  return encoder.set_buffer(argument->index, buffer);
}

Result<NpyArray> make_stage_output(const loader::Function& function, const StageOutput& output, uint64_t threads) {
  SMELT_TRY(const ArgInfo* argument, find_array(function, ArgumentKind::stage_output, output.name));
  NpyArray array;
  array.type = element_of_array(*argument);
  const uint64_t number = element_bytes(array.type).value_or(0);
  if (number == 0 || argument->size == 0 || threads > (uint64_t{1} << 40) / argument->size)
    return fail(Errc::unsupported, "result '{}' of '{}': a file cannot hold {} elements of type {}", output.name,
                function.name(), threads, argument->type_name);
  array.shape = {threads};
  if (argument->size != number) array.shape.push_back(argument->size / number);
  array.data.resize(threads * argument->size);
  return array;
}

Result<void> bind_stage_output(loader::Encoder& encoder, const loader::Function& function, const StageOutput& output,
                               NpyArray& array) {
  SMELT_TRY(const ArgInfo* argument, find_array(function, ArgumentKind::stage_output, output.name));
  return encoder.set_memory(argument->index, array.data);
}

}  // namespace smelt::cli
