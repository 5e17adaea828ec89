// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stock LLVM 14 as a judge, in processes of its own: it has the typed pointers that LLVM 19 lost.
#pragma once

#include "smelt/base/bytes.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace smelt::test {

/// Whether llvm-dis-14 and opt-14 are installed; tests that need them skip otherwise, and say so.
bool have_llvm_14();

struct Verdict {
  bool accepted = false;
  std::string text;   ///< the module as LLVM 14 prints it
  std::string error;  ///< what it said instead
};

/// llvm-dis-14: reads and prints each. One process for all of them, unless one is refused.
std::vector<Verdict> disassemble_14(const std::vector<ByteView>& modules);
/// opt-14's verifier, with the triple overridden: its command line knows no air64.
Verdict verify_14(ByteView bitcode);
/// Both.
std::vector<Verdict> judge_14(const std::vector<ByteView>& modules);
Verdict judge_14(ByteView bitcode);

/// Calls `work(i)` for each i below `count`, on two threads. Doctest's CHECK may be used inside.
void for_each_index(size_t count, const std::function<void(size_t)>& work);
/// The same in runs of up to 48: `work(first, last)`.
void for_each_run(size_t count, const std::function<void(size_t, size_t)>& work);

}  // namespace smelt::test
