/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compile STORE METALLIB: compiling by the C API, in memory: source to a package that runs, from the store the second
 * time, CPU code for a Metal library, and what goes wrong said. Compiled by strangers against the installed headers. */
#include <smelt/compiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      smelt_error_info e_ = {sizeof(e_)};                                       \
      smelt_last_error(&e_);                                                    \
      fprintf(stderr, "line %d: %s\n  %s\n", __LINE__, #condition, e_.message); \
      return 1;                                                                 \
    }                                                                           \
  } while (0)

static const char* const kSource =
    "#include \"factor.h\"\n"
    "kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { int unused; x[i] *= FACTOR; }\n";

static smelt_compiled_info info_of(const smelt_compiled* compiled) {
  smelt_compiled_info info = {sizeof(info)};
  if (smelt_compiled_get_info(compiled, &info)) memset(&info, 0, sizeof(info));
  return info;
}

/* x[0] after one launch on 1; negative when it did not come to one. */
static float run(const void* package, size_t size, const char* kernel) {
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 1, 0};
  smelt_device* device = 0;
  smelt_library* library = 0;
  smelt_function* function = 0;
  smelt_pipeline* pipeline = 0;
  smelt_encoder* encoder = 0;
  float x = 1;
  const uint64_t threads = 1;
  const int failed = smelt_device_open(&options, &device) || smelt_library_load(device, package, size, 0, &library) ||
                     smelt_library_get_function(library, kernel, strlen(kernel), &function) ||
                     smelt_function_get_pipeline(function, 0, 0, &pipeline) || smelt_encoder_create(device, &encoder) ||
                     smelt_encoder_set_pipeline(encoder, pipeline) ||
                     smelt_encoder_set_memory(encoder, 0, &x, sizeof(x)) ||
                     smelt_encoder_dispatch_threads(encoder, &threads, 1, 0) || smelt_encoder_wait(encoder);
  smelt_encoder_release(encoder);
  smelt_pipeline_release(pipeline);
  smelt_function_release(function);
  smelt_library_release(library);
  smelt_device_release(device);
  return failed ? -1 : x;
}

static int calls;
static int count_and_go_on(void* context, const char* stage, size_t done, size_t total) {
  (void)stage, (void)done, (void)total;
  ++*(int*)context;
  return 1;
}
static int stop(void* context, const char* stage, size_t done, size_t total) {
  (void)context, (void)stage, (void)done, (void)total;
  return 0;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  smelt_compiler_options with = {sizeof(with), arguments[1]};
  smelt_compiler* compiler = 0;
  CHECK(smelt_compiler_open(&with, &compiler) == SMELT_OK);

  const char* const targets[] = {"macos14", "ios17"};
  const char* const folders[] = {arguments[3]};
  smelt_compile_options options = {sizeof(options)};
  options.targets = targets, options.target_count = 2;
  options.include_folders = folders, options.include_folder_count = 1;
  options.name = "scales";
  options.progress = count_and_go_on, options.progress_context = &calls;
  const smelt_source source = {"scale.metal", kSource, strlen(kSource)};
  smelt_compiled* compiled = 0;
  CHECK(smelt_compile(compiler, &source, 1, &options, &compiled) == SMELT_OK);
  smelt_compiled_info info = info_of(compiled);
  CHECK(!info.hit && info.kernels == 1 && info.package_size > 100 && calls > 0);
  CHECK(run(info.package, info.package_size, "scale") == 3);
  smelt_compiled* again = 0;
  CHECK(smelt_compile(compiler, &source, 1, &options, &again) == SMELT_OK);
  CHECK(info_of(again).hit && memcmp(info_of(again).key, info.key, 32) == 0);
  CHECK(info_of(again).package_size == info.package_size &&
        memcmp(info_of(again).package, info.package, info.package_size) == 0);
  smelt_compiled_release(again);
  smelt_compiled_release(compiled);

  /* Its kernels one by one. */
  const char* const three =
      "kernel void one(device float* x) { x[0] = 1; }\n"
      "kernel void two(device float* x) { x[0] = 2; }\n"
      "kernel void three(device float* x) { x[0] = 3; }\n";
  const smelt_source many = {"many.metal", three, strlen(three)};
  smelt_translated* translated = 0;
  const char* name = 0;
  size_t length = 0;
  CHECK(smelt_translate(compiler, &many, 1, 0, &translated) == SMELT_OK);
  CHECK(smelt_translated_kernel_count(translated) == 3);
  CHECK(smelt_translated_kernel_name(translated, 1, &name, &length) == SMELT_OK);
  CHECK(length == 3 && memcmp(name, "two", 3) == 0);
  CHECK(smelt_translated_kernel_name(translated, 3, &name, &length) == SMELT_E_INVALID_ARGUMENT && name == 0);
  CHECK(smelt_translated_compile(translated, "two", 3, 0, &compiled) == SMELT_OK);
  CHECK(!info_of(compiled).hit && info_of(compiled).kernels == 1);
  CHECK(run(info_of(compiled).package, info_of(compiled).package_size, "two") == 2);
  CHECK(run(info_of(compiled).package, info_of(compiled).package_size, "one") == -1);
  smelt_compiled_release(compiled);
  CHECK(smelt_translated_compile(translated, "two", 3, 0, &compiled) == SMELT_OK && info_of(compiled).hit);
  smelt_compiled_release(compiled);
  CHECK(smelt_translated_compile(translated, "four", 4, 0, &compiled) == SMELT_E_FUNCTION_NOT_FOUND && compiled == 0);
  CHECK(smelt_translated_compile(translated, "two", 3, "fast", &compiled) == SMELT_OK && !info_of(compiled).hit);
  smelt_compiled_release(compiled);
  CHECK(smelt_translated_compile(translated, "two", 3, "hasty", &compiled) == SMELT_E_INVALID_ARGUMENT &&
        compiled == 0);
  CHECK(smelt_translated_compile(translated, 0, 4, 0, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_translated_compile(0, "two", 3, 0, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_translated_kernel_count(0) == 0);
  smelt_translated_retain(translated);
  smelt_translated_release(translated);
  smelt_translated_release(translated);

  /* A Metal library has no CPU code until it is made. */
  FILE* file = fopen(arguments[2], "rb");
  static char bytes[1 << 20];
  const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
  CHECK(size > 100 && size < sizeof(bytes));
  fclose(file);
  CHECK(run(bytes, size, "halve") == -1);
  const smelt_source library = {"halve.metallib", bytes, size};
  CHECK(smelt_compile_cpu_code(compiler, &library, 0, 0, &compiled) == SMELT_OK);
  CHECK(run(info_of(compiled).package, info_of(compiled).package_size, "halve") == 0.5f);
  smelt_compiled_release(compiled);

  /* What goes wrong. */
  const smelt_source wrong = {"wrong.metal", "kernel void f(device float* x) { x[0] = nothing; }\n", 51};
  smelt_error_info error = {sizeof(error)};
  CHECK(smelt_compile(compiler, &wrong, 1, 0, &compiled) == SMELT_E_COMPILE_FAILED && compiled == 0);
  CHECK(smelt_last_error(&error) == SMELT_OK && error.code == SMELT_E_COMPILE_FAILED);
  CHECK(strstr(error.message, "wrong.metal:1:") && strstr(error.message, "nothing"));
  CHECK(smelt_translate(compiler, &wrong, 1, 0, &translated) == SMELT_E_COMPILE_FAILED && translated == 0);
  CHECK(smelt_translate(compiler, &library, 1, 0, &translated) == SMELT_E_INVALID_ARGUMENT);
  const char* const nowhere[] = {"amiga1"};
  options.targets = nowhere, options.target_count = 1;
  CHECK(smelt_compile(compiler, &source, 1, &options, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_last_error(&error) == SMELT_OK && strstr(error.message, "amiga1"));
  options.targets = 0;
  CHECK(smelt_compile(compiler, &source, 1, &options, &compiled) == SMELT_E_INVALID_ARGUMENT);
  options.target_count = 0;
  options.checked = 1; /* another request: not in the store */
  options.progress = stop;
  CHECK(smelt_compile(compiler, &source, 1, &options, &compiled) == SMELT_E_CANCELLED);
  options.progress = 0;
  options.timeout = -1;
  CHECK(smelt_compile(compiler, &source, 1, &options, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_compile(compiler, 0, 1, 0, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_compile(0, &source, 1, 0, &compiled) == SMELT_E_INVALID_ARGUMENT);
  CHECK(smelt_compile_cpu_code(compiler, &source, 0, 0, &compiled) != SMELT_OK);
  CHECK(smelt_compiled_get_info(0, &info) == SMELT_E_INVALID_ARGUMENT);
  smelt_compiler* offline = 0;
  with.offline = 1;
  CHECK(smelt_compiler_open(&with, &offline) == SMELT_OK);
  const smelt_source fresh = {"fresh.metal", "kernel void g(device float* x) { x[0] = 7; }", 44};
  CHECK(smelt_compile(offline, &fresh, 1, 0, &compiled) == SMELT_E_NOT_CACHED);
  smelt_compiler_release(offline);
  smelt_compiler_cancel(0);
  smelt_compiler_cancel(compiler);
  CHECK(smelt_compile(compiler, &fresh, 1, 0, &compiled) == SMELT_E_CANCELLED && compiled == 0);
  smelt_compiler_release(compiler);
  printf("compiled in C\n");
  return 0;
}
