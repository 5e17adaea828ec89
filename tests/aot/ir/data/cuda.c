// NVVM by hand: what nvcc-like front ends leave.
#define shared __attribute__((address_space(3)))
#define global __attribute__((address_space(1)))
extern shared float smem[];
__attribute__((nvptx_kernel)) void group_sum(global const float* x, global float* out, int n) {
  int t = __nvvm_read_ptx_sreg_tid_x(), b = __nvvm_read_ptx_sreg_ctaid_x(), w = __nvvm_read_ptx_sreg_ntid_x();
  float s = b * w + t < n ? x[b * w + t] : 0;
  for (int k = 16; k; k >>= 1) s += __nvvm_shfl_sync_bfly_f32(-1, s, k, 31);
  if ((t & 31) == 0) smem[t >> 5] = s;
  __syncthreads();
  if (t == 0) { float r = 0; for (int i = 0; i < (w + 31) / 32; i++) r += smem[i]; out[b] = r; }
}
