/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** @file
 * smelt in plain C: load packages and Metal libraries, and run their kernels. docs/reference/c.md has an example.
 *
 * Rules for every function:
 *   - It returns SMELT_OK or a status. Results come through out-parameters, which are null or zero on failure.
 *   - A null handle or out-parameter returns SMELT_E_INVALID_ARGUMENT and never crashes.
 *   - Nothing throws or aborts.
 *   - Objects are reference counted. The caller releases every object that a call returns. An object keeps the objects
 *     that it needs alive, so a library may be released while its pipelines are in use.
 *   - Text that a call returns has a length, and a NUL follows it unless stated otherwise. Names that you pass need no
 *     NUL.
 *   - Option and info structs begin with struct_size, which the caller sets to sizeof. Fields beyond it are not
 * touched.
 *
 * Threads: any thread may use any object, but only one thread at a time may use an encoder and the memory bound to it.
 * Each thread has its own last error.
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

/** The result of a call: SMELT_OK or one of SMELT_E_..., explained in docs/reference/errors.md. */
typedef int32_t smelt_status;
/** The statuses. docs/reference/errors.md says when each is returned. */
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

/** A failure. smelt_last_error fills it. */
typedef struct smelt_error_info {
  size_t struct_size;
  smelt_status code;
  const char* message; /**< what was requested; what was found; what would work */
  size_t message_length;
  const char* subject; /**< the file, function or key that it concerns; may be empty */
  size_t subject_length;
  const char* detail; /**< the same as a JSON object: code, message, subject */
  size_t detail_length;
} smelt_error_info;

/** Reads the calling thread's last failure. Its text is valid until that thread's next failing call. `code` is SMELT_OK
 * if nothing has failed yet. */
SMELT_API smelt_status smelt_last_error(smelt_error_info* info);
/** Makes a failure the calling thread's last one and returns its code, for libraries that extend this one. `subject`
 * may be null. Returns SMELT_E_INVALID_ARGUMENT and does nothing if `code` is SMELT_OK or `message` is null. */
SMELT_API smelt_status smelt_set_last_error(smelt_status code, const char* message, const char* subject);
/** If the process crashes in a kernel on the CPU (SIGSEGV, SIGBUS), prints the kernel's name, the sizes of its buffers
 * and `advice` (copied; may be null) to stderr. Then the handler that was installed before runs. Only the first call
 * of a process has an effect. */
SMELT_API void smelt_report_crashes(const char* advice);
/** Returns the name of a status, such as "truncated", or "unknown" for other numbers. The text is static. */
SMELT_API const char* smelt_status_name(smelt_status status);
/** Returns the library's version, such as "0.1.0". The text is static. */
SMELT_API const char* smelt_version(void);

/* ---- objects ---- */

/** A device that runs kernels, or describes libraries. */
typedef struct smelt_device smelt_device;
/** A package: libraries by name. */
typedef struct smelt_package smelt_package;
/** A loaded library: functions by name. */
typedef struct smelt_library smelt_library;
/** A function of a library. */
typedef struct smelt_function smelt_function;
/** A function made ready to run, with values for its function constants. */
typedef struct smelt_pipeline smelt_pipeline;
/** A stream of dispatches with their bindings. */
typedef struct smelt_encoder smelt_encoder;
/** Memory that kernels can use. */
typedef struct smelt_buffer smelt_buffer;
/** A texture (CPU device). */
typedef struct smelt_texture smelt_texture;
/** A sampler (CPU device). */
typedef struct smelt_sampler smelt_sampler;

/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_device_retain(smelt_device*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_device_release(smelt_device*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_package_retain(smelt_package*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_package_release(smelt_package*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_library_retain(smelt_library*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_library_release(smelt_library*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_function_retain(smelt_function*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_function_release(smelt_function*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_pipeline_retain(smelt_pipeline*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_pipeline_release(smelt_pipeline*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_encoder_retain(smelt_encoder*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_encoder_release(smelt_encoder*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_buffer_retain(smelt_buffer*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_buffer_release(smelt_buffer*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_texture_retain(smelt_texture*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_texture_release(smelt_texture*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_sampler_retain(smelt_sampler*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_sampler_release(smelt_sampler*);

/* ---- devices ---- */

/** Kinds of devices. Automatic: Metal on a Mac, else the CPU. */
enum { SMELT_DEVICE_AUTOMATIC = 0, SMELT_DEVICE_METAL = 1, SMELT_DEVICE_CPU = 2, SMELT_DEVICE_OFFLINE = 3 };

/** Options of smelt_device_open. */
typedef struct smelt_device_options {
  size_t struct_size;
  int32_t kind;          /**< SMELT_DEVICE_... */
  uint32_t threads;      /**< cpu: threads of a dispatch, the caller included; 0: as many as the process may use */
  const char* cpu_level; /**< cpu: forces "x86-64-v3", ...; null: $SMELT_CPU, else the best that fits */
  /** cpu: how long one launch may take; then it ends between two groups, its buffers half written, as
   * SMELT_E_CANCELLED. 0: $SMELT_LAUNCH_LIMIT in seconds, else no limit. */
  uint32_t launch_limit_ms;
  /** cpu: called about every 20 ms of a launch, on the thread that dispatched it. A result other than 0 ends the launch
   * in the same way. May be null.
   */
  int32_t (*interrupted)(void* context);
  void* interrupted_context;
} smelt_device_options;

/** What smelt_device_get_info returns. */
typedef struct smelt_device_info {
  size_t struct_size;
  int32_t kind;
  const char* name; /**< valid as long as the device */
  size_t name_length;
  uint64_t max_threads_per_threadgroup;
  uint64_t max_threadgroup_memory;
  uint64_t thread_execution_width;
  int32_t limits_estimated; /**< 1: upper bounds, not the hardware's answer */
  uint32_t buffer_slots;
  uint64_t inline_bytes;     /**< longer smelt_encoder_set_bytes is copied into a buffer */
  uint64_t max_buffer_bytes; /**< of one buffer; 0: unknown */
  uint64_t memory_bytes;     /**< that all buffers together should stay below; 0: unknown */
  uint16_t apple_family;     /**< 7 is Apple7; 0: none */
  uint16_t metal_version[2]; /**< major, minor; zeros: not a Metal device */
  uint16_t os_version[3];    /**< in the same way */
} smelt_device_info;

/** Opens a device. Null options: Metal on a Mac, else the CPU. Errors: SMELT_E_DEVICE_UNAVAILABLE. */
SMELT_API smelt_status smelt_device_open(const smelt_device_options* options, smelt_device** out);
/** Reads a device's name and limits. */
SMELT_API smelt_status smelt_device_get_info(const smelt_device* device, smelt_device_info* info);

/* ---- packages ---- */

/** Opens a package from bytes, which it copies. Errors: SMELT_E_NOT_METALLIB, SMELT_E_TRUNCATED, SMELT_E_CORRUPT,
 * SMELT_E_FORMAT_NEWER. */
SMELT_API smelt_status smelt_package_open(const void* data, size_t size, smelt_package** out);
/** Maps a package's file, which must not be changed in place while it is open. Errors: as smelt_package_open, and
 * SMELT_E_FILE_NOT_FOUND, SMELT_E_IO. */
SMELT_API smelt_status smelt_package_open_file(const char* path, smelt_package** out);
/** Returns the number of libraries in a package. */
SMELT_API size_t smelt_package_library_count(const smelt_package* package);
/** Reads the name of library `index`. It is valid as long as the package. */
SMELT_API smelt_status smelt_package_library_name(const smelt_package* package, size_t index, const char** name,
                                                  size_t* length);
/** Writes the 32 bytes of the package's digest, which signatures do not change. */
SMELT_API smelt_status smelt_package_digest(const smelt_package* package, uint8_t* digest);

/* ---- libraries ---- */

/** Which packages may be loaded. A value other than 0 overrides the environment variable SMELT_TRUST. */
enum { SMELT_TRUST_ENVIRONMENT = 0, SMELT_TRUST_ANY = 1, SMELT_TRUST_LOCAL = 2, SMELT_TRUST_SIGNED = 3 };
/** How much is checked at load. */
enum { SMELT_VERIFY_STRUCTURE = 0, SMELT_VERIFY_NONE = 1, SMELT_VERIFY_DIGEST = 2, SMELT_VERIFY_FULL = 3 };

/** Options of loading a library. */
typedef struct smelt_load_options {
  size_t struct_size;
  int32_t verify;          /**< SMELT_VERIFY_... */
  int32_t allow_empty;     /**< 1: accept a library without functions */
  uint16_t force_metal[2]; /**< major, minor; {0, 0}: any */
  const uint8_t* expect;   /**< 32 bytes: the digest that the content must have; null: any */
  const char* library;     /**< the library's name; null if the package has only one */
  size_t library_length;
  int32_t checked;          /**< 1: bounds-checked CPU code; plus 2: races, 4: init, 8: sync */
  int32_t allow_no_code;    /**< 1: a plain metallib on the CPU device, for its names alone; else that is an error */
  int32_t trust;            /**< SMELT_TRUST_...: a package that it does not allow is SMELT_E_UNTRUSTED */
  int32_t ignore_native;    /**< 1: use no CPU code of the package, whoever signed it */
  const char* trusted_keys; /**< NAME:BASE64 or paths of files of them, separated by spaces, ended by 0; besides those
                             * of the environment. Null: none */
} smelt_load_options;

/** Loads a Metal library or a package from bytes, which it copies. Null options: defaults. A plain Metal library has
 * code for Metal only: on the CPU device it is SMELT_E_UNSUPPORTED_PLATFORM; compile it to a package first. Errors: as
 * smelt_package_open, SMELT_E_UNSUPPORTED_*, SMELT_E_UNTRUSTED, SMELT_E_DIGEST_MISMATCH. */
SMELT_API smelt_status smelt_library_load(smelt_device* device, const void* data, size_t size,
                                          const smelt_load_options* options, smelt_library** out);
/** Maps a file and loads it like smelt_library_load. The file must not be changed in place while it is open. */
SMELT_API smelt_status smelt_library_load_file(smelt_device* device, const char* path,
                                               const smelt_load_options* options, smelt_library** out);
/** Loads a library of an open package, like smelt_library_load. */
SMELT_API smelt_status smelt_library_load_package(smelt_device* device, smelt_package* package,
                                                  const smelt_load_options* options, smelt_library** out);
/** Returns the number of functions in a library. */
SMELT_API size_t smelt_library_function_count(const smelt_library* library);
/** Reads the name of function `index`, in file order. It is valid as long as the library. No NUL follows it. */
SMELT_API smelt_status smelt_library_function_name(const smelt_library* library, size_t index, const char** name,
                                                   size_t* length);
/** Finds a function by its exact name. Errors: SMELT_E_FUNCTION_NOT_FOUND, with similar names. */
SMELT_API smelt_status smelt_library_get_function(smelt_library* library, const char* name, size_t length,
                                                  smelt_function** out);
/** Writes the 32 bytes of the SHA-256 of what was loaded. */
SMELT_API smelt_status smelt_library_digest(const smelt_library* library, uint8_t* digest);
/** Reads a text with one line for each slice, which says why the loader chose it or not. It is valid as long as the
 * library. */
SMELT_API smelt_status smelt_library_slice_report(const smelt_library* library, const char** text, size_t* length);

/** Called once per batch, one call at a time, possibly from another thread. Return 0 to stop. */
typedef int (*smelt_progress)(void* context, size_t done, size_t total);
/** Builds the pipelines of `count` kernels now, several at a time. With `count` 0, builds all that need no function
 * constants. `prepared` (may be null) receives how many are ready. */
SMELT_API smelt_status smelt_library_prepare(smelt_library* library, const char* const* names, const size_t* lengths,
                                             size_t count, smelt_progress progress, void* context, size_t* prepared);

/** Loads every library of a package and builds all pipelines that need no function constants, several at a time.
 * `progress` counts the pipelines of all libraries. `libraries` must have room for smelt_package_library_count and
 * receives a reference to each, in the order of the package. The pipelines stay ready as long as their libraries. On
 * failure it holds nulls. */
SMELT_API smelt_status smelt_package_prepare(smelt_package* package, smelt_device* device,
                                             const smelt_load_options* options, smelt_progress progress, void* context,
                                             smelt_library** libraries, size_t* prepared);

/* ---- functions ---- */

/** The type of an element of an argument or constant. */
enum {
  SMELT_TYPE_UNKNOWN = 0, /**< a structure, a pointer, or not in the file */
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

/** What smelt_function_get_info returns. */
typedef struct smelt_function_info {
  size_t struct_size;
  const char* name; /**< not followed by a NUL */
  size_t name_length;
  int32_t
      kind; /**< 0 kernel, 1 vertex, 2 fragment, 3 unqualified, 4 visible, 5 extern, 6 intersection, 7 mesh, 8 object */
  uint16_t metal_version[2];
  size_t arg_count;
  size_t constant_count;
} smelt_function_info;

/** An argument of a function. */
typedef struct smelt_arg_info {
  size_t struct_size;
  const char* name; /**< texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name;
  size_t type_name_length;
  uint32_t index; /**< slot */
  int32_t kind; /**< 0 buffer, 1 threadgroup, 2 texture, 3 sampler, 4 indirect buffer, 5 function table, 6 acceleration
                   structure, 7 other; 9 input and 10 result of a vertex or fragment function: arrays that are bound
                   as buffers are (docs/reference/stages.md) */
  int32_t access; /**< 0 none, 1 read, 2 write, 3 read and write, 4 sample */
  uint32_t address_space;
  uint32_t size;
  uint32_t align;
  int32_t unused;
  int32_t conditional;
  int32_t type;             /**< SMELT_TYPE_..., of the pointee */
  uint32_t type_components; /**< 1, or 2 to 4 of a vector; 0 when the type is unknown */
  uint32_t array_size;      /**< slots from `index` on */
  size_t member_count; /**< of an argument buffer, or a structure in constant memory, where the package lists them */
} smelt_arg_info;

/** A member of an argument buffer, or of a structure in constant memory. */
typedef struct smelt_member_info {
  size_t struct_size;
  const char* name; /**< "lights[1].colour"; texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name; /**< of a pointer: its target's */
  size_t type_name_length;
  int32_t kind;           /**< 0 pointer, 1 value, 2 other (a texture, a sampler) */
  uint32_t id;            /**< [[id(n)]] in an argument buffer */
  uint32_t offset;        /**< bytes from the beginning of the structure */
  uint32_t size;          /**< bytes of an element */
  uint32_t element_count; /**< of an array; 0: no array */
} smelt_member_info;

/** A function constant that a function declares. */
typedef struct smelt_constant_info {
  size_t struct_size;
  const char* name; /**< texts here are not followed by a NUL */
  size_t name_length;
  const char* type_name;
  size_t type_name_length;
  uint32_t index;
  int32_t required;
  int32_t type;             /**< SMELT_TYPE_... */
  uint32_t type_components; /**< 1, or 2 to 4 of a vector */
} smelt_constant_info;

/** How the components of a smelt_constant are stored. */
enum {
  SMELT_CONSTANT_BOOL = 0, /**< components are uint8_t */
  SMELT_CONSTANT_INT = 1,  /**< int64_t */
  SMELT_CONSTANT_UINT = 2, /**< uint64_t */
  SMELT_CONSTANT_FLOAT = 3 /**< double */
};
/** One more kind: components are in memory as elements of a SMELT_TYPE_... */
#define SMELT_CONSTANT_OF(type) (16 + (int)(type))

/** A value for a function constant. smelt converts it to the constant's own type, or refuses it. */
typedef struct smelt_constant {
  const char* name; /**< null: by index */
  size_t name_length;
  uint32_t index;
  int32_t kind; /**< SMELT_CONSTANT_... or SMELT_CONSTANT_OF(SMELT_TYPE_...): how `components` is to be read */
  const void* components; /**< `count` of them */
  size_t count;           /**< 1 for a scalar */
} smelt_constant;

/** Reads a function's kind, Metal version, and numbers of arguments and constants. */
SMELT_API smelt_status smelt_function_get_info(const smelt_function* function, smelt_function_info* info);
/** Reads argument `index` of a function, from 0 to arg_count. */
SMELT_API smelt_status smelt_function_arg(const smelt_function* function, size_t index, smelt_arg_info* info);
/** Reads function constant `index` of a function, from 0 to constant_count. */
SMELT_API smelt_status smelt_function_constant(const smelt_function* function, size_t index, smelt_constant_info* info);
/** Returns SMELT_OK if the function's pipeline can be built on the library's device, else the reason. */
SMELT_API smelt_status smelt_function_usable(const smelt_function* function);
/** Builds a function's pipeline with `count` function constants, or finds it: one is built per process for the same
 * code and values. Errors: SMELT_E_CONSTANT_*, SMELT_E_FUNCTION_KIND, SMELT_E_PIPELINE_FAILED. */
SMELT_API smelt_status smelt_function_get_pipeline(smelt_function* function, const smelt_constant* constants,
                                                   size_t count, smelt_pipeline** out);

/** Options of smelt_function_make_pipeline. */
typedef struct smelt_pipeline_options {
  size_t struct_size;
  const smelt_constant* constants;
  size_t constant_count;
  int32_t lenient; /**< 1: constants as with MTLFunctionConstantValues: numbers are converted as in C, and what is
                      needed and missing is 0. 0: each of these is an error. Either way values that the function does
                      not declare are passed over, so a program may hand one set of values to every kernel */
} smelt_pipeline_options;

/** The same with options. Null options: no constants. */
SMELT_API smelt_status smelt_function_make_pipeline(smelt_function* function, const smelt_pipeline_options* options,
                                                    smelt_pipeline** out);

/* ---- pipelines ---- */

/** What smelt_pipeline_info returns. */
typedef struct smelt_pipeline_limits {
  size_t struct_size;
  uint64_t max_threads_per_threadgroup;
  uint64_t thread_execution_width;
  uint64_t static_threadgroup_memory_length;
  uint64_t required_group[3]; /**< zeros: any */
  int32_t limits_estimated;
} smelt_pipeline_limits;

/** Reads a pipeline's limits. */
SMELT_API smelt_status smelt_pipeline_info(const smelt_pipeline* pipeline, smelt_pipeline_limits* limits);

/** Reads the name of the pipeline's function. It is valid as long as the pipeline. */
SMELT_API smelt_status smelt_pipeline_name(const smelt_pipeline* pipeline, const char** name, size_t* length);
/** Returns the number of arguments of the pipeline's function. */
SMELT_API size_t smelt_pipeline_arg_count(const smelt_pipeline* pipeline);
/** Reads argument `index` of the pipeline's function. */
SMELT_API smelt_status smelt_pipeline_arg(const smelt_pipeline* pipeline, size_t index, smelt_arg_info* info);
/** Reads a member of an argument buffer, or of a structure in constant memory. `member` counts from 0 to member_count
 * of the argument. */
SMELT_API smelt_status smelt_pipeline_arg_member(const smelt_pipeline* pipeline, size_t index, size_t member,
                                                 smelt_member_info* info);

/* ---- buffers ---- */

/** Makes a buffer of zeroed memory. Errors: SMELT_E_OUT_OF_MEMORY. */
SMELT_API smelt_status smelt_buffer_create(smelt_device* device, uint64_t size, smelt_buffer** out);
/** Makes a buffer of the caller's memory. `release(context)` (may be null) is called when the buffer no longer uses it.
 */
SMELT_API smelt_status smelt_buffer_wrap(smelt_device* device, void* memory, uint64_t size,
                                         void (*release)(void* context), void* context, smelt_buffer** out);
/** Reads where the buffer's memory is and how large it is. */
SMELT_API smelt_status smelt_buffer_contents(smelt_buffer* buffer, void** contents, uint64_t* size);
/** Reads the address that kernels see. */
SMELT_API smelt_status smelt_buffer_gpu_address(const smelt_buffer* buffer, uint64_t* address);

/* ---- textures and samplers (cpu device) ---- */

/* The numbers of types, pixel formats, filters, address modes and compare functions are Metal's: those of
 * MTLTextureType, MTLPixelFormat, MTLSamplerMinMagFilter, MTLSamplerMipFilter, MTLSamplerAddressMode,
 * MTLCompareFunction and MTLSamplerBorderColor. */

/** A texture's type, format and extents. */
typedef struct smelt_texture_options {
  size_t struct_size;
  uint32_t type;                 /**< 2: a 2D texture */
  uint32_t pixel_format;         /**< smelt_pixel_format_named */
  uint32_t width, height, depth; /**< 0 is 1, here and below */
  uint32_t array_length;         /**< of a cube array: cubes */
  uint32_t levels;
  uint32_t samples;
} smelt_texture_options;

/** What smelt_texture_get_info returns. */
typedef struct smelt_texture_info {
  size_t struct_size;
  uint32_t type, pixel_format, width, height, depth, array_length, levels, samples;
  uint32_t layers; /**< slices of an array, six faces of each cube */
} smelt_texture_info;

/** Where the texels of one level of one layer are in memory, or the blocks of a compressed format: then rows are those
 * of blocks, while width and height count texels. You may write blocks at any time; a dispatch uses what they are when
 * it is encoded. */
typedef struct smelt_texture_part {
  size_t struct_size;
  void* data;
  uint64_t size;
  uint64_t row_bytes, slice_bytes; /**< from one row, from one slice of a 3D texture to the next */
  uint32_t width, height, depth;
} smelt_texture_part;

/** What smelt_pixel_format_get_info returns. */
typedef struct smelt_pixel_format_info {
  size_t struct_size;
  const char* name; /**< "rgba8unorm"; static */
  size_t name_length;
  uint32_t texel_bytes;               /**< of a compressed format: of a block, which counts as bytes */
  int32_t element;                    /**< SMELT_TYPE_... */
  uint32_t channels;                  /**< elements of a texel; 0: the texel is one element, with all channels in it */
  uint32_t block_width, block_height; /**< in texels; 1 of what is not compressed */
} smelt_pixel_format_info;

/** An array in memory, as NumPy and DLPack describe it. */
typedef struct smelt_array {
  size_t struct_size;
  void* data;
  const uint64_t* shape;
  const int64_t* strides; /**< in bytes; null: the order of indexes, without gaps */
  size_t rank;
  int32_t element; /**< SMELT_TYPE_... */
} smelt_array;

/** Makes a texture of zeroed memory. Errors: SMELT_E_INVALID_ARGUMENT, SMELT_E_OUT_OF_MEMORY. */
SMELT_API smelt_status smelt_texture_create(const smelt_texture_options* options, smelt_texture** out);
/** Makes a texture of the caller's memory, which holds level 0 alone, with rows `row_bytes` apart (0: without gaps).
 * For a compressed format it may hold all levels of the first layer, then those of the next, as files do.
 * `release(context)` (may be null) is called when the texture no longer uses it. */
SMELT_API smelt_status smelt_texture_wrap(const smelt_texture_options* options, void* memory, uint64_t size,
                                          uint64_t row_bytes, void (*release)(void* context), void* context,
                                          smelt_texture** out);
/** Makes a texture of an array's memory. `type` is the argument's type, such as "texture2d<float, read>" from
 * smelt_arg_info, or "texture2d"; null: it follows from the shape. `pixel_format` 0: it follows from elements,
 * channels and `type`. The array's indexes are those of the type, outermost first, then optionally the channels.
 * Errors: SMELT_E_ARGUMENT_MISMATCH, which says what would fit. */
SMELT_API smelt_status smelt_texture_wrap_array(const smelt_array* array, const char* type, size_t type_length,
                                                uint32_t pixel_format, void (*release)(void* context), void* context,
                                                smelt_texture** out);
/** Reads a texture's type, format and extents. */
SMELT_API smelt_status smelt_texture_get_info(const smelt_texture* texture, smelt_texture_info* info);
/** Reads where one level of one layer is in memory. It is valid as long as the texture. */
SMELT_API smelt_status smelt_texture_get_part(smelt_texture* texture, uint32_t level, uint32_t layer,
                                              smelt_texture_part* part);
/** Computes each level from the one before, by averages. Errors: SMELT_E_UNSUPPORTED for integers, formats of one word
 * and compressed ones. */
SMELT_API smelt_status smelt_texture_generate_mipmaps(smelt_texture* texture);
/** Finds the number of a pixel format by its name, such as "rgba8unorm". Errors: SMELT_E_INVALID_ARGUMENT. */
SMELT_API smelt_status smelt_pixel_format_named(const char* name, size_t length, uint32_t* pixel_format);
/** Describes a texel or block of a pixel format. */
SMELT_API smelt_status smelt_pixel_format_get_info(uint32_t pixel_format, smelt_pixel_format_info* info);

/** The states of a sampler. */
typedef struct smelt_sampler_options {
  size_t struct_size;
  uint32_t
      address[3]; /**< of s, t, r. 0 clamp to edge, 2 repeat, 3 mirrored repeat, 4 clamp to zero, 5 to the border */
  uint32_t magnify, minify;  /**< 0 nearest, 1 linear */
  uint32_t mip;              /**< 0 none, 1 nearest, 2 linear */
  int32_t pixel_coordinates; /**< 1: coordinates count texels */
  uint32_t
      compare; /**< 0 never, 1 less, 2 equal, 3 less or equal, 4 greater, 5 not equal, 6 greater or equal, 7 always */
  uint32_t border;         /**< 0 transparent black, 1 opaque black, 2 opaque white */
  uint32_t max_anisotropy; /**< 1 to 16; 0 is 1 */
  float lod_min;
  float lod_max;
  int32_t has_lod_max; /**< 0: lod_max is ignored, and there is no upper bound */
} smelt_sampler_options;

/** Makes a sampler. Null options: nearest, clamped to the edge. */
SMELT_API smelt_status smelt_sampler_create(const smelt_sampler_options* options, smelt_sampler** out);
/** Makes a sampler from the words of Metal source, such as "filter::linear, address::repeat, lod_clamp(0, 2)". */
SMELT_API smelt_status smelt_sampler_parse(const char* words, size_t length, smelt_sampler** out);

/* ---- encoders ---- */

/** Makes an encoder: a stream of dispatches, whose bindings stay until they are replaced. */
SMELT_API smelt_status smelt_encoder_create(smelt_device* device, smelt_encoder** out);
/** Sets the kernel of later dispatches. */
SMELT_API smelt_status smelt_encoder_set_pipeline(smelt_encoder* encoder, smelt_pipeline* pipeline);
/** Binds a buffer from byte `offset` on to [[buffer(index)]], 0 to 30. A null buffer (offset 0) binds the null address,
 * for kernels that take it as "none". Errors: SMELT_E_BUFFER_INDEX. */
SMELT_API smelt_status smelt_encoder_set_buffer(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer,
                                                uint64_t offset);
/** Copies `size` bytes for [[buffer(index)]], any number. */
SMELT_API smelt_status smelt_encoder_set_bytes(smelt_encoder* encoder, uint32_t index, const void* data, size_t size);
/** Binds the caller's memory, which must stay valid until the dispatch has run. Errors: SMELT_E_UNSUPPORTED on devices
 * other than the CPU. */
SMELT_API smelt_status smelt_encoder_set_memory(smelt_encoder* encoder, uint32_t index, void* data, size_t size);
/** Sets the length of [[threadgroup(index)]] in bytes. */
SMELT_API smelt_status smelt_encoder_set_threadgroup_memory(smelt_encoder* encoder, uint32_t index, uint64_t bytes);
/** Binds a texture to [[texture(index)]]. The encoder keeps it until it is replaced. Errors: SMELT_E_UNSUPPORTED on
 * devices other than the CPU. */
SMELT_API smelt_status smelt_encoder_set_texture(smelt_encoder* encoder, uint32_t index, smelt_texture* texture);
/** Binds a sampler to [[sampler(index)]]. The encoder keeps it until it is replaced. Errors: SMELT_E_UNSUPPORTED on
 * devices other than the CPU. */
SMELT_API smelt_status smelt_encoder_set_sampler(smelt_encoder* encoder, uint32_t index, smelt_sampler* sampler);
/** How elements of a buffer form a `tensor<T, ...>` argument. Dimension 0 comes first, and its stride is 1. */
typedef struct smelt_tensor_shape {
  size_t struct_size;
  const char* element; /**< "half", "float", "bfloat", "char", "uchar" or "int"; ends with a 0 */
  size_t rank;         /**< 1 to 8 */
  const uint64_t* extents;
  const uint64_t* strides; /**< in elements; null: without gaps. Each at least the one before times the extent there */
} smelt_tensor_shape;
/** Binds a `tensor<T, ...>` argument at [[buffer(index)]] to elements of a buffer, from byte `offset` on. The encoder
 * keeps the buffer until it is replaced. Errors: SMELT_E_INVALID_ARGUMENT if the shape leaves the buffer;
 * SMELT_E_UNSUPPORTED on devices other than the CPU. */
SMELT_API smelt_status smelt_encoder_set_tensor(smelt_encoder* encoder, uint32_t index, smelt_buffer* buffer,
                                                uint64_t offset, const smelt_tensor_shape* shape);
/** The same with an array's memory, which must stay valid until the dispatch has run. The array's last index is
 * dimension 0; uint16 stands for the bits of bfloat. */
SMELT_API smelt_status smelt_encoder_set_tensor_array(smelt_encoder* encoder, uint32_t index, const smelt_array* array);
/** Binds a `visible_function_table<S>` argument at [[buffer(index)]] to visible functions of the kernel's library. Each
 * name ends with a NUL and is copied; a null or empty name leaves its entry empty. Null `names`: the null table. A
 * dispatch fails if the kernel calls an entry without a function of the call's type. Errors: SMELT_E_UNSUPPORTED on
 * devices other than the CPU. */
SMELT_API smelt_status smelt_encoder_set_function_table(smelt_encoder* encoder, uint32_t index,
                                                        const char* const* names, size_t count);
/** Launches the kernel on a grid of threads; groups at the edge are trimmed. `threads` and `group_size` (null: the
 * default group) have `rank` numbers each, 1 to 3. Errors: SMELT_E_GROUP_ZERO, SMELT_E_GROUP_TOO_LARGE,
 * SMELT_E_ARGUMENT_MISMATCH for a missing or short argument, SMELT_E_BUFFER_BOUNDS in checked code, SMELT_E_CANCELLED.
 */
SMELT_API smelt_status smelt_encoder_dispatch_threads(smelt_encoder* encoder, const uint64_t* threads, size_t rank,
                                                      const uint64_t* group_size);
/** Launches the kernel on a grid of whole threadgroups. `groups` and `group_size` have three numbers each. */
SMELT_API smelt_status smelt_encoder_dispatch_threadgroups(smelt_encoder* encoder, const uint64_t* groups,
                                                           const uint64_t* group_size);
/** Begins a pass of independent dispatches: none writes memory that another one touches. smelt keeps short ones, with a
 * copy of their bindings, and runs them side by side. All have run when barrier, end_concurrent or wait returns, and
 * that call returns their errors. */
SMELT_API smelt_status smelt_encoder_begin_concurrent(smelt_encoder* encoder);
/** Ends the independence of dispatches: later ones see what earlier ones wrote. */
SMELT_API smelt_status smelt_encoder_barrier(smelt_encoder* encoder);
/** Ends the pass that smelt_encoder_begin_concurrent began. */
SMELT_API smelt_status smelt_encoder_end_concurrent(smelt_encoder* encoder);
/** Removes the pipeline and all bindings. Work that was dispatched still runs. */
SMELT_API smelt_status smelt_encoder_reset(smelt_encoder* encoder);
/** Waits until all dispatches have run. On the CPU a dispatch has run when it returns, except in a concurrent pass. */
SMELT_API smelt_status smelt_encoder_wait(smelt_encoder* encoder);

#ifdef __cplusplus
}
#endif

#endif
