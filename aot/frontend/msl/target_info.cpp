// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/target_info.hpp"

#include "smelt/aot/target.hpp"

#include "msl/private_member.hpp"

#include "clang/Basic/Builtins.h"
#include "clang/Basic/MacroBuilder.h"
#include "llvm/TargetParser/Triple.h"

#include <string>

namespace smelt::aot::msl {

// Only Clang's own factory fills it, although every target needs it.
struct TargetOptsMember {
  using Type = std::shared_ptr<clang::TargetOptions> clang::TargetInfo::*;
};
TargetOptsMember::Type address_of(TargetOptsMember);
template struct PrivateMember<TargetOptsMember, &clang::TargetInfo::TargetOpts>;

namespace {

/// Clang's language spaces to AIR's numbers (docs/design/metal-front-end.md 3). The headers and the token filter spell
/// spaces with the sycl_* rows' attributes, which the thread's memory takes in; of those, sycl_global is
/// threadgroup_imageblock and sycl_private object_data. Everything without one is thread memory, 0.
constexpr clang::LangASMap kSpaces = {
    0,                    // Default: thread
    1, 3, 2, 0, 0, 1, 2,  // opencl_{global, local, constant, private, generic, global_device, global_host}
    1, 2, 3,              // cuda_{device, constant, shared}
    4, 1, 2, 3, 6,        // sycl_{global, global_device, global_host, local, private}
    0, 0, 0, 0, 0,        // ptr32_sptr, ptr32_uptr, ptr64, hlsl_groupshared, wasm_funcref
};

class AirTarget final : public clang::TargetInfo {
 public:
  AirTarget(const llvm::Triple& triple, const std::shared_ptr<clang::TargetOptions>& options) : TargetInfo(triple) {
    this->*address_of(TargetOptsMember()) = options;
    PointerWidth = PointerAlign = LongWidth = LongAlign = 64;
    SizeType = UnsignedLong;
    PtrDiffType = IntPtrType = IntMaxType = Int64Type = SignedLong;
    BFloat16Width = BFloat16Align = 16;
    BFloat16Format = &llvm::APFloat::BFloat();
    HasLegalHalfType = HasFloat16 = HasBFloat16 = HasFullBFloat16 = true;
    HasStrictFP = true;  // #pragma METAL fp math_mode is float_control to Clang, which other targets ignore
    VLASupported = TLSSupported = false;
    NoAsmVariants = true;
    AddrSpaceMap = &kSpaces;
    UseAddrSpaceMapMangling = false;
    MaxAtomicPromoteWidth = MaxAtomicInlineWidth = 64;
    const std::string_view layout = air_data_layout();
    resetDataLayout(llvm::StringRef(layout.data(), layout.size()));
  }
  void getTargetDefines(const clang::LangOptions&, clang::MacroBuilder&) const override {}
  llvm::ArrayRef<clang::Builtin::Info> getTargetBuiltins() const override { return {}; }
  BuiltinVaListKind getBuiltinVaListKind() const override { return VoidPtrBuiltinVaList; }
  std::string_view getClobbers() const override { return ""; }
  llvm::ArrayRef<const char*> getGCCRegNames() const override { return {}; }
  llvm::ArrayRef<GCCRegAlias> getGCCRegAliases() const override { return {}; }
  bool validateAsmConstraint(const char*&, ConstraintInfo&) const override { return false; }
  bool hasBitIntType() const override { return true; }
  // As on the systems where programs fill in the same structures: a class with `S() = default` is no POD.
  bool areDefaultedSMFStillPOD(const clang::LangOptions&) const override { return false; }
  CallingConvCheckResult checkCallingConvention(clang::CallingConv convention) const override {
    return convention == clang::CC_C ? CCCR_OK : CCCR_Warning;
  }
  const char* getBFloat16Mangling() const override { return "u6__bf16"; }
};

}  // namespace

clang::TargetInfo* make_air_target(const std::shared_ptr<clang::TargetOptions>& options) {
  const llvm::Triple triple(kClangTriple);
  options->Triple = triple.str();
  return new AirTarget(triple, options);
}

}  // namespace smelt::aot::msl
