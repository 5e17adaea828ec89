// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fingerprint/launch_metadata.hpp"

#include <nlohmann/json.hpp>

namespace smelt::aot {
namespace {

/// A whole number up to `most`, or nothing when the key is absent.
Result<std::optional<uint64_t>> number(const nlohmann::json& object, const char* key, uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::optional<uint64_t>();
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most)
    return fail(Errc::invalid_argument, "the metadata's \"{}\" is {}; it must be a whole number from 0 to {}", key,
                found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), most);
  return std::optional<uint64_t>(found->get<uint64_t>());
}

}  // namespace

Result<LaunchMetadata> parse_launch_metadata(std::string_view json) {
  LaunchMetadata result;
  if (json.empty()) return result;
  if (json.size() > (size_t{16} << 20)) return fail(Errc::invalid_argument, "the metadata has {} bytes", json.size());
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded() || !object.is_object())
    return fail(Errc::invalid_argument, "the metadata is not a JSON object");
  SMELT_TRY(result.threadgroup_memory, number(object, "shared", 1u << 30));
  SMELT_TRY(const auto warps, number(object, "num_warps", 1024));
  SMELT_TRY(const auto lanes, number(object, "warp_size", 1024));
  if (lanes && *lanes != 32)
    return fail(Errc::unsupported, "the kernel was compiled for warps of {} lanes; Apple GPUs have 32", *lanes);
  if (warps) result.threads_per_threadgroup = static_cast<uint32_t>(*warps * 32);
  for (const char* key : {"global_scratch_size", "profile_scratch_size"}) {
    SMELT_TRY(const auto bytes, number(object, key, ~uint64_t{0}));
    if (bytes && *bytes != 0)
      return fail(Errc::unsupported, "the kernel needs {} bytes of \"{}\", which no launch provides", *bytes, key);
  }
  if (object.contains("profile_scratch_size"))
    result.hidden_pointers = 2;
  else if (object.contains("global_scratch_size"))
    result.hidden_pointers = 1;
  return result;
}

}  // namespace smelt::aot
