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
#include "llvm/Support/Compression.h"
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

/// The file is the headers, then their checksum: Clang's reader trusts what it is given.
bool has_checksum(ByteView whole, const std::string& name) {
  if (whole.size() <= sizeof(Checksum)) return false;
  const ByteView body = whole.first(whole.size() - sizeof(Checksum));
  const Checksum sum = checksum(body, name);
  return std::memcmp(&sum, whole.data() + body.size(), sizeof sum) == 0;
}

/// Null if the file is absent or damaged, or if somebody else could have written it. The file stays mapped, so that
/// none of its 12 MB is copied.
std::shared_ptr<const Precompiled> read_kept(Result<std::shared_ptr<const MappedFile>> kept, const std::string& name) {
  if (!kept || !has_checksum((*kept)->bytes(), name)) return nullptr;
  auto read = std::make_shared<Precompiled>();
  read->kept = std::move(*kept);
  read->bytes = as_text(read->kept->bytes().first(read->kept->bytes().size() - sizeof(Checksum)));
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
/// or library which holds this code: whoever may write there may change that too.
Result<std::shared_ptr<const MappedFile>> map_installed(const std::string& name) {
  static const int here = 0;
  return map_beside(platform::folder_of_code(&here),
                    {"../lib/smelt/metal-headers", "smelt/metal-headers", "../smelt/metal-headers", "_headers",
                     "../_headers", "../../lib/smelt/metal-headers"},
                    name);
}

std::string packed_name(const std::string& name) {
  return name + ".zst";
}
constexpr uint64_t kMostUnpacked = 64 << 20;

/// A wheel has the file of read_kept packed, behind its size: 5 MB instead of 13. It is unpacked once, into `folder`
/// if there is one. Null: as for read_kept.
std::shared_ptr<const Precompiled> read_packed(const std::string& name, const std::filesystem::path& folder) {
  const auto packed = map_installed(packed_name(name));
  if (!packed || (*packed)->bytes().size() <= sizeof(uint64_t)) return nullptr;
  const ByteView whole = (*packed)->bytes();
  const auto size = load_le<uint64_t>(whole.data());
  if (size <= sizeof(Checksum) || size > kMostUnpacked) return nullptr;
  const ByteView frame = whole.subspan(sizeof size);
  auto made = std::make_shared<Precompiled>();
  made->made.resize(size);
  size_t found = size;
  llvm::Error error =
      llvm::compression::zstd::decompress(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(frame.data()), frame.size()),
                                          reinterpret_cast<uint8_t*>(made->made.data()), found);
  const bool failed = static_cast<bool>(error);
  llvm::consumeError(std::move(error));
  if (failed || found != size || !has_checksum(as_bytes(made->made), name)) return nullptr;
  if (!folder.empty()) (void)write_own_file(folder, name, as_bytes(made->made));
  made->made.resize(size - sizeof(Checksum));
  made->bytes = made->made;
  return made;
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
  slot->made = read_kept(map_installed(name), name);
  if (slot->made) return slot->made;
  const std::filesystem::path folder = options.cache_folder;
  if (!folder.empty()) {
    slot->made = read_kept(map_own_file(folder, name), name);
    if (slot->made) return slot->made;
  }
  slot->made = read_packed(name, folder);
  if (slot->made) return slot->made;
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

Result<void> pack_metal_headers(const std::filesystem::path& folder) {
  constexpr int kLevel = 19;  // takes ten seconds a file, once for each wheel
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".pch") continue;
    SMELT_TRY(const Bytes whole, read_file(entry.path()));
    llvm::SmallVector<uint8_t> frame;
    llvm::compression::zstd::compress(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(whole.data()), whole.size()),
                                      frame, kLevel);
    ByteWriter packed;
    packed.put(uint64_t{whole.size()});
    packed.put_bytes({reinterpret_cast<const std::byte*>(frame.data()), frame.size()});
    SMELT_TRY_VOID(write_file(msl::packed_name(entry.path().string()), packed.take()));
    if (!std::filesystem::remove(entry.path(), error)) break;
  }
  if (error) return fail(Errc::io, "{}: {}", folder.string(), error.message());
  return {};
}

}  // namespace smelt::aot
