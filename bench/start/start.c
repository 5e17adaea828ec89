/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench_start PACKAGE KERNEL [all]: the first load of a kernel in a fresh process, in C. Prints nanoseconds of opening
 * the device, of loading, of the pipeline (with `all`: of those of the whole package), and of a first dispatch of one
 * thread on 64 bytes per buffer. Without arguments it does nothing: what a process costs by itself. */
#include "smelt/smelt.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int failed(void) {
  smelt_error_info error = {sizeof(error)};
  smelt_last_error(&error);
  fprintf(stderr, "bench_start: %s\n", error.message);
  return 1;
}

int main(int count, char** arguments) {
  if (count == 1) return 0;
  if (count != 3 && count != 4) return 2;
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 0, 0};
  smelt_device* device = 0;
  smelt_library* library = 0;
  smelt_function* function = 0;
  smelt_pipeline* pipeline = 0;
  smelt_encoder* encoder = 0;
  const int64_t start = now();
  if (smelt_device_open(&options, &device) != SMELT_OK) return failed();
  const int64_t opened = now();
  if (smelt_library_load_file(device, arguments[1], 0, &library) != SMELT_OK) return failed();
  if (count == 4 && smelt_library_prepare(library, 0, 0, 0, 0, 0, 0) != SMELT_OK) return failed();
  const int64_t loaded = now();
  if (smelt_library_get_function(library, arguments[2], strlen(arguments[2]), &function) != SMELT_OK ||
      smelt_function_get_pipeline(function, 0, 0, &pipeline) != SMELT_OK)
    return failed();
  const int64_t built = now();
  static char memory[31][64];
  const uint64_t one = 1;
  if (smelt_encoder_create(device, &encoder) != SMELT_OK) return failed();
  if (smelt_encoder_set_pipeline(encoder, pipeline) != SMELT_OK) return failed();
  for (uint32_t i = 0; i < 31; ++i)
    if (smelt_encoder_set_memory(encoder, i, memory[i], sizeof(memory[i])) != SMELT_OK) return failed();
  if (smelt_encoder_dispatch_threads(encoder, &one, 1, 0) != SMELT_OK) return failed();
  printf("%lld %lld %lld %lld\n", (long long)(opened - start), (long long)(loaded - opened),
         (long long)(built - loaded), (long long)(now() - built));
  return 0;
}
