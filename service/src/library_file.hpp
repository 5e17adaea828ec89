// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a request for objects and libraries leaves of a package. Private to service.
#pragma once

#include "build_package.hpp"

namespace smelt::service {

/// A request's library of its one target. Empty bytes: no input has an entry point.
Result<BuiltFile> library_file(const Request& request, Result<Built> built);

}  // namespace smelt::service
