/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/** @file
 * Compiling in plain C: Metal source, LLVM IR or Metal libraries to a package, which comes from the store if it has it.
 * These functions are in a library of their own, libsmelt-compiler, because it needs LLVM, Clang and SQLite. libsmelt
 * (smelt/smelt.h) loads the packages. The rules of smelt.h apply, and smelt_last_error() reports these failures too.
 * docs/reference/c.md has an example.
 *
 * Threads: any thread may call any function. A compiler compiles on as many threads as it was opened with.
 */
#ifndef SMELT_COMPILER_H
#define SMELT_COMPILER_H

#include "smelt/smelt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A compiler with its store and remotes. */
typedef struct smelt_compiler smelt_compiler;
/** A compiled package, immutable. */
typedef struct smelt_compiled smelt_compiled;
/** Metal source that was read, whose kernels are not compiled yet. */
typedef struct smelt_translated smelt_translated;

/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_compiler_retain(smelt_compiler*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_compiler_release(smelt_compiler*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_compiled_retain(smelt_compiled*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_compiled_release(smelt_compiled*);
/** Adds a reference to the object. Null is allowed. */
SMELT_API void smelt_translated_retain(smelt_translated*);
/** Gives up a reference; the last one destroys the object. Null is allowed. */
SMELT_API void smelt_translated_release(smelt_translated*);

/** Options of smelt_compiler_open. */
typedef struct smelt_compiler_options {
  size_t struct_size;
  const char* store; /**< folder of the store; null: $SMELT_STORE, else the user's */
  int32_t no_store;  /**< 1: neither read nor write a store */
  int32_t offline;   /**< 1: compile nothing; a miss is SMELT_E_NOT_CACHED */
  uint32_t threads;  /**< of the compiler; 0: one per core */
  /** Receives warnings, such as that the store does not open, one line each, from any thread. Null: they go to stderr.
   */
  void (*warn)(void* context, const char* line);
  void* warn_context;
} smelt_compiler_options;

/** Opens a compiler. Null options: defaults. It opens the store when it first needs it. */
SMELT_API smelt_status smelt_compiler_open(const smelt_compiler_options* options, smelt_compiler** out);

/** One input: Metal source, LLVM IR (text or bitcode) or a Metal library. Its bytes tell the kind, and are borrowed
 * during the call. */
typedef struct smelt_source {
  const char* name; /**< for messages, and the folder in which Metal source finds its includes */
  const void* data;
  size_t size;
} smelt_source;

/** `stage` is "kernels" or "cpu code". Called from any thread, one call at a time. Return 0 to end the compile with
 * SMELT_E_CANCELLED. */
typedef int (*smelt_compile_progress)(void* context, const char* stage, size_t done, size_t total);

/** Options of smelt_compile, which has the options of `smelt compile`. Each list is a pointer to `count` texts that end
 * with a NUL; null with count 0 is an empty list. */
typedef struct smelt_compile_options {
  size_t struct_size;
  const char* const* targets; /**< "macos14", "ios17", ...; none: as `smelt compile` without --target */
  size_t target_count;
  const char* const* cpu_levels; /**< of CPU code: "x86-64-v3", ...; none: this machine's */
  size_t cpu_level_count;
  const char* const* include_folders; /**< of Metal source, as -I */
  size_t include_folder_count;
  const char* const* definitions; /**< of Metal source, NAME or NAME=VALUE, as -D */
  size_t definition_count;
  const char* const* kernels; /**< functions to treat as kernels, besides those that are marked */
  size_t kernel_count;
  const char* const* functions; /**< kernels to make; none: all */
  size_t function_count;
  const char* metadata;            /**< Triton's JSON beside a kernel; null: none */
  const char* name;                /**< of the library in its package; null: that of its first kernel */
  const char* version;             /**< version of the library, such as "2.1.0"; null: none */
  uint16_t language[2];            /**< Metal version of source: major, minor; zeros: the target's */
  int32_t fast_math;               /**< 1: as -ffast-math does */
  int32_t checked;                 /**< 1: CPU code that bounds every access; plus 2: races, 4: init, 8: sync */
  int32_t no_cpu;                  /**< 1: no CPU code */
  int32_t debug_lines;             /**< 1: keep line tables */
  double timeout;                  /**< seconds that it may take; 0: no limit */
  uint64_t memory_bytes;           /**< that the process may use meanwhile; 0: no limit */
  smelt_compile_progress progress; /**< may be null */
  void* progress_context;
  const char*
      cpu_effort; /**< time for CPU code: "fast", "balanced", "best"; null: $SMELT_CPU_EFFORT, else "balanced" */
  int32_t has_threadgroup_memory;   /**< 1: the next member overrides the metadata */
  uint64_t threadgroup_memory;      /**< bytes of the unsized threadgroup array */
  uint32_t threads_per_threadgroup; /**< of the largest threadgroup; 0: what the metadata says */
  int32_t pack_scalars;             /**< 1: all scalar arguments in one buffer */
  int32_t no_overlap;               /**< 1: the promise that no two buffers of a launch overlap */
  int32_t relaxed_atomics;          /**< 1: relaxed atomics where the target has no stronger order */
  int32_t cpu_only;    /**< 1: for LLVM IR, allow features that no Apple GPU has; such a kernel gets CPU code only */
  const char* sandbox; /**< "auto", "always", "never"; null: $SMELT_SANDBOX, else "auto" */
} smelt_compile_options;

/** Compiles all sources to one library. Null options: defaults. Errors: SMELT_E_COMPILE_FAILED, SMELT_E_UNSUPPORTED,
 * SMELT_E_CANCELLED, SMELT_E_NOT_CACHED. */
SMELT_API smelt_status smelt_compile(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                                     const smelt_compile_options* options, smelt_compiled** out);

/** Reads Metal source whose kernels compile one by one, on request. This call reports every mistake in the source;
 * later, only a kernel that needs more than a GPU has can fail. It borrows nothing after it returns, and does not call
 * `progress`. The limits of time and memory apply to each call. Errors: SMELT_E_NOT_CACHED if the compiler is offline.
 */
SMELT_API smelt_status smelt_translate(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                                       const smelt_compile_options* options, smelt_translated** out);
/** Returns the number of kernels in the source. */
SMELT_API size_t smelt_translated_kernel_count(const smelt_translated* translated);
/** Reads the name of kernel `index`, in the order of the source. It is valid as long as the handle. */
SMELT_API smelt_status smelt_translated_kernel_name(const smelt_translated* translated, size_t index, const char** name,
                                                    size_t* length);
/** Makes a package of one kernel: finds it in the store by the kernel's own code, else compiles and keeps it. If
 * several threads and processes want the same kernel, one compiles. `cpu_effort` is "fast", "balanced" or "best";
 * null: as in smelt_translate. Errors: SMELT_E_FUNCTION_NOT_FOUND, with similar names. */
SMELT_API smelt_status smelt_translated_compile(const smelt_translated* translated, const char* kernel, size_t length,
                                                const char* cpu_effort, smelt_compiled** out);

/** Ends running calls of smelt_compile, smelt_translate and smelt_translated_compile on this compiler, from any thread.
 * They and all later calls return SMELT_E_CANCELLED. Use it at a program's end or for an abandoned thread. Null is
 * allowed. */
SMELT_API void smelt_compiler_cancel(smelt_compiler* compiler);

/** Makes CPU code for a Metal library without any, or to replace a package's own. It makes the code from the AIR, which
 * must pass `smelt verify`, and keeps it in the store. `level` is such as "x86-64-v3"; null: this machine's. */
SMELT_API smelt_status smelt_compile_cpu_code(smelt_compiler* compiler, const smelt_source* library, const char* level,
                                              int32_t checked, smelt_compiled** out);

/** What smelt_compiled_get_info returns. */
typedef struct smelt_compiled_info {
  size_t struct_size;
  const void* package; /**< for smelt_library_load or a file; valid as long as the handle */
  size_t package_size;
  uint8_t key[32];     /**< its key in the store */
  int32_t hit;         /**< 1: nothing was compiled */
  size_t kernels;      /**< of a miss: entry points of the package, */
  size_t kernels_kept; /**< and how many of them the store had by themselves */
  uint64_t microseconds;
  size_t warnings;
  /** The origin, for a store that keeps the package; valid as long as the handle. */
  const char* origin;
  size_t origin_length;
} smelt_compiled_info;
/** Reads the package's bytes, its key, and how it was made. */
SMELT_API smelt_status smelt_compiled_get_info(const smelt_compiled* compiled, smelt_compiled_info* info);
/** Reads warning `index`, one line each (for Metal source, with the line below). It is valid as long as the handle. */
SMELT_API smelt_status smelt_compiled_warning(const smelt_compiled* compiled, size_t index, const char** text,
                                              size_t* length);

#ifdef __cplusplus
}
#endif

#endif
