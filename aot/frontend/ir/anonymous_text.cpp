// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fingerprint/fingerprint_fields.hpp"
#include "ir/reader.hpp"
#include "llvm_support/guard.hpp"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {

Result<std::string> anonymous_text(const Source& source, const CompileOptions& options, uint32_t threads) {
  return contained(source.name, [&]() -> Result<std::string> {
    std::vector<std::string> missing;
    SMELT_TRY(const KernelModule module,
              input::read_input(
                  source.bytes, source.name,
                  {.kernels = options.kernels, .missing_kernels = &missing, .threads_per_threadgroup = threads}));
    if (!options.debug_lines) llvm::StripDebugInfo(*module.module);
    module.module->setModuleIdentifier("");
    module.module->setSourceFileName("");
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.module->print(stream, nullptr);
    return stream.str();
  });
}

}  // namespace smelt::aot
