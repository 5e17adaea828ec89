/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C API from C: compiled as C11, so the header is C and nothing else. */
#include "smelt/smelt.h"

#include <stdio.h>
#include <string.h>

static void check(int good, int line, const char* what);
#define CHECK(condition) check((condition) != 0, __LINE__, #condition)

static int failures;

static void check(int good, int line, const char* what) {
  smelt_error_info last = {sizeof(last)};
  if (good) return;
  smelt_last_error(&last);
  fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, line, what, last.message);
  ++failures;
}

static int count_progress(void* context, size_t done, size_t total) {
  (void)done;
  *(size_t*)context = total;
  return 1;
}

static void mark(void* context) {
  *(int*)context = 1;
}

/* Every function with nulls: a status, no crash. */
static void nulls(void) {
  uint8_t digest[32];
  smelt_device_info device_info = {sizeof(device_info)};
  smelt_function* function = (smelt_function*)1;
  smelt_device_retain(NULL), smelt_device_release(NULL);
  smelt_package_retain(NULL), smelt_package_release(NULL);
  smelt_library_retain(NULL), smelt_library_release(NULL);
  smelt_function_retain(NULL), smelt_function_release(NULL);
  smelt_pipeline_retain(NULL), smelt_pipeline_release(NULL);
  smelt_encoder_retain(NULL), smelt_encoder_release(NULL);
  smelt_buffer_retain(NULL), smelt_buffer_release(NULL);
  CHECK(smelt_last_error(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_device_open(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_device_get_info(NULL, &device_info) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_open(NULL, 4, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_open_file(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_library_count(NULL) == 0);
  CHECK(smelt_package_library_name(NULL, 0, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_digest(NULL, digest) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load(NULL, "x", 1, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_file(NULL, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_package(NULL, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_function_count(NULL) == 0);
  CHECK(smelt_library_function_name(NULL, 0, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_get_function(NULL, "x", 1, &function) == SMELT_E_INVALID_ARGUMENT);
  CHECK(function == NULL); /* cleared on failure */
  CHECK(smelt_library_digest(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_slice_report(NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_prepare(NULL, NULL, NULL, 0, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_info(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_arg(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_constant(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_usable(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_pipeline(NULL, NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_info(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_create(NULL, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_wrap(NULL, NULL, 1, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_contents(NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_gpu_address(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  smelt_texture_retain(NULL), smelt_texture_release(NULL);
  smelt_sampler_retain(NULL), smelt_sampler_release(NULL);
  CHECK(smelt_texture_create(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_wrap(NULL, NULL, 1, 0, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_wrap_array(NULL, NULL, 0, 0, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_get_info(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_get_part(NULL, 0, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_generate_mipmaps(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pixel_format_named(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pixel_format_get_info(70, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_sampler_create(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_sampler_parse(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_texture(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_sampler(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_create(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_pipeline(NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_buffer(NULL, 0, NULL, 0) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_bytes(NULL, 0, NULL, 0) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_memory(NULL, 0, NULL, 0) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_threadgroup_memory(NULL, 0, 0) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threads(NULL, NULL, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_wait(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_begin_concurrent(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_barrier(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_end_concurrent(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_reset(NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threadgroups(NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_prepare(NULL, NULL, NULL, NULL, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_make_pipeline(NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_name(NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_arg_count(NULL) == 0);
  CHECK(smelt_pipeline_arg(NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
}

/* One null among what is given: the same status, whichever it is, and nothing is handed out. */
static void half_nulls(smelt_device* device, smelt_library* library, smelt_package* package, const void* data,
                       size_t size) {
  smelt_package* other = (smelt_package*)1;
  smelt_library* loaded = (smelt_library*)1;
  smelt_function *function = NULL, *none = (smelt_function*)1;
  smelt_pipeline *pipeline = NULL, *no_pipeline = (smelt_pipeline*)1;
  smelt_buffer *buffer = NULL, *no_buffer = (smelt_buffer*)1;
  smelt_encoder* encoder = NULL;
  smelt_arg_info arg = {sizeof(arg)};
  smelt_function_info info = {sizeof(info)};
  const char* name = NULL;
  size_t length = 0;
  const uint64_t one[3] = {1, 1, 1};
  char byte = 0;
  CHECK(smelt_package_open_file("x.smelt", NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_open_file(NULL, &other) == SMELT_E_INVALID_ARGUMENT && other == NULL);
  CHECK(smelt_package_open(data, size, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_open(NULL, size, &other) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_digest(package, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load(device, data, size, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load(NULL, data, size, NULL, &loaded) == SMELT_E_INVALID_ARGUMENT && loaded == NULL);
  CHECK(smelt_library_load(device, NULL, size, NULL, &loaded) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_file(NULL, "x.smelt", NULL, &loaded) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_file(device, NULL, NULL, &loaded) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_file(device, "x.smelt", NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_package(device, NULL, NULL, &loaded) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_package(NULL, package, NULL, &loaded) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_load_package(device, package, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_get_function(library, "saxpy", 5, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_get_function(library, NULL, 5, &none) == SMELT_E_INVALID_ARGUMENT && none == NULL);
  CHECK(smelt_library_digest(library, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_prepare(library, NULL, NULL, 1, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_prepare(package, NULL, NULL, NULL, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_package_prepare(NULL, device, NULL, NULL, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_library_get_function(library, "saxpy", 5, &function) == SMELT_OK);
  CHECK(smelt_function_get_info(function, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_info(NULL, &info) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_arg(function, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_arg(NULL, 0, &arg) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_pipeline(NULL, NULL, 0, &no_pipeline) == SMELT_E_INVALID_ARGUMENT && no_pipeline == NULL);
  CHECK(smelt_function_get_pipeline(function, NULL, 1, &no_pipeline) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_make_pipeline(function, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_make_pipeline(NULL, NULL, &no_pipeline) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, &pipeline) == SMELT_OK);
  CHECK(smelt_pipeline_info(pipeline, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_name(NULL, &name, &length) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_arg(pipeline, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_create(device, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_create(NULL, 1, &no_buffer) == SMELT_E_INVALID_ARGUMENT && no_buffer == NULL);
  CHECK(smelt_buffer_wrap(device, NULL, 1, NULL, NULL, &no_buffer) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_wrap(device, &byte, 1, NULL, NULL, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_wrap(NULL, &byte, 1, NULL, NULL, &no_buffer) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_buffer_wrap(device, NULL, 0, NULL, NULL, &buffer) == SMELT_OK); /* nothing has no address */
  smelt_buffer_release(buffer);
  CHECK(smelt_encoder_create(device, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_create(device, &encoder) == SMELT_OK);
  CHECK(smelt_encoder_set_pipeline(encoder, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_pipeline(NULL, pipeline) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_bytes(encoder, 0, NULL, 1) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_bytes(encoder, 0, NULL, 0) == SMELT_OK);
  CHECK(smelt_encoder_set_memory(encoder, 0, NULL, 1) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_memory(encoder, 0, NULL, 0) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, NULL, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threads(NULL, one, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threadgroups(encoder, NULL, one) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threadgroups(encoder, one, NULL) == SMELT_E_INVALID_ARGUMENT);
  smelt_encoder_release(encoder);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
}

static void errors(smelt_device* device, smelt_library* library) {
  smelt_error_info last = {sizeof(last)};
  smelt_function* function = NULL;
  smelt_library* none = (smelt_library*)1;
  smelt_device* bad_device = NULL;
  smelt_device_options bad_kind = {sizeof(bad_kind), 17, 0, NULL};
  smelt_device_options no_size = {0, 0, 0, NULL};
  CHECK(smelt_library_get_function(library, "sxapy", 5, &function) == SMELT_E_FUNCTION_NOT_FOUND);
  CHECK(smelt_last_error(&last) == SMELT_OK);
  CHECK(last.code == SMELT_E_FUNCTION_NOT_FOUND);
  CHECK(strstr(last.message, "saxpy") != NULL);
  CHECK(strlen(last.message) == last.message_length);
  CHECK(strcmp(last.subject, "sxapy") == 0);
  CHECK(strstr(last.detail, "\"code\": \"function_not_found\"") != NULL);
  CHECK(strcmp(smelt_status_name(last.code), "function_not_found") == 0);
  CHECK(strcmp(smelt_status_name(-3), "unknown") == 0);
  CHECK(smelt_library_load(device, "not a library", 13, NULL, &none) == SMELT_E_NOT_METALLIB);
  CHECK(none == NULL);
  CHECK(smelt_library_load_file(device, "/no/such/file.smelt", NULL, &none) == SMELT_E_FILE_NOT_FOUND);
  CHECK(smelt_device_open(&bad_kind, &bad_device) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_device_open(&no_size, &bad_device) == SMELT_E_INVALID_ARGUMENT);
}

static void run_saxpy(smelt_device* device, smelt_library* library) {
  enum { N = 1000 };
  smelt_function* function = NULL;
  smelt_function_info info = {sizeof(info)};
  smelt_arg_info arg = {sizeof(arg)};
  smelt_member_info member = {sizeof(member)};
  smelt_pipeline* pipeline = NULL;
  smelt_pipeline_limits limits = {sizeof(limits)};
  smelt_encoder* encoder = NULL;
  smelt_buffer *x = NULL, *y = NULL;
  void *xs = NULL, *ys = NULL;
  uint64_t size = 0, address = 0, threads[2] = {N, 1}, group[2] = {64, 1}, zero[1] = {0};
  float wrapped[N];
  const char* name = NULL;
  size_t length = 0;
  uint64_t groups[3] = {N / 8, 1, 1}, eight[3] = {8, 1, 1}, many[3] = {UINT64_MAX, 1, 1};
  int released = 0;
  const float two = 2;
  CHECK(smelt_library_get_function(library, "saxpy!", 5, &function) == SMELT_OK); /* lengths, not NULs */
  CHECK(smelt_function_get_info(function, &info) == SMELT_OK);
  CHECK(info.arg_count == 3 && info.kind == 0 && info.name_length == 5);
  CHECK(smelt_function_arg(function, 1, &arg) == SMELT_OK);
  CHECK(arg.index == 1 && arg.size == 4 && arg.name_length == 1 && arg.name[0] == 'y');
  CHECK(smelt_function_arg(function, 3, &arg) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_function_usable(function) == SMELT_OK);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, &pipeline) == SMELT_OK);
  CHECK(smelt_pipeline_info(pipeline, &limits) == SMELT_OK);
  CHECK(limits.max_threads_per_threadgroup == 1024 && limits.thread_execution_width == 32);
  CHECK(limits.limits_estimated == 1);
  CHECK(arg.type == SMELT_TYPE_FLOAT32 && arg.type_components == 1 && arg.array_size == 1);
  smelt_function_release(function);
  CHECK(smelt_pipeline_name(pipeline, &name, &length) == SMELT_OK);
  CHECK(length == 5 && memcmp(name, "saxpy", 5) == 0);
  CHECK(smelt_pipeline_arg_count(pipeline) == 3);
  memset(&arg, 0, sizeof(arg));
  arg.struct_size = sizeof(arg);
  CHECK(smelt_pipeline_arg(pipeline, 0, &arg) == SMELT_OK && arg.name_length == 1 && arg.name[0] == 'x');
  CHECK(smelt_pipeline_arg(pipeline, 3, &arg) == SMELT_E_INVALID_ARGUMENT);
  CHECK(arg.member_count == 0);
  CHECK(smelt_pipeline_arg_member(pipeline, 0, 0, &member) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_arg_member(pipeline, 3, 0, &member) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_pipeline_arg_member(NULL, 0, 0, &member) == SMELT_E_INVALID_ARGUMENT);

  CHECK(smelt_encoder_create(device, &encoder) == SMELT_OK);
  CHECK(smelt_buffer_create(device, N * sizeof(float), &x) == SMELT_OK);
  CHECK(smelt_buffer_contents(x, &xs, &size) == SMELT_OK);
  CHECK(size == N * sizeof(float));
  CHECK(smelt_buffer_gpu_address(x, &address) == SMELT_OK && address == (uint64_t)(uintptr_t)xs);
  for (int i = 0; i < N; ++i) ((float*)xs)[i] = (float)i, wrapped[i] = 1;
  CHECK(smelt_buffer_wrap(device, wrapped, sizeof(wrapped), mark, &released, &y) == SMELT_OK);
  CHECK(smelt_buffer_contents(y, &ys, NULL) == SMELT_OK && ys == wrapped);
  CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
  CHECK(smelt_encoder_set_buffer(encoder, 0, x, 0) == SMELT_OK);
  CHECK(smelt_encoder_set_buffer(encoder, 1, y, 0) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 1, NULL) == SMELT_E_ARGUMENT_MISMATCH);
  CHECK(smelt_encoder_set_bytes(encoder, 2, &two, sizeof(two)) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 2, group) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 1, zero) == SMELT_E_GROUP_ZERO);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 4, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threads(encoder, zero, 1, NULL) == SMELT_OK);
  CHECK(smelt_encoder_wait(encoder) == SMELT_OK);
  CHECK(wrapped[0] == 1 && wrapped[N - 1] == 2 * (N - 1) + 1);
  CHECK(smelt_encoder_dispatch_threadgroups(encoder, groups, eight) == SMELT_OK);
  CHECK(wrapped[0] == 1 && wrapped[N - 1] == 4 * (N - 1) + 1);
  CHECK(smelt_encoder_dispatch_threadgroups(encoder, many, eight) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threadgroups(encoder, groups, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_buffer(encoder, 7, NULL, 0) == SMELT_OK); /* a null buffer, which this kernel does not read */
  CHECK(smelt_encoder_set_buffer(encoder, 7, NULL, 8) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 1, NULL) == SMELT_OK);
  smelt_pipeline_release(pipeline);
  smelt_buffer_release(x);
  smelt_buffer_release(y);
  CHECK(!released); /* the encoder holds it */
  CHECK(smelt_encoder_reset(encoder) == SMELT_OK);
  CHECK(released);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 1, NULL) ==
        SMELT_E_INVALID_ARGUMENT); /* no pipeline any more */
  smelt_encoder_release(encoder);
}

static void constants(smelt_device* device, smelt_library* library) {
  smelt_function* function = NULL;
  smelt_constant_info info = {sizeof(info)};
  smelt_pipeline* pipeline = NULL;
  smelt_encoder* encoder = NULL;
  const int64_t size = -9;
  const uint8_t choice = 1;
  const double scale = 0.5;
  const smelt_constant values[3] = {{"size", 4, 0, SMELT_CONSTANT_INT, &size, 1},
                                    {NULL, 0, 1, SMELT_CONSTANT_BOOL, &choice, 1},
                                    {NULL, 0, 7, SMELT_CONSTANT_FLOAT, &scale, 1}};
  const uint64_t one = 1;
  int32_t out[4] = {0};
  CHECK(smelt_library_get_function(library, "constants", 9, &function) == SMELT_OK);
  CHECK(smelt_function_constant(function, 0, &info) == SMELT_OK);
  CHECK(info.required == 1 && info.index == 0);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, &pipeline) == SMELT_E_CONSTANT_MISSING);
  CHECK(pipeline == NULL);
  CHECK(smelt_function_get_pipeline(function, values, 3, &pipeline) == SMELT_OK);
  CHECK(smelt_encoder_create(device, &encoder) == SMELT_OK);
  CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
  CHECK(smelt_encoder_set_memory(encoder, 0, out, sizeof(out)) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, &one, 1, NULL) == SMELT_OK);
  CHECK(out[0] == -9 && out[1] == 1 && out[3] == 1);
  CHECK(info.type == SMELT_TYPE_INT32 && info.type_components == 1);
  smelt_pipeline_release(pipeline);

  /* As they lie in memory, with a value of another kernel's among them, and one that is needed left out. */
  {
    const int16_t narrow = 300;
    const float half = 2.75f;
    const uint16_t other = 5;
    smelt_constant given[3] = {{"size", 4, 0, SMELT_CONSTANT_OF(SMELT_TYPE_INT16), &narrow, 1},
                               {NULL, 0, 1, SMELT_CONSTANT_OF(SMELT_TYPE_FLOAT32), &half, 1},
                               {"other", 5, 0, SMELT_CONSTANT_OF(SMELT_TYPE_UINT16), &other, 1}};
    smelt_pipeline_options lenient = {sizeof(lenient), given, 3, 0};
    CHECK(smelt_function_make_pipeline(function, &lenient, &pipeline) == SMELT_E_CONSTANT_TYPE);
    lenient.lenient = 1;
    CHECK(smelt_function_make_pipeline(function, &lenient, &pipeline) == SMELT_OK);
    CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
    CHECK(smelt_encoder_dispatch_threads(encoder, &one, 1, NULL) == SMELT_OK);
    CHECK(out[0] == 300 && out[1] == 1);
    smelt_pipeline_release(pipeline);
    lenient.constant_count = 0;
    CHECK(smelt_function_make_pipeline(function, &lenient, &pipeline) == SMELT_OK);
    CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
    CHECK(smelt_encoder_dispatch_threads(encoder, &one, 1, NULL) == SMELT_OK);
    CHECK(out[0] == 0);
    smelt_pipeline_release(pipeline);
    CHECK(smelt_function_make_pipeline(function, NULL, &pipeline) == SMELT_E_CONSTANT_MISSING);
    given[0].kind = SMELT_CONSTANT_OF(SMELT_TYPE_UNKNOWN);
    lenient.constant_count = 1;
    CHECK(smelt_function_make_pipeline(function, &lenient, &pipeline) == SMELT_E_INVALID_ARGUMENT);
    CHECK(pipeline == NULL);
  }
  smelt_encoder_release(encoder);
  smelt_function_release(function);
}

int smelt_c_api_test(const void* data, size_t size) {
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 2, NULL};
  smelt_device* device = NULL;
  smelt_device_info device_info = {sizeof(device_info)};
  smelt_package* package = NULL;
  smelt_library *library = NULL, *from_package = NULL;
  const char *name = NULL, *report = NULL;
  size_t length = 0, prepared = 0, total = 0;
  uint8_t a[32], b[32];
  const char* names[1] = {"saxpy"};
  const size_t lengths[1] = {5};
  smelt_load_options load = {0};
  smelt_error_info error = {sizeof(error)};
  failures = 0;
  nulls();
  CHECK(smelt_version()[0] != 0);
  CHECK(smelt_device_open(&options, &device) == SMELT_OK);
  CHECK(smelt_device_get_info(device, &device_info) == SMELT_OK);
  CHECK(device_info.kind == SMELT_DEVICE_CPU && device_info.max_threadgroup_memory == 32768);
  CHECK(device_info.buffer_slots == 31 && device_info.inline_bytes == 4096 && device_info.apple_family == 0);
  CHECK(device_info.memory_bytes > 1 << 20 && device_info.max_buffer_bytes <= device_info.memory_bytes);

  CHECK(smelt_library_load(device, data, size, NULL, &library) == SMELT_OK);
  CHECK(smelt_library_function_count(library) == 7);
  CHECK(smelt_library_function_name(library, 0, &name, &length) == SMELT_OK);
  CHECK(length == 5 && memcmp(name, "saxpy", 5) == 0);
  CHECK(smelt_library_function_name(library, 7, &name, &length) == SMELT_E_INVALID_ARGUMENT);
  CHECK(name == NULL && length == 0);
  CHECK(smelt_library_slice_report(library, &report, &length) == SMELT_OK);
  CHECK(strstr(report, "chosen") != NULL);

  CHECK(smelt_package_open(data, size, &package) == SMELT_OK);
  CHECK(smelt_package_library_count(package) == 1);
  CHECK(smelt_package_library_name(package, 0, &name, &length) == SMELT_OK);
  CHECK(length == 7 && memcmp(name, "kernels", 7) == 0);
  CHECK(smelt_package_digest(package, a) == SMELT_OK);
  CHECK(smelt_library_digest(library, b) == SMELT_OK);
  CHECK(memcmp(a, b, 32) == 0);
  load.struct_size = sizeof(load);
  load.verify = SMELT_VERIFY_FULL;
  load.expect = a;
  load.library = "kernels";
  load.library_length = 7;
  CHECK(smelt_library_load_package(device, package, &load, &from_package) == SMELT_OK);
  smelt_library_release(from_package);
  a[0] ^= 1;
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_E_DIGEST_MISMATCH);
  CHECK(from_package == NULL);
  load.expect = NULL;
  load.trust = SMELT_TRUST_SIGNED;
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_E_UNTRUSTED);
  CHECK(smelt_last_error(&error) == SMELT_OK && strstr(error.message, "nobody signed it") != NULL);
  load.trusted_keys = "no key";
  CHECK(smelt_library_load(device, data, size, &load, &from_package) != SMELT_OK);
  load.trusted_keys = NULL;
  load.trust = SMELT_TRUST_SIGNED + 1;
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_E_INVALID_ARGUMENT);
  load.trust = SMELT_TRUST_ANY;
  load.ignore_native = 1;
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_E_UNTRUSTED);
  load.trust = load.ignore_native = 0;
  load.verify = 99;
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_E_INVALID_ARGUMENT);
  load.struct_size = sizeof(size_t); /* an old caller: no field but the size */
  CHECK(smelt_library_load(device, data, size, &load, &from_package) == SMELT_OK);
  smelt_library_release(from_package);
  CHECK(smelt_package_prepare(package, device, NULL, count_progress, &total, &from_package, &prepared) == SMELT_OK);
  CHECK(prepared == 6 && total == 6 && smelt_library_function_count(from_package) == 7);
  smelt_library_release(from_package);
  load.struct_size = sizeof(load); /* names a library, and cannot be read whole */
  CHECK(smelt_package_prepare(package, device, &load, NULL, NULL, &from_package, &prepared) ==
        SMELT_E_INVALID_ARGUMENT);
  CHECK(from_package == NULL && prepared == 0);
  half_nulls(device, library, package, data, size);
  smelt_package_release(package);

  CHECK(smelt_library_prepare(library, NULL, NULL, 0, count_progress, &total, &prepared) == SMELT_OK);
  CHECK(prepared == 6 && total == 6);
  CHECK(smelt_library_prepare(library, names, lengths, 1, NULL, NULL, &prepared) == SMELT_OK);
  CHECK(prepared == 1);
  run_saxpy(device, library);
  constants(device, library);
  errors(device, library);
  smelt_library_retain(library);
  smelt_library_release(library);
  smelt_library_release(library);
  smelt_device_release(device);
  return failures;
}
