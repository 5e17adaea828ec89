// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal-ar and metal-libtool: archives of objects.
#include "smelt/base/files.hpp"

#include "tools.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>

namespace smelt::toolchain {
namespace {

/// An archive in memory, with the bytes that it borrows.
struct Archive {
  std::deque<Bytes> owned;
  std::vector<aot::ArchiveMember> members;

  Result<void> open(const std::string& path, bool may_be_absent) {
    auto bytes = read_file(path);
    if (!bytes && may_be_absent && bytes.error().code == Errc::file_not_found) return {};
    if (!bytes) return tl::unexpected(bytes.error());
    owned.push_back(std::move(*bytes));
    SMELT_TRY(members, aot::read_archive(owned.back(), path));
    return {};
  }

  /// A file in the place of the member of its name, or behind the others.
  Result<void> put(const std::string& path, bool replaces) {
    SMELT_TRY(Bytes bytes, read_file(path));
    owned.push_back(std::move(bytes));
    const aot::ArchiveMember added{std::filesystem::path(path).filename().string(), owned.back()};
    const auto same = std::find_if(members.begin(), members.end(),
                                   [&](const aot::ArchiveMember& one) { return one.name == added.name; });
    if (replaces && same != members.end())
      *same = added;
    else
      members.push_back(added);
    return {};
  }

  Result<void> write(const std::string& path) const {
    SMELT_TRY(const Bytes bytes, aot::write_archive(members));
    return write_file(path, bytes);
  }
};

bool is_wanted(const aot::ArchiveMember& member, std::span<const std::string> names) {
  return names.empty() || std::find(names.begin(), names.end(), member.name) != names.end();
}

Result<void> check_present(const Archive& archive, std::span<const std::string> names) {
  for (const std::string& name : names)
    if (std::none_of(archive.members.begin(), archive.members.end(),
                     [&](const aot::ArchiveMember& one) { return one.name == name; }))
      return fail(Errc::file_not_found, "'{}' was not found in the archive", name);
  return {};
}

Result<void> work(char operation, const std::string& path, std::span<const std::string> names, bool verbose) {
  Archive archive;
  SMELT_TRY_VOID(archive.open(path, operation == 'r' || operation == 'q'));
  if (operation == 'r' || operation == 'q') {
    for (const std::string& name : names) {
      SMELT_TRY_VOID(archive.put(name, operation == 'r'));
      if (verbose) fmt::print("a - {}\n", name);
    }
    return archive.write(path);
  }
  SMELT_TRY_VOID(check_present(archive, names));
  if (operation == 'd') {
    std::erase_if(archive.members,
                  [&](const aot::ArchiveMember& one) { return !names.empty() && is_wanted(one, names); });
    return archive.write(path);
  }
  for (const aot::ArchiveMember& member : archive.members) {
    if (!is_wanted(member, names)) continue;
    if (operation == 't') fmt::print("{}\n", printable(member.name));
    if (operation == 'p') std::fwrite(member.bytes.data(), 1, member.bytes.size(), stdout);
    if (operation != 'x') continue;
    // A name out of a file must not lead out of the folder.
    if (std::filesystem::path(member.name).filename().string() != member.name)
      return fail(Errc::corrupt, "{}: member '{}' is not a plain file name", path, member.name);
    SMELT_TRY_VOID(write_file(member.name, member.bytes));
  }
  return {};
}

Result<void> run_ar_words(std::span<const std::string> words) {
  constexpr std::string_view kUsage = "usage: metal-ar [-]{r|q|t|x|p|d}[cusSDUv] archive [files]";
  if (words.size() < 2) return fail(Errc::invalid_argument, "{}", kUsage);
  char operation = 0;
  bool verbose = false;
  for (const char c : words[0]) {
    if (std::string_view("rqtxpd").find(c) != std::string_view::npos) {
      if (operation != 0) return fail(Errc::invalid_argument, "only one operation may be specified; {}", kUsage);
      operation = c;
    } else if (c == 'v') {
      verbose = true;
    } else if (std::string_view("-cusSDU").find(c) == std::string_view::npos) {
      return fail(Errc::invalid_argument, "unknown option {}; {}", c, kUsage);
    }
  }
  // "s" alone writes the table of symbols anew, and there is none.
  if (operation == 0 && words[0].find('s') != std::string::npos) return {};
  if (operation == 0) return fail(Errc::invalid_argument, "an operation is missing; {}", kUsage);
  return work(operation, words[1], words.subspan(2), verbose);
}

Result<void> run_libtool_words(std::span<const std::string> words) {
  std::string output;
  std::vector<std::string> files;
  bool is_static = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-static")
      is_static = true;
    else if (words[i] == "-o" && i + 1 < words.size())
      output = words[++i];
    else if (words[i] == "-D" || words[i] == "-no_warning_for_no_symbols")
      continue;
    else if (words[i].starts_with("-"))
      return fail(Errc::invalid_argument, "unknown option: '{}'; usage: metal-libtool -static -o archive files",
                  words[i]);
    else
      files.push_back(words[i]);
  }
  if (!is_static || output.empty() || files.empty())
    return fail(Errc::invalid_argument, "usage: metal-libtool -static -o archive files");
  Archive archive;
  for (const std::string& file : files) {
    SMELT_TRY(Bytes bytes, read_file(file));
    archive.owned.push_back(std::move(bytes));
    const ByteView view = archive.owned.back();
    if (!aot::is_archive(view)) {
      archive.members.push_back({std::filesystem::path(file).filename().string(), view});
      continue;
    }
    SMELT_TRY(const auto members, aot::read_archive(view, file));
    archive.members.insert(archive.members.end(), members.begin(), members.end());
  }
  return archive.write(output);
}

}  // namespace

int run_ar(const Call& call) {
  return exit_code(call, run_ar_words(call.arguments));
}

int run_libtool(const Call& call) {
  return exit_code(call, run_libtool_words(call.arguments));
}

}  // namespace smelt::toolchain
