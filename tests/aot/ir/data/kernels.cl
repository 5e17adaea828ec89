__kernel void saxpy(__global float* y, __global const float* x, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
__kernel __attribute__((reqd_work_group_size(64,1,1)))
void row_sum(__global const float* restrict x, __global float* out, __local float* tmp, int n) {
  uint l = get_local_id(0), g = get_group_id(0);
  float s = 0; for (uint i = l; i < n; i += get_local_size(0)) s += exp2(x[g * n + i]) * sqrt(fabs(x[i]));
  tmp[l] = s; barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 32; k; k >>= 1) { if (l < k) tmp[l] += tmp[l + k]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (l == 0) out[g] = tmp[0];
}
__constant float table[4] = {1.f, 2.f, 3.f, 4.f};
__kernel void misc(__global float4* v, __global int* c, __global uint* h) {
  __private float p[4]; for (int i = 0; i < 4; i++) p[i] = table[i] + v[i].x;
  float* q = p; generic float* z = (get_global_id(1) & 1) ? (generic float*)q : (generic float*)&((__global float*)v)[28];
  v[get_global_id(0)] = (float4)(p[c[0] & 3], *z, max(c[0], c[1]), fma(p[0], p[1], p[2]));
  atomic_add(c, 3); atomic_max(h, 7u); atomic_inc(h);
}
