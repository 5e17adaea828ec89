/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every function that run.c calls, found by name at run time. */
#include <dlfcn.h>

#define FUNCTIONS(f)                                                                                                   \
  f(smelt_last_error) f(smelt_device_open) f(smelt_library_load_file) f(smelt_library_get_function)                    \
      f(smelt_function_get_pipeline) f(smelt_encoder_create) f(smelt_encoder_set_pipeline) f(smelt_encoder_set_memory) \
          f(smelt_encoder_set_bytes) f(smelt_encoder_dispatch_threads) f(smelt_encoder_wait) f(smelt_encoder_release)  \
              f(smelt_pipeline_release) f(smelt_function_release) f(smelt_library_release) f(smelt_device_release)     \
                  f(smelt_version)

#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static int open_smelt(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 0;
#define FIND(name) \
  if (!(p_##name = (__typeof__(&name))dlsym(library, #name))) return fprintf(stderr, "no %s\n", #name), 0;
  FUNCTIONS(FIND)
  return 1;
}

#define smelt_last_error p_smelt_last_error
#define smelt_device_open p_smelt_device_open
#define smelt_library_load_file p_smelt_library_load_file
#define smelt_library_get_function p_smelt_library_get_function
#define smelt_function_get_pipeline p_smelt_function_get_pipeline
#define smelt_encoder_create p_smelt_encoder_create
#define smelt_encoder_set_pipeline p_smelt_encoder_set_pipeline
#define smelt_encoder_set_memory p_smelt_encoder_set_memory
#define smelt_encoder_set_bytes p_smelt_encoder_set_bytes
#define smelt_encoder_dispatch_threads p_smelt_encoder_dispatch_threads
#define smelt_encoder_wait p_smelt_encoder_wait
#define smelt_encoder_release p_smelt_encoder_release
#define smelt_pipeline_release p_smelt_pipeline_release
#define smelt_function_release p_smelt_function_release
#define smelt_library_release p_smelt_library_release
#define smelt_device_release p_smelt_device_release
#define smelt_version p_smelt_version
