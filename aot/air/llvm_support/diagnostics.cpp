// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/diagnostics.hpp"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {
namespace {

class Keep : public llvm::DiagnosticHandler {
 public:
  explicit Keep(std::shared_ptr<std::string> message) : message_(std::move(message)) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && message_->empty()) {
      llvm::raw_string_ostream stream(*message_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  bool isAnalysisRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isMissedOptRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return false; }

 private:
  std::shared_ptr<std::string> message_;
};

}  // namespace

void install_diagnostics(llvm::LLVMContext& context, std::shared_ptr<std::string> message) {
  context.setDiagnosticHandler(std::make_unique<Keep>(std::move(message)));
}

}  // namespace smelt::aot
