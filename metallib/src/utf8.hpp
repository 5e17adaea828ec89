// Whether text is well-formed UTF-8 (no overlong forms, no surrogates).
#pragma once

#include <string_view>

namespace smelt::metallib {

bool is_utf8(std::string_view text);

}  // namespace smelt::metallib
