#include "smelt/base/result.hpp"

namespace smelt {

std::string_view to_string(Errc code) {
  switch (code) {
#define SMELT_ERRC(name) \
  case Errc::name:       \
    return #name
    SMELT_ERRC(ok);
    SMELT_ERRC(invalid_argument);
    SMELT_ERRC(source_type);
    SMELT_ERRC(file_not_found);
    SMELT_ERRC(io);
    SMELT_ERRC(not_metallib);
    SMELT_ERRC(truncated);
    SMELT_ERRC(corrupt);
    SMELT_ERRC(format_newer);
    SMELT_ERRC(empty_library);
    SMELT_ERRC(unsupported_platform);
    SMELT_ERRC(unsupported_os);
    SMELT_ERRC(unsupported_language);
    SMELT_ERRC(unsupported_family);
    SMELT_ERRC(untrusted);
    SMELT_ERRC(digest_mismatch);
    SMELT_ERRC(function_not_found);
    SMELT_ERRC(function_kind);
    SMELT_ERRC(constant_missing);
    SMELT_ERRC(constant_unknown);
    SMELT_ERRC(constant_type);
    SMELT_ERRC(pipeline_failed);
    SMELT_ERRC(threads_missing);
    SMELT_ERRC(rank_mismatch);
    SMELT_ERRC(group_zero);
    SMELT_ERRC(group_too_large);
    SMELT_ERRC(threadgroup_memory_too_large);
    SMELT_ERRC(buffer_index);
    SMELT_ERRC(argument_empty);
    SMELT_ERRC(argument_type);
    SMELT_ERRC(argument_device);
    SMELT_ERRC(argument_mismatch);
    SMELT_ERRC(cast_unknown);
    SMELT_ERRC(device_unavailable);
    SMELT_ERRC(not_cached);
    SMELT_ERRC(store_locked);
    SMELT_ERRC(store_corrupt);
    SMELT_ERRC(store_newer);
    SMELT_ERRC(compile_failed);
    SMELT_ERRC(toolchain_missing);
    SMELT_ERRC(unsupported);
    SMELT_ERRC(buffer_bounds);
#undef SMELT_ERRC
  }
  return "unknown";
}

}  // namespace smelt
