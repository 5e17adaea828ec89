// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "slice_choice.hpp"

#include "joined.hpp"

#include <algorithm>
#include <tuple>

namespace smelt::loader {
namespace {

/// Which check rejected a slice: the later it comes, the closer the slice came to fitting.
int order_of_check(Errc code) {
  switch (code) {
    case Errc::unsupported_platform:
      return 1;
    case Errc::unsupported_os:
      return 2;
    case Errc::unsupported_language:
      return 3;
    case Errc::unsupported_family:
      return 4;
    case Errc::untrusted:
      return 5;
    default:
      return 0;
  }
}

}  // namespace

std::string SliceReport::text() const {
  std::string text;
  for (const SliceNote& note : notes) text += (text.empty() ? "" : "\n") + note.line;
  return text;
}

std::optional<Rejection> reject_by_target(const SliceFacts& slice, const Target& device, const LoadOptions& options) {
  const Target& target = slice.target;
  if (slice.kind == schema::SliceKind::cpu)
    return Rejection{Errc::unsupported_platform,
                     fmt::format("is CPU code, device runs {} libraries", to_string(device.platform))};
  if (target.platform != Platform::none && target.platform != device.platform)
    return Rejection{Errc::unsupported_platform,
                     fmt::format("needs {}, device has {}", to_string(target.platform), to_string(device.platform))};
  if (target.min_os > device.min_os)
    return Rejection{Errc::unsupported_os, fmt::format("needs {} {}, device has {}", to_string(target.platform),
                                                       to_string(target.min_os), to_string(device.min_os))};
  if (options.force_metal && target.metal != *options.force_metal)
    return Rejection{Errc::unsupported_language, fmt::format("is Metal {}, the caller forces {}",
                                                             to_string(target.metal), to_string(*options.force_metal))};
  if (target.metal > device.metal)
    return Rejection{Errc::unsupported_language,
                     fmt::format("needs Metal {}, device has {}", to_string(target.metal), to_string(device.metal))};
  if (target.family > device.family)
    return Rejection{Errc::unsupported_family,
                     fmt::format("needs GPU family Apple{}, device has {}", target.family,
                                 device.family == 0 ? std::string("none") : fmt::format("Apple{}", device.family))};
  return std::nullopt;
}

Result<SliceChoice> choose_slice(const DeviceImpl& device, std::span<const SliceFacts> slices,
                                 const LoadOptions& options, std::string_view what,
                                 const std::optional<std::string>& untrusted) {
  SliceChoice choice;
  Errc closest = Errc::unsupported_platform;
  for (size_t i = 0; i < slices.size(); ++i) {
    auto rejection = device.reject(slices[i], options);
    if (!rejection && untrusted && slices[i].kind == schema::SliceKind::cpu)
      rejection = Rejection{Errc::untrusted, *untrusted};
    SliceNote note{slices[i].target.name, false, Errc::ok, {}};
    if (rejection) {
      note.code = rejection->code;
      note.line = joined({slices[i].target.name, ": ", rejection->needs_has});
      if (order_of_check(rejection->code) > order_of_check(closest)) closest = rejection->code;
    } else {
      choice.usable.push_back(i);
    }
    choice.report.notes.push_back(std::move(note));
  }
  const auto rank = [&](size_t i) {
    const SliceFacts& slice = slices[i];
    return std::tuple(device.preference(slice), slice.target.metal, slice.target.family, slice.target.min_os);
  };
  std::sort(choice.usable.begin(), choice.usable.end(), [&](size_t a, size_t b) {
    const auto rank_a = rank(a), rank_b = rank(b);
    return rank_a != rank_b ? rank_a > rank_b : slices[a].hash < slices[b].hash;
  });
  for (size_t k = 0; k < choice.usable.size(); ++k) {
    SliceNote& note = choice.report.notes[choice.usable[k]];
    note.chosen = k == 0;
    note.line = joined({note.target, k == 0 ? ": chosen" : ": usable, another fits better"});
  }
  if (choice.usable.empty()) {
    const std::string remedy = closest == Errc::untrusted ? std::string() : device.remedy(options);
    return fail(closest, "{}: none of its {} slices runs on {}{}{}{}{}", what, slices.size(), device.name(),
                slices.empty() ? "" : ":\n", choice.report.text(), remedy.empty() ? "" : "\n", remedy);
  }
  return choice;
}

}  // namespace smelt::loader
