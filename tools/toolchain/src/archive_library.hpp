// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libarchive, opened when sources are recorded: it and what it needs would add 1 ms to the start of every command.
// Private to toolchain.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/base/shared_library.hpp"

#include <archive.h>
#include <archive_entry.h>

#define SMELT_ARCHIVE_FUNCTIONS(X) \
  X(entry_free)                    \
  X(entry_new)                     \
  X(entry_set_filetype)            \
  X(entry_set_mtime)               \
  X(entry_set_pathname)            \
  X(entry_set_perm)                \
  X(entry_set_size)                \
  X(error_string)                  \
  X(write_add_filter_bzip2)        \
  X(write_close)                   \
  X(write_data)                    \
  X(write_free)                    \
  X(write_header)                  \
  X(write_new)                     \
  X(write_open2)                   \
  X(write_set_bytes_in_last_block) \
  X(write_set_format_pax_restricted)

namespace smelt::toolchain {

/// Functions of libarchive under their names without "archive_"; null when it is not there.
struct ArchiveLibrary : SharedLibrary {
  using SharedLibrary::SharedLibrary;
#define SMELT_MEMBER(name) decltype(&::archive_##name) name = find<decltype(&::archive_##name)>("archive_" #name);
  SMELT_ARCHIVE_FUNCTIONS(SMELT_MEMBER)
#undef SMELT_MEMBER
};

/// Opened by the first call, from any thread. `toolchain_missing` when it cannot be had.
Result<const ArchiveLibrary*> archive_library();

}  // namespace smelt::toolchain
