// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The standard library's headers, parsed once. Making them takes more than a second, opening them two milliseconds; so
// those of every target's language are made when this library is built, and others are kept in this process and in the
// user's cache folder, under a name that says which compiler, headers and version of the language they were made with.
// A file that another program is writing is never seen: it is renamed into place when whole. A file that does not open,
// or that somebody else could have written, is made again: Clang believes what it reads there.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/languages.hpp"
#include "smelt/aot/metal_headers.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/base/trusted_files.hpp"

#include "inputs/headers.hpp"
#include "msl/compiler.hpp"
#include "msl/layouts.hpp"
#include "msl/private_member.hpp"

#include "clang/Basic/Version.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Sema/Sema.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/Support/xxhash.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace smelt::aot::msl {

struct PutOffMember {
  using Type = llvm::SmallSetVector<clang::Decl*, 4> clang::Sema::*;
};
PutOffMember::Type address_of(PutOffMember);
template struct PrivateMember<PutOffMember, &clang::Sema::DeclsToCheckForDeferredDiags>;

namespace {

/// Clang notes each function of a SYCL source, to look through it for diagnostics that were put off until the end.
/// Every source would read all of the headers' functions for that, 40 % of its time; nothing is put off in our headers.
class HeaderGenerator final : public clang::PCHGenerator {
 public:
  HeaderGenerator(clang::CompilerInstance& compiler, std::shared_ptr<clang::PCHBuffer> buffer)
      : PCHGenerator(compiler.getPreprocessor(), compiler.getModuleCache(), "", "", std::move(buffer),
                     llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(), /*AllowASTWithErrors=*/false,
                     /*IncludeTimestamps=*/false),
        compiler_(compiler) {}
  void HandleTagDeclDefinition(clang::TagDecl* tag) override { lay_out_as_metal(tag); }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    (compiler_.getSema().*address_of(PutOffMember())).clear();
    PCHGenerator::HandleTranslationUnit(context);
  }

 private:
  clang::CompilerInstance& compiler_;
};

class PrecompileAction final : public clang::ASTFrontendAction {
 public:
  std::string bytes() const {
    return buffer_->IsComplete ? std::string(buffer_->Data.begin(), buffer_->Data.end()) : std::string();
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    return std::make_unique<HeaderGenerator>(compiler, buffer_);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_ = std::make_shared<clang::PCHBuffer>();
};

Result<std::shared_ptr<const Precompiled>> precompile(const MslOptions& options) {
  DiagnosticCollector messages;
  messages.set_main_name("metal_stdlib");
  const auto compiler =
      make_compiler(kPrecompiledSource, kPrecompiledSourcePath, options, messages, CompilerUse::headers, nullptr);
  PrecompileAction action;
  const bool done = compiler != nullptr && run_action(*compiler, action);
  messages.close();
  auto made = std::make_shared<Precompiled>();
  made->made = action.bytes();
  made->bytes = made->made;
  if (!done || made->bytes.empty())
    return fail(Errc::compile_failed, "the Metal headers do not compile as Metal {}:\n{}", to_string(options.language),
                messages.errors());
  return made;
}

std::string file_name(const Version& language) {
  Hasher hasher;
  hasher.field("precompiled metal headers");
  hasher.field(clang::getClangFullVersion());
  hasher.field(smelt_embedded_headers_sha256);
  hasher.field(compiler_identity());
  const std::string number = fmt::to_string(metal_version_number(language));
  hasher.field(number);
  return fmt::format("metal-{}-{}.pch", number, to_hex(hasher.finish()).substr(0, 16));
}

using Checksum = std::array<uint64_t, 2>;

llvm::XXH128_hash_t hash_of(ByteView bytes) {
  return llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

/// Finds a file that is damaged, or that has another one's name. It is no guard against what somebody made for us: that
/// is who may write where the file lies.
Checksum checksum(ByteView bytes, const std::string& name) {
  const llvm::XXH128_hash_t body = hash_of(bytes), title = hash_of(as_bytes(name));
  return {body.low64 ^ title.low64, body.high64 ^ title.high64};
}

/// The file is the headers, then their checksum: Clang's reader trusts what it is given. Null: absent, damaged, or
/// somebody else could have written it. It stays mapped, so that of its 12 MB nothing is copied.
std::shared_ptr<const Precompiled> read_kept(Result<std::shared_ptr<const MappedFile>> kept, const std::string& name) {
  if (!kept || (*kept)->bytes().size() <= sizeof(Checksum)) return nullptr;
  const ByteView whole = (*kept)->bytes();
  const ByteView body = whole.first(whole.size() - sizeof(Checksum));
  const Checksum sum = checksum(body, name);
  if (std::memcmp(&sum, whole.data() + body.size(), sizeof sum) != 0) return nullptr;
  auto read = std::make_shared<Precompiled>();
  read->kept = std::move(*kept);
  read->bytes = as_text(body);
  return read;
}

/// The same file as read_kept reads.
Bytes file_of(const std::string& name, const Precompiled& made) {
  const Checksum sum = checksum(as_bytes(made.bytes), name);
  Bytes whole = to_bytes(as_bytes(made.bytes));
  const auto* const bytes = reinterpret_cast<const std::byte*>(&sum);
  whole.insert(whole.end(), bytes, bytes + sizeof sum);
  return whole;
}

/// What was made with this library, where a build, an installation or a wheel has it. The folder is that of the program
/// or library which holds this code: whoever may write there may change that too. Null as of read_kept.
std::shared_ptr<const Precompiled> read_installed(const std::string& name) {
  static const int here = 0;
  const std::filesystem::path folder = platform::folder_of_code(&here);
  if (folder.empty()) return nullptr;
  return read_kept(map_beside(folder,
                              {"../lib/smelt/metal-headers", "smelt/metal-headers", "../smelt/metal-headers",
                               "_headers", "../_headers", "../../lib/smelt/metal-headers"},
                              name),
                   name);
}

}  // namespace

unsigned metal_version_number(const Version& language) {
  for (const Version& known : kLanguages)
    if (language.major == known.major && language.minor == known.minor) return known.major * 100u + known.minor * 10u;
  return 0;
}

Result<std::shared_ptr<const Precompiled>> precompiled_headers(const MslOptions& options) {
  struct Slot {
    std::mutex lock;
    std::shared_ptr<const Precompiled> made;
  };
  static std::mutex lock;
  // Threads may read it while statics go.
  static auto& slots = *new std::map<unsigned, std::shared_ptr<Slot>>;
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard guard(lock);
    auto& found = slots[metal_version_number(options.language)];
    if (!found) found = std::make_shared<Slot>();
    slot = found;
  }
  const std::lock_guard guard(slot->lock);
  if (slot->made) return slot->made;
  const std::string name = file_name(options.language);
  slot->made = read_installed(name);
  if (slot->made) return slot->made;
  const std::filesystem::path folder = options.cache_folder;
  if (!folder.empty()) {
    slot->made = read_kept(map_own_file(folder, name), name);
    if (slot->made) return slot->made;
  }
  SMELT_TRY(slot->made, precompile(options));
  // A cache that cannot be written is only a slow one.
  if (!folder.empty()) (void)write_own_file(folder, name, file_of(name, *slot->made));
  return slot->made;
}

}  // namespace smelt::aot::msl

namespace smelt::aot {

Result<void> write_metal_headers(const std::filesystem::path& folder) {
  std::set<Version> languages;
  for (const Target& target : known_targets()) languages.insert(target.language);
  for (const Version& language : languages) {
    msl::MslOptions options;
    options.language = language;
    SMELT_TRY(const auto made, msl::precompile(options));
    const std::string name = msl::file_name(language);
    SMELT_TRY_VOID(write_file(folder / name, msl::file_of(name, *made)));
  }
  return {};
}

}  // namespace smelt::aot
