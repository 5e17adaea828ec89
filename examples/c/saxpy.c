/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads a package or a Metal library and runs its kernel `saxpy`: y = a x + y.
 *
 *     saxpy FILE [cpu|metal]
 */
#include <smelt/smelt.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1000 };

/* The last failure, on stderr. */
static int complain(const char* what) {
  smelt_error_info error = {sizeof(error)};
  smelt_last_error(&error);
  fprintf(stderr, "%s: %s (%s)\n", what, error.message, smelt_status_name(error.code));
  return 1;
}

/* Binds the buffers and runs the kernel once over all of them. */
static int run(smelt_device* device, smelt_pipeline* pipeline, smelt_buffer* x, smelt_buffer* y, float a) {
  const uint64_t threads = kCount;
  smelt_encoder* encoder = NULL;
  int failed = smelt_encoder_create(device, &encoder) || smelt_encoder_set_pipeline(encoder, pipeline) ||
               smelt_encoder_set_buffer(encoder, 0, x, 0) || smelt_encoder_set_buffer(encoder, 1, y, 0) ||
               smelt_encoder_set_bytes(encoder, 2, &a, sizeof(a)) ||
               smelt_encoder_dispatch_threads(encoder, &threads, 1, NULL) || smelt_encoder_wait(encoder);
  if (failed) failed = complain("dispatch");
  smelt_encoder_release(encoder);
  return failed;
}

/* Fills two buffers, runs, and compares. */
static int try_saxpy(smelt_device* device, smelt_pipeline* pipeline) {
  smelt_buffer *x = NULL, *y = NULL;
  void *x_bytes = NULL, *y_bytes = NULL;
  uint64_t size = 0;
  int failed = 1;
  if (smelt_buffer_create(device, kCount * sizeof(float), &x) || smelt_buffer_contents(x, &x_bytes, &size) ||
      smelt_buffer_create(device, kCount * sizeof(float), &y) || smelt_buffer_contents(y, &y_bytes, &size)) {
    complain("buffers");
  } else {
    float *xs = x_bytes, *ys = y_bytes;
    int wrong = 0;
    for (int i = 0; i < kCount; ++i) xs[i] = (float)i, ys[i] = 1;
    failed = run(device, pipeline, x, y, 2);
    for (int i = 0; i < kCount; ++i) wrong += ys[i] != 2 * (float)i + 1;
    if (!failed) printf("saxpy: %d of %d results are right\n", kCount - wrong, kCount);
    failed = failed || wrong;
  }
  smelt_buffer_release(x);
  smelt_buffer_release(y);
  return failed;
}

int main(int argc, char** argv) {
  smelt_device_options options = {sizeof(options)};
  smelt_device* device = NULL;
  smelt_library* library = NULL;
  smelt_function* function = NULL;
  smelt_pipeline* pipeline = NULL;
  int failed;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: saxpy FILE [cpu|metal]\n");
    return 2;
  }
  if (argc == 3) options.kind = strcmp(argv[2], "metal") == 0 ? SMELT_DEVICE_METAL : SMELT_DEVICE_CPU;
  failed = smelt_device_open(&options, &device) || smelt_library_load_file(device, argv[1], NULL, &library) ||
           smelt_library_get_function(library, "saxpy", strlen("saxpy"), &function) ||
           smelt_function_get_pipeline(function, NULL, 0, &pipeline);
  failed = failed ? complain(argv[1]) : try_saxpy(device, pipeline);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
  smelt_device_release(device);
  return failed;
}
