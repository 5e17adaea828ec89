// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions that a kernel calls through a table (smelt_cpu_function_table). Their code becomes part of the
// kernel's: a call is a switch over the functions that it may mean, so code needs no addresses of other code, and what
// is known of pointers and lanes stays known.
#pragma once

#include "smelt/aot/cpu.hpp"

#include <span>

namespace llvm {
class Module;
}

namespace smelt::aot::cpu {

/// void (i32 index): a call of an entry that means none of the functions. It gives zeros, and the launch fails:
/// make_work_item replaces the call.
inline constexpr char kTableNone[] = "smelt.table.none";

/// Whether the module looks into a table.
bool has_function_tables(const llvm::Module& module);

/// `visible`: functions that a table may hold, one module each, named after it. In a module that the allow-list has
/// admitted; it has to admit what is added. Errors: unsupported when no visible function has the type of a call, or all
/// that have it read function constants; those of reading a module. Where some do, an entry with one of those means
/// none.
Result<void> bind_function_tables(llvm::Module& module, std::span<const AirModuleView> visible);

}  // namespace smelt::aot::cpu
