// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/compile.hpp"

#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/predicates.hpp"
#include "llvm_support/watch.hpp"
#include "msl/compiler.hpp"
#include "msl/facts/object_spaces.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/shift_counts.hpp"
#include "msl/facts/strictness.hpp"
#include "msl/facts/tree_walk.hpp"
#include "msl/kernel/cut_kernels.hpp"
#include "msl/kernel/default_functions.hpp"
#include "msl/kernel/fit_operations.hpp"
#include "msl/kernel/hardware_variables.hpp"
#include "msl/kernel/logging.hpp"
#include "msl/kernel/packed_members.hpp"
#include "msl/layouts.hpp"
#include "msl/safely.hpp"
#include "msl/syntax/method_spaces.hpp"
#include "msl/syntax/pragmas.hpp"
#include "msl/syntax/token_filter.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/CodeGen/CodeGenABITypes.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/EnterExpressionEvaluationContext.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <functional>
#include <set>

namespace smelt::aot::msl {
namespace {

/// Sema talks to the code generator while it parses. Everything is held back until the tree is complete, the facts are
/// read and the SYCL flag is off: code generation is plain C++ then.
class HoldingConsumer final : public clang::SemaConsumer {
 public:
  explicit HoldingConsumer(clang::CodeGenerator& generator) : generator_(generator) {}
  void Initialize(clang::ASTContext& context) override { generator_.Initialize(context); }
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    stop_at_limits();
    hold([this, group] {
      if (!skipped(group)) generator_.HandleTopLevelDecl(group);
    });
    return true;
  }
  void HandleInterestingDecl(clang::DeclGroupRef group) override { HandleTopLevelDecl(group); }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override {
    hold([this, function] { generator_.HandleInlineFunctionDefinition(function); });
  }
  void HandleTagDeclDefinition(clang::TagDecl* tag) override {
    lay_out_as_metal(tag);
    hold([this, tag] { generator_.HandleTagDeclDefinition(tag); });
  }
  void HandleTagDeclRequiredDefinition(const clang::TagDecl* tag) override {
    hold([this, tag] { generator_.HandleTagDeclRequiredDefinition(tag); });
  }
  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) override {
    hold([this, variable] { generator_.HandleCXXStaticMemberVarInstantiation(variable); });
  }
  void CompleteTentativeDefinition(clang::VarDecl* variable) override {
    hold([this, variable] { generator_.CompleteTentativeDefinition(variable); });
  }

  /// Code is not made for kernels that nobody asked for.
  void skip(const clang::FunctionDecl* kernel) { skipped_.insert(kernel->getCanonicalDecl()); }
  void release(clang::ASTContext& context) {
    // Code generation reads more of the headers, and hears of what it reads at once.
    released_ = true;
    for (const auto& action : held_) {
      stop_at_limits();
      action();
    }
    held_.clear();
    generator_.HandleTranslationUnit(context);
  }

 private:
  void hold(std::function<void()> action) {
    if (released_)
      action();
    else
      held_.push_back(std::move(action));
  }
  bool skipped(clang::DeclGroupRef group) const {
    if (!group.isSingleDecl()) return false;
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(group.getSingleDecl());
    return function != nullptr && skipped_.count(function->getCanonicalDecl()) != 0;
  }
  clang::CodeGenerator& generator_;
  std::vector<std::function<void()>> held_;
  bool released_ = false;
  std::set<const clang::FunctionDecl*> skipped_;
};

/// Where a function is named first.
class FirstUse final : public TreeWalk {
 public:
  explicit FirstUse(const clang::FunctionDecl& of) : of_(of.getCanonicalDecl()) {}
  clang::SourceLocation at;

 private:
  using TreeWalk::visit;
  bool visit(clang::Stmt* statement) override {
    if (const auto* use = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      return look(use->getDecl(), use->getLocation());
    if (const auto* use = llvm::dyn_cast<clang::MemberExpr>(statement))
      return look(use->getMemberDecl(), use->getMemberLoc());
    if (const auto* use = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
      return look(use->getConstructor(), use->getLocation());
    return true;
  }
  bool look(const clang::Decl* decl, clang::SourceLocation location) {
    if (decl->getCanonicalDecl() == of_) at = location;
    return at.isInvalid();
  }
  const clang::Decl* of_;
};

class TranslateAction final : public clang::ASTFrontendAction {
 public:
  /// `tree_language` outlives the compiler.
  TranslateAction(const MslOptions& options, const Learnt& learnt, const DiagnosticCollector& messages,
                  clang::LangOptions& tree_language, MslModule& result)
      : options_(options), learnt_(learnt), messages_(messages), tree_language_(tree_language), result_(result) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    // The tree, its evaluator of constants and the code generator get options of their own: the parser's and Sema's
    // stay C++.
    tree_language_ = compiler.getLangOpts();
    clang::Preprocessor& words = compiler.getPreprocessor();
    auto* tree = new clang::ASTContext(tree_language_, words.getSourceManager(), words.getIdentifierTable(),
                                       words.getSelectorTable(), words.getBuiltinInfo(), words.TUKind);
    tree->InitBuiltinTypes(compiler.getTarget(), compiler.getAuxTarget());
    compiler.setASTContext(tree);  // which owns it
    generator_.reset(clang::CreateLLVMCodeGen(compiler.getDiagnostics(), file, &compiler.getVirtualFileSystem(),
                                              compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                              compiler.getCodeGenOpts(), *llvm_));
    auto consumer = std::make_unique<HoldingConsumer>(*generator_);
    consumer_ = consumer.get();
    return consumer;
  }

  void ExecuteAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    compiler.createSema(clang::TU_Complete, nullptr);
    clang::Sema& sema = compiler.getSema();
    parse(sema);
    if (compiler.getDiagnostics().hasFatalErrorOccurred()) return;
    // Also after errors: all of a file's mistakes are told at once.
    Facts facts = read_facts(sema);
    mixed_choices_ = check_strictness(sema, thread_words_);
    check_object_spaces(sema);
    if (compiler.getDiagnostics().hasErrorOccurred() || must_be_read_again()) return;
    keep_wanted(facts);
    keep_unused(facts, sema.getASTContext());
    drop_annotations(sema.getASTContext());
    mask_shift_counts(sema.getASTContext());
    end_sycl();
    tree_language_.OpenCL = 0;
    consumer_->release(sema.getASTContext());
    if (!compiler.getDiagnostics().hasErrorOccurred()) finish(facts);
  }

  std::shared_ptr<clang::DependencyCollector> dependencies() { return dependencies_; }
  const Learnt::Places& mixed_choices() const { return mixed_choices_; }
  /// No code was made.
  bool must_be_read_again() const {
    return std::any_of(mixed_choices_.begin(), mixed_choices_.end(),
                       [&](auto place) { return learnt_.choices.count(place) == 0; });
  }

 private:
  void parse(clang::Sema& sema) {
    clang::Preprocessor& preprocessor = sema.getPreprocessor();
    sema.Initialize();
    // Before the first token: the parser brings the pragma handlers.
    clang::Parser parser(preprocessor, sema, /*SkipFunctionBodies=*/false);
    add_metal_pragmas(preprocessor);
    preprocessor.EnterMainSourceFile();
    TokenFilter filter(preprocessor, learnt_, options_.language);
    filter.run();
    thread_words_ = filter.take_thread_words();
    clang::ASTConsumer& consumer = sema.getASTConsumer();
    if (clang::ExternalASTSource* headers = sema.getASTContext().getExternalSource())
      headers->StartTranslationUnit(&consumer);
    parser.Initialize();
    // Of all that Clang decides by this, a finished context asks for two things: shift counts in constants are modulo
    // the width; string literals are in a space, from which the token filter takes them.
    tree_language_.OpenCL = 1;
    tree_language_.OpenCLVersion = 300;
    const clang::EnterExpressionEvaluationContext evaluation(
        sema, clang::Sema::ExpressionEvaluationContext::PotentiallyEvaluated);
    clang::Parser::DeclGroupPtrTy group;
    clang::Sema::ModuleImportState imports;
    for (bool at_end = parser.ParseFirstTopLevelDecl(group, imports); !at_end;
         at_end = parser.ParseTopLevelDecl(group, imports)) {
      if (group) consumer.HandleTopLevelDecl(group.get());
      // All types are read, and have their spaces. What is instantiated from here on need not be looked at for what
      // SYCL forbids, every struct field by field at every use.
      if (parser.getCurToken().is(clang::tok::eof)) end_sycl();
    }
    for (clang::Decl* decl : sema.WeakTopLevelDecls()) consumer.HandleTopLevelDecl(clang::DeclGroupRef(decl));
  }

  void end_sycl() { getCompilerInstance().getLangOpts().SYCLIsDevice = tree_language_.SYCLIsDevice = 0; }

  void keep_wanted(Facts& facts) {
    for (const KernelSource& kernel : facts.kernels) result_.all_kernels.push_back(kernel.fact.name);
    if (options_.functions.empty()) return;
    const auto is_wanted = [&](const KernelSource& kernel) {
      return std::find(options_.functions.begin(), options_.functions.end(), kernel.fact.name) !=
             options_.functions.end();
    };
    for (const KernelSource& kernel : facts.kernels)
      if (!is_wanted(kernel) && kernel.fact.stage != Stage::visible)  // which others may call
        consumer_->skip(kernel.function);
    std::erase_if(facts.kernels, [&](const KernelSource& kernel) { return !is_wanted(kernel); });
  }

  /// Clang makes no code of an inline or static function that nobody calls; the API calls these.
  static void keep_unused(const Facts& facts, clang::ASTContext& context) {
    for (const KernelSource& kernel : facts.kernels)
      if (kernel.function->isInlined() || !kernel.function->isExternallyVisible())
        const_cast<clang::FunctionDecl*>(kernel.function)->addAttr(clang::UsedAttr::CreateImplicit(context));
  }

  /// LLVM's types for what the parameters point to: its own pointers do not tell.
  void keep_pointees(const KernelSource& kernel, llvm::Function& function) {
    llvm::SmallVector<llvm::Metadata*, 8> pointees;
    for (size_t i = 0; i < kernel.fact.parameters.size(); ++i) {
      const ParameterFact& fact = kernel.fact.parameters[i];
      llvm::Metadata* pointee = nullptr;
      if ((fact.binding || fact.value.space) && fact.size != 0) {
        const clang::QualType type = kernel.function->getParamDecl(fact.source)->getType();
        llvm::Type* memory = clang::CodeGen::convertTypeForMemory(generator_->CGM(), type->getPointeeType());
        pointee = llvm::ConstantAsMetadata::get(llvm::PoisonValue::get(memory));
      }
      pointees.push_back(pointee);
    }
    function.setMetadata(kernel_ir::kPointees, llvm::MDNode::get(*llvm_, pointees));
  }

  /// Functions that other objects may call go behind the kernels.
  void add_externals(llvm::Module& module, std::vector<llvm::Function*>& functions) {
    const std::set<const llvm::Function*> kernels(functions.begin(), functions.end());
    for (llvm::Function& function : module) {
      if (function.isDeclaration() || !function.hasExternalLinkage() || kernels.count(&function) != 0) continue;
      if (reads_hardware_values(function)) continue;  // a call between objects hands none over
      functions.push_back(&function);
      const std::string symbol = function.getName().str();
      result_.kernels.push_back({.name = symbol, .symbol = symbol, .is_external = true});
    }
  }

  /// Whether a kernel calls a function that is declared alone is known when its code is finished; where the call
  /// stands in the source, only here. So the function takes its error along.
  void note_undefined(llvm::Module& module) {
    clang::ASTContext& context = getCompilerInstance().getASTContext();
    for (llvm::Function& function : module) {
      if (!function.isDeclaration() || function.use_empty() || kernel_ir::is_operation(function.getName())) continue;
      const auto* decl =
          llvm::dyn_cast_or_null<clang::FunctionDecl>(generator_->GetDeclForMangledName(function.getName()));
      if (decl == nullptr) continue;
      FirstUse use(*decl);
      for (clang::Decl* top : context.getTranslationUnitDecl()->noload_decls())
        if (!top->isFromASTFile() && !use.walk(top)) break;
      if (use.at.isInvalid()) continue;
      const std::string text = fmt::format("call of '{}', which is declared and never defined",
                                           in_metal_words(decl->getQualifiedNameAsString()));
      function.addFnAttr(kernel_ir::kUndefined, messages_.error_at(context.getSourceManager(), use.at, text));
    }
  }

  /// Hands the value of a constant that decides over an argument to a call at the head of the kernel
  /// (kernel_ir/predicates.hpp), whose name is the result.
  std::string mark_predicate(llvm::Function& kernel, const std::string& name, const clang::VarDecl& variable) {
    const std::string symbol = kernel_ir::kPredicate.str() + name;
    llvm::Constant* const value = generator_->GetAddrOfGlobal(clang::GlobalDecl(&variable), false);
    llvm::Module& module = *generator_->GetModule();
    llvm::IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
    llvm::FunctionCallee mark = module.getOrInsertFunction(symbol, builder.getVoidTy(), builder.getInt8Ty());
    auto* declared = llvm::cast<llvm::Function>(mark.getCallee());
    declared->setDoesNotThrow();
    declared->setWillReturn();
    declared->setOnlyAccessesInaccessibleMemory();
    for (const llvm::User* user : declared->users())
      if (llvm::cast<llvm::CallInst>(user)->getFunction() == &kernel) return symbol;
    builder.CreateCall(mark, builder.CreateLoad(builder.getInt8Ty(), value));
    return symbol;
  }

  /// The way through an integer by which the token filter brings __func__ into its space, as a cast of the variable:
  /// later passes move that.
  static void cast_names_plainly(llvm::Module& module) {
    const auto is = [](llvm::User* user, unsigned opcode) {
      const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(user);
      return expression != nullptr && expression->getOpcode() == opcode;
    };
    for (llvm::GlobalVariable& variable : module.globals())
      for (llvm::User* number : llvm::make_early_inc_range(variable.users())) {
        if (!is(number, llvm::Instruction::PtrToInt)) continue;
        for (llvm::User* pointer : llvm::make_early_inc_range(number->users()))
          if (is(pointer, llvm::Instruction::IntToPtr))
            pointer->replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(&variable, pointer->getType()));
      }
  }

  /// Names become symbols, and the module is ready to be cut.
  void finish(Facts& facts) {
    std::vector<ConstantFact> constants;
    for (ConstantSource& constant : facts.constants) {
      constant.fact.symbol = generator_->GetAddrOfGlobal(clang::GlobalDecl(constant.variable), false)->getName().str();
      constants.push_back(constant.fact);
    }
    std::vector<llvm::Function*> functions;
    for (KernelSource& kernel : facts.kernels) {
      auto* function = llvm::dyn_cast<llvm::Function>(
          generator_->GetAddrOfGlobal(clang::GlobalDecl(kernel.function), false)->stripPointerCasts());
      if (function == nullptr || function->isDeclaration()) continue;
      kernel.fact.symbol = function->getName().str();
      keep_pointees(kernel, *function);
      const auto name_symbol = [&](std::string& condition) {
        if (condition.empty()) return;
        for (const ConstantFact& constant : constants)
          if (constant.name == condition) {
            condition = constant.symbol;
            return;
          }
        if (const auto predicate = facts.predicates.find(condition); predicate != facts.predicates.end())
          condition = mark_predicate(*function, condition, *predicate->second);
      };
      for (ParameterFact& parameter : kernel.fact.parameters) name_symbol(parameter.condition);
      for (ResultFact& result : kernel.fact.results) name_symbol(result.condition);
      functions.push_back(function);
      result_.kernels.push_back(std::move(kernel.fact));
    }
    choose_default_functions(*generator_->GetModule(), options_.math.fast_functions);
    cast_names_plainly(*generator_->GetModule());
    limit_alignment(*generator_->GetModule(), packed_types(getCompilerInstance().getASTContext(), *generator_));
    drop_restrict(*generator_, *generator_->GetModule());
    if (!getCompilerInstance().getPreprocessor().isMacroDefined(kLoggingMacro)) drop_logging(*generator_->GetModule());
    if (!options_.object) note_undefined(*generator_->GetModule());
    std::unique_ptr<llvm::Module> module(generator_->ReleaseModule());
    if (const auto fitted = fit_operations(*module); !fitted) {
      clang::DiagnosticsEngine& engine = getCompilerInstance().getDiagnostics();
      engine.Report(engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << fitted.error().message;
      return;
    }
    if (options_.object) add_externals(*module, functions);
    // The generator lets go of the context when this action ends, before anybody cuts.
    result_.cutter =
        std::make_unique<KernelCutter>(std::move(llvm_), std::move(module), std::move(functions), std::move(constants));
  }

  const MslOptions& options_;
  const Learnt& learnt_;
  const DiagnosticCollector& messages_;
  clang::LangOptions& tree_language_;
  Learnt::Places mixed_choices_;
  MslModule& result_;
  std::unique_ptr<llvm::LLVMContext> llvm_ = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<clang::CodeGenerator> generator_;
  HoldingConsumer* consumer_ = nullptr;
  std::vector<clang::SourceLocation::UIntTy> thread_words_;
  std::shared_ptr<clang::DependencyCollector> dependencies_ = std::make_shared<clang::DependencyCollector>();
};

/// One reading of the source. `learnt` grows by what was refused this time.
Result<std::shared_ptr<const MslModule>> read_once(std::string_view text, std::string_view name,
                                                   const MslOptions& options, const Precompiled* headers,
                                                   Learnt& learnt) {
  auto module = std::make_shared<MslModule>();
  DiagnosticCollector messages;
  messages.set_main_name(std::string(name));
  messages.set_language(options.language);
  clang::LangOptions tree_language;
  const auto compiler = make_compiler(text, name, options, messages, CompilerUse::source, headers);
  TranslateAction action(options, learnt, messages, tree_language, *module);
  if (compiler != nullptr) compiler->addDependencyCollector(action.dependencies());
  const bool done = compiler != nullptr && run_action(*compiler, action);
  messages.close();
  const bool must_be_read_again = action.must_be_read_again();
  learnt.choices.insert(action.mixed_choices().begin(), action.mixed_choices().end());
  if (!done || must_be_read_again || messages.error_count() != 0) {
    learnt.casts.insert(messages.refused().casts.begin(), messages.refused().casts.end());
    learnt.choices.insert(messages.refused().choices.begin(), messages.refused().choices.end());
    const std::string errors = messages.errors();
    return fail(Errc::compile_failed, "{}", errors.empty() ? "the source does not compile" : errors);
  }
  module->warnings = messages.warnings();
  const std::string main_file = compiler->getFrontendOpts().Inputs[0].getFile().str();
  for (const std::string& file : action.dependencies()->getDependencies())
    if (!llvm::StringRef(file).starts_with("/smelt/") && file != main_file) module->dependencies.push_back(file);
  return module;
}

/// Where Clang refused what Metal has (Learnt), the source is read again with other words in its place; each reading
/// may get to more of them.
Result<std::shared_ptr<const MslModule>> run_front_end(std::string_view text, std::string_view name,
                                                       const MslOptions& options) {
  SMELT_TRY(const auto headers, precompiled_headers(options));
  Learnt learnt;
  for (size_t known = 0;; known = learnt.size()) {
    auto result = read_once(text, name, options, headers.get(), learnt);
    if (result || learnt.size() == known) return result;
  }
}

}  // namespace

Result<void> check_language(const MslOptions& options, std::string_view name) {
  if (metal_version_number(options.language) != 0) return {};
  return fail(Errc::unsupported,
              "{}: Metal {} is not supported; the versions are 1.0 to 1.2, 2.0 to 2.4, 3.0, 3.1, 3.2, 4.0 and 4.1",
              name, to_string(options.language));
}

Result<std::shared_ptr<const MslModule>> translate(std::string_view text, std::string_view name,
                                                   const MslOptions& options) {
  SMELT_TRY_VOID(check_language(options, name));
  Result<std::shared_ptr<const MslModule>> result = fail(Errc::compile_failed, "not run");
  SMELT_TRY_VOID(run_safely(name, [&] { result = run_front_end(text, name, options); }));
  return result;
}

}  // namespace smelt::aot::msl
