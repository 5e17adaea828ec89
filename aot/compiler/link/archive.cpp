// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Archives by LLVM's reader and writer. Their table of symbols is left out: a link here looks into every member.
#include "llvm/Object/Archive.h"

#include "smelt/aot/object.hpp"

#include "llvm_support/guard.hpp"

#include "llvm/Object/ArchiveWriter.h"

namespace smelt::aot {
namespace {

Result<std::vector<ArchiveMember>> read_members(ByteView file) {
  auto archive = llvm::object::Archive::create(llvm::MemoryBufferRef(as_text(file), ""));
  if (!archive) return fail(Errc::corrupt, "{}", llvm::toString(archive.takeError()));
  if ((*archive)->isThin()) return fail(Errc::unsupported, "a thin archive; write one that holds its members");
  std::vector<ArchiveMember> members;
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : (*archive)->children(error)) {
    auto name = child.getName();
    auto bytes = child.getBuffer();
    if (!name || !bytes) {
      const std::string why = llvm::toString(name ? bytes.takeError() : name.takeError());
      if (!name && !bytes) llvm::consumeError(bytes.takeError());
      llvm::consumeError(std::move(error));
      return fail(Errc::corrupt, "{}", why);
    }
    members.push_back({name->str(), as_bytes({bytes->data(), bytes->size()})});
  }
  if (error) return fail(Errc::corrupt, "{}", llvm::toString(std::move(error)));
  return members;
}

}  // namespace

Result<std::vector<ArchiveMember>> read_archive(ByteView file, std::string_view name) {
  auto members = contained(name, [&] { return read_members(file); });
  if (!members) return tl::unexpected(std::move(members).error().in(name));
  return members;
}

Result<Bytes> write_archive(std::span<const ArchiveMember> members) {
  std::vector<llvm::NewArchiveMember> added;
  for (const ArchiveMember& member : members) {
    llvm::NewArchiveMember one;
    one.Buf = llvm::MemoryBuffer::getMemBuffer(as_text(member.bytes), member.name, false);
    one.MemberName = member.name;
    added.push_back(std::move(one));
  }
  auto buffer = llvm::writeArchiveToBuffer(added, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
                                           /*Deterministic=*/true, /*Thin=*/false);
  if (!buffer) return fail(Errc::invalid_argument, "{}", llvm::toString(buffer.takeError()));
  return to_bytes(as_bytes({(*buffer)->getBufferStart(), (*buffer)->getBufferSize()}));
}

}  // namespace smelt::aot
