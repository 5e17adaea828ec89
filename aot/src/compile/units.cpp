#include "compile/units.hpp"

#include "smelt/base/tasks.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "input/kind.hpp"
#include "input/reader.hpp"
#include "input/text/ir_lexer.hpp"
#include "llvm_support/bitstream_check.hpp"
#include "llvm_support/deep_stack.hpp"
#include "llvm_support/diagnostics.hpp"
#include "msl/kernel/entry_points.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <mutex>

namespace smelt::aot {
namespace {

constexpr std::string_view kStages[] = {"kernel", "vertex", "fragment", "mesh", "object", "intersection", "visible"};

/// Entry points a unit: few enough to keep all cores busy, many enough that reading the rest of the module again for
/// each unit stays cheap. A constant, because the result must not depend on the number of threads.
constexpr size_t kEntriesPerUnit = 8;

llvm::Function* function_of(const llvm::MDNode& node) {
  if (node.getNumOperands() == 0) return nullptr;
  return llvm::mdconst::dyn_extract_or_null<llvm::Function>(node.getOperand(0));
}

/// As the legaliser finds them (split_entries).
std::vector<EntryPoint> entry_points(const llvm::Module& module) {
  std::vector<EntryPoint> entries;
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage)))
      for (const llvm::MDNode* node : list->operands())
        if (const llvm::Function* function = function_of(*node))
          entries.push_back({function->getName().str(), std::string(stage)});
  for (const llvm::Function& function : module) {
    if (!function.hasFnAttribute("smelt.kernel") || function.isDeclaration()) continue;
    const auto same = [&](const EntryPoint& entry) {
      return entry.stage == "kernel" && entry.name == function.getName();
    };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back({function.getName().str(), "kernel"});
  }
  return entries;
}

std::shared_ptr<const Bytes> to_bitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::WriteBitcodeToFile(module, stream);
  return std::make_shared<const Bytes>(to_bytes(as_bytes({buffer.data(), buffer.size()})));
}

bool is_asked_for(const CompileOptions& options, const std::string& name) {
  return options.functions.empty() ||
         std::find(options.functions.begin(), options.functions.end(), name) != options.functions.end();
}

/// Only the entry points that were asked for, each a unit of its own; notes the names that are not here.
void keep_asked_for(Gathered& gathered, const CompileOptions& options, const std::vector<std::string>& present) {
  if (options.functions.empty()) return;
  std::vector<Unit> kept;
  for (const Unit& unit : gathered.units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) {
      if (!is_asked_for(options, unit.all[i].name)) continue;
      kept.push_back(unit);
      kept.back().first = i;
      kept.back().count = 1;
    }
  gathered.units = std::move(kept);
  for (const std::string& name : options.functions)
    if (std::find(present.begin(), present.end(), name) == present.end()) gathered.missing_functions.push_back(name);
}

std::vector<std::string> names_of(const std::vector<Unit>& units) {
  std::vector<std::string> names;
  for (const Unit& unit : units)
    for (size_t i = unit.first; i < unit.first + unit.count; ++i) names.push_back(unit.all[i].name);
  return names;
}

/// Metal source is translated once; its language is what all targets know, unless a version is asked for.
msl::MslOptions msl_options(const CompileOptions& options) {
  msl::MslOptions result;
  const auto oldest = std::min_element(options.targets.begin(), options.targets.end(),
                                       [](const Target& a, const Target& b) { return a.language < b.language; });
  const Target& target = oldest == options.targets.end() ? default_target() : *oldest;
  result.language = options.language.value_or(target.language);
  const auto is_ios = [](const Target& one) { return one.platform == Platform::ios; };
  if (!options.targets.empty() && std::all_of(options.targets.begin(), options.targets.end(), is_ios))
    result.platform = Platform::ios;
  result.fast_math = options.fast_math;
  result.debug_lines = options.debug_lines;
  result.include_folders = options.include_folders;
  result.definitions = options.definitions;
  result.functions = options.functions;
  result.cache_folder = options.cache_folder;
  return result;
}

Result<Gathered> gather_msl(const Source& source, size_t index, const CompileOptions& options) {
  SMELT_TRY(const auto module, msl::translate(as_text(source.bytes), source.name, msl_options(options)));
  Gathered gathered;
  gathered.warnings = module->warnings;
  gathered.dependencies = module->dependencies;
  gathered.missing_kernels = options.kernels;
  if (module->all_kernels.empty())
    return fail(Errc::compile_failed, "{}: there is no kernel function in it", source.name);
  Unit unit{.source = index, .msl = module, .count = 1};
  for (const msl::MslKernel& kernel : module->kernels) unit.all.push_back({kernel.fact.name, "kernel"});
  for (; unit.first < unit.all.size(); ++unit.first) gathered.units.push_back(unit);
  keep_asked_for(gathered, options, module->all_kernels);
  return gathered;
}

Result<Gathered> gather_ir(const Source& source, size_t index, const CompileOptions& options,
                           const LaunchMetadata& launch) {
  Gathered gathered;
  const input::InputOptions reading{.kernels = options.kernels,
                                    .missing_kernels = &gathered.missing_kernels,
                                    .threads_per_threadgroup = launch.threads_per_threadgroup.value_or(0),
                                    .hidden_pointers = launch.hidden_pointers};
  SMELT_TRY(const KernelModule module, input::read_input(source.bytes, source.name, reading));
  Unit unit{.source = index, .bitcode = to_bitcode(*module.module), .all = entry_points(*module.module)};
  if (unit.all.empty()) return fail(Errc::compile_failed, "{}: there is no entry point in it", source.name);
  for (unit.first = 0; unit.first < unit.all.size(); unit.first += kEntriesPerUnit) {
    unit.count = std::min(kEntriesPerUnit, unit.all.size() - unit.first);
    gathered.units.push_back(unit);
  }
  keep_asked_for(gathered, options, names_of(gathered.units));
  return gathered;
}

/// The target that a library was built for, as a row of its own: its versions are kept, whatever we would stamp today.
Result<Target> target_of(const metallib::Library& library, const metallib::Function& function) {
  const ByteView bitcode = library.module_of(function).bitcode();
  SMELT_TRY_VOID(check_bitstream(bitcode));
  auto text = llvm::getBitcodeTargetTriple(
      llvm::MemoryBufferRef(llvm::StringRef(reinterpret_cast<const char*>(bitcode.data()), bitcode.size()), ""));
  if (!text) return fail(Errc::corrupt, "{}", llvm::toString(text.takeError()));
  const llvm::StringRef triple(*text);
  const bool ios = triple.contains("-ios");
  if ((!ios && !triple.contains("-macosx")) || triple.contains("simulator"))
    return fail(Errc::unsupported, "the library is for '{}'; name a target to build it for", *text);
  Target target;
  target.platform = ios ? Platform::ios : Platform::macos;
  // "air64-apple-macosx14.2.0"
  llvm::StringRef rest = triple.substr(triple.find_first_of("0123456789", triple.find(ios ? "-ios" : "-macosx")));
  for (uint16_t* part : {&target.os.major, &target.os.minor, &target.os.patch}) {
    if (rest.consumeInteger(10, *part)) break;
    rest.consume_front(".");
  }
  target.name = fmt::format("{}{}", ios ? "ios" : "macos", target.os.major);
  if (target.os.minor != 0) target.name += fmt::format(".{}", target.os.minor);
  target.air = {function.versions.air_major, function.versions.air_minor, 0};
  target.language = {function.versions.language_major, function.versions.language_minor, 0};
  target.container_patch = library.patch;
  target.triple = *text;
  return target;
}

Result<Gathered> gather_metallib(const Source& source, size_t index) {
  SMELT_TRY(const std::vector<metallib::Image> images, metallib::find_images(source.bytes));
  // The slices of a universal file are one library built for several machines; the first will do.
  SMELT_TRY(const metallib::Library library, metallib::read(images.front().bytes));
  if (library.functions.empty()) return fail(Errc::empty_library, "the library has no functions");
  Gathered gathered;
  auto target = target_of(library, library.functions.front());
  if (target) gathered.target = std::move(*target);
  for (const metallib::Function& function : library.functions) {
    Unit unit{.source = index, .original = library.module_of(function).bitcode()};
    const std::string stage = metallib::function_type_name(function.type.value_or(2));
    unit.all.push_back({function.name, stage});
    unit.count = 1;
    SMELT_TRY(unit.constants, metallib::constants_of(library.public_of(function)));
    SMELT_TRY(unit.vertex_attributes, metallib::vertex_attributes_of(library.public_of(function)));
    gathered.units.push_back(std::move(unit));
  }
  return gathered;
}

/// Takes the entries that are not the unit's out of the module, bodies unread.
void keep_own_entries(llvm::Module& module, const Unit& unit) {
  const auto is_own = [&](llvm::StringRef name, std::string_view stage) {
    for (size_t i = unit.first; i < unit.first + unit.count; ++i)
      if (name == unit.all[i].name && stage == unit.all[i].stage) return true;
    return false;
  };
  for (const std::string_view stage : kStages) {
    llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage));
    if (!list) continue;
    std::vector<llvm::MDNode*> kept;
    for (llvm::MDNode* node : list->operands())
      if (const llvm::Function* function = function_of(*node); function && is_own(function->getName(), stage))
        kept.push_back(node);
    list->clearOperands();
    for (llvm::MDNode* node : kept) list->addOperand(node);
    if (kept.empty()) list->eraseFromParent();
  }
  for (const EntryPoint& entry : unit.all) {
    llvm::Function* function = module.getFunction(entry.name);
    if (!function || is_own(entry.name, entry.stage)) continue;
    bool own_elsewhere = false;
    for (const std::string_view stage : kStages) own_elsewhere |= is_own(entry.name, stage);
    if (own_elsewhere) continue;
    function->removeFnAttr("smelt.kernel");
    if (!function->use_empty()) continue;  // also a helper of another function
    function->deleteBody();
    function->eraseFromParent();
  }
}

}  // namespace

Result<Gathered> gather(const Source& source, size_t index, const CompileOptions& options,
                        const LaunchMetadata& launch) {
  switch (input::detect_kind(source.bytes)) {
    case input::Kind::metallib:
    case input::Kind::universal: {
      auto gathered = gather_metallib(source, index);
      if (!gathered) return tl::unexpected(std::move(gathered).error().in(source.name));
      if (options.kernels.size() > 0) gathered->missing_kernels = options.kernels;
      keep_asked_for(*gathered, options, names_of(gathered->units));
      return gathered;
    }
    case input::Kind::msl:
      return gather_msl(source, index, options);
    default:
      return gather_ir(source, index, options, launch);
  }
}

Result<KernelModule> open_unit(const Unit& unit, const Target& target) {
  if (unit.msl) return msl::make_kernel(unit.msl->kernels[unit.first], target);
  if (unit.from_metallib()) return input::read_input(unit.original, unit.all.front().name);
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  const auto message = std::make_shared<std::string>();
  install_diagnostics(*result.context, message);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(unit.bitcode->data()), unit.bitcode->size());
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, ""), *result.context);
  if (!module) return fail(Errc::compile_failed, "{}", llvm::toString(module.takeError()));
  if (unit.count < unit.all.size()) keep_own_entries(**module, unit);
  if (auto error = (*module)->materializeAll())
    return fail(Errc::compile_failed, "{}", llvm::toString(std::move(error)));
  result.module = std::move(*module);
  return result;
}

Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task) {
  return smelt::run_tasks(count, threads, task, run_deep);
}

Error placed(Error error, const Source& source) {
  if (input::detect_kind(source.bytes) == input::Kind::text_ir) {
    const std::string_view text = as_text(source.bytes);
    const std::string_view message = error.message;
    uint32_t line = 0;
    // An operation is the best place: air.x or llvm.x, quoted or not.
    constexpr std::string_view kNameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (size_t at = 0; at < message.size() && line == 0;) {
      const size_t end = std::min(message.find_first_not_of(kNameChars, at), message.size());
      std::string_view word = message.substr(at, end - at);
      while (word.ends_with('.')) word.remove_suffix(1);
      if (word.starts_with("air.") || word.starts_with("llvm.")) line = input::line_of_global(text, word);
      at = end + 1;
    }
    // Else the first function or global that stands in quotes.
    for (size_t open = message.find('\''); open != std::string_view::npos && line == 0;) {
      const size_t close = message.find('\'', open + 1);
      if (close == std::string_view::npos) break;
      line = input::line_of_global(text, message.substr(open + 1, close - open - 1));
      open = message.find('\'', close + 1);
    }
    if (line != 0) error.message = fmt::format("line {}: {}", line, error.message);
  }
  return std::move(error).in(source.name);
}

}  // namespace smelt::aot
