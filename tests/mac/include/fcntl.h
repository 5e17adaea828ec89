/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fcntl(2) of macOS, where it differs: what Linux alone has is taken away. From Apple's manual pages. */
#include_next <fcntl.h>
#undef F_OFD_SETLK
#undef F_OFD_SETLKW
#undef F_OFD_GETLK
#undef O_TMPFILE
#undef O_DIRECT
#undef O_PATH
#ifndef SMELT_CHECK_FCNTL
#define SMELT_CHECK_FCNTL
#define F_PREALLOCATE 42
#define F_GETPATH 50
#define F_FULLFSYNC 51
#define F_ALLOCATEALL 0x4
#define F_PEOFPOSMODE 3
typedef struct fstore {
  unsigned int fst_flags;
  int fst_posmode;
  off_t fst_offset;
  off_t fst_length;
  off_t fst_bytesalloc;
} fstore_t;
#endif
