// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of the front end's, where a part of aot is linked without it.
#include "fingerprint/fingerprint_fields.hpp"

namespace smelt::aot {

Result<std::string> anonymous_text(const Source&, const CompileOptions&, uint32_t) {
  return std::string();
}

}  // namespace smelt::aot
