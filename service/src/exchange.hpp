// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may be pulled. Private to service.
#pragma once

#include "smelt/remote/tiered_store.hpp"

namespace smelt::service {

/// Whoever pulls a key does not know what is asked for under it. So what no trusted key signed is taken only where the
/// key is the digest of what is there: that of an imported package. Packages are whole, whoever signed them.
remote::Question pull_question();

}  // namespace smelt::service
