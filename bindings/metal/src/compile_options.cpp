// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile_options.hpp"

#include "device_model.hpp"
#include "holder.hpp"

#include <algorithm>

namespace smelt::metal {
namespace {

struct CompileValues {
  static constexpr std::string_view kClass = "MTLCompileOptions";
  NS::SharedPtr<NS::Dictionary> macros;
  MTL::MathMode math = MTL::MathModeFast;
  MTL::MathFloatingPointFunctions functions = MTL::MathFloatingPointFunctionsFast;
  std::optional<MTL::LanguageVersion> language;
  MTL::LibraryType type = MTL::LibraryTypeExecutable;
  MTL::LibraryOptimizationLevel optimisation = MTL::LibraryOptimizationLevelDefault;
  bool invariance = false;
  bool logging = false;
  NS::UInteger threads = 0;
};

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(CompileOptions, CompileValues)
SMELT_OBJECT(CompileOptions, NS::Dictionary, preprocessorMacros, setPreprocessorMacros, macros)
SMELT_VALUE(CompileOptions, MathMode, mathMode, setMathMode, math)
SMELT_VALUE(CompileOptions, MathFloatingPointFunctions, mathFloatingPointFunctions, setMathFloatingPointFunctions,
            functions)
SMELT_VALUE(CompileOptions, LibraryType, libraryType, setLibraryType, type)
SMELT_VALUE(CompileOptions, LibraryOptimizationLevel, optimizationLevel, setOptimizationLevel, optimisation)
SMELT_VALUE(CompileOptions, bool, preserveInvariance, setPreserveInvariance, invariance)
SMELT_VALUE(CompileOptions, bool, enableLogging, setEnableLogging, logging)
SMELT_VALUE(CompileOptions, NS::UInteger, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup, threads)
LanguageVersion CompileOptions::languageVersion() const {
  return values_of(this).language.value_or(device_model().metal4 ? LanguageVersion4_0 : LanguageVersion3_2);
}
void CompileOptions::setLanguageVersion(LanguageVersion version) {
  values_of(this).language = version;
}
// The older switch is both of the newer ones.
bool CompileOptions::fastMathEnabled() const {
  return mathMode() == MathModeFast;
}
void CompileOptions::setFastMathEnabled(bool enabled) {
  setMathMode(enabled ? MathModeFast : MathModeSafe);
  setMathFloatingPointFunctions(enabled ? MathFloatingPointFunctionsFast : MathFloatingPointFunctionsPrecise);
}

}  // namespace MTL

namespace smelt::metal {
namespace {

std::string text_of_macro(const NS::Object* value) {
  if (const auto* string = dynamic_cast<const NS::String*>(value)) return string->text();
  if (const auto* number = dynamic_cast<const NS::Number*>(value)) return text_of(number->stringValue());
  return text_of(value->description());
}

}  // namespace

Result<SourceRequest> source_request(std::string text, const MTL::CompileOptions* options) {
  SourceRequest request;
  request.text = std::move(text);
  request.target = device_model().compile_target();
  if (options == nullptr) return request;
  const CompileValues& values = MTL::values_of(options);
  if (values.type != MTL::LibraryTypeExecutable)
    return fail(Errc::unsupported, "dynamic libraries are not supported (MTLCompileOptions.libraryType)");
  // NaN and infinity are honoured on this CPU with fast math too, which is what `relaxed` asks for besides.
  request.fast_math = values.math != MTL::MathModeSafe;
  if (values.language) {
    const auto version = static_cast<NS::UInteger>(*values.language);
    request.language = Version{static_cast<uint16_t>(version >> 16), static_cast<uint16_t>(version & 0xffff), 0};
    // Metal 4.1 came with macOS 27, and Metal 4.0 with macOS 26: the target must be such a system.
    if (*values.language > MTL::LanguageVersion4_0)
      request.target = "macos27";
    else if (*values.language > MTL::LanguageVersion3_2 && device_model().system() < 26)
      request.target = "macos26";
  }
  if (values.logging) request.definitions.push_back("SMELT_METAL_LOGGING");  // aot's kLoggingMacro
  if (values.macros) {
    NS::Enumerator<NS::String> keys = values.macros->keyEnumerator<NS::String>();
    while (const NS::String* key = keys.nextObject())
      request.definitions.push_back(key->text() + "=" + text_of_macro(values.macros->object(key)));
    std::sort(request.definitions.begin(), request.definitions.end());
  }
  return request;
}

}  // namespace smelt::metal
