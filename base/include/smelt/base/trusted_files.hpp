// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are run, loaded or believed as they are, so that it matters who could have written them.
#pragma once

#include "smelt/base/files.hpp"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

namespace smelt {

/// Maps `name` in `folder`, where root and this user alone may have put it: the folder and the file belong to one of
/// them and nobody else may write to either; neither is a link. What is mapped is the file that was looked at. Errors:
/// untrusted, and those of MappedFile::open.
Result<std::shared_ptr<const MappedFile>> map_own_file(const std::filesystem::path& folder, const std::string& name);

/// Writes `name` (mode 0600) in `folder`, which is created (mode 0700), as those above it are, unless it is there.
/// Errors: untrusted where map_own_file would not take the folder; io.
Result<void> write_own_file(const std::filesystem::path& folder, const std::string& name, ByteView bytes);

/// `name` in the first of `places` that has it. Places are relative to `code`, the absolute path of a folder of code
/// that runs in this process. Those alone may have put it there who may change that code too: on the way from `code`
/// everything belongs to root, to this user or to the owner of `code`, and nobody else may write to it, but for
/// `code`'s group where that may write to `code`. Errors: file_not_found; untrusted when only such a file is there that
/// somebody else could have written.
Result<std::filesystem::path> find_beside(const std::filesystem::path& code, std::initializer_list<const char*> places,
                                          const std::string& name);
/// The same file, mapped.
Result<std::shared_ptr<const MappedFile>> map_beside(const std::filesystem::path& code,
                                                     std::initializer_list<const char*> places,
                                                     const std::string& name);

}  // namespace smelt
