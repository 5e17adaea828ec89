/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#error "a Mac has no <sys/statfs.h>"
