// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that need nothing of their threadgroup: the range is a box of threads, cut as the loader likes. The x loop is
// innermost and its iterations are independent, so LLVM's vectoriser takes it.
#include "launch/frame.hpp"
#include "lower/lower.hpp"

#include <llvm/IR/InstIterator.h>

namespace smelt::aot::cpu {

Result<LaunchedKernel> emit_grid_loop(const LaunchContext& context, const WorkItem& item) {
  const bool atomics = llvm::any_of(llvm::instructions(*item.function),
                                    [](const llvm::Instruction& instruction) { return instruction.isAtomic(); });
  plain_single_thread_atomics(*item.function);
  llvm::LLVMContext& ir = context.module.getContext();
  auto* access_group = llvm::MDNode::getDistinct(ir, {});
  mark_parallel(*item.function, access_group);
  item.function->addFnAttr(llvm::Attribute::AlwaysInline);

  const Frame frame(context, item, llvm::Type::getVoidTy(ir), 6, "smelt.box");
  FlowBuilder builder(frame.entry());
  BuiltinValues builtins;
  load_grid_builtins(builder, frame.dispatch(), builtins);
  llvm::BasicBlock* done = builder.block("done");
  // An empty box is not an error: a grid may have zero threads.
  llvm::Value* some = builder.getTrue();
  for (unsigned i = 0; i < 3; ++i)
    some = builder.CreateAnd(some, builder.CreateICmpULT(frame.number(i), frame.number(i + 3)));
  llvm::BasicBlock* loops = builder.block("loops");
  builder.CreateCondBr(some, loops, done);
  builder.SetInsertPoint(loops);
  builder.loop_at_least_once(frame.number(2), frame.number(5), nullptr, [&](llvm::Value* z) {
    builder.loop_at_least_once(frame.number(1), frame.number(4), nullptr, [&](llvm::Value* y) {
      builder.loop_at_least_once(
          frame.number(0), frame.number(3), unit_loop_properties(ir, access_group, atomics), [&](llvm::Value* x) {
            builtins.set(Builtin::thread_position_in_grid, x, 0);
            builtins.set(Builtin::thread_position_in_grid, y, 1);
            builtins.set(Builtin::thread_position_in_grid, z, 2);
            builder.CreateCall(item.function, frame.work_item_operands(builder, item, builtins, nullptr));
          });
    });
  });
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  make_entry(context, item, frame, schema::CpuRangeKind::threads, 0, 0);
  return LaunchedKernel{schema::CpuRangeKind::threads, 0, 0, "loop"};
}

}  // namespace smelt::aot::cpu
