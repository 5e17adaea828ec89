// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_code.hpp"

#include "smelt/base/text_list.hpp"
#include "smelt/base/trace.hpp"

#include "stored_code.hpp"

#include <mutex>
#include <optional>

namespace smelt::metal {
namespace {

/// What the store has, which a trace tells; of what is compiled it is told by the compiler's library.
std::optional<loader::OwnedBytes> recalled(const Digest& key, const std::string& name,
                                           std::string_view part = kStoredPackage) {
  const auto start = TraceClock::now();
  auto found = find_stored(key, part);
  if (found && tracing()) trace_event(name, "store", start, TraceClock::now(), {});
  return found;
}

class MetallibCode final : public KernelCode {
 public:
  MetallibCode(loader::OwnedBytes metallib, const Digest& digest, std::string level, bool checked)
      : metallib_(std::move(metallib)), digest_(digest), level_(std::move(level)), checked_(checked) {}

  Digest key(const std::string& kernel) const override { return key_of(request(kernel)); }
  Result<loader::OwnedBytes> make(const std::string& kernel) override {
    const Digest under = key(kernel);
    if (auto found = recalled(under, kernel)) return std::move(*found);
    SMELT_TRY(auto made, compiled_kernel(request(kernel)));
    keep_in_store(under, made.bytes);
    return made;
  }

 private:
  KernelRequest request(const std::string& kernel) const {
    return {metallib_.bytes, digest_, kernel, level_, checked_};
  }
  const loader::OwnedBytes metallib_;
  const Digest digest_;
  const std::string level_;
  const bool checked_;
};

class SourceCode final : public KernelCode {
 public:
  SourceCode(SourceRequest request, const Digest& key, std::string level, bool checked)
      : request_(std::move(request)), key_(key), level_(std::move(level)), checked_(checked) {}

  Digest key(const std::string& kernel) const override { return key_of({{}, key_, kernel, level_, checked_}); }
  Result<loader::OwnedBytes> make(const std::string& kernel) override {
    const Digest under = key(kernel);
    if (auto found = recalled(under, kernel)) return std::move(*found);
    SMELT_TRY(const auto source, translated());
    SMELT_TRY(auto made, source->compile(kernel));
    keep_in_store(under, made.bytes);
    return made;
  }
  /// Reads the source at the first call; whoever else wants it then waits.
  Result<std::shared_ptr<const TranslatedSource>> translated() {
    const std::lock_guard guard(lock_);
    if (!translated_) {
      SMELT_TRY(translated_, TranslatedSource::read(request_, level_, checked_));
    }
    return translated_;
  }

 private:
  const SourceRequest request_;
  const Digest key_;
  const std::string level_;
  const bool checked_;
  std::mutex lock_;
  std::shared_ptr<const TranslatedSource> translated_;
};

}  // namespace

std::shared_ptr<KernelCode> code_of(loader::OwnedBytes metallib, const Digest& digest, std::string level,
                                    bool checked) {
  return std::make_shared<MetallibCode>(std::move(metallib), digest, std::move(level), checked);
}

Result<SourceKernels> kernels_of(SourceRequest request, const Digest& key, std::string level, bool checked) {
  const auto code = std::make_shared<SourceCode>(std::move(request), key, std::move(level), checked);
  if (const auto found = recalled(key, kSourceName, kStoredNames))
    if (auto names = unpack_texts(as_text(found->bytes))) return SourceKernels{std::move(*names), code};
  SMELT_TRY(const auto source, code->translated());
  SourceKernels made{source->kernels(), code};
  keep_in_store(key, as_bytes(pack_texts(made.names)), kStoredNames);
  return made;
}

}  // namespace smelt::metal
