// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling in a child process: what a crafted input does to LLVM there it does not do to us. A helper program
// (service/child) waits, and forks a child for each job, which can open nothing, talk to nobody and has bounded memory
// and processor time.
#pragma once

#include "asked.hpp"
#include "child_protocol.hpp"

namespace smelt::service {

/// `asked`, else what $SMELT_SANDBOX says, else automatic.
Result<Sandbox> sandbox_or_default(std::optional<Sandbox> asked);

/// Whether all of a request is to be compiled in one child under `mode`: where LLVM must read inputs to see what is in
/// them, when that is wanted always, or when a fault was contained here (aot::had_fault) and it is not wanted never.
/// Kernels of Metal libraries go to children one by one (make_in_children).
bool wants_child(Sandbox mode, const Request& request);

/// Whether it goes to a child that can be ended: Metal source under a limit of time or memory (aot::Limited). Clang's
/// front end looks at no limit in the middle of a declaration or a macro.
bool wants_limited_child(Sandbox mode, const Request& request);

/// The job of such a child, which may open what this process may.
ChildJob limited_job(const Request& request, unsigned threads);

/// Reads a request's sources in such a child, where it wants one: before they are read here, so that what comes to no
/// end is ended. Within half of the time, since it is taken again. Errors: theirs, and the limit's.
Result<void> read_within_limits(const Request& request, unsigned threads);

/// A plan's part in a child: a Metal library's function, whatever the other inputs are. `run`: a job's outcome, or
/// nothing when there is no child. Borrows both.
MakeElsewhere make_in_children(const Request& request,
                               const std::function<Result<std::optional<Built>>(ChildJob)>& run);

/// The only library of a package that a child gave back. `corrupt` when it is not what was asked for: who takes over a
/// child could else give other functions, or make us read slices that are not there.
Result<schema::Library> read_part(ByteView package, const Asked& asked);

/// What a child's answer is held to says of it: `corrupt` names the input, too.
Result<void> from_child(Result<void> held, std::string_view input);

/// The outcome of `job` in a child, within what is left of the limits of this thread (aot::Limited) or, without any, an
/// hour and 8 GiB; the limit of memory is each child's. `toolchain_missing` when there is no child to be had;
/// `cancelled` at a limit, which it names; `corrupt` when the child died. Any thread; the helper starts with the first
/// job and lives as long as the process.
Result<Built> run_in_child(ChildJob job);

}  // namespace smelt::service
