/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include_next <time.h>
#undef CLOCK_BOOTTIME
#undef CLOCK_MONOTONIC_COARSE
#undef CLOCK_REALTIME_COARSE
#define CLOCK_MONOTONIC_RAW_APPROX 5
