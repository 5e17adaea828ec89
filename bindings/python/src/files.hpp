// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries as files, for programs that want paths.
//
// A file that we wrote carries a stamp: its time of change is made from its bytes, in the years 2001 to 2018. So one
// stat says whether it is still what the store holds: whoever edits it moves its time to now.
#pragma once

#include "smelt/cache/store.hpp"

#include <string>
#include <utility>
#include <vector>

namespace smelt::python {

/// The part that holds the stamps of the others, eight bytes each, in the order of their names. Its own name says how
/// they are made: ".stamps" held another hash, and is passed over.
constexpr std::string_view kStampsPart = ".stamps-xxh3";

uint64_t stamp_of(ByteView bytes);
/// `parts` sorted by name, without kStampsPart.
Bytes stamps_of(const std::vector<cache::PartIn>& parts);

/// Whether `name` can be a file of a folder: not empty, no '/', no leading '.'.
bool is_file_name(std::string_view name);

/// Writes the file under its stamp, by renaming; the folder is made when it is missing. Returns its path. A file that
/// is there and bears the stamp is left alone. Any thread, any number of processes.
Result<std::string> write_stamped(const std::string& folder, std::string_view name, ByteView bytes);

/// Every part whose name is a file name as such a file: (name, path). What is there and bears its stamp costs one stat;
/// anything missing or changed is written again. Entries without kStampsPart have their bytes hashed.
Result<std::vector<std::pair<std::string, std::string>>> materialise(const cache::Entry& entry,
                                                                     const std::string& folder);

}  // namespace smelt::python
