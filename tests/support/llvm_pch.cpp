// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The precompiled header of tests that include LLVM belongs to this file's target.
