/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* smelt in plain C: load packages and Metal libraries, run their kernels. docs/reference/c.md.
 *
 * Rules, for every function here:
 *   - it returns SMELT_OK or a status; results come through out-parameters, which are null (or zero) on failure;
 *   - null handles and null out-parameters are answered with SMELT_E_INVALID_ARGUMENT, never with a crash;
 *   - nothing throws or aborts;
 *   - objects are reference counted: what a call hands out is released by the caller; what an object stands on is kept
 *     alive by it, so a library may be released while its pipelines are in use;
 *   - text carries its length and is also followed by a NUL; names passed in need not be terminated;
 *   - option and info structs begin with struct_size, set by the caller to sizeof: fields beyond it are left alone.
 * Threads: all objects may be used from any thread, except that an encoder and the memory bound to it belong to one
 * thread at a time. The last error is the calling thread's own.
 */
#ifndef SMELT_SMELT_H
#define SMELT_SMELT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SMELT_API __attribute__((visibility("default")))
#else
#define SMELT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and errors ---- */

typedef int32_t smelt_status;
enum {
  SMELT_OK = 0,
  SMELT_E_INVALID_ARGUMENT,
  SMELT_E_SOURCE_TYPE,
  SMELT_E_FILE_NOT_FOUND,
  SMELT_E_IO,
  SMELT_E_NOT_METALLIB,
  SMELT_E_TRUNCATED,
  SMELT_E_CORRUPT,
  SMELT_E_FORMAT_NEWER,
  SMELT_E_EMPTY_LIBRARY,
  SMELT_E_UNSUPPORTED_PLATFORM,
  SMELT_E_UNSUPPORTED_OS,
  SMELT_E_UNSUPPORTED_LANGUAGE,
  SMELT_E_UNSUPPORTED_FAMILY,
  SMELT_E_UNTRUSTED,
  SMELT_E_DIGEST_MISMATCH,
  SMELT_E_FUNCTION_NOT_FOUND,
  SMELT_E_FUNCTION_KIND,
  SMELT_E_CONSTANT_MISSING,
  SMELT_E_CONSTANT_UNKNOWN,
  SMELT_E_CONSTANT_TYPE,
  SMELT_E_PIPELINE_FAILED,
  SMELT_E_THREADS_MISSING,
  SMELT_E_RANK_MISMATCH,
  SMELT_E_GROUP_ZERO,
  SMELT_E_GROUP_TOO_LARGE,
  SMELT_E_THREADGROUP_MEMORY_TOO_LARGE,
  SMELT_E_BUFFER_INDEX,
  SMELT_E_ARGUMENT_EMPTY,
  SMELT_E_ARGUMENT_TYPE,
  SMELT_E_ARGUMENT_DEVICE,
  SMELT_E_ARGUMENT_MISMATCH,
  SMELT_E_CAST_UNKNOWN,
  SMELT_E_DEVICE_UNAVAILABLE,
  SMELT_E_NOT_CACHED,
  SMELT_E_STORE_LOCKED,
  SMELT_E_STORE_CORRUPT,
  SMELT_E_STORE_NEWER,
  SMELT_E_COMPILE_FAILED,
  SMELT_E_TOOLCHAIN_MISSING,
  SMELT_E_UNSUPPORTED,
  SMELT_E_BUFFER_BOUNDS,
  SMELT_E_CANCELLED,
  SMELT_E_OUT_OF_MEMORY = 1000
};

typedef struct smelt_error_info {
  size_t struct_size;
  smelt_status code;
  const char* message; /* what was asked; what was found; what would satisfy it */
  size_t message_length;
  const char* subject; /* the file, function or key it is about; may be empty */
  size_t subject_length;
  const char* detail; /* the same as a JSON object: code, message, subject */
  size_t detail_length;
} smelt_error_info;

/* The calling thread's last failure; its text is valid until that thread's next failing call. SMELT_OK in `code` when
 * nothing has failed yet. */
SMELT_API smelt_status smelt_last_error(smelt_error_info* info);
/* For libraries that work with this one: makes a failure the calling thread's last, and returns its code. `subject` may
 * be null. SMELT_E_INVALID_ARGUMENT, and nothing done, for SMELT_OK or without a message. */
SMELT_API smelt_status smelt_set_last_error(smelt_status code, const char* message, const char* subject);
/* If the process crashes in a kernel on the CPU (SIGSEGV, SIGBUS), prints the kernel's name, the sizes of its buffers
 * and `advice` (may be null; copied) to stderr. Then the handler that was installed before runs. Only the first call of
 * a process has an effect. */
SMELT_API void smelt_report_crashes(const char* advice);
/* "truncated", ...; "unknown" for numbers that are no status. Static. */
SMELT_API const char* smelt_status_name(smelt_status status);
/* "0.1.0". Static. */
SMELT_API const char* smelt_version(void);

/* ---- objects ---- */

typedef struct smelt_device smelt_device;
typedef struct smelt_package smelt_package;
typedef struct smelt_library smelt_library;
typedef struct smelt_function smelt_function;
typedef struct smelt_pipeline smelt_pipeline;
typedef struct smelt_encoder smelt_encoder;
typedef struct smelt_buffer smelt_buffer;
typedef struct smelt_texture smelt_texture;
typedef struct smelt_sampler smelt_sampler;

SMELT_API void smelt_device_retain(smelt_device*);
SMELT_API void smelt_device_release(smelt_device*);
SMELT_API void smelt_package_retain(smelt_package*);
SMELT_API void smelt_package_release(smelt_package*);
SMELT_API void smelt_library_retain(smelt_library*);
SMELT_API void smelt_library_release(smelt_library*);
SMELT_API void smelt_function_retain(smelt_function*);
SMELT_API void smelt_function_release(smelt_function*);
SMELT_API void smelt_pipeline_retain(smelt_pipeline*);
SMELT_API void smelt_pipeline_release(smelt_pipeline*);
SMELT_API void smelt_encoder_retain(smelt_encoder*);
SMELT_API void smelt_encoder_release(smelt_encoder*);
SMELT_API void smelt_buffer_retain(smelt_buffer*);
SMELT_API void smelt_buffer_release(smelt_buffer*);
SMELT_API void smelt_texture_retain(smelt_texture*);
SMELT_API void smelt_texture_release(smelt_texture*);
SMELT_API void smelt_sampler_retain(smelt_sampler*);
SMELT_API void smelt_sampler_release(smelt_sampler*);

/* ---- devices ---- */

enum { SMELT_DEVICE_AUTOMATIC = 0, SMELT_DEVICE_METAL = 1, SMELT_DEVICE_CPU = 2, SMELT_DEVICE_OFFLINE = 3 };

typedef struct smelt_device_options {
  size_t struct_size;
  int32_t kind;          /* SMELT_DEVICE_... */
  uint32_t threads;      /* cpu: threads of a dispatch, the caller included; 0: as many as the process may use */
  const char* cpu_level; /* cpu: forces "x86-64-v3", ...; null: $SMELT_CPU, else the best that fits */
  /* cpu: how long one launch may take; then it ends between two groups, its buffers half written, as
   * SMELT_E_CANCELLED. 0: $SMELT_LAUNCH_LIMIT in seconds, else no limit. */
  uint32_t launch_limit_ms;
  /* cpu: asked about every 20 ms of a launch, on the thread that dispatched it; not 0 ends it likewise. May be null. */
  int32_t (*interrupted)(void* context);
  void* interrupted_context;
} smelt_device_options;

typedef struct smelt_device_info {
  size_t struct_size;
  int32_t kind;
  const char* name; /* valid as long as the device */
  size_t name_length;
  uint64_t max_threads_per_threadgroup;
  uint64_t max_threadgroup_memory;
  uint64_t thread_execution_width;
  int32_t limits_estimated; /* 1: upper bounds, not the hardware's answer */
  uint32_t buffer_slots;
  uint64_t inline_bytes;     /* longer smelt_encoder_set_bytes is copied into a buffer */
  uint64_t max_buffer_bytes; /* of one buffer; 0: unknown */
  uint64_t memory_bytes;     /* that all buffers together should stay below; 0: unknown */
  uint16_t apple_family;     /* 7 is Apple7; 0: none */
  uint16_t metal_version[2]; /* major, minor; zeros: not a Metal device */
  uint16_t os_version[3];    /* likewise */
} smelt_device_info;

/* Null options: an automatic device. */
SMELT_API smelt_status smelt_device_open(const smelt_device_options* options, smelt_device** out);
SMELT_API smelt_status smelt_device_get_info(const smelt_device* device, smelt_device_info* info);

/* ---- packages ---- */

/* Copies the bytes. */
SMELT_API smelt_status smelt_package_open(const void* data, size_t size, smelt_package** out);
/* Maps the file, which must not be changed in place while in use. */
SMELT_API smelt_status smelt_package_open_file(const char* path, smelt_package** out);
SMELT_API size_t smelt_package_library_count(const smelt_package* package);
SMELT_API smelt_status smelt_package_library_name(const smelt_package* package, size_t index, const char** name,
                                                  size_t* length);
/* 32 bytes. */
SMELT_API smelt_status smelt_package_digest(const smelt_package* package, uint8_t* digest);

/* ---- libraries ---- */

/* Whose CPU code runs from a package. Those that are not 0 stand above the environment variable SMELT_TRUST. */
enum { SMELT_TRUST_ENVIRONMENT = 0, SMELT_TRUST_ANY = 1, SMELT_TRUST_LOCAL = 2, SMELT_TRUST_SIGNED = 3 };
enum { SMELT_VERIFY_STRUCTURE = 0, SMELT_VERIFY_NONE = 1, SMELT_VERIFY_DIGEST = 2, SMELT_VERIFY_FULL = 3 };

typedef struct smelt_load_options {
  size_t struct_size;
  int32_t verify;          /* SMELT_VERIFY_... */
  int32_t allow_empty;     /* 1: a library without functions is no error */
  uint16_t force_metal[2]; /* major, minor; {0, 0}: any */
  const uint8_t* expect;   /* 32 bytes that the content digest must be; null: any */
  const char* library;     /* which library of a package; null when it holds one */
  size_t library_length;
  int32_t checked;          /* 1: bounds-checked CPU code; plus 2: races, 4: init, 8: sync */
  int32_t allow_no_code;    /* 1: a plain metallib on the CPU device, for its names alone; else that is an error */
  int32_t trust;            /* SMELT_TRUST_...: a package that it does not allow is SMELT_E_UNTRUSTED */
  int32_t ignore_native;    /* 1: no CPU code is used, whoever signed it */
  const char* trusted_keys; /* NAME:BASE64 or paths of files of them, separated by spaces, ended by 0; besides those of
                             * the environment. Null: none */
} smelt_load_options;

/* Metallib or package, told apart by content; the bytes are copied. Null options: defaults. A plain metallib has
 * code for Metal only: on the CPU device it is SMELT_E_UNSUPPORTED_PLATFORM; compile it to a package first. */
SMELT_API smelt_status smelt_library_load(smelt_device* device, const void* data, size_t size,
                                          const smelt_load_options* options, smelt_library** out);
SMELT_API smelt_status smelt_library_load_file(smelt_device* device, const char* path,
                                               const smelt_load_options* options, smelt_library** out);
SMELT_API smelt_status smelt_library_load_package(smelt_device* device, smelt_package* package,
                                                  const smelt_load_options* options, smelt_library** out);
SMELT_API size_t smelt_library_function_count(const smelt_library* library);
/* In file order; valid as long as the library. No NUL follows: the text is in the file. */
SMELT_API smelt_status smelt_library_function_name(const smelt_library* library, size_t index, const char** name,
                                                   size_t* length);
SMELT_API smelt_status smelt_library_get_function(smelt_library* library, const char* name, size_t length,
                                                  smelt_function** out);
SMELT_API smelt_status smelt_library_digest(const smelt_library* library, uint8_t* digest);
/* One line per slice: why it was chosen or not. Valid as long as the library. */
SMELT_API smelt_status smelt_library_slice_report(const smelt_library* library, const char** text, size_t* length);

/* Called once per batch, one call at a time, maybe from another thread. 0 stops. */
typedef int (*smelt_progress)(void* context, size_t done, size_t total);
/* Builds pipelines of `count` names (count 0: all kernels that need no constants). `prepared` may be null. */
SMELT_API smelt_status smelt_library_prepare(smelt_library* library, const char* const* names, const size_t* lengths,
                                             size_t count, smelt_progress progress, void* context, size_t* prepared);

/* Model load in one call: loads every library of the package and builds all their pipelines that need no constants,
 * several at a time; `progress` counts the pipelines of all. `libraries` has room for smelt_package_library_count and
 * gets a reference to each, in the order of the package: the pipelines stay ready as long as their libraries. On
 * failure it holds nulls. */
SMELT_API smelt_status smelt_package_prepare(smelt_package* package, smelt_device* device,
                                             const smelt_load_options* options, smelt_progress progress, void* context,
                                             smelt_library** libraries, size_t* prepared);

/* ---- functions ---- */

/* What one element of an argument or constant is. */
enum {
  SMELT_TYPE_UNKNOWN = 0, /* a structure, a pointer, or nothing that the file tells */
  SMELT_TYPE_BOOL = 1,
  SMELT_TYPE_INT8 = 2,
  SMELT_TYPE_UINT8 = 3,
  SMELT_TYPE_INT16 = 4,
  SMELT_TYPE_UINT16 = 5,
  SMELT_TYPE_INT32 = 6,
  SMELT_TYPE_UINT32 = 7,
  SMELT_TYPE_INT64 = 8,
  SMELT_TYPE_UINT64 = 9,
  SMELT_TYPE_FLOAT16 = 10,
  SMELT_TYPE_BFLOAT16 = 11,
  SMELT_TYPE_FLOAT32 = 12
};

typedef struct smelt_function_info {
  size_t struct_size;
  const char* name; /* not followed by a NUL */
  size_t name_length;
  int32_t
      kind; /* 0 kernel, 1 vertex, 2 fragment, 3 unqualified, 4 visible, 5 extern, 6 intersection, 7 mesh, 8 object */
  uint16_t metal_version[2];
  size_t arg_count;
  size_t constant_count;
} smelt_function_info;

typedef struct smelt_arg_info {
  size_t struct_size;
  const char* name; /* texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name;
  size_t type_name_length;
  uint32_t index; /* slot */
  int32_t kind;   /* 0 buffer, 1 threadgroup, 2 texture, 3 sampler, 4 indirect buffer, 5 function table, 6 acceleration
                     structure, 7 other; 9 input and 10 result of a vertex or fragment function: arrays that are bound
                     as buffers are (docs/reference/stages.md) */
  int32_t access; /* 0 none, 1 read, 2 write, 3 read and write, 4 sample */
  uint32_t address_space;
  uint32_t size;
  uint32_t align;
  int32_t unused;
  int32_t conditional;
  int32_t type;             /* SMELT_TYPE_..., of the pointee */
  uint32_t type_components; /* 1, or 2 to 4 of a vector; 0 when the type is unknown */
  uint32_t array_size;      /* slots from `index` on */
  size_t member_count;      /* of an argument buffer, or a structure in constant memory, where the package lists them */
} smelt_arg_info;

typedef struct smelt_member_info {
  size_t struct_size;
  const char* name; /* "lights[1].colour"; texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name; /* of a pointer: its target's */
  size_t type_name_length;
  int32_t kind;           /* 0 pointer, 1 value, 2 other (a texture, a sampler) */
  uint32_t id;            /* [[id(n)]] in an argument buffer */
  uint32_t offset;        /* bytes from the beginning of the structure */
  uint32_t size;          /* bytes of an element */
  uint32_t element_count; /* of an array; 0: no array */
} smelt_member_info;

typedef struct smelt_constant_info {
  size_t struct_size;
  const char* name; /* texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name;
  size_t type_name_length;
  uint32_t index;
  int32_t required;
  int32_t type;             /* SMELT_TYPE_... */
  uint32_t type_components; /* 1, or 2 to 4 of a vector */
} smelt_constant_info;

enum {
  SMELT_CONSTANT_BOOL = 0, /* components are uint8_t */
  SMELT_CONSTANT_INT = 1,  /* int64_t */
  SMELT_CONSTANT_UINT = 2, /* uint64_t */
  SMELT_CONSTANT_FLOAT = 3 /* double */
};
/* One more kind: components of a SMELT_TYPE_..., as they are in memory. */
#define SMELT_CONSTANT_OF(type) (16 + (int)(type))

/* A value for a function constant; it is fitted to the constant's own type, or refused. */
typedef struct smelt_constant {
  const char* name; /* null: by index */
  size_t name_length;
  uint32_t index;
  int32_t kind;           /* SMELT_CONSTANT_... or SMELT_CONSTANT_OF(SMELT_TYPE_...): how `components` is to be read */
  const void* components; /* `count` of them */
  size_t count;           /* 1 for a scalar */
} smelt_constant;

SMELT_API smelt_status smelt_function_get_info(const smelt_function* function, smelt_function_info* info);
SMELT_API smelt_status smelt_function_arg(const smelt_function* function, size_t index, smelt_arg_info* info);
SMELT_API smelt_status smelt_function_constant(const smelt_function* function, size_t index, smelt_constant_info* info);
/* SMELT_OK when its pipeline can be built on the library's device; else why not. */
SMELT_API smelt_status smelt_function_usable(const smelt_function* function);
SMELT_API smelt_status smelt_function_get_pipeline(smelt_function* function, const smelt_constant* constants,
                                                   size_t count, smelt_pipeline** out);

typedef struct smelt_pipeline_options {
  size_t struct_size;
  const smelt_constant* constants;
  size_t constant_count;
  int32_t lenient; /* 1: constants as with MTLFunctionConstantValues: numbers are converted as in C, and what is needed
                      and missing is 0. 0: each of these is an error. Either way values that the function does not
                      declare are passed over, so a program may hand one set of values to every kernel */
} smelt_pipeline_options;

/* Null options: no constants. */
SMELT_API smelt_status smelt_function_make_pipeline(smelt_function* function, const smelt_pipeline_options* options,
                                                    smelt_pipeline** out);

/* ---- pipelines ---- */

typedef struct smelt_pipeline_limits {
  size_t struct_size;
  uint64_t max_threads_per_threadgroup;
  uint64_t thread_execution_width;
  uint64_t static_threadgroup_memory_length;
  uint64_t required_group[3]; /* zeros: any */
  int32_t limits_estimated;
} smelt_pipeline_limits;

SMELT_API smelt_status smelt_pipeline_info(const smelt_pipeline* pipeline, smelt_pipeline_limits* limits);

/* Of the function; valid as long as the pipeline. */
SMELT_API smelt_status smelt_pipeline_name(const smelt_pipeline* pipeline, const char** name, size_t* length);
SMELT_API size_t smelt_pipeline_arg_count(const smelt_pipeline* pipeline);
SMELT_API smelt_status smelt_pipeline_arg(const smelt_pipeline* pipeline, size_t index, smelt_arg_info* info);
/* `member` counts from 0 to member_count of that argument. */
SMELT_API smelt_status smelt_pipeline_arg_member(const smelt_pipeline* pipeline, size_t index, size_t member,
                                                 smelt_member_info* info);

/* ---- buffers ---- */

/* Zeroed. */
SMELT_API smelt_status smelt_buffer_create(smelt_device* device, uint64_t size, smelt_buffer** out);
/* The caller's memory; `release(context)` is called when the buffer is done with it (may be null). */
SMELT_API smelt_status smelt_buffer_wrap(smelt_device* device, void* memory, uint64_t size,
                                         void (*release)(void* context), void* context, smelt_buffer** out);
SMELT_API smelt_status smelt_buffer_contents(smelt_buffer* buffer, void** contents, uint64_t* size);
SMELT_API smelt_status smelt_buffer_gpu_address(const smelt_buffer* buffer, uint64_t* address);

/* ---- textures and samplers (cpu device) ---- */

/* The numbers of types, pixel formats, filters, address modes and compare functions are Metal's: those of
 * MTLTextureType, MTLPixelFormat, MTLSamplerMinMagFilter, MTLSamplerMipFilter, MTLSamplerAddressMode,
 * MTLCompareFunction and MTLSamplerBorderColor. */

typedef struct smelt_texture_options {
  size_t struct_size;
  uint32_t type;                 /* 2: a 2D texture */
  uint32_t pixel_format;         /* smelt_pixel_format_named */
  uint32_t width, height, depth; /* 0 is 1, here and below */
  uint32_t array_length;         /* of a cube array: cubes */
  uint32_t levels;
  uint32_t samples;
} smelt_texture_options;

typedef struct smelt_texture_info {
  size_t struct_size;
  uint32_t type, pixel_format, width, height, depth, array_length, levels, samples;
  uint32_t layers; /* slices of an array, six faces of each cube */
} smelt_texture_info;

/* Where the texels of one level of one layer lie, or the blocks of a compressed format: then rows are those of blocks,
 * while width and height count texels. Blocks may be written any time; a dispatch sees what they are when it is
 * encoded. */
typedef struct smelt_texture_part {
  size_t struct_size;
  void* data;
  uint64_t size;
  uint64_t row_bytes, slice_bytes; /* from one row, from one slice of a 3D texture to the next */
  uint32_t width, height, depth;
} smelt_texture_part;

typedef struct smelt_pixel_format_info {
  size_t struct_size;
  const char* name; /* "rgba8unorm"; static */
  size_t name_length;
  uint32_t texel_bytes;               /* of a compressed format: of a block, which counts as bytes */
  int32_t element;                    /* SMELT_TYPE_... */
  uint32_t channels;                  /* elements of a texel; 0: the texel is one element, with all channels in it */
  uint32_t block_width, block_height; /* in texels; 1 of what is not compressed */
} smelt_pixel_format_info;

/* An array in memory, as NumPy and DLPack describe it. */
typedef struct smelt_array {
  size_t struct_size;
  void* data;
  const uint64_t* shape;
  const int64_t* strides; /* in bytes; null: the order of indexes, without gaps */
  size_t rank;
  int32_t element; /* SMELT_TYPE_... */
} smelt_array;

/* Zeroed. */
SMELT_API smelt_status smelt_texture_create(const smelt_texture_options* options, smelt_texture** out);
/* The caller's memory, level 0 alone, rows `row_bytes` apart (0: without gaps); of a compressed format maybe all levels
 * of the first layer, then those of the next, as files have them. `release(context)` is called when the
 * texture is done with it (may be null). */
SMELT_API smelt_status smelt_texture_wrap(const smelt_texture_options* options, void* memory, uint64_t size,
                                          uint64_t row_bytes, void (*release)(void* context), void* context,
                                          smelt_texture** out);
/* An array's memory. `type` is what it is for, "texture2d<float, read>" as smelt_arg_info has it or "texture2d"; null:
 * what the shape says. `pixel_format` 0: what elements, channels and `type` say. Indexes of the array are those of the
 * type, outermost first, then maybe the channels. SMELT_E_ARGUMENT_MISMATCH says what would fit. */
SMELT_API smelt_status smelt_texture_wrap_array(const smelt_array* array, const char* type, size_t type_length,
                                                uint32_t pixel_format, void (*release)(void* context), void* context,
                                                smelt_texture** out);
SMELT_API smelt_status smelt_texture_get_info(const smelt_texture* texture, smelt_texture_info* info);
/* Valid as long as the texture. */
SMELT_API smelt_status smelt_texture_get_part(smelt_texture* texture, uint32_t level, uint32_t layer,
                                              smelt_texture_part* part);
/* Every level from the one before, by averages. SMELT_E_UNSUPPORTED for integers, formats of one word
 * and compressed ones. */
SMELT_API smelt_status smelt_texture_generate_mipmaps(smelt_texture* texture);
/* The number of "rgba8unorm". */
SMELT_API smelt_status smelt_pixel_format_named(const char* name, size_t length, uint32_t* pixel_format);
SMELT_API smelt_status smelt_pixel_format_get_info(uint32_t pixel_format, smelt_pixel_format_info* info);

typedef struct smelt_sampler_options {
  size_t struct_size;
  uint32_t address[3]; /* of s, t, r. 0 clamp to edge, 2 repeat, 3 mirrored repeat, 4 clamp to zero, 5 to the border */
  uint32_t magnify, minify;  /* 0 nearest, 1 linear */
  uint32_t mip;              /* 0 none, 1 nearest, 2 linear */
  int32_t pixel_coordinates; /* 1: coordinates count texels */
  uint32_t
      compare;     /* 0 never, 1 less, 2 equal, 3 less or equal, 4 greater, 5 not equal, 6 greater or equal, 7 always */
  uint32_t border; /* 0 transparent black, 1 opaque black, 2 opaque white */
  uint32_t max_anisotropy; /* 1 to 16; 0 is 1 */
  float lod_min;
  float lod_max;
  int32_t has_lod_max; /* 0: lod_max is not looked at, and there is no limit */
} smelt_sampler_options;

/* Null options: nearest, clamped to the edge. */
SMELT_API smelt_status smelt_sampler_create(const smelt_sampler_options* options, smelt_sampler** out);
/* The same in the words of Metal source: "filter::linear, address::repeat, lod_clamp(0, 2)". */
SMELT_API smelt_status smelt_sampler_parse(const char* words, size_t length, smelt_sampler** out);

/* ---- encoders ---- */

SMELT_API smelt_status smelt_encoder_create(smelt_device* device, smelt_encoder** out);
SMELT_API smelt_status smelt_encoder_set_pipeline(smelt_encoder* encoder, smelt_pipeline* pipeline);
/* A null buffer (offset 0) binds the null address, for kernels that take it as "none". */
SMELT_API smelt_status smelt_encoder_set_buffer(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer,
                                                uint64_t offset);
SMELT_API smelt_status smelt_encoder_set_bytes(smelt_encoder* encoder, uint32_t index, const void* data, size_t size);
/* cpu device only: the caller's memory, borrowed until the dispatch has run. */
SMELT_API smelt_status smelt_encoder_set_memory(smelt_encoder* encoder, uint32_t index, void* data, size_t size);
SMELT_API smelt_status smelt_encoder_set_threadgroup_memory(smelt_encoder* encoder, uint32_t index, uint64_t bytes);
/* The encoder keeps them until they are replaced. SMELT_E_UNSUPPORTED on devices other than the cpu. */
SMELT_API smelt_status smelt_encoder_set_texture(smelt_encoder* encoder, uint32_t index, smelt_texture* texture);
SMELT_API smelt_status smelt_encoder_set_sampler(smelt_encoder* encoder, uint32_t index, smelt_sampler* sampler);
/* How elements of a buffer are an argument tensor<T, ...>: dimension 0 comes first, and its stride is 1. */
typedef struct smelt_tensor_shape {
  size_t struct_size;
  const char* element; /* "half", "float", "bfloat", "char", "uchar" or "int"; ends with a 0 */
  size_t rank;         /* 1 to 8 */
  const uint64_t* extents;
  const uint64_t* strides; /* in elements; null: without gaps. Each at least the one before times the extent there */
} smelt_tensor_shape;
/* What [[buffer(index)]] is: elements from byte `offset` on. The encoder keeps the buffer until it is replaced.
 * SMELT_E_INVALID_ARGUMENT where they leave it; SMELT_E_UNSUPPORTED on devices other than the cpu. */
SMELT_API smelt_status smelt_encoder_set_tensor(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer,
                                                uint64_t offset, const smelt_tensor_shape* shape);
/* The same of an array's memory, borrowed until the dispatch has run. Its last index is dimension 0; uint16 stands for
 * the bits of bfloat. */
SMELT_API smelt_status smelt_encoder_set_tensor_array(smelt_encoder* encoder, uint32_t index, const smelt_array* array);
/* What an argument visible_function_table<S> [[buffer(index)]] is: names of visible functions of the kernel's library,
 * each ends with a 0; null or empty: an empty entry. Null `names`: the null table. Copied. A dispatch that calls an
 * entry without a function of the call's type fails. SMELT_E_UNSUPPORTED on devices other than the cpu. */
SMELT_API smelt_status smelt_encoder_set_function_table(smelt_encoder* encoder, uint32_t index,
                                                        const char* const* names, size_t count);
/* `rank` threads counts, and as many of group_size (null: the default group). */
SMELT_API smelt_status smelt_encoder_dispatch_threads(smelt_encoder* encoder, const uint64_t* threads, size_t rank,
                                                      const uint64_t* group_size);
/* The grid as a count of whole threadgroups: three components each. */
SMELT_API smelt_status smelt_encoder_dispatch_threadgroups(smelt_encoder* encoder, const uint64_t* groups,
                                                           const uint64_t* group_size);
/* Until smelt_encoder_end_concurrent dispatches do not depend on each other: none writes what another of them touches.
 * Short ones are kept, with a copy of their bindings, and run side by side; all have run when barrier, end_concurrent
 * or wait returns, and not before. What goes wrong in one that is kept is the error of that call. */
SMELT_API smelt_status smelt_encoder_begin_concurrent(smelt_encoder* encoder);
/* Later dispatches see what earlier ones wrote. */
SMELT_API smelt_status smelt_encoder_barrier(smelt_encoder* encoder);
SMELT_API smelt_status smelt_encoder_end_concurrent(smelt_encoder* encoder);
/* As new: no pipeline, nothing bound. What has been dispatched still runs. */
SMELT_API smelt_status smelt_encoder_reset(smelt_encoder* encoder);
SMELT_API smelt_status smelt_encoder_wait(smelt_encoder* encoder);

#ifdef __cplusplus
}
#endif

#endif
