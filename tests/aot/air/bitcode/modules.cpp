// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "modules.hpp"

#include "smelt/base/digest.hpp"

#include "files.hpp"

#include <set>

namespace smelt::test {
namespace {

// u32 0x0B17C0DE, version, offset, size, cpu type: docs/formats/metallib.md section 7.
void take_modules(ByteView file, const std::string& library, std::set<Digest>& seen, std::vector<AppleModule>& out) {
  constexpr size_t kHead = 20;
  for (size_t at = 0; at + kHead + 4 <= file.size(); ++at) {
    if (load_le<uint32_t>(&file[at]) != 0x0B17C0DE || load_le<uint32_t>(&file[at + 8]) != kHead) continue;
    const uint32_t size = load_le<uint32_t>(&file[at + 12]);
    if (size > file.size() - at - kHead || load_le<uint32_t>(&file[at + kHead]) != 0xDEC04342) continue;
    const ByteView bitcode = file.subspan(at + kHead, size);
    const Digest digest = sha256(bitcode);
    if (seen.insert(digest).second) out.push_back({to_hex(digest).substr(0, 16) + " in " + library, to_bytes(bitcode)});
    at += kHead + size - 1;
  }
}

}  // namespace

std::vector<AppleModule> apple_modules() {
  std::vector<AppleModule> modules;
  std::set<Digest> seen, files;
  for (const auto& folder : {shared("data/metallibs"), corpus(".")}) {
    if (!folder) continue;
    for (const auto& path : files_below(*folder, ".metallib")) {
      const Bytes file = must_read(path);
      if (files.insert(sha256(file)).second) take_modules(file, path.filename().string(), seen, modules);
    }
  }
  return modules;
}

}  // namespace smelt::test
