/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What the loader hands to precompiled CPU code, and back. Plain C: the compiler emits loads at these very offsets and
// the loader fills the structs, so both include this one file. A change here is a new CPU slice format.
#ifndef SMELT_SCHEMA_CPU_ABI_H
#define SMELT_SCHEMA_CPU_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SMELT_CPU_MAX_BUFFERS = 31,
  SMELT_CPU_MAX_TEXTURES = 128,
  SMELT_CPU_MAX_SAMPLERS = 16,
  SMELT_CPU_MAX_LEVELS = 15
};

/// How the numbers of a texel lie in memory. One component after the other, in the order of smelt_cpu_texture::order:
enum smelt_cpu_encoding {
  SMELT_CPU_UNORM8 = 0,
  SMELT_CPU_SNORM8,
  SMELT_CPU_UINT8,
  SMELT_CPU_SINT8,
  SMELT_CPU_SRGB8, /* alpha is linear */
  SMELT_CPU_UNORM16,
  SMELT_CPU_SNORM16,
  SMELT_CPU_UINT16,
  SMELT_CPU_SINT16,
  SMELT_CPU_FLOAT16,
  SMELT_CPU_UINT32,
  SMELT_CPU_SINT32,
  SMELT_CPU_FLOAT32,
  /* In one word, the first named in the low bits: */
  SMELT_CPU_B5G6R5,
  SMELT_CPU_A1BGR5,
  SMELT_CPU_ABGR4,
  SMELT_CPU_BGR5A1,
  SMELT_CPU_RGB10A2,
  SMELT_CPU_BGR10A2,
  SMELT_CPU_RGB10A2_UINT,
  SMELT_CPU_RG11B10_FLOAT,
  SMELT_CPU_RGB9E5_FLOAT,
};
enum smelt_cpu_order { SMELT_CPU_RGBA = 0, SMELT_CPU_BGRA, SMELT_CPU_ALPHA /* alpha alone */ };

/// One level of a texture.
struct smelt_cpu_level {
  uint64_t offset;       ///< of its first texel, from that of the layer
  uint64_t row_bytes;    ///< from one row to the next
  uint64_t slice_bytes;  ///< from one slice of a 3D texture to the next
};

/// What an air.* operation on a texture looks at. A texel lies at data + layer * layer_bytes + level.offset +
/// z * slice_bytes + y * row_bytes + (x * samples + sample) * texel_bytes.
struct smelt_cpu_texture {
  unsigned char* data;
  uint64_t layer_bytes;
  uint32_t encoding;  ///< smelt_cpu_encoding
  uint32_t channels;  ///< 1 to 4
  uint32_t order;     ///< smelt_cpu_order
  uint32_t texel_bytes;
  uint32_t width, height, depth;  ///< of level 0, at least 1
  uint32_t layers;                ///< elements of an array, six faces each of cubes; at least 1
  uint32_t levels, samples;       ///< at least 1
  struct smelt_cpu_level level[SMELT_CPU_MAX_LEVELS];
};

/// A sampler: the two words that a constexpr sampler is in AIR (docs/formats/air.md 3.11).
struct smelt_cpu_sampler {
  uint64_t state[2];
};

enum { SMELT_CPU_TENSOR_RANK = 8 };

/// What the [[buffer(i)]] of an argument tensor<T, ...> points to. Element (i0, i1, ...) lies at
/// data + (i0 * stride[0] + i1 * stride[1] + ...) * the type's size.
struct smelt_cpu_tensor {
  unsigned char* data;
  int32_t rank;                           ///< 1 to SMELT_CPU_TENSOR_RANK
  int32_t type;                           ///< 0 float, 1 half, 2 bfloat, 3 char, 4 uchar, 7 int
  int32_t extent[SMELT_CPU_TENSOR_RANK];  ///< in elements, dimension 0 first
  int32_t stride[SMELT_CPU_TENSOR_RANK];  ///< likewise
  int64_t offset, bytes;                  ///< of `data` in its buffer, and bytes of that: checked code looks
  int64_t stray;                          ///< for the code
  int32_t object;                         ///< smelt_cpu_fault::buffer
};

/// What the [[buffer(i)]] of an argument visible_function_table<S> points to. An entry is smelt_cpu_function_id() of
/// the function's name, or 0: there is none.
struct smelt_cpu_function_table {
  uint32_t size;
  uint32_t is_null;  ///< 1: no table is bound; `size` is 0
  uint64_t functions[1];
};

/// FNV-1a of a name, 64 bits.
static inline uint64_t smelt_cpu_function_id(const char* name, uint64_t length) {
  uint64_t id = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < length; ++i) id = (id ^ (unsigned char)name[i]) * 0x100000001b3u;
  return id;
}

/// smelt_cpu_fault::buffer, where it is not the index of a [[buffer(i)]].
#define SMELT_CPU_FAULT_THREADGROUP_ARGUMENT 0x80000000u /* + i: [[threadgroup(i)]] */
#define SMELT_CPU_FAULT_VARIABLE 0xC0000000u  /* + i, less than 1 << 24: row i of smelt_cpu_fault::variables */
#define SMELT_CPU_FAULT_HANDLE 0xFFFFFFF7u    /* no texture (`bytes` 0) or sampler (1) has the address `offset` */
#define SMELT_CPU_FAULT_TABLE 0xFFFFFFF8u     /* no access: the function table's entry `offset` means no function */
#define SMELT_CPU_FAULT_TEXTURE 0xFFFFFFF9u   /* outside of the smelt_cpu_texture at `offset`; `bytes`: x, y << 32 */
#define SMELT_CPU_FAULT_STRAY 0xFFFFFFFAu     /* a pointer that lies in no object; `offset` is the address */
#define SMELT_CPU_FAULT_NULL 0xFFFFFFFBu      /* through a null pointer; `offset` is the address */
#define SMELT_CPU_FAULT_PRIVATE 0xFFFFFFFCu   /* an array of the thread's own */
#define SMELT_CPU_FAULT_RECURSION 0xFFFFFFFDu /* no access: functions called themselves too deep */
#define SMELT_CPU_FAULT_CONSTANT_TABLE 0xFFFFFFFEu     /* of the program */
#define SMELT_CPU_FAULT_STATIC_THREADGROUP 0xFFFFFFFFu /* behind the kernel's variables */

/// smelt_cpu_fault::claimed, when it is the loader that wants the launch to end: code that looks returns soon.
#define SMELT_CPU_LAUNCH_ENDS 2u

/// What a checked slice writes when a thread leaves a buffer, and any slice when functions call themselves too deep
/// or a table has no function to call.
/// The first faulting thread wins `claimed` (the loader has set it to 0; 0 -> 1); an access reads zero or is dropped.
struct smelt_cpu_fault {
  uint32_t claimed;
  uint32_t buffer;       ///< an index, or SMELT_CPU_FAULT_*
  uint64_t offset;       ///< byte offset that was asked for, from the bound start; two's complement when negative
  uint64_t bytes;        ///< bytes of the access
  uint32_t position[3];  ///< thread_position_in_grid
  uint32_t is_write;
  const char* place;  ///< checked code of format 8: "FILE:LINE:COLUMN" or "AIR line N"; else null. The code's own
  /// Checked code of format 9: a row "OFFSET BYTES NAME\n" for each threadgroup variable, with its place from the
  /// begin of threadgroup memory; else null. The code's own.
  const char* variables;
};

/// smelt_cpu_watch: what an access or a barrier is.
#define SMELT_CPU_ACCESS_WRITES 1u
#define SMELT_CPU_ACCESS_ATOMIC 2u
#define SMELT_CPU_ACCESS_SIMDGROUP 4u    /* by a SIMD group as one: matrices and asynchronous copies */
#define SMELT_CPU_ACCESS_MAY_FENCE 8u    /* an atomic in a kernel that has fences of the whole device */
#define SMELT_CPU_ACCESS_PART 16u        /* of an operation that touches more; no bytes: the operation is done */
#define SMELT_CPU_ACCESS_SHIFT 8         /* from this bit on: a cell of the kernel is 1 << that many bytes, 0 to 2 */
#define SMELT_CPU_ACCESS_ELEMENT 12      /* likewise: 1 << that many bytes are an element of what is touched */
#define SMELT_CPU_BARRIER_DEVICE 1u      /* orders device memory */
#define SMELT_CPU_BARRIER_THREADGROUP 2u /* orders threadgroup memory */
#define SMELT_CPU_BARRIER_SIMDGROUP 8u   /* of a SIMD group, else of the threadgroup */
#define SMELT_CPU_BARRIER_ALL_LANES 16u  /* no barrier: an operation that all lanes of a SIMD group must reach */
#define SMELT_CPU_FENCE 32u              /* no barrier: a fence of the whole device */
#define SMELT_CPU_MEET_IS_CHECKED 64u    /* who does not come is told of */

#define SMELT_CPU_MEET_ALL 0xffffffffu /* in place of a first thread: all threads of the group */

/// A cell holds who touched its bytes last, in 64 bits. From the low end: the site; then these; then the thread's index
/// in its group; then the thread's era. All zeros, and eras before the launch: nobody.
#define SMELT_CPU_CELL_SITE_BITS 16
#define SMELT_CPU_CELL_WROTE 0x10000u   /* there is a write further back, which the loader knows of */
#define SMELT_CPU_CELL_MANY 0x20000u    /* other threads of that era read it too, and nobody wrote in it */
#define SMELT_CPU_CELL_ASK 0x40000u     /* what may be done with it only the loader knows */
#define SMELT_CPU_CELL_WRITES 0x80000u  /* it was a write */
#define SMELT_CPU_CELL_ATOMIC 0x100000u /* it was an atomic */
#define SMELT_CPU_CELL_THREAD_BIT 21
#define SMELT_CPU_CELL_ERA_BIT 32

/// Where cells of a piece of memory lie, by shift (SMELT_CPU_ACCESS_SHIFT): those of `address`, whose low `shift` bits
/// are cleared, at from_zero[shift] + address * (8 >> shift).
struct smelt_cpu_cells {
  uint64_t from_zero[3];
};

/// When it is for a thread, in the bits of a cell's era, for device and for threadgroup memory. In one era are threads
/// of one group that no barrier has told apart. Cells of threadgroup memory below `threadgroup_since` are over for this
/// thread.
struct smelt_cpu_stamp {
  uint64_t device;
  uint64_t threadgroup;
  uint64_t threadgroup_since;
  uint64_t unused;  ///< its place is found by a shift
};

/// The texts and kinds of a kernel's accesses: {flags, offset of the text from here} by site.
struct smelt_cpu_site {
  uint32_t flags;  ///< SMELT_CPU_ACCESS_*
  uint32_t text;   ///< "FILE:LINE:COLUMN"; of site 0, which is no access, what smelt_cpu_fault::variables has
};

/// What code that watches its threads tells the loader, from one worker, and what it reads itself so as to tell it
/// less. Threads are indices in their group. `place` is a text of the program as in smelt_cpu_site.
struct smelt_cpu_watch {
  void* context;
  /// Before the thread touches `bytes` bytes from `address` on, all of them inside of what they belong to.
  void (*access)(void* context, uint32_t thread, const void* address, uint64_t bytes, uint32_t site,
                 const struct smelt_cpu_site* sites);
  /// Before threads first + i wait or take part, for each bit i of `threads`; all of one SIMD group.
  void (*meet)(void* context, uint32_t first, uint32_t threads, uint32_t flags, const char* place);
  /// Lanes `readers` of a SIMD group, whose first thread has that index in its group, read lanes that do not take part.
  void (*stray_lanes)(void* context, uint32_t first_thread, uint32_t readers, const char* place);
  /// The SIMD group that runs as the `index`th of `count`.
  uint32_t (*simdgroup)(void* context, uint32_t index, uint32_t count);
  /// Shadow of `bytes` bytes from `address` on: a byte of ones for each bit that nobody has written.
  void* (*shadow)(void* context, const void* address, uint64_t bytes, uint32_t is_write);
  /// Nobody has written these bytes.
  void (*forget)(void* context, const void* address, uint64_t bytes);
  /// A value that nobody has written decides something.
  void (*unwritten)(void* context, uint32_t thread, const char* place);
  void* calls;               ///< 16 KiB of zeros that calls of one thread pass shadows through
  void* threadgroup_shadow;  ///< the same shadow of the scratch memory, byte for byte from its begin: what threadgroup
                             ///< memory has
  uint32_t origin[3];        ///< of the group that runs: its first thread's position in the grid
  uint32_t size[2];          ///< its threads along x and y
  uint32_t alone;            ///< bit i: buffers[i] shares no byte with anything else that is bound
  uint64_t since;            ///< cells below were before the launch; in this era are those that two groups
                             ///< read and nobody wrote
  const struct smelt_cpu_stamp* stamps;  ///< thread t's at t >> stamp_shift; it changes at its barriers and fences
  uint64_t to_second;                    ///< bytes from a cell to the word that has its second reader
  uint32_t stamp_shift;                  ///< 31: all threads of the group have one; changes with them
  uint32_t unused;
  struct smelt_cpu_cells threadgroup_cells;
  struct smelt_cpu_cells buffer_cells[SMELT_CPU_MAX_BUFFERS];
};

/// Services for kernels that talk to the host. Called from worker threads.
struct smelt_cpu_services {
  void* context;
  /// air.os_log: the raw operands of the call.
  void (*log)(void* context, const char* subsystem, const char* category, uint32_t type, const char* format,
              const void* arguments, uint64_t argument_bytes);
  const struct smelt_cpu_watch* watch;  ///< for code that watches; such code is given one always
  /// For checked code of format 9: the addresses of every smelt_cpu_texture and smelt_cpu_sampler that the launch was
  /// handed, each greater than the one before it.
  const uint64_t* textures;
  const uint64_t* samplers;
  uint64_t texture_count;
  uint64_t sampler_count;
};

/// smelt_cpu_dispatch::tensor_layout: which elements of a product's operands a thread holds ($SMELT_MPP_LAYOUT).
#define SMELT_CPU_TENSORS_M5 0u        /* as measured on M5 */
#define SMELT_CPU_TENSORS_SCRAMBLED 1u /* as no device does */

/// One launch, as one worker sees it (workers may differ in `buffers` when a buffer is privatised).
struct smelt_cpu_dispatch {
  void* const* buffers;                       ///< +0   address of each [[buffer(i)]]; null where nothing is bound
  const uint64_t* buffer_bytes;               ///< +8   bytes that may be touched from there on
  const uint32_t* threadgroup_offsets;        ///< +16  offset in scratch of each [[threadgroup(i)]] argument
  const uint32_t* threadgroup_bytes;          ///< +24  its length
  const void* constants;                      ///< +32  function constants, laid out as the kernel's row says
  struct smelt_cpu_fault* fault;              ///< +40  null: nobody asks (but in checked slices)
  const struct smelt_cpu_services* services;  ///< +48
  uint32_t grid[3];                           ///< +56  threads per grid
  uint32_t group[3];                          ///< +68  nominal threads per threadgroup (edge groups are trimmed)
  uint32_t groups[3];                         ///< +80  threadgroups per grid, edge groups included
  uint32_t nominal_threads;                   ///< +92  product of `group`, rounded up to 32
  uint32_t private_buffers;                   ///< +96  bit i: buffers[i] is this worker's own copy (format 2)
  uint32_t tensor_layout;                     ///< +100 SMELT_CPU_TENSORS_* (format 4)
  const struct smelt_cpu_texture* const*
      textures;  ///< +104 each [[texture(i)]]; null where nothing is bound (format 3)
  const struct smelt_cpu_sampler* const* samplers;  ///< +112 each [[sampler(i)]]; likewise (format 3)
};

/// A half-open box: of threads for kernels of kind `threads`, of threadgroups for kind `groups`.
struct smelt_cpu_range {
  uint32_t low[3];
  uint32_t high[3];
};

/// Entry point. `scratch` is 64-byte aligned, at least fixed_bytes + bytes_per_thread * nominal_threads (plus the
/// dynamic threadgroup arguments that threadgroup_offsets points at), belongs to this call alone and need not be
/// zeroed.
typedef void (*smelt_cpu_entry)(const struct smelt_cpu_dispatch*, const struct smelt_cpu_range*, void* scratch);

#ifdef __cplusplus
}
#endif

#endif
