/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same warm launch as launch.py, through the C API: what a kernel costs without Python. Prints nanoseconds.
 * usage: bench_python_launch PACKAGE ELEMENTS REPEATS */
#include "smelt/smelt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(smelt_status status, const char* what) {
  if (status == SMELT_OK) return;
  fprintf(stderr, "%s: status %d\n", what, (int)status);
  exit(1);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  enum { kRounds = 15 };
  if (argc != 4) return fprintf(stderr, "usage: %s PACKAGE ELEMENTS REPEATS\n", argv[0]), 2;
  const uint64_t count = strtoull(argv[2], NULL, 10);
  const long repeats = strtol(argv[3], NULL, 10);
  smelt_device* device;
  smelt_library* library;
  smelt_function* function;
  smelt_pipeline* pipeline;
  smelt_encoder* encoder;
  const smelt_device_options on_cpu = {sizeof(on_cpu), SMELT_DEVICE_CPU, 0, NULL};
  must(smelt_device_open(&on_cpu, &device), "device");
  must(smelt_library_load_file(device, argv[1], NULL, &library), "load");
  must(smelt_library_get_function(library, "saxpy", 5, &function), "function");
  must(smelt_function_get_pipeline(function, NULL, 0, &pipeline), "pipeline");
  must(smelt_encoder_create(device, &encoder), "encoder");
  float* const x = calloc(count, sizeof(float));
  float* const y = calloc(count, sizeof(float));
  const float a = 0;
  double times[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    for (long i = 0; i < repeats; ++i) {
      must(smelt_encoder_set_pipeline(encoder, pipeline), "set_pipeline");
      must(smelt_encoder_set_memory(encoder, 0, x, count * sizeof(float)), "set_memory");
      must(smelt_encoder_set_memory(encoder, 1, y, count * sizeof(float)), "set_memory");
      must(smelt_encoder_set_bytes(encoder, 2, &a, sizeof(a)), "set_bytes");
      must(smelt_encoder_dispatch_threads(encoder, &count, 1, NULL), "dispatch");
      must(smelt_encoder_wait(encoder), "wait");
    }
    times[round] = (now() - start) / (double)repeats;
  }
  qsort(times, kRounds, sizeof(times[0]), compare);
  printf("%.1f\n", times[0]);
  free(x), free(y);
  smelt_encoder_release(encoder);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
  smelt_device_release(device);
  return 0;
}
