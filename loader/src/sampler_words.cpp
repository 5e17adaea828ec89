// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samplers in the words of Metal source: "filter::linear, address::repeat, lod_clamp(0, 2)".
#include "smelt/loader/texture.hpp"

#include <charconv>
#include <cmath>

namespace smelt::loader {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kAddresses[] = {"clamp_to_zero", "clamp_to_edge", "repeat", "mirrored_repeat",
                                           "clamp_to_border"};
constexpr std::string_view kFilters[] = {"nearest", "linear"};
constexpr std::string_view kMipFilters[] = {"none", "nearest", "linear"};
constexpr std::string_view kCoordinates[] = {"normalized", "pixel"};
constexpr std::string_view kCompares[] = {"none",  "less",      "less_equal", "greater", "greater_equal",
                                          "equal", "not_equal", "always",     "never"};
constexpr std::string_view kBorders[] = {"transparent_black", "opaque_black", "opaque_white"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// One state: "filter::linear" is {"filter", "linear"}, "lod_clamp(0, 2)" is {"lod_clamp", "0, 2", in numbers}.
struct State {
  std::string_view name, value;
  bool is_call = false;
};

Result<State> split(std::string_view text) {
  if (const size_t colons = text.find("::"); colons != std::string_view::npos)
    return State{trimmed(text.substr(0, colons)), trimmed(text.substr(colons + 2))};
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')'))
    return fail(Errc::invalid_argument,
                "sampler: '{}'; want states as Metal source has them, 'filter::linear, lod_clamp(0, 2)'", text);
  return State{trimmed(text.substr(0, open)), text.substr(open + 1, text.size() - open - 2), true};
}

/// The text up to the next comma outside of brackets, which is taken off.
std::string_view next_state(std::string_view& text) {
  size_t end = 0;
  for (int depth = 0; end < text.size() && (text[end] != ',' || depth > 0); ++end)
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  const std::string_view state = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return state;
}

template <class T>
Result<void> set_word(const State& state, Words words, std::initializer_list<T*> into) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (state.is_call || words[i] != state.value) continue;
    for (T* const one : into) *one = static_cast<T>(i);
    return {};
  }
  std::string known;
  for (const std::string_view word : words) known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  return fail(Errc::invalid_argument, "sampler: '{}' is not a value of {}; want {}", state.value, state.name, known);
}

Result<std::vector<float>> numbers_of(const State& state, size_t count) {
  std::vector<float> numbers;
  std::string_view rest = state.is_call ? state.value : std::string_view();
  while (!rest.empty()) {
    std::string_view word = next_state(rest);
    if (word.ends_with('f') && !word.ends_with("inf")) word.remove_suffix(1);
    float number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || std::isnan(number)) break;
    numbers.push_back(number);
  }
  if (numbers.size() != count || !rest.empty())
    return fail(Errc::invalid_argument, "sampler: {} takes {} number{}, got '{}'", state.name, count,
                count == 1 ? "" : "s", state.value);
  return numbers;
}

Result<void> set_state(SamplerDescriptor& into, const State& state) {
  const std::string_view name = state.name;
  auto& [s, t, r] = into.address;
  if (name == "address") return set_word(state, kAddresses, {&s, &t, &r});
  if (name == "s_address") return set_word(state, kAddresses, {&s});
  if (name == "t_address") return set_word(state, kAddresses, {&t});
  if (name == "r_address") return set_word(state, kAddresses, {&r});
  if (name == "filter") return set_word(state, kFilters, {&into.magnify, &into.minify});
  if (name == "mag_filter") return set_word(state, kFilters, {&into.magnify});
  if (name == "min_filter") return set_word(state, kFilters, {&into.minify});
  if (name == "mip_filter") return set_word(state, kMipFilters, {&into.mip});
  if (name == "coord") return set_word(state, kCoordinates, {&into.pixel_coordinates});
  if (name == "compare_func") return set_word(state, kCompares, {&into.compare});
  if (name == "border_color") return set_word(state, kBorders, {&into.border});
  if (name == "max_anisotropy") {
    SMELT_TRY(const std::vector<float> most, numbers_of(state, 1));
    if (most[0] < 1 || most[0] > 16 || most[0] != std::floor(most[0]))
      return fail(Errc::invalid_argument, "sampler: max_anisotropy is a whole number from 1 to 16, got {}", most[0]);
    into.max_anisotropy = static_cast<uint32_t>(most[0]);
    return {};
  }
  if (name == "lod_clamp") {
    SMELT_TRY(const std::vector<float> levels, numbers_of(state, 2));
    into.lod_min = levels[0];
    into.lod_max = levels[1];
    return {};
  }
  return fail(Errc::invalid_argument,
              "sampler: '{}' is not a state; want coord, address, s_address, t_address, r_address, filter, mag_filter, "
              "min_filter, mip_filter, compare_func, border_color, max_anisotropy or lod_clamp",
              name);
}

}  // namespace

Result<SamplerDescriptor> sampler_of_words(std::string_view words) {
  SamplerDescriptor descriptor;
  for (std::string_view rest = trimmed(words); !rest.empty();) {
    SMELT_TRY(const State state, split(next_state(rest)));
    SMELT_TRY_VOID(set_state(descriptor, state));
  }
  return descriptor;
}

}  // namespace smelt::loader
