/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* statfs(2) of macOS, what is used of it. */
#pragma once
#include <stdint.h>
#define MNT_LOCAL 0x00001000
struct statfs {
  uint32_t f_bsize;
  uint32_t f_flags;
  char f_fstypename[16];
  char f_mntonname[1024];
};
#ifdef __cplusplus
extern "C"
#endif
    int
    statfs(const char* path, struct statfs* status);
