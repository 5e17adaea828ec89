/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tensors as arguments, from C. */
#include "smelt/smelt.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int good, int line, const char* what) {
  smelt_error_info last = {sizeof(last)};
  if (good) return;
  smelt_last_error(&last);
  fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, line, what, last.message);
  ++failures;
}
#define CHECK(condition) check((condition) != 0, __LINE__, #condition)

/* The last failure has that code, and says that. */
static int failed_with(smelt_status status, smelt_status code, const char* words) {
  smelt_error_info last = {sizeof(last)};
  smelt_last_error(&last);
  return status == code && strstr(last.message, words) != NULL;
}

static int are(const float* found, const float* wanted, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    if (found[i] < wanted[i] || found[i] > wanted[i]) return 0;
  return 1;
}

static const uint64_t three_by_two[2] = {3, 2};

/* Three columns of two rows, four elements apart, behind the first element. */
static void of_a_buffer(smelt_device* device, smelt_encoder* encoder) {
  static const uint64_t strides[2] = {1, 4}, turned[2] = {2, 1}, narrow[2] = {1, 2};
  static const float wanted[9] = {1, 4, 6, 8, 5, 12, 14, 16, 9};
  smelt_tensor_shape shape = {sizeof(shape), "float", 2, three_by_two, strides};
  smelt_buffer* buffer = NULL;
  void* memory = NULL;
  float* values;
  int i;
  CHECK(smelt_buffer_create(device, 9 * sizeof(float), &buffer) == SMELT_OK);
  CHECK(smelt_buffer_contents(buffer, &memory, NULL) == SMELT_OK);
  values = memory;
  for (i = 0; i < 9; ++i) values[i] = (float)(i + 1);
  CHECK(smelt_encoder_set_tensor(encoder, 0, buffer, 4, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_tensor(encoder, 0, NULL, 4, &shape) == SMELT_E_INVALID_ARGUMENT);
  CHECK(failed_with(smelt_encoder_set_tensor(encoder, 0, buffer, 12, &shape), SMELT_E_INVALID_ARGUMENT, "leave"));
  CHECK(failed_with(smelt_encoder_set_tensor(encoder, 0, buffer, 2, &shape), SMELT_E_INVALID_ARGUMENT, "multiple"));
  CHECK(smelt_encoder_set_tensor(encoder, 31, buffer, 4, &shape) == SMELT_E_BUFFER_INDEX);
  shape.strides = turned;
  CHECK(failed_with(smelt_encoder_set_tensor(encoder, 0, buffer, 4, &shape), SMELT_E_INVALID_ARGUMENT, "dimension 0"));
  shape.strides = narrow;
  CHECK(failed_with(smelt_encoder_set_tensor(encoder, 0, buffer, 4, &shape), SMELT_E_INVALID_ARGUMENT, "at least"));
  shape.strides = strides;
  shape.element = "half";
  CHECK(smelt_encoder_set_tensor(encoder, 0, buffer, 4, &shape) == SMELT_OK);
  CHECK(failed_with(smelt_encoder_dispatch_threads(encoder, three_by_two, 2, NULL), SMELT_E_ARGUMENT_MISMATCH,
                    "other elements"));
  shape.element = "float";
  shape.rank = 9;
  CHECK(failed_with(smelt_encoder_set_tensor(encoder, 0, buffer, 4, &shape), SMELT_E_INVALID_ARGUMENT, "9 dimensions"));
  shape.rank = 2;
  CHECK(smelt_encoder_set_tensor(encoder, 0, buffer, 4, &shape) == SMELT_OK);
  smelt_buffer_retain(buffer);
  smelt_buffer_release(buffer); /* the encoder holds it */
  CHECK(smelt_encoder_dispatch_threads(encoder, three_by_two, 2, NULL) == SMELT_OK);
  CHECK(are(values, wanted, 9));
  smelt_buffer_release(buffer);
}

/* Rows first, as in C: two of three. */
static void of_an_array(smelt_encoder* encoder) {
  static const uint64_t two_by_three[2] = {2, 3};
  static const int64_t bytes[2] = {16, 4}, turned[2] = {4, 8}, odd[2] = {17, 4};
  static const float apart[8] = {2, 4, 6, 4, 10, 12, 14, 8}, dense[8] = {4, 8, 12, 8, 20, 24, 14, 8};
  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  smelt_array array = {sizeof(array), values, two_by_three, bytes, 2, SMELT_TYPE_FLOAT32};
  CHECK(smelt_encoder_set_tensor_array(encoder, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  array.strides = turned;
  CHECK(failed_with(smelt_encoder_set_tensor_array(encoder, 0, &array), SMELT_E_INVALID_ARGUMENT, "dimension 0"));
  array.strides = odd;
  CHECK(failed_with(smelt_encoder_set_tensor_array(encoder, 0, &array), SMELT_E_INVALID_ARGUMENT, "17 bytes"));
  array.strides = bytes;
  array.element = SMELT_TYPE_INT64;
  CHECK(failed_with(smelt_encoder_set_tensor_array(encoder, 0, &array), SMELT_E_INVALID_ARGUMENT, "float16"));
  array.element = SMELT_TYPE_FLOAT32;
  CHECK(smelt_encoder_set_tensor_array(encoder, 0, &array) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, three_by_two, 2, NULL) == SMELT_OK);
  CHECK(are(values, apart, 8));
  array.strides = NULL;
  CHECK(smelt_encoder_set_tensor_array(encoder, 0, &array) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, three_by_two, 2, NULL) == SMELT_OK);
  CHECK(are(values, dense, 8));
}

int smelt_c_tensors_test(const void* data, size_t size) {
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 2, NULL};
  smelt_device* device = NULL;
  smelt_library* library = NULL;
  smelt_function* function = NULL;
  smelt_pipeline* pipeline = NULL;
  smelt_encoder* encoder = NULL;
  smelt_arg_info arg = {sizeof(arg)};
  failures = 0;
  CHECK(smelt_device_open(&options, &device) == SMELT_OK);
  CHECK(smelt_library_load(device, data, size, NULL, &library) == SMELT_OK);
  CHECK(smelt_library_get_function(library, "doubled", 7, &function) == SMELT_OK);
  CHECK(smelt_function_arg(function, 0, &arg) == SMELT_OK && arg.kind == 7);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, &pipeline) == SMELT_OK);
  CHECK(smelt_encoder_create(device, &encoder) == SMELT_OK);
  CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
  CHECK(failed_with(smelt_encoder_dispatch_threads(encoder, three_by_two, 2, NULL), SMELT_E_ARGUMENT_MISMATCH,
                    "not bound"));
  of_a_buffer(device, encoder);
  of_an_array(encoder);
  smelt_encoder_release(encoder);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
  smelt_device_release(device);
  return failures;
}
