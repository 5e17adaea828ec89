// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling in a child process: what a crafted input does to LLVM there it does not do to us. A helper program
// (service/child) waits, and forks a child for each job, which can open nothing, talk to nobody and has bounded memory
// and processor time.
#pragma once

#include "child_protocol.hpp"

namespace smelt::service {

/// What a request's input says: whether it is to be compiled in a child under `mode`.
bool wants_child(Sandbox mode, const Request& request);

/// The outcome of `job` in a child, within the limits of this thread (aot::Limited) or, without any, an hour and
/// 8 GiB. `toolchain_missing` when there is no child to be had; `cancelled` at a limit, which it names; `corrupt` when
/// the child died. Any thread; the helper starts with the first job and lives as long as the process.
Result<Built> run_in_child(ChildJob job);

}  // namespace smelt::service
