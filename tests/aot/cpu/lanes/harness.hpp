// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one kernel twice: thread by thread, and gang by gang. Kernels are LLVM IR; their parameters are told apart by
// name, so that a test reads like the kernel it is about.
//
//   %buffer0, %buffer1, ...       buffers, ptr addrspace(1)
//   %memory                       threadgroup memory, ptr addrspace(3)
//   %gid.x .y .z   %lid.x .y .z   position in the grid, in the threadgroup
//   %size.x .y .z                 threads per threadgroup
//   %index %lane %simdgroup       indices in the threadgroup and the simdgroup
#pragma once

#include "work_item/work_item.hpp"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace smelt::test {

using Buffers = std::vector<std::vector<uint8_t>>;

/// What to launch: one threadgroup of this size at this position in the grid.
struct Group {
  std::array<uint32_t, 3> size{32, 1, 1};
  std::array<uint32_t, 3> position{0, 0, 0};
};

enum class Cpu { native, v3 };

class LaneKernel {
 public:
  /// `function` names the kernel in `text` (LLVM IR). Fails the test if it does not parse.
  LaneKernel(const std::string& text, const std::string& function, Cpu cpu = Cpu::native);
  LaneKernel(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module,
             const std::string& function, Cpu cpu = Cpu::native);
  ~LaneKernel();

  llvm::Module& module() { return *module_; }
  aot::cpu::WorkItem& item() { return item_; }
  /// The gang functions, or why there are none. Call before compile(). `one_function`: one for full and partial gangs.
  Result<std::vector<aot::cpu::GangVariant>> vectorise(bool one_function = false);
  std::vector<aot::cpu::GangVariant>& variants() { return variants_; }
  /// Hands the module to the JIT.
  void compile();
  /// The same without the thread's own function: for kernels in which threads wait for each other.
  void compile_gangs();
  void run_threads(Buffers& buffers, const Group& group);
  /// False if the kernel has no such layout, or it cannot be used for this group.
  bool run_gangs(Buffers& buffers, const Group& group, aot::cpu::LaneLayout layout);
  std::string text_of(const std::string& function) const;
  /// Compiles, then runs the function `other` of the module, which has the kernel's parameters, thread by thread like
  /// the kernel itself; returns the first difference in words.
  std::string compare_with(const std::string& other, const std::vector<Buffers>& inputs, const Group& group);

 private:
  struct Place {  // of the first thread of a unit
    std::array<uint32_t, 3> local{};
    uint32_t index = 0;
  };
  struct Compiled {
    std::vector<aot::cpu::WorkParameter> parameters;
    void (*entry)(const uint64_t* values) = nullptr;
  };
  struct CompiledGang {
    aot::cpu::LaneLayout layout;
    Compiled full, partial;
  };
  void init(const std::string& function, Cpu cpu);
  void build(bool with_threads);
  std::string add_caller(const aot::cpu::WorkItem& item);
  void call(const Compiled& unit, Buffers& buffers, const Group& group, const Place& place, uint32_t lanes_on,
            bool is_thread);

  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> target_;
  bool native_gather_ = false;
  aot::cpu::WorkItem item_;
  std::vector<aot::cpu::GangVariant> variants_;
  Compiled thread_;
  std::vector<CompiledGang> gangs_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::vector<uint8_t> threadgroup_memory_;
};

/// What kernels of random_kernel.hpp read and write: words at buffer0, 16 bytes for each thread at buffer1, the number
/// of words and `uniform` at buffer2.
Buffers random_kernel_inputs(uint32_t threads, uint32_t uniform);

/// Runs `kernel` both ways over the given groups and layouts; returns the first difference in words, or "".
std::string compare(LaneKernel& kernel, const Buffers& buffers, const std::vector<Group>& groups);

}  // namespace smelt::test
