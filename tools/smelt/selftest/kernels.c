/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// The kernels of `smelt selftest`, as C for a GPU target. make.sh turns them into LLVM IR, which is kept in
// tools/smelt/src/selftest_kernels.cpp, so that building smelt needs no compiler for them.
#define kernel __attribute__((nvptx_kernel)) void
#define device __attribute__((address_space(1)))
#define threadgroup __attribute__((address_space(3)))

typedef unsigned int uint;

static inline uint group_index(void) {
  return __nvvm_read_ptx_sreg_tid_x();
}
static inline uint grid_index(void) {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
static inline uint grid_index_y(void) {
  return __nvvm_read_ptx_sreg_ctaid_y() * __nvvm_read_ptx_sreg_ntid_y() + __nvvm_read_ptx_sreg_tid_y();
}
static inline uint grid_index_z(void) {
  return __nvvm_read_ptx_sreg_ctaid_z() * __nvvm_read_ptx_sreg_ntid_z() + __nvvm_read_ptx_sreg_tid_z();
}

// y = a x + y
kernel saxpy(device const float* x, device float* y, float a) {
  const uint i = grid_index();
  y[i] = a * x[i] + y[i];
}

// The same in half precision.
kernel saxpy_half(device const _Float16* x, device _Float16* y, float a) {
  const uint i = grid_index();
  y[i] = (_Float16)(a * (float)x[i] + (float)y[i]);
}

// Every thread of a grid of three dimensions writes where it is.
kernel positions(device uint* out, uint width, uint height) {
  const uint x = grid_index(), y = grid_index_y(), z = grid_index_z();
  out[(z * height + y) * width + x] = x | y << 10 | z << 20;
}

// Integer arithmetic, shifts, division, 64-bit products.
kernel integers(device const int* a, device const int* b, device int* out) {
  const uint i = grid_index();
  const int x = a[i], y = b[i] | 1;
  out[i] = x / y + (x % y) * 3 + (x >> (y & 31)) + (int)(((long long)x * y) >> 32) + __builtin_popcount((uint)x);
}

// Sum of 32 neighbours by exchange within a simdgroup.
kernel simd_sums(device const float* x, device float* out) {
  const uint i = grid_index();
  float sum = x[i];
  for (int k = 16; k != 0; k >>= 1) sum += __nvvm_shfl_sync_bfly_f32(-1, sum, k, 31);
  out[i] = sum;
}

// Sum of a threadgroup's 256 values through threadgroup memory, with barriers in a loop.
static threadgroup float tree[256];
kernel group_sums(device const float* x, device float* out) {
  const uint t = group_index();
  tree[t] = x[grid_index()];
  __syncthreads();
  for (uint k = 128; k != 0; k >>= 1) {
    if (t < k) tree[t] += tree[t + k];
    __syncthreads();
  }
  if (t == 0) out[__nvvm_read_ptx_sreg_ctaid_x()] = tree[0];
}

// Softmax of one row of 256 per threadgroup.
static threadgroup float row[256];
kernel softmax(device const float* x, device float* out) {
  const uint t = group_index(), i = grid_index();
  row[t] = x[i];
  __syncthreads();
  float largest = row[0];
  for (uint k = 1; k < 256; ++k) largest = row[k] > largest ? row[k] : largest;
  __syncthreads();
  row[t] = __builtin_expf(x[i] - largest);
  __syncthreads();
  float sum = 0;
  for (uint k = 0; k < 256; ++k) sum += row[k];
  out[i] = row[t] / sum;
}

// Matrix product in tiles of 16 x 16; n is a multiple of 16.
static threadgroup float tile_a[256], tile_b[256];
kernel matmul(device const float* a, device const float* b, device float* c, uint n) {
  const uint x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
  const uint column = grid_index(), line = grid_index_y();
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    tile_a[16 * y + x] = a[line * n + k + x];
    tile_b[16 * y + x] = b[(k + y) * n + column];
    __syncthreads();
    for (uint j = 0; j < 16; ++j) sum += tile_a[16 * y + j] * tile_b[16 * j + x];
    __syncthreads();
  }
  c[line * n + column] = sum;
}

// Counts into 64 bins by atomics that all threads contend for.
kernel histogram(device const uint* values, device uint* bins) {
  __atomic_fetch_add(&bins[values[grid_index()] & 63], 1, __ATOMIC_RELAXED);
}

// Threads that part ways: the steps of the Collatz sequence.
kernel collatz(device const uint* start, device uint* steps) {
  const uint i = grid_index();
  uint n = start[i], count = 0;
  while (n != 1 && count < 1000) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++count;
  }
  steps[i] = count;
}
