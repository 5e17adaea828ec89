// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness.hpp"

#include "llvm_support/analyses.hpp"
#include "lower/collectives.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

namespace smelt::test {
namespace {

using aot::cpu::Builtin;
using aot::cpu::LaneLayout;
using aot::cpu::WorkItem;
using aot::cpu::WorkParameter;

WorkParameter parameter_named(llvm::StringRef name) {
  WorkParameter result;
  if (name.consume_front("buffer")) {
    result.kind = WorkParameter::Kind::bound;
    name.getAsInteger(10, result.index);
    return result;
  }
  if (name == "memory") {
    result.kind = WorkParameter::Kind::threadgroup_memory;
    return result;
  }
  const auto [head, component] = name.split('.');
  result.component = component == "y" ? 1 : component == "z" ? 2 : 0;
  const std::pair<const char*, Builtin> names[] = {
      {"gid", Builtin::thread_position_in_grid},    {"lid", Builtin::thread_position_in_threadgroup},
      {"size", Builtin::threads_per_threadgroup},   {"index", Builtin::thread_index_in_threadgroup},
      {"lane", Builtin::thread_index_in_simdgroup}, {"simdgroup", Builtin::simdgroup_index_in_threadgroup}};
  for (const auto& [spelling, builtin] : names) {
    if (head == spelling) {
      result.builtin = builtin;
      return result;
    }
  }
  FAIL("no such parameter: " << name.str());
  return result;
}

void optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::PassBuilder builder(&target);
  aot::Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.module);
}

}  // namespace

Buffers random_kernel_inputs(uint32_t threads, uint32_t uniform) {
  const uint32_t words = 97;
  Buffers buffers(3);
  buffers[0].resize(words * 4);
  for (uint32_t i = 0; i < words; ++i) {
    const uint32_t value = i * 2654435761u >> 3;
    std::memcpy(&buffers[0][i * 4], &value, 4);
  }
  buffers[1].resize(size_t{threads} * 16, 0x63);
  buffers[2].resize(8);
  std::memcpy(&buffers[2][0], &words, 4);
  std::memcpy(&buffers[2][4], &uniform, 4);
  return buffers;
}

LaneKernel::LaneKernel(const std::string& text, const std::string& function, Cpu cpu)
    : context_(std::make_unique<llvm::LLVMContext>()) {
  llvm::SMDiagnostic problem;
  module_ = llvm::parseAssemblyString(text, problem, *context_);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!module_) problem.print("kernel", stream);
  REQUIRE_MESSAGE(module_, message);
  init(function, cpu);
}

LaneKernel::LaneKernel(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module,
                       const std::string& function, Cpu cpu)
    : context_(std::move(context)), module_(std::move(module)) {
  init(function, cpu);
}

LaneKernel::~LaneKernel() = default;

void LaneKernel::init(const std::string& function, Cpu cpu) {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  REQUIRE(initialised);
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (cpu == Cpu::v3) {
    builder.setCPU("x86-64-v3");
    builder.getFeatures() = llvm::SubtargetFeatures();
  }
  target_ = llvm::cantFail(builder.createTargetMachine());
  native_gather_ = cpu == Cpu::native && builder.getFeatures().getString().find("+avx512vl") != std::string::npos;
  module_->setDataLayout(target_->createDataLayout());
  module_->setTargetTriple(target_->getTargetTriple().str());
  llvm::Function* kernel = module_->getFunction(function);
  REQUIRE(kernel);
  kernel->addFnAttr("target-cpu", target_->getTargetCPU());
  kernel->addFnAttr("target-features", target_->getTargetFeatureString());
  item_.function = kernel;
  item_.grid_only = true;
  for (const llvm::Argument& argument : kernel->args()) {
    item_.parameters.push_back(parameter_named(argument.getName()));
    const WorkParameter& made = item_.parameters.back();
    if (made.kind == WorkParameter::Kind::threadgroup_memory) item_.grid_only = false;
    if (made.kind != WorkParameter::Kind::builtin) continue;
    if (made.builtin != Builtin::thread_position_in_grid) item_.grid_only = false;
    item_.has_collectives |=
        made.builtin == Builtin::thread_index_in_simdgroup || made.builtin == Builtin::simdgroup_index_in_threadgroup;
  }
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->getCalledFunction() &&
        aot::cpu::parse_collective(std::string_view(call->getCalledFunction()->getName()))) {
      item_.has_collectives = true;
    }
  }
  item_.grid_only &= !item_.has_collectives;
  threadgroup_memory_.resize(65536 + 64 + 2 * aot::cpu::kRoundThreadgroupMemory);
  for (size_t i = 0; i < threadgroup_memory_.size(); ++i)
    threadgroup_memory_[i] = static_cast<uint8_t>(i * 37 + (i >> 8) * 11);
}

Result<std::vector<aot::cpu::GangVariant>> LaneKernel::vectorise(bool one_function) {
  aot::cpu::LaneOptions options;
  options.target = target_.get();
  options.native_gather = native_gather_;
  options.verify = true;
  options.threadgroup_memory_has_room = true;
  if (one_function) options.one_function_from = 0;
  auto made = aot::cpu::vectorise_lanes(*module_, item_, options);
  if (made) variants_ = *made;
  return made;
}

std::string LaneKernel::text_of(const std::string& function) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::Function* found = module_->getFunction(function)) found->print(stream);
  return text;
}

// void caller(const uint64_t* values): loads one value per parameter and calls the function.
std::string LaneKernel::add_caller(const WorkItem& item) {
  llvm::LLVMContext& context = module_->getContext();
  llvm::IRBuilder<> builder(context);
  const std::string name = item.function->getName().str() + ".caller";
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, *module_);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", caller));
  llvm::SmallVector<llvm::Value*, 16> arguments;
  for (const llvm::Argument& argument : item.function->args()) {
    llvm::Value* place = builder.CreateConstGEP1_32(builder.getInt64Ty(), caller->getArg(0), argument.getArgNo());
    llvm::Value* value = builder.CreateLoad(builder.getInt64Ty(), place);
    arguments.push_back(argument.getType()->isPointerTy() ? builder.CreateIntToPtr(value, argument.getType())
                                                          : builder.CreateTrunc(value, argument.getType()));
  }
  item.function->addFnAttr(llvm::Attribute::NoInline);
  builder.CreateCall(item.function, arguments);
  builder.CreateRetVoid();
  return name;
}

void LaneKernel::compile() {
  build(/*with_threads=*/true);
}

void LaneKernel::compile_gangs() {
  build(/*with_threads=*/false);
}

void LaneKernel::build(bool with_threads) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  const std::string thread = with_threads ? add_caller(item_) : std::string();
  std::vector<std::pair<std::string, std::string>> gangs;
  for (const auto& variant : variants_) {
    const std::string full = add_caller(variant.full);
    gangs.emplace_back(full, variant.partial.function == variant.full.function ? full : add_caller(variant.partial));
  }
  const bool broken = llvm::verifyModule(*module_, &stream);
  REQUIRE_MESSAGE(!broken, problem);
  // The thread's own function is the reference: it stays as it was written.
  if (with_threads) {
    item_.function->addFnAttr(llvm::Attribute::OptimizeNone);
  } else {
    item_.function->eraseFromParent();
  }
  optimise(*module_, *target_);
  llvm::orc::JITTargetMachineBuilder machine(target_->getTargetTriple());
  machine.setCPU(target_->getTargetCPU().str());
  machine.getFeatures() = llvm::SubtargetFeatures(target_->getTargetFeatureString());
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(std::move(machine));
  jit_ = llvm::cantFail(builder.create());
  llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module_), std::move(context_))));
  const auto compiled = [&](const WorkItem& item, const std::string& caller) {
    return Compiled{item.parameters, llvm::cantFail(jit_->lookup(caller)).toPtr<void (*)(const uint64_t*)>()};
  };
  if (with_threads) thread_ = compiled(item_, thread);
  for (size_t i = 0; i < variants_.size(); ++i) {
    gangs_.push_back({variants_[i].layout, compiled(variants_[i].full, gangs[i].first),
                      compiled(variants_[i].partial, gangs[i].second)});
  }
}

void LaneKernel::call(const Compiled& unit, Buffers& buffers, const Group& group, const Place& place, uint32_t lanes_on,
                      bool is_thread) {
  std::vector<uint64_t> values;
  for (const WorkParameter& parameter : unit.parameters) {
    uint64_t value = 0;
    const unsigned component = parameter.component;
    if (parameter.is_bound(BindingClass::buffer)) {
      value = reinterpret_cast<uint64_t>(buffers.at(parameter.index).data());
    } else if (parameter.kind == WorkParameter::Kind::threadgroup_memory) {
      const auto begin = reinterpret_cast<uint64_t>(threadgroup_memory_.data()) + aot::cpu::kRoundThreadgroupMemory;
      value = (begin + 63) & ~uint64_t{63};
    } else if (parameter.kind == WorkParameter::Kind::lanes_on) {
      value = lanes_on;
    } else if (parameter.builtin == Builtin::thread_position_in_grid) {
      value = group.position[component] + place.local[component];
    } else if (parameter.builtin == Builtin::thread_position_in_threadgroup) {
      value = place.local[component];
    } else if (parameter.builtin == Builtin::threads_per_threadgroup) {
      value = group.size[component];
    } else if (parameter.builtin == Builtin::thread_index_in_threadgroup) {
      value = place.index;
    } else if (parameter.builtin == Builtin::thread_index_in_simdgroup) {
      value = is_thread ? place.index % 32 : 0;
    } else {
      value = place.index / 32;
    }
    values.push_back(value);
  }
  unit.entry(values.data());
}

void LaneKernel::run_threads(Buffers& buffers, const Group& group) {
  uint32_t index = 0;
  for (uint32_t z = 0; z < group.size[2]; ++z) {
    for (uint32_t y = 0; y < group.size[1]; ++y) {
      for (uint32_t x = 0; x < group.size[0]; ++x) call(thread_, buffers, group, {{x, y, z}, index++}, 0, true);
    }
  }
}

bool LaneKernel::run_gangs(Buffers& buffers, const Group& group, LaneLayout layout) {
  const auto found =
      std::find_if(gangs_.begin(), gangs_.end(), [&](const auto& gang) { return gang.layout == layout; });
  if (found == gangs_.end()) return false;
  const uint32_t lanes = aot::cpu::lane_count(layout);
  const auto run = [&](const Place& place, uint32_t on) {
    call(on == lanes ? found->full : found->partial, buffers, group, place, on, false);
  };
  const auto [width, height, depth] = group.size;
  if (layout == LaneLayout::linear32) {
    const uint32_t count = width * height * depth;
    for (uint32_t index = 0; index < count; index += lanes) {
      const Place place{{index % width, index / width % height, index / width / height}, index};
      run(place, std::min(lanes, count - index));
    }
    return true;
  }
  // Lanes of a simdgroup must be lanes of the row.
  if (item_.has_collectives && width % 32 != 0 && height * depth != 1) return false;
  for (uint32_t z = 0; z < depth; ++z) {
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; x += lanes) {
        run({{x, y, z}, (z * height + y) * width + x}, std::min(lanes, width - x));
      }
    }
  }
  return true;
}

std::string LaneKernel::compare_with(const std::string& other, const std::vector<Buffers>& inputs, const Group& group) {
  aot::cpu::GangVariant variant;
  variant.layout = LaneLayout::row32;
  variant.full = item_;
  variant.full.function = module_->getFunction(other);
  variant.partial = variant.full;
  variants_ = {variant};
  compile();
  for (const Buffers& buffers : inputs) {
    Buffers wanted = buffers;
    run_threads(wanted, group);
    std::swap(thread_, gangs_.front().full);
    Buffers found = buffers;
    run_threads(found, group);
    std::swap(thread_, gangs_.front().full);
    if (wanted != found) return "the results differ";
  }
  return {};
}

std::string compare(LaneKernel& kernel, const Buffers& buffers, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    Buffers wanted = buffers;
    kernel.run_threads(wanted, group);
    for (LaneLayout layout : {LaneLayout::row32, LaneLayout::row16, LaneLayout::linear32}) {
      Buffers found = buffers;
      if (!kernel.run_gangs(found, group, layout)) continue;
      for (size_t b = 0; b < buffers.size(); ++b) {
        for (size_t i = 0; i < buffers[b].size(); ++i) {
          if (wanted[b][i] == found[b][i]) continue;
          return fmt::format("layout {}, group {}x{}x{}: buffer {} byte {}: want {:#x}, found {:#x}",
                             static_cast<int>(layout), group.size[0], group.size[1], group.size[2], b, i, wanted[b][i],
                             found[b][i]);
        }
      }
    }
  }
  return {};
}

}  // namespace smelt::test
