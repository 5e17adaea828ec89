/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run PACKAGE: y = a x + y by the C API. Compiled by strangers, so it includes nothing but the installed header. */
#include <smelt/smelt.h>
#include <stdio.h>
#include <string.h>

#ifdef BY_DLOPEN
#include "by_dlopen.h"
#endif

enum { N = 1000 };
static float x[N], y[N];

static int failed(const char* what) {
  smelt_error_info error = {sizeof(error)};
  smelt_last_error(&error);
  fprintf(stderr, "%s: %s\n", what, error.message);
  return 1;
}

int main(int count, char** arguments) {
#ifdef BY_DLOPEN
  if (count != 3 || !open_smelt(arguments[2])) return 2;
#else
  if (count != 2) return 2;
#endif
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 1, 0};
  smelt_device* device = 0;
  smelt_library* library = 0;
  smelt_function* function = 0;
  smelt_pipeline* pipeline = 0;
  smelt_encoder* encoder = 0;
  const float a = 2;
  const uint64_t threads = N;
  for (int i = 0; i < N; ++i) x[i] = (float)i, y[i] = 1;
  if (smelt_device_open(&options, &device)) return failed("device");
  if (smelt_library_load_file(device, arguments[1], 0, &library)) return failed("load");
  if (smelt_library_get_function(library, "saxpy", strlen("saxpy"), &function)) return failed("function");
  if (smelt_function_get_pipeline(function, 0, 0, &pipeline)) return failed("pipeline");
  if (smelt_encoder_create(device, &encoder)) return failed("encoder");
  if (smelt_encoder_set_pipeline(encoder, pipeline) || smelt_encoder_set_memory(encoder, 0, x, sizeof(x)) ||
      smelt_encoder_set_memory(encoder, 1, y, sizeof(y)) || smelt_encoder_set_bytes(encoder, 2, &a, sizeof(a)) ||
      smelt_encoder_dispatch_threads(encoder, &threads, 1, 0) || smelt_encoder_wait(encoder))
    return failed("dispatch");
  for (int i = 0; i < N; ++i)
    if (y[i] != 2 * (float)i + 1) return fprintf(stderr, "y[%d] is %f\n", i, y[i]), 1;
  smelt_encoder_release(encoder);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
  smelt_device_release(device);
  printf("smelt %s: y = 2 x + 1 for %d elements\n", smelt_version(), N);
  return 0;
}
