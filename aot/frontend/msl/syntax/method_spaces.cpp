// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/method_spaces.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"
#include "llvm/IR/Module.h"

#include <mutex>

namespace smelt::aot::msl {
namespace {

/// The same function with other qualifiers on its object, in the type and where the source says it: templates are
/// instantiated from the latter.
void set_qualifiers(clang::Sema& sema, clang::CXXMethodDecl& method, clang::Qualifiers qualifiers) {
  clang::TypeLoc written = method.getTypeSourceInfo()->getTypeLoc();
  while (!written.getAs<clang::FunctionProtoTypeLoc>()) written = written.getNextTypeLoc();
  const auto before = written.castAs<clang::FunctionProtoTypeLoc>();
  const auto* type = before.getTypePtr();
  clang::FunctionProtoType::ExtProtoInfo info = type->getExtProtoInfo();
  info.TypeQuals = qualifiers;
  const clang::QualType changed = sema.Context.getFunctionType(type->getReturnType(), type->getParamTypes(), info);
  clang::TypeSourceInfo* source = sema.Context.CreateTypeSourceInfo(changed);
  const auto after = source->getTypeLoc().castAs<clang::FunctionProtoTypeLoc>();
  clang::FunctionProtoTypeLoc to = after;
  to.setLocalRangeBegin(before.getLocalRangeBegin());
  to.setLocalRangeEnd(before.getLocalRangeEnd());
  to.setLParenLoc(before.getLParenLoc());
  to.setRParenLoc(before.getRParenLoc());
  to.setExceptionSpecRange(before.getExceptionSpecRange());
  for (unsigned i = 0; i < before.getNumParams(); ++i) to.setParam(i, before.getParam(i));
  to.getReturnLoc().initializeFullCopy(before.getReturnLoc());
  method.setType(changed);
  method.setTypeSourceInfo(source);
}

class MethodSpace : public clang::ParsedAttrInfo {
 public:
  bool diagAppertainsToDecl(clang::Sema&, const clang::ParsedAttr&, const clang::Decl*) const override { return true; }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* decl,
                                   const clang::ParsedAttr& attribute) const override {
    if (auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl)) decl = pattern->getTemplatedDecl();
    auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(decl);
    if (method == nullptr || method->isStatic() || llvm::isa<clang::CXXDestructorDecl>(method)) {
      const char* what = method == nullptr    ? "a function that is not a member"
                         : method->isStatic() ? "a static member function"
                                              : "a destructor";
      clang::DiagnosticsEngine& engine = sema.getDiagnostics();
      engine.Report(attribute.getLoc(), engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                               "%0 cannot be qualified with address space '%1'"))
          << what << word_;
      return AttributeApplied;
    }
    if (method->isInvalidDecl() || method->getTypeSourceInfo() == nullptr) return AttributeApplied;
    clang::Qualifiers qualifiers = method->getMethodQualifiers();
    const bool is_constructor = llvm::isa<clang::CXXConstructorDecl>(method);
    // Clang itself sees to constructors: none makes an object of a space that is not its own.
    if (!is_constructor) qualifiers.addRestrict();
    if (space_ != clang::LangAS::Default) {
      qualifiers.addAddressSpace(space_);
      if (space_ == clang::LangAS::sycl_global_host && !is_constructor) qualifiers.addConst();
      // Beside a variant that names no space and takes any object, all else being equal, this one is taken.
      clang::Expr* yes = clang::CXXBoolLiteralExpr::Create(sema.Context, true, sema.Context.BoolTy, attribute.getLoc());
      method->addAttr(clang::EnableIfAttr::CreateImplicit(sema.Context, yes, "", attribute.getRange()));
    }
    set_qualifiers(sema, *method, qualifiers);
    return AttributeApplied;
  }

 protected:
  MethodSpace(const char* word, const Spelling& spelling, clang::LangAS space) : word_(word), space_(space) {
    Spellings = llvm::ArrayRef(spelling);
  }

 private:
  const char* word_;
  clang::LangAS space_;
};

// The registry makes the objects itself, without arguments. Spellings are kept by reference.
using Spelling = clang::ParsedAttrInfo::Spelling;
constexpr Spelling kDevice = {clang::ParsedAttr::AS_GNU, "msl_this_device"};
constexpr Spelling kConstant = {clang::ParsedAttr::AS_GNU, "msl_this_constant"};
constexpr Spelling kThreadgroup = {clang::ParsedAttr::AS_GNU, "msl_this_threadgroup"};
constexpr Spelling kObjectData = {clang::ParsedAttr::AS_GNU, "msl_this_object_data"};
constexpr Spelling kImageblock = {clang::ParsedAttr::AS_GNU, "msl_this_threadgroup_imageblock"};
constexpr Spelling kThread = {clang::ParsedAttr::AS_GNU, "msl_this_thread"};

struct DeviceMethod final : MethodSpace {
  DeviceMethod() : MethodSpace("device", kDevice, clang::LangAS::sycl_global_device) {}
};
struct ConstantMethod final : MethodSpace {
  ConstantMethod() : MethodSpace("constant", kConstant, clang::LangAS::sycl_global_host) {}
};
struct ThreadgroupMethod final : MethodSpace {
  ThreadgroupMethod() : MethodSpace("threadgroup", kThreadgroup, clang::LangAS::sycl_local) {}
};
struct ObjectDataMethod final : MethodSpace {
  ObjectDataMethod() : MethodSpace("object_data", kObjectData, clang::LangAS::sycl_private) {}
};
struct ImageblockMethod final : MethodSpace {
  ImageblockMethod() : MethodSpace("threadgroup_imageblock", kImageblock, clang::LangAS::sycl_global) {}
};
struct ThreadMethod final : MethodSpace {
  ThreadMethod() : MethodSpace("thread", kThread, clang::LangAS::Default) {}
};

}  // namespace

void register_method_spaces() {
  static std::once_flag once;
  std::call_once(once, [] {
    using Registry = clang::ParsedAttrInfoRegistry;
    static const Registry::Add<DeviceMethod> device(kDevice.NormalizedFullName, "");
    static const Registry::Add<ConstantMethod> constant(kConstant.NormalizedFullName, "");
    static const Registry::Add<ThreadgroupMethod> threadgroup(kThreadgroup.NormalizedFullName, "");
    static const Registry::Add<ObjectDataMethod> object_data(kObjectData.NormalizedFullName, "");
    static const Registry::Add<ImageblockMethod> imageblock(kImageblock.NormalizedFullName, "");
    static const Registry::Add<ThreadMethod> thread(kThread.NormalizedFullName, "");
    // Clang makes its list of them when it first meets an unknown attribute, and does not guard it.
    clang::getAttributePluginInstances();
  });
}

void drop_restrict(clang::CodeGenerator& generator, llvm::Module& module) {
  for (llvm::Function& function : module) {
    const bool may_be = function.hasParamAttribute(0, llvm::Attribute::NoAlias) ||
                        function.hasParamAttribute(1, llvm::Attribute::NoAlias);
    if (!may_be) continue;
    const auto* method =
        llvm::dyn_cast_or_null<clang::CXXMethodDecl>(generator.GetDeclForMangledName(function.getName()));
    if (method == nullptr || method->isStatic() || !method->getMethodQualifiers().hasRestrict()) continue;
    function.removeParamAttr(function.hasStructRetAttr() ? 1 : 0, llvm::Attribute::NoAlias);
  }
}

}  // namespace smelt::aot::msl
