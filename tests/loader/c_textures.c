/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Textures and samplers from C. */
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

static void mark(void* context) {
  *(int*)context = 1;
}

static uint32_t format_named(const char* name) {
  uint32_t number = 0;
  CHECK(smelt_pixel_format_named(name, strlen(name), &number) == SMELT_OK);
  return number;
}

static void formats(void) {
  smelt_pixel_format_info info = {sizeof(info)};
  uint32_t number = 1;
  CHECK(format_named("rgba8unorm") == 70 && format_named("r32float") == 55);
  CHECK(smelt_pixel_format_get_info(70, &info) == SMELT_OK);
  CHECK(info.texel_bytes == 4 && info.element == SMELT_TYPE_UINT8 && info.channels == 4);
  CHECK(info.name_length == 10 && memcmp(info.name, "rgba8unorm", 10) == 0);
  CHECK(smelt_pixel_format_get_info(format_named("rgb9e5float"), &info) == SMELT_OK);
  CHECK(info.element == SMELT_TYPE_UINT32 && info.channels == 0);
  CHECK(info.block_width == 1 && info.block_height == 1);
  CHECK(smelt_pixel_format_get_info(format_named("bc3_rgba_srgb"), &info) == SMELT_OK);
  CHECK(info.texel_bytes == 16 && info.channels == 16 && info.element == SMELT_TYPE_UINT8);
  CHECK(info.block_width == 4 && info.block_height == 4);
  CHECK(failed_with(smelt_pixel_format_get_info(180, &info), SMELT_E_UNSUPPORTED, "want bc1_rgba or rgba8unorm"));
  CHECK(failed_with(smelt_pixel_format_named("bc1", 3, &number), SMELT_E_UNSUPPORTED, "'bc1'") && number == 0);
  CHECK(smelt_pixel_format_get_info(7, &info) == SMELT_E_UNSUPPORTED);
}

static void levels(void) {
  smelt_texture_options options = {sizeof(options), 2, 0, 4, 2, 0, 0, 3, 0};
  smelt_texture_info info = {sizeof(info)};
  smelt_texture_part part = {sizeof(part)};
  smelt_texture* texture = NULL;
  static const unsigned char first[8] = {0, 100, 10, 10, 50, 50, 10, 13};
  CHECK(smelt_texture_create(&options, &texture) == SMELT_E_UNSUPPORTED && texture == NULL);
  options.pixel_format = format_named("r8unorm");
  options.levels = 4;
  CHECK(failed_with(smelt_texture_create(&options, &texture), SMELT_E_INVALID_ARGUMENT, "1 to 3 levels"));
  options.levels = 3;
  CHECK(smelt_texture_create(&options, &texture) == SMELT_OK);
  CHECK(smelt_texture_get_info(texture, &info) == SMELT_OK);
  CHECK(info.type == 2 && info.width == 4 && info.height == 2 && info.depth == 1 && info.levels == 3);
  CHECK(info.layers == 1 && info.array_length == 1 && info.samples == 1 && info.pixel_format == options.pixel_format);
  CHECK(smelt_texture_get_part(texture, 0, 0, &part) == SMELT_OK);
  CHECK(part.size == 8 && part.row_bytes == 4 && part.slice_bytes == 8 && part.width == 4 && part.depth == 1);
  memcpy(part.data, first, sizeof(first));
  CHECK(smelt_texture_generate_mipmaps(texture) == SMELT_OK);
  CHECK(smelt_texture_get_part(texture, 1, 0, &part) == SMELT_OK);
  CHECK(part.size == 2 && ((unsigned char*)part.data)[0] == 50 && ((unsigned char*)part.data)[1] == 11);
  CHECK(smelt_texture_get_part(texture, 2, 0, &part) == SMELT_OK && part.size == 1);
  CHECK(smelt_texture_get_part(texture, 3, 0, &part) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_get_part(texture, 0, 1, &part) == SMELT_E_INVALID_ARGUMENT);
  smelt_texture_release(texture);
  options.pixel_format = format_named("r8uint");
  CHECK(smelt_texture_create(&options, &texture) == SMELT_OK);
  CHECK(failed_with(smelt_texture_generate_mipmaps(texture), SMELT_E_UNSUPPORTED, "r8uint"));
  smelt_texture_release(texture);
}

static void arrays(void) {
  float values[2 * 3 * 8] = {0};
  uint64_t shape[3] = {2, 3, 4};
  int64_t strides[3] = {96, 16, 4};
  smelt_array array = {sizeof(array), values, shape, strides, 3, SMELT_TYPE_FLOAT32};
  smelt_texture_info info = {sizeof(info)};
  smelt_texture_part part = {sizeof(part)};
  smelt_texture* texture = NULL;
  int released = 0;
  const char* const type = "texture2d<float, read>";
  CHECK(smelt_texture_wrap_array(&array, type, strlen(type), 0, mark, &released, &texture) == SMELT_OK);
  CHECK(smelt_texture_get_info(texture, &info) == SMELT_OK);
  CHECK(info.pixel_format == format_named("rgba32float") && info.width == 3 && info.height == 2);
  CHECK(smelt_texture_get_part(texture, 0, 0, &part) == SMELT_OK && part.data == values && part.row_bytes == 96);
  CHECK(!released);
  smelt_texture_release(texture);
  CHECK(released);
  released = 0;
  shape[2] = 3;
  CHECK(failed_with(smelt_texture_wrap_array(&array, type, strlen(type), 0, mark, &released, &texture),
                    SMELT_E_ARGUMENT_MISMATCH, "three channels"));
  CHECK(texture == NULL && !released); /* still the caller's */
  array.rank = 2;
  array.strides = NULL;
  CHECK(smelt_texture_wrap_array(&array, "texturecube", 11, 0, NULL, NULL, &texture) == SMELT_E_ARGUMENT_MISMATCH);
  CHECK(smelt_texture_wrap_array(&array, "float", 5, 0, NULL, NULL, &texture) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_texture_wrap_array(&array, NULL, 0, 70, NULL, NULL, &texture) == SMELT_E_ARGUMENT_MISMATCH);
  array.element = SMELT_TYPE_INT64;
  CHECK(failed_with(smelt_texture_wrap_array(&array, NULL, 0, 0, NULL, NULL, &texture), SMELT_E_ARGUMENT_MISMATCH,
                    "2 x 3 of int64"));
  array.element = 99;
  CHECK(smelt_texture_wrap_array(&array, NULL, 0, 0, NULL, NULL, &texture) == SMELT_E_INVALID_ARGUMENT);
}

static void samplers(void) {
  smelt_sampler_options options = {sizeof(options), {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  smelt_sampler* sampler = NULL;
  CHECK(smelt_sampler_create(NULL, &sampler) == SMELT_OK);
  smelt_sampler_retain(sampler);
  smelt_sampler_release(sampler);
  smelt_sampler_release(sampler);
  options.address[1] = 1;
  CHECK(failed_with(smelt_sampler_create(&options, &sampler), SMELT_E_UNSUPPORTED, "mirrored edge"));
  options.address[1] = 6;
  CHECK(smelt_sampler_create(&options, &sampler) == SMELT_E_INVALID_ARGUMENT && sampler == NULL);
  options.address[1] = 0;
  options.max_anisotropy = 17;
  CHECK(failed_with(smelt_sampler_create(&options, &sampler), SMELT_E_INVALID_ARGUMENT, "17"));
}

/* Words that do not parse, and what is said of them. */
static void words(void) {
  static const char* const wrong[][2] = {
      {"filter::cubic", "'cubic' is not a value of filter; want nearest, linear"},
      {"filter", "want states as Metal source has them"},
      {"filter::linear, , address::repeat", "want states"},
      {"lod_clamp(1)", "takes 2 numbers"},
      {"lod_clamp(1, x)", "takes 2 numbers"},
      {"lod_clamp(1, 2, 3)", "takes 2 numbers"},
      {"lod_clamp(2, 1)", "from 2 to 1"},
      {"filter(1)", "is not a value of filter"},
      {"max_anisotropy(1.5)", "whole number"},
      {"bias(1)", "'bias' is not a state"},
      {"coord::pixel, address::repeat", "cannot repeat"},
  };
  smelt_sampler* sampler = NULL;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
    CHECK(failed_with(smelt_sampler_parse(wrong[i][0], strlen(wrong[i][0]), &sampler), SMELT_E_INVALID_ARGUMENT,
                      wrong[i][1]));
  CHECK(sampler == NULL);
}

/* "invert" of kernels.c. */
static void run(smelt_device* device, const void* data, size_t size) {
  smelt_texture_options options = {sizeof(options), 2, 0, 2, 2, 1, 1, 1, 1};
  smelt_sampler_options linear = {sizeof(linear), {2, 2, 2}, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  smelt_library* library = NULL;
  smelt_function* function = NULL;
  smelt_pipeline* pipeline = NULL;
  smelt_encoder* encoder = NULL;
  smelt_texture *texture = NULL, *wrong = NULL;
  smelt_sampler* sampler = NULL;
  smelt_arg_info arg = {sizeof(arg)};
  unsigned char image[5] = {1, 2, 77, 4, 5};
  const uint64_t threads[2] = {2, 2};
  static const char text[] =
      "address::repeat, t_address::mirrored_repeat, r_address::clamp_to_border, mag_filter::linear, "
      "mip_filter::linear, "
      "compare_func::equal, max_anisotropy(4), lod_clamp(1.0f, inf), border_color::opaque_white";
  uint64_t state = 0;
  int released = 0;
  CHECK(smelt_library_load(device, data, size, NULL, &library) == SMELT_OK);
  CHECK(smelt_library_get_function(library, "invert", 6, &function) == SMELT_OK);
  CHECK(smelt_function_arg(function, 1, &arg) == SMELT_OK && arg.kind == 2 && arg.access == 3);
  CHECK(smelt_function_get_pipeline(function, NULL, 0, &pipeline) == SMELT_OK);
  CHECK(smelt_encoder_create(device, &encoder) == SMELT_OK);
  CHECK(smelt_encoder_set_pipeline(encoder, pipeline) == SMELT_OK);
  CHECK(smelt_encoder_set_memory(encoder, 0, &state, sizeof(state)) == SMELT_OK);
  CHECK(failed_with(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL), SMELT_E_ARGUMENT_MISMATCH, "'image'"));
  options.pixel_format = format_named("r8unorm");
  CHECK(smelt_texture_wrap(&options, image, 4, 3, NULL, NULL, &texture) == SMELT_E_INVALID_ARGUMENT);
  /* Rows whose bytes wrap around to few. */
  CHECK(failed_with(smelt_texture_wrap(&options, image, sizeof(image), UINT64_MAX / 2 + 4, NULL, NULL, &texture),
                    SMELT_E_INVALID_ARGUMENT, "more than"));
  CHECK(smelt_texture_wrap(&options, image, sizeof(image), 3, mark, &released, &texture) == SMELT_OK);
  options.pixel_format = format_named("r8uint");
  CHECK(smelt_texture_create(&options, &wrong) == SMELT_OK);
  CHECK(smelt_encoder_set_texture(encoder, 0, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_texture(encoder, 128, texture) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_texture(encoder, 0, wrong) == SMELT_OK);
  CHECK(failed_with(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL), SMELT_E_ARGUMENT_MISMATCH, "'by'"));
  CHECK(smelt_sampler_create(&linear, &sampler) == SMELT_OK);
  CHECK(smelt_encoder_set_sampler(encoder, 1, NULL) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_sampler(encoder, 16, sampler) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_encoder_set_sampler(encoder, 1, sampler) == SMELT_OK);
  CHECK(failed_with(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL), SMELT_E_ARGUMENT_MISMATCH, "r8uint"));
  CHECK(smelt_encoder_set_texture(encoder, 0, texture) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL) == SMELT_OK);
  CHECK(image[0] == 254 && image[1] == 253 && image[2] == 77 && image[3] == 251 && image[4] == 250);
  CHECK((state & 0xfff) == (2 | 2 << 3 | 2 << 6 | 1 << 9 | (1 << 11))); /* air.md 3.11: repeat, linear */
  smelt_sampler_release(sampler);
  CHECK(smelt_sampler_parse(text, strlen(text), &sampler) == SMELT_OK);
  CHECK(smelt_encoder_set_sampler(encoder, 1, sampler) == SMELT_OK);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL) == SMELT_OK);
  CHECK((state & 0xffffff) == (2 | 3 << 3 | 4 << 6 | 1 << 9 | 0 << 11 | 2 << 13 | 5 << 16 | 3 << 20));
  CHECK((state >> 24 & 0xffff) == 0x3c00 && (state >> 40 & 0xffff) == 0x7bff && state >> 56 == 2);
  CHECK(smelt_encoder_dispatch_threads(encoder, threads, 2, NULL) == SMELT_OK);
  smelt_texture_release(texture);
  smelt_texture_release(wrong);
  smelt_sampler_release(sampler);
  CHECK(!released); /* the encoder holds it */
  smelt_encoder_release(encoder);
  CHECK(released);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
}

int smelt_c_textures_test(const void* data, size_t size) {
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 2, NULL};
  smelt_device* device = NULL;
  failures = 0;
  formats();
  levels();
  arrays();
  samplers();
  words();
  CHECK(smelt_device_open(&options, &device) == SMELT_OK);
  run(device, data, size);
  smelt_device_release(device);
  return failures;
}
