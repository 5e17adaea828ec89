/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include_next <sys/mman.h>
#undef MAP_POPULATE
#undef MAP_FIXED_NOREPLACE
#undef MAP_HUGETLB
#undef MADV_HUGEPAGE
#undef MADV_POPULATE_READ
#undef MADV_POPULATE_WRITE
#undef MADV_DONTFORK
