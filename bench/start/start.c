/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench_start PACKAGE KERNEL [all|LIST]: the first load of a kernel in a fresh process, in C. Prints nanoseconds of
 * opening the device, of loading, of the pipeline, and of a first dispatch of one thread on zeros; then the monotonic
 * clock at its end. Loading includes, with `all`, the pipelines of the whole package, and with a LIST those of its
 * lines: "KERNEL [INDEX=VALUE]...", function constants by index. Without arguments it does nothing: what a process
 * costs by itself. */
#include "smelt/smelt.h"

#include <stdio.h>
#include <stdlib.h>
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

/* One line of a LIST. The pipeline stays until the process ends. */
static smelt_status build(smelt_library* library, char* line) {
  enum { kMost = 16 };
  smelt_constant constants[kMost];
  int64_t values[kMost];
  size_t count = 0;
  char* rest = 0;
  const char* kernel = strtok_r(line, " \n", &rest);
  for (char* word; count < kMost && (word = strtok_r(0, " =\n", &rest)) != 0; ++count) {
    const char* value = strtok_r(0, " \n", &rest);
    values[count] = value ? strtoll(value, 0, 10) : 0;
    const smelt_constant constant = {0, 0, (uint32_t)strtoul(word, 0, 10), SMELT_CONSTANT_INT, &values[count], 1};
    constants[count] = constant;
  }
  const smelt_pipeline_options options = {sizeof(options), constants, count, 1};
  smelt_function* function = 0;
  smelt_pipeline* pipeline = 0;
  const smelt_status status = smelt_library_get_function(library, kernel, strlen(kernel), &function);
  return status == SMELT_OK ? smelt_function_make_pipeline(function, &options, &pipeline) : status;
}

static int build_list(smelt_library* library, const char* path) {
  char line[512];
  int built = 1;
  FILE* list = fopen(path, "r");
  if (!list) return 0;
  while (built && fgets(line, sizeof(line), list)) built = build(library, line) == SMELT_OK;
  fclose(list);
  return built;
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
  if (count == 4 && strcmp(arguments[3], "all") == 0) {
    if (smelt_library_prepare(library, 0, 0, 0, 0, 0, 0) != SMELT_OK) return failed();
  } else if (count == 4 && !build_list(library, arguments[3])) {
    return failed();
  }
  const int64_t loaded = now();
  if (smelt_library_get_function(library, arguments[2], strlen(arguments[2]), &function) != SMELT_OK ||
      smelt_function_get_pipeline(function, 0, 0, &pipeline) != SMELT_OK)
    return failed();
  const int64_t built = now();
  static char memory[31][4096];
  const uint64_t one = 1;
  if (smelt_encoder_create(device, &encoder) != SMELT_OK) return failed();
  if (smelt_encoder_set_pipeline(encoder, pipeline) != SMELT_OK) return failed();
  for (uint32_t i = 0; i < 31; ++i)
    if (smelt_encoder_set_memory(encoder, i, memory[i], sizeof(memory[i])) != SMELT_OK) return failed();
  if (smelt_encoder_dispatch_threads(encoder, &one, 1, 0) != SMELT_OK) return failed();
  const int64_t end = now();
  printf("%lld %lld %lld %lld %lld\n", (long long)(opened - start), (long long)(loaded - opened),
         (long long)(built - loaded), (long long)(end - built), (long long)end);
  return 0;
}
