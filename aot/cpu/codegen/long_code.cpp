// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/long_code.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace smelt::aot::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Functions, and bodies of loops, of this many instructions are cut: more than ggml's largest kernels have,
constexpr size_t kLongest = 8000;
/// ... into pieces of about this many.
constexpr size_t kPiece = 1000;

constexpr std::string_view kLevel = "smelt.long.";
constexpr std::string_view kPieceOfLevel = ".piece.";

/// Part of the code that control enters at one place and leaves at one other.
struct Piece {
  Instruction* from;  ///< the first
  Instruction* to;    ///< the first that is not part of it
};

/// Behind phis, and behind variables, which must stay where they are.
Instruction* first_of_pieces(BasicBlock& block) {
  Instruction* first = &*block.getFirstInsertionPt();
  for (Instruction& instruction : block)
    if (llvm::isa<llvm::AllocaInst>(instruction)) first = instruction.getNextNode();
  return first;
}

/// The body of a loop, or a function without what is in loops.
class Level {
 public:
  /// `loop`: null for the function.
  Level(llvm::Function& function, const llvm::Loop* loop, const llvm::DominatorTree& dominators,
        const llvm::LoopInfo& loops)
      : function_(function), loop_(loop), dominators_(dominators), loops_(loops) {}

  /// None if it is short.
  std::vector<Piece> pieces() {
    std::vector<BasicBlock*> chain = blocks_on_all_ways();
    for (size_t i = 0; i < chain.size(); ++i) {
      Instruction* const end = chain[i]->getTerminator();
      for (Instruction* at = i == 0 || from_ == nullptr ? first_of_pieces(*chain[i]) : &chain[i]->front(); at != end;
           at = at->getNextNode())
        pass(at);
      const std::optional<size_t> between =
          i + 1 < chain.size() ? length_between(*chain[i], *chain[i + 1]) : std::nullopt;
      if (!between) {
        finish(end);
      } else {
        if (from_ == nullptr) from_ = end;
        length_ += *between + 1;
        if (length_ >= kPiece) finish(first_of_pieces(*chain[i + 1]));
      }
    }
    return total_ >= kLongest && pieces_.size() > 1 ? std::move(pieces_) : std::vector<Piece>();
  }

 private:
  void pass(Instruction* at) {
    if (from_ == nullptr) from_ = at;
    if (++length_ >= kPiece && !llvm::isa<llvm::PHINode>(at)) finish(at->getNextNode());
  }

  void finish(Instruction* to) {
    total_ += length_;
    if (from_ != nullptr && length_ >= kPiece / 4) pieces_.push_back({from_, to});
    from_ = nullptr;
    length_ = 0;
  }

  /// From the first to the last, those of this level that control passes each time. Empty if there are several last.
  std::vector<BasicBlock*> blocks_on_all_ways() const {
    BasicBlock* last = loop_ != nullptr ? loop_->getLoopLatch() : nullptr;
    if (loop_ == nullptr)
      for (BasicBlock& block : function_)
        if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) {
          if (last != nullptr) return {};
          last = &block;
        }
    std::vector<BasicBlock*> chain;
    if (last == nullptr) return chain;
    const BasicBlock* const first = loop_ != nullptr ? loop_->getHeader() : &function_.getEntryBlock();
    for (auto* node = dominators_.getNode(last); node != nullptr; node = node->getIDom()) {
      if (loops_.getLoopFor(node->getBlock()) == loop_) chain.push_back(node->getBlock());
      if (node->getBlock() == first) break;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  /// Instructions between two blocks of the chain; none if control can leave on its way from one to the other.
  std::optional<size_t> length_between(BasicBlock& first, BasicBlock& next) const {
    llvm::SetVector<BasicBlock*> between;
    const auto add_successors = [&](BasicBlock* block) {
      for (BasicBlock* successor : llvm::successors(block)) {
        if (successor == &next) continue;
        if (!dominators_.properlyDominates(&first, successor) || (loop_ != nullptr && !loop_->contains(successor)))
          return false;
        between.insert(successor);
      }
      return !llvm::succ_empty(block);
    };
    if (!add_successors(&first)) return std::nullopt;
    size_t length = 0;
    for (size_t i = 0; i < between.size(); ++i) {
      if (!add_successors(between[i])) return std::nullopt;
      length += between[i]->size();
    }
    return length;
  }

  llvm::Function& function_;
  const llvm::Loop* loop_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  Instruction* from_ = nullptr;  ///< of the piece that is being measured
  size_t length_ = 0;
  size_t total_ = 0;
  std::vector<Piece> pieces_;
};

/// Makes functions of the pieces of one level. A value that is made at one place (a piece, or what is left) and used
/// at another goes through memory: stored where it is made, loaded once in each block that uses it.
class Cutter {
 public:
  Cutter(llvm::Function& function, std::vector<Piece> pieces)
      : function_(function), layout_(function.getDataLayout()), pieces_(std::move(pieces)) {
    while (function.getParent()->getFunction(name(0)) != nullptr) ++level_;
  }

  void cut() {
    split();
    find_crossing();
    place();
    BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> ir(&entry, entry.begin());
    frame_ = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), bytes_));
    frame_->setAlignment(kFrameAlign);
    for (auto& [value, crossing] : crossing_) {
      load_elsewhere(*value, crossing);
      store(*value, crossing);
    }
    for (unsigned i = 0; i < pieces_.size(); ++i) move(i);
  }

 private:
  /// That of scratch memory, where the frame goes if it is large.
  static constexpr llvm::Align kFrameAlign = llvm::Align::Constant<64>();
  /// What is left of the function.
  static constexpr unsigned kRest = ~0u;

  struct Blocks {
    std::vector<BasicBlock*> own;
    BasicBlock* before;
    BasicBlock* after;
  };

  struct Crossing {
    unsigned last = 0;    ///< piece that uses it, or kRest
    uint64_t offset = 0;  ///< in the frame
    uint64_t bytes = 0;
    llvm::Align align;
  };

  std::string name(unsigned piece) const { return fmt::format("{}{}{}{}", kLevel, level_, kPieceOfLevel, piece); }

  /// Pieces become blocks of their own.
  void split() {
    for (const Piece& piece : pieces_) {
      Blocks& blocks = blocks_.emplace_back();
      blocks.before = piece.from->getParent();
      BasicBlock* const first = blocks.before->splitBasicBlock(piece.from);
      blocks.after = piece.to->getParent()->splitBasicBlock(piece.to);
      llvm::SetVector<BasicBlock*> own;
      own.insert(first);
      for (size_t i = 0; i < own.size(); ++i)
        for (BasicBlock* successor : llvm::successors(own[i]))
          if (successor != blocks.after) own.insert(successor);
      for (BasicBlock* block : own) place_of_[block] = static_cast<unsigned>(blocks_.size() - 1);
      blocks.own.assign(own.begin(), own.end());
    }
  }

  unsigned place_of(const BasicBlock* block) const {
    const auto found = place_of_.find(block);
    return found == place_of_.end() ? kRest : found->second;
  }

  unsigned place_of(const Value& made) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(&made);
    return instruction == nullptr ? kRest : place_of(instruction->getParent());
  }

  /// The block that a value must have reached for a use of it.
  static BasicBlock* block_of(const llvm::Use& use) {
    auto* const user = llvm::cast<Instruction>(use.getUser());
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) return phi->getIncomingBlock(use);
    return user->getParent();
  }

  void find_crossing() {
    const auto look_at = [&](Value& value) {
      const unsigned own = place_of(value);
      for (const llvm::Use& use : value.uses())
        if (const unsigned place = place_of(block_of(use)); place != own) {
          Crossing& crossing = crossing_[&value];
          crossing.last = own == kRest ? kRest : std::max(crossing.last, place);
        }
    };
    for (llvm::Argument& argument : function_.args()) look_at(argument);
    for (BasicBlock& block : function_)
      for (Instruction& instruction : block) look_at(instruction);
  }

  /// Offsets. Pieces run in order, so what is used for the last time in one leaves its place to what is made in the
  /// next.
  void place() {
    std::vector<std::vector<Crossing*>> made(pieces_.size()), ended(pieces_.size());
    std::vector<Crossing*> lasting;
    for (auto& [value, crossing] : crossing_) {
      crossing.align = std::min(layout_.getABITypeAlign(value->getType()), kFrameAlign);
      crossing.bytes = layout_.getTypeAllocSize(value->getType());
      if (crossing.last == kRest) {
        lasting.push_back(&crossing);
        continue;
      }
      made[place_of(*value)].push_back(&crossing);
      ended[crossing.last].push_back(&crossing);
    }
    for (Crossing* crossing : lasting) crossing->offset = take(*crossing);
    std::map<uint64_t, std::vector<uint64_t>> free;  // by size; such are aligned alike
    for (unsigned piece = 0; piece < pieces_.size(); ++piece) {
      if (piece > 0)
        for (const Crossing* crossing : ended[piece - 1]) free[crossing->bytes].push_back(crossing->offset);
      for (Crossing* crossing : made[piece]) {
        std::vector<uint64_t>& places = free[crossing->bytes];
        const bool fits = !places.empty() && places.back() % crossing->align.value() == 0;
        crossing->offset = fits ? places.back() : take(*crossing);
        if (fits) places.pop_back();
      }
    }
  }

  uint64_t take(const Crossing& crossing) {
    const uint64_t offset = llvm::alignTo(bytes_, crossing.align);
    bytes_ = offset + crossing.bytes;
    return offset;
  }

  Value* address(llvm::IRBuilder<>& ir, const Crossing& crossing) const {
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), frame_, crossing.offset);
  }

  void load_elsewhere(Value& value, const Crossing& crossing) {
    const unsigned own = place_of(value);
    llvm::MapVector<BasicBlock*, std::vector<llvm::Use*>> uses;
    for (llvm::Use& use : value.uses())
      if (BasicBlock* const block = block_of(use); place_of(block) != own) uses[block].push_back(&use);
    for (auto& [block, there] : uses) {
      Instruction* first = block->getTerminator();
      for (const llvm::Use* use : there) {
        auto* const user = llvm::cast<Instruction>(use->getUser());
        if (user->getParent() == block && !llvm::isa<llvm::PHINode>(user) && user->comesBefore(first)) first = user;
      }
      llvm::IRBuilder<> ir(first);
      Value* const loaded = ir.CreateAlignedLoad(value.getType(), address(ir, crossing), crossing.align);
      for (llvm::Use* use : there) use->set(loaded);
    }
  }

  void store(Value& value, const Crossing& crossing) {
    llvm::IRBuilder<> ir(function_.getContext());
    if (auto* const made = llvm::dyn_cast<Instruction>(&value))
      ir.SetInsertPoint(*made->getInsertionPointAfterDef());
    else
      ir.SetInsertPoint(std::next(frame_->getIterator()));
    ir.CreateAlignedStore(&value, address(ir, crossing), crossing.align);
  }

  void move(unsigned piece) {
    llvm::LLVMContext& context = function_.getContext();
    const Blocks& blocks = blocks_[piece];
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {frame_->getType()}, false);
    auto* made =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                               fmt::format("{}{}{}{}", kLevel, level_, kPieceOfLevel, piece), function_.getParent());
    made->setAttributes(llvm::AttributeList::get(context, llvm::AttributeList::FunctionIndex,
                                                 llvm::AttrBuilder(context, function_.getAttributes().getFnAttrs())));
    made->removeFnAttr(llvm::Attribute::Memory);  // the frame is written
    for (BasicBlock* block : blocks.own) made->splice(made->end(), &function_, block->getIterator());
    frame_->replaceUsesWithIf(made->getArg(0), [&](const llvm::Use& use) {
      return llvm::cast<Instruction>(use.getUser())->getFunction() == made;
    });
    for (BasicBlock* block : llvm::make_early_inc_range(llvm::predecessors(blocks.after))) {
      if (block->getParent() != made) continue;
      block->getTerminator()->eraseFromParent();
      llvm::ReturnInst::Create(context, block);
    }
    blocks.before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> ir(blocks.before);
    ir.CreateCall(made, frame_);
    ir.CreateBr(blocks.after);
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  std::vector<Piece> pieces_;
  unsigned level_ = 0;
  std::vector<Blocks> blocks_;
  llvm::DenseMap<const BasicBlock*, unsigned> place_of_;
  llvm::MapVector<Value*, Crossing> crossing_;
  uint64_t bytes_ = 0;
  llvm::AllocaInst* frame_ = nullptr;
};

/// The pieces of the innermost level that is too long and has not been `cut` yet, by its first block.
std::vector<Piece> find_pieces(llvm::Function& function, llvm::SmallPtrSetImpl<BasicBlock*>& cut) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const auto outer_first = loops.getLoopsInPreorder();
  for (const llvm::Loop* loop : llvm::reverse(outer_first))
    if (!cut.contains(loop->getHeader()))
      if (auto pieces = Level(function, loop, dominators, loops).pieces(); !pieces.empty()) {
        cut.insert(loop->getHeader());
        return pieces;
      }
  if (!cut.insert(nullptr).second) return {};
  return Level(function, nullptr, dominators, loops).pieces();
}

}  // namespace

void outline_long_code(llvm::Function& function) {
  if (function.getInstructionCount() < kLongest) return;
  llvm::SmallPtrSet<BasicBlock*, 8> cut;
  for (auto pieces = find_pieces(function, cut); !pieces.empty(); pieces = find_pieces(function, cut))
    Cutter(function, std::move(pieces)).cut();
}

}  // namespace smelt::aot::cpu
