// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grows hostile AIR: takes a sound kernel and puts into it what LLVM knows and AIR does not.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace smelt::test {

/// A module that LLVM's verifier accepts, or null when this number gives none. The same number gives the same module.
/// What was done to it is told in `story`.
std::unique_ptr<llvm::Module> hostile_module(uint64_t number, llvm::LLVMContext& context, std::string& story);

}  // namespace smelt::test
