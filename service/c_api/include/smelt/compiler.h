/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiling in plain C: Metal source, LLVM IR or Metal libraries in, a package out, from the store when it has it.
 * In a library of its own, libsmelt-compiler, since it needs LLVM, Clang and SQLite; libsmelt (smelt/smelt.h) loads
 * what it makes. The rules of smelt.h hold here; smelt_last_error() reports failures of these functions too.
 * docs/reference/c.md.
 *
 * Threads: all functions from any thread. A compiler compiles on as many threads as it was opened with.
 */
#ifndef SMELT_COMPILER_H
#define SMELT_COMPILER_H

#include "smelt/smelt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct smelt_compiler smelt_compiler;     /* with its store and remotes */
typedef struct smelt_compiled smelt_compiled;     /* a package, immutable */
typedef struct smelt_translated smelt_translated; /* Metal source that was read, its kernels yet to be compiled */

SMELT_API void smelt_compiler_retain(smelt_compiler*);
SMELT_API void smelt_compiler_release(smelt_compiler*);
SMELT_API void smelt_compiled_retain(smelt_compiled*);
SMELT_API void smelt_compiled_release(smelt_compiled*);
SMELT_API void smelt_translated_retain(smelt_translated*);
SMELT_API void smelt_translated_release(smelt_translated*);

typedef struct smelt_compiler_options {
  size_t struct_size;
  const char* store; /* folder of the store; null: $SMELT_STORE, else the user's */
  int32_t no_store;  /* 1: neither look in a store nor publish to it */
  int32_t offline;   /* 1: what no store has is SMELT_E_NOT_CACHED; nothing is compiled */
  uint32_t threads;  /* of the compiler; 0: one per core */
  /* Told e.g. that the store does not open, a line each, from any thread; null: they go to stderr. */
  void (*warn)(void* context, const char* line);
  void* warn_context;
} smelt_compiler_options;

/* Null options: defaults. The store is opened at first need. */
SMELT_API smelt_status smelt_compiler_open(const smelt_compiler_options* options, smelt_compiler** out);

/* One input: Metal source, LLVM IR (text or bitcode) or a Metal library, told apart by its bytes, which are borrowed
 * during the call. */
typedef struct smelt_source {
  const char* name; /* for messages, and the folder in which Metal source finds its includes */
  const void* data;
  size_t size;
} smelt_source;

/* `stage` is "kernels" or "cpu code". From any thread, one call at a time. 0 ends compiling: SMELT_E_CANCELLED. */
typedef int (*smelt_compile_progress)(void* context, const char* stage, size_t done, size_t total);

/* Lists are pointers to `count` texts, each ended by 0; null with count 0 is an empty one. */
typedef struct smelt_compile_options {
  size_t struct_size;
  const char* const* targets; /* "macos14", "ios17", ...; none: as `smelt compile` without --target */
  size_t target_count;
  const char* const* cpu_levels; /* of CPU code: "x86-64-v3", ...; none: this machine's */
  size_t cpu_level_count;
  const char* const* include_folders; /* of Metal source, as -I */
  size_t include_folder_count;
  const char* const* definitions; /* of Metal source, NAME or NAME=VALUE, as -D */
  size_t definition_count;
  const char* const* kernels; /* functions that are kernels besides those marked so */
  size_t kernel_count;
  const char* const* functions; /* kernels to make; none: all */
  size_t function_count;
  const char* metadata;            /* Triton's JSON beside a kernel; null: none */
  const char* name;                /* of the library in its package; null: that of its first kernel */
  const char* version;             /* of it, "2.1.0"; null: none */
  uint16_t language[2];            /* Metal version of source: major, minor; zeros: the target's */
  int32_t fast_math;               /* 1: as -ffast-math does */
  int32_t checked;                 /* 1: CPU code that bounds every access; plus 2: races, 4: init, 8: sync */
  int32_t no_cpu;                  /* 1: no CPU code */
  int32_t debug_lines;             /* 1: keep line tables */
  double timeout;                  /* seconds that it may take; 0: no limit */
  uint64_t memory_bytes;           /* that the process may hold meanwhile; 0: no limit */
  smelt_compile_progress progress; /* may be null */
  void* progress_context;
  const char* cpu_effort; /* time for CPU code: "fast", "balanced", "best"; null: $SMELT_CPU_EFFORT, else "balanced" */
  int32_t has_threadgroup_memory;   /* 1: the next member counts, above what the metadata says */
  uint64_t threadgroup_memory;      /* bytes of the unsized threadgroup array */
  uint32_t threads_per_threadgroup; /* of the largest threadgroup; 0: what the metadata says */
  int32_t pack_scalars;             /* 1: all scalar arguments in one buffer */
  int32_t no_overlap;               /* 1: the promise that no two buffers of a launch overlap */
  int32_t relaxed_atomics;          /* 1: relaxed atomics where the target has no stronger order */
  int32_t cpu_only;                 /* 1: of LLVM IR, take what no Apple GPU has; such a kernel has CPU code alone */
  const char* sandbox;              /* "auto", "always", "never"; null: $SMELT_SANDBOX, else "auto" */
} smelt_compile_options;

/* All sources as one library. Null options: defaults. */
SMELT_API smelt_status smelt_compile(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                                     const smelt_compile_options* options, smelt_compiled** out);

/* Metal source whose kernels compile one by one, on request. Every mistake in the source is an error of this call; only
 * a kernel that needs more than a GPU has fails later. Nothing is borrowed after the call; `progress` is not
 * called; the limits of time and memory are each call's. Not offline: SMELT_E_NOT_CACHED. */
SMELT_API smelt_status smelt_translate(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                                       const smelt_compile_options* options, smelt_translated** out);
SMELT_API size_t smelt_translated_kernel_count(const smelt_translated* translated);
/* In the order of the source; valid as long as the handle. */
SMELT_API smelt_status smelt_translated_kernel_name(const smelt_translated* translated, size_t index, const char** name,
                                                    size_t* length);
/* A package of that kernel alone, found in the store by the kernel's own code, else compiled and kept there. Of all
 * threads and processes that want the same one compiles. `cpu_effort`: "fast", ...; null: what smelt_translate was
 * asked for. SMELT_E_FUNCTION_NOT_FOUND: with near names. */
SMELT_API smelt_status smelt_translated_compile(const smelt_translated* translated, const char* kernel, size_t length,
                                                const char* cpu_effort, smelt_compiled** out);

/* Ends what calls of smelt_compile, smelt_translate and smelt_translated_compile on this compiler are doing, from any
 * thread: they, and those that come after, are SMELT_E_CANCELLED. For a program's end, or an abandoned thread.
 * Null is allowed. */
SMELT_API void smelt_compiler_cancel(smelt_compiler* compiler);

/* CPU code for a Metal library without any, or in place of a package's own: made from its AIR, which
 * must pass `smelt verify`, once, and kept in the store. `level`: "x86-64-v3", ...; null: this machine's. */
SMELT_API smelt_status smelt_compile_cpu_code(smelt_compiler* compiler, const smelt_source* library, const char* level,
                                              int32_t checked, smelt_compiled** out);

typedef struct smelt_compiled_info {
  size_t struct_size;
  const void* package; /* for smelt_library_load or a file; valid as long as the handle */
  size_t package_size;
  uint8_t key[32];     /* what the store files it under */
  int32_t hit;         /* 1: nothing was compiled */
  size_t kernels;      /* of a miss: entry points of the package, */
  size_t kernels_kept; /* and how many of them the store had by themselves */
  uint64_t microseconds;
  size_t warnings;
  /* The origin, for a store that keeps the package; valid as long as the handle. */
  const char* origin;
  size_t origin_length;
} smelt_compiled_info;
SMELT_API smelt_status smelt_compiled_get_info(const smelt_compiled* compiled, smelt_compiled_info* info);
/* One line each (of Metal source: with the line below); valid as long as the handle. */
SMELT_API smelt_status smelt_compiled_warning(const smelt_compiled* compiled, size_t index, const char** text,
                                              size_t* length);

#ifdef __cplusplus
}
#endif

#endif
