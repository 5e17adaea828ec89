// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools, one function each: arguments in, exit code out. run.cpp has the table of their names.
#pragma once

#include "smelt/aot/object.hpp"
#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"
#include "smelt/service/session.hpp"

#include "messages.hpp"
#include "target.hpp"

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::toolchain {

struct Call {
  std::string tool;    ///< its name
  std::string folder;  ///< where it and the others are; may be empty when nobody knows
  std::vector<std::string> arguments;
};

int run_metal(const Call& call);
int run_metallib(const Call& call);  ///< air-lld too
int run_xcrun(const Call& call);
int run_ar(const Call& call);
int run_libtool(const Call& call);
int run_nm(const Call& call);
int run_objdump(const Call& call);
int run_lipo(const Call& call);
int run_readobj(const Call& call);
int run_source(const Call& call);
int run_config(const Call& call);
int run_dsymutil(const Call& call);
int run_xcode_select(const Call& call);
int run_sw_vers(const Call& call);
int run_gpu_back_end(const Call& call);  ///< metal-tt, metal-package-builder
/// Any tool by name; nothing when there is none of that name.
std::optional<int> run_tool(const Call& call);

/// Of a tool that is done: 0, or 1 after its error was told.
int exit_code(const Call& call, const Result<void>& done);

/// The first file of that name in an absolute folder of PATH that `fits`; empty: none does.
std::filesystem::path find_on_path(const std::string& name,
                                   const std::function<bool(const std::filesystem::path&)>& fits);

/// What the linker writes when nobody names a file.
inline constexpr const char* kDefaultLibrary = "default.metallib";

/// The session behind all tools: the user's store.
std::shared_ptr<service::Session> open_session();

/// Files of a link as they were given, and what was read of them; archives are their members.
class LinkInputs {
 public:
  Result<void> add_file(const std::string& path);
  Result<void> add(std::string name, Bytes bytes);
  /// Objects without the sources that were recorded in them.
  std::span<const aot::Source> files() const { return files_; }
  /// Recorded sources by the name of a kernel, or of another entry point.
  Result<std::map<std::string, ByteView>> recorded() const;

 private:
  Result<void> add_bytes(std::string name, ByteView bytes);
  Result<void> add_object(std::string name, ByteView bytes);
  std::deque<Bytes> owned_;  // what the files point into
  std::vector<aot::Source> files_;
  std::vector<std::optional<ByteView>> archives_;  // of each file that is an object with sources
};

struct LinkOutput {
  std::string file = kDefaultLibrary;
  std::string command;      ///< the linker's words, which a library with sources keeps
  bool has_sources = true;  ///< false: recorded sources are left out
};
/// One library of them; for `wanted` when it is explicit, else for the system of the first of them.
Result<void> link_files(const LinkInputs& inputs, const Wanted& wanted, const LinkOutput& output, Messages& messages);

/// What a shell would read as this call.
std::string command_line(const Call& call);

/// "metal version 32023.0 (smelt 0.1.0)" and the lines that go with it.
std::string version_text(const Call& call, const aot::Target& target);

/// A word of a job as a shell would read it.
std::string shell_quoted(const std::string& word);

}  // namespace smelt::toolchain
