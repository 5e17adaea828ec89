# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten kernels each in the idioms of Helion and TileLang, called as they call them: torch.mps.compile_shader of the text, then the kernel by its
name with threads and group_size. PyTorch is the installed one, or a stand-in (kernel_compilers/torch) with headers of its own."""

import importlib.util
import pathlib
import struct
import sys
import unittest

import support
from support import needs_numpy, numpy as np

if importlib.util.find_spec("torch") is None:
    sys.path.insert(0, str(pathlib.Path(__file__).with_name("kernel_compilers")))

from smelt.compat import torch as compat

HELION = """#include <metal_stdlib>
#include <c10/metal/utils.h>
#include <c10/metal/special_math.h>
using namespace metal;
"""
REDUCES = """#include <c10/metal/reduction_utils.h>
namespace fold {
#define FOLD_GROUP(NAME, NEUTRAL)                                                     \\
  template <typename T>                                                               \\
  inline T tg_##NAME(threadgroup T* slots, T v, uint at, uint size) {                 \\
    constexpr uint width = ::c10::metal::simdgroup_size;                              \\
    ::metal::threadgroup_barrier(::metal::mem_flags::mem_threadgroup);                \\
    T part = ::c10::metal::simd_##NAME(v);                                            \\
    if (at % width == 0) slots[at / width] = part;                                    \\
    ::metal::threadgroup_barrier(::metal::mem_flags::mem_threadgroup);                \\
    if (at < width) {                                                                 \\
      T all = ::c10::metal::simd_##NAME(at < (size + width - 1) / width ? slots[at] : T(NEUTRAL)); \\
      if (at == 0) slots[0] = all;                                                    \\
    }                                                                                 \\
    ::metal::threadgroup_barrier(::metal::mem_flags::mem_threadgroup);                \\
    return slots[0];                                                                  \\
  }
FOLD_GROUP(sum, 0)
FOLD_GROUP(max, ::metal::numeric_limits<T>::lowest())
FOLD_GROUP(min, ::metal::numeric_limits<T>::max())
#undef FOLD_GROUP
}  // namespace fold
"""
PRODUCTS = """#if !__has_include(<metal_tensor>)
#error "a product needs <metal_tensor>"
#endif
#if !__has_include(<MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>)
#error "a product needs <MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>"
#endif
#include <metal_tensor>
#include <MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>
using namespace mpp::tensor_ops;
"""


def product(name, kind, out, epilogue, bias=""):
    """A kernel of 64 x 96 over 64, in tiles of 32 x 32 x 16 by four SIMD groups."""
    start = ""
    if bias:
        start = f"""
    auto mm_D = tensor<device {bias}, dextents<int32_t, 2>, tensor_inline>(bias, dextents<int32_t, 2>(mm_N, mm_M));
    auto mm_Ds = mm_D.slice(mm_tx * mm_TILE_N, mm_ty * mm_TILE_M);
    mm_coop.load(mm_Ds);"""
    bound = f"    device {bias}* bias [[buffer(3)]],\n" if bias else ""
    return HELION + PRODUCTS + f"""
[[required_threads_per_threadgroup(128, 1, 1)]] kernel void {name}(
    device {kind}* x [[buffer(0)]],
    device {kind}* y [[buffer(1)]],
    device {out}* out [[buffer(2)]],
{bound}    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {{
    constexpr int mm_M = 64;
    constexpr int mm_N = 96;
    constexpr int mm_K = 64;
    constexpr int mm_TILE_M = 32;
    constexpr int mm_TILE_N = 32;
    auto mm_A = tensor<device {kind}, dextents<int32_t, 2>, tensor_inline>(x, dextents<int32_t, 2>(mm_K, mm_M));
    auto mm_B = tensor<device {kind}, dextents<int32_t, 2>, tensor_inline>(y, dextents<int32_t, 2>(mm_N, mm_K));
    constexpr auto mm_desc = matmul2d_descriptor(
        mm_TILE_M, mm_TILE_N, 16, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<mm_desc, execution_simdgroups<4>> mm_op;
    uint mm_rows = (mm_M + mm_TILE_M - 1) / mm_TILE_M;
    uint mm_ty = tgid[0] % mm_rows;
    uint mm_tx = tgid[0] / mm_rows;
    auto mm_As = mm_A.slice<16, 32>(0, mm_ty * mm_TILE_M);
    auto mm_Bs = mm_B.slice<32, 16>(mm_tx * mm_TILE_N, 0);
    auto mm_coop = mm_op.get_destination_cooperative_tensor<decltype(mm_As), decltype(mm_Bs), {out}>();{start or '''
    for (auto _it = mm_coop.begin(); _it != mm_coop.end(); _it++) {
        *_it = 0;
    }'''}
    for (int offset_2 = 0; offset_2 < 64; offset_2 += 16) {{
        auto mm_Ak = mm_A.slice(offset_2, mm_ty * mm_TILE_M);
        auto mm_Bk = mm_B.slice(mm_tx * mm_TILE_N, offset_2);
        mm_op.run(mm_Ak, mm_Bk, mm_coop);
    }}
    for (auto _it = mm_coop.begin(); _it != mm_coop.end(); _it++) {{
        {epilogue}
    }}
    auto mm_C = tensor<device {out}, dextents<int32_t, 2>, tensor_inline>(out, dextents<int32_t, 2>(mm_N, mm_M));
    auto mm_Cs = mm_C.slice(mm_tx * mm_TILE_N, mm_ty * mm_TILE_M);
    mm_coop.store(mm_Cs);
}}
"""


TILE = """#include <metal_stdlib>
#include <metal_simdgroup>
#define TILELANG_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")
using namespace metal;

union __TVMArgUnion {
 int v_int[2];
};

"""


def tiled(parameters, body, threads, places="uint"):
    """A kernel with TileLang's five values of the hardware at its end."""
    return f"""{TILE}[[kernel, max_total_threads_per_threadgroup({threads})]] void main_kernel({parameters},
  {places} blockIdx [[threadgroup_position_in_grid]],
  {places} __gridDim [[threadgroups_per_grid]],
  {places} threadIdx [[thread_position_in_threadgroup]],
  uint __simd_group_id [[simdgroup_index_in_threadgroup]]
) {{
{body}
}}
"""


def bits_of_bfloat(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def floats_of_bfloat(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


@needs_numpy
class Compilers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        patched = compat.patch()
        patched.__enter__()
        cls.addClassCleanup(patched.__exit__, None, None, None)

    def setUp(self):
        self.random = np.random.default_rng(67)

    def launch(self, source, name, arguments, grid, block):
        """As Helion's launcher and TileLang's adapter do it."""
        import torch

        kernel = getattr(torch.mps.compile_shader(source), name)
        kernel(*arguments, threads=[groups * own for groups, own in zip(grid, block)], group_size=list(block))

    def close(self, got, want, tolerance=1e-5):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


class Helion(Compilers):
    def test_pointwise_in_a_masked_block(self):
        x, out = self.random.standard_normal(1000).astype(np.float32), np.zeros(1000, np.float32)
        self.launch(HELION + """
kernel void log_block(
    device float* x [[buffer(0)]],
    device float* out [[buffer(1)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    constexpr int _BLOCK_SIZE_0 = 256;
    auto offset_0 = tgid[0] * _BLOCK_SIZE_0;
    auto indices_0 = offset_0 + tid[0];
    auto mask_0 = indices_0 < 1000;
    auto load = (mask_0 ? x[indices_0] : 0);
    auto v_0 = metal::precise::sin(load);
    auto v_1 = ::c10::metal::log1p(metal::abs(v_0));
    if (mask_0) {
        out[indices_0] = v_1;
    }
}
""", "log_block", [x, out], (4, 1, 1), (256, 1, 1))  # fmt: skip
        self.close(out, np.log1p(np.abs(np.sin(x))))

    def test_two_dimensions_and_types_that_differ(self):
        x, index = self.random.standard_normal((100, 20)).astype(np.float16), self.random.integers(0, 2**40, 20)
        keep, out = self.random.integers(0, 2, 20).astype(bool), np.zeros((100, 20), np.float32)
        self.launch(HELION + """
[[required_threads_per_threadgroup(32, 8, 1)]] kernel void choose(
    device half* x [[buffer(0)]],
    device long* index [[buffer(1)]],
    device bool* keep [[buffer(2)]],
    device float* out [[buffer(3)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    auto indices_0 = tgid[0] * 32 + tid[0];
    auto indices_1 = tgid[1] * 8 + tid[1];
    auto mask_0 = indices_0 < 100;
    auto mask_1 = indices_1 < 20;
    auto load = (mask_0 && mask_1 ? x[indices_0 * 20 + indices_1] : 0);
    auto v_0 = static_cast<float>(load);
    auto v_1 = v_0 / (1.0 + metal::precise::exp((-v_0)));
    auto v_2 = static_cast<float>((mask_1 ? index[indices_1] : 0) >> 20);
    auto v_3 = (mask_1 ? keep[indices_1] : false) ? v_1 : v_2;
    if (mask_0 && mask_1) {
        out[indices_0 * 20 + indices_1] = v_3;
    }
}
""", "choose", [x, index, keep, out], (4, 3, 1), (32, 8, 1))  # fmt: skip
        v = x.astype(np.float32)
        self.close(out, np.where(keep, v / (1 + np.exp(-v)), (index >> 20).astype(np.float32)))

    def test_a_number_in_memory(self):
        x, out, scale = self.random.integers(-99, 99, 96).astype(np.int32), np.zeros(96, np.int32), np.array(7, np.int32)
        self.launch(HELION + """
kernel void scaled(
    device int* x [[buffer(0)]],
    device int* out [[buffer(1)]],
    device const int* _buf_s [[buffer(2)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    int s = _buf_s[0];
    for (int lane_0 = 0; lane_0 < 3; lane_0 += 1) {
        auto indices_0 = tgid[0] * 96 + lane_0 * 32 + tid[0];
        out[indices_0] = x[indices_0] * s;
    }
}
""", "scaled", [x, out, scale], (1, 1, 1), (32, 1, 1))  # fmt: skip
        self.assertTrue((out == x * 7).all())

    def test_sums_of_rows_by_one_simd_group(self):
        x, out = self.random.standard_normal((12, 70)).astype(np.float32), np.zeros(12, np.float32)
        self.launch(HELION + REDUCES + """
kernel void row_sum(
    device float* x [[buffer(0)]],
    device float* out [[buffer(1)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    auto indices_0 = tgid[0] * 4 + tid[1];
    float acc = 0;
    for (int offset_1 = 0; offset_1 < 70; offset_1 += 32) {
        auto indices_1 = offset_1 + tid[0];
        auto mask_1 = indices_1 < 70;
        auto load = (mask_1 ? x[indices_0 * 70 + indices_1] : 0);
        acc = acc + load;
    }
    auto total = ::c10::metal::simd_sum(acc);
    if (tid[0] == 0) {
        out[indices_0] = total;
    }
}
""", "row_sum", [x, out], (3, 1, 1), (32, 4, 1))  # fmt: skip
        self.close(out, x.sum(1), 1e-4)

    def test_largest_of_rows_by_a_group(self):
        x, out = -self.random.integers(1, 2**31 - 1, (6, 200)).astype(np.int32), np.zeros(6, np.int32)
        self.launch(HELION + REDUCES + """
kernel void row_max(
    device int* x [[buffer(0)]],
    device int* out [[buffer(1)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    threadgroup int slots[32];
    auto mask_1 = tid[0] < 200;
    int load = (mask_1 ? x[tgid[0] * 200 + tid[0]] : ::metal::numeric_limits<int>::lowest());
    int most = fold::tg_max(slots, load, tid[0], 256);
    if (tid[0] == 0) {
        out[tgid[0]] = most;
    }
}
""", "row_max", [x, out], (6, 1, 1), (256, 1, 1))  # fmt: skip
        self.assertTrue((out == x.max(1)).all())

    def test_place_of_the_largest(self):
        x, out = self.random.integers(0, 40, (5, 128)).astype(np.float32), np.zeros(5, np.int64)
        self.launch(HELION + REDUCES + """
kernel void row_argmax(
    device float* x [[buffer(0)]],
    device long* out [[buffer(1)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    threadgroup float values[32];
    threadgroup long places[32];
    float load = x[tgid[0] * 128 + tid[0]];
    float best = fold::tg_max(values, load, tid[0], 128);
    long mine = load == best ? static_cast<long>(tid[0]) : ::metal::numeric_limits<long>::max();
    long first = fold::tg_min(places, mine, tid[0], 128);
    if (tid[0] == 0) {
        out[tgid[0]] = first;
    }
}
""", "row_argmax", [x, out], (5, 1, 1), (128, 1, 1))  # fmt: skip
        self.assertTrue((out == x.argmax(1)).all())

    def test_softmax_in_two_passes(self):
        x, out = self.random.standard_normal((7, 300)).astype(np.float32) * 4, np.zeros((7, 300), np.float32)
        self.launch(HELION + REDUCES + """
kernel void softmax(
    device float* x [[buffer(0)]],
    device float* out [[buffer(1)]],
    uint3 tgid [[threadgroup_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]]
) {
    threadgroup float slots_0[32];
    threadgroup float slots_1[32];
    float mi = -INFINITY;
    float di = 0.0;
    for (int offset_1 = 0; offset_1 < 300; offset_1 += 128) {
        auto indices_1 = offset_1 + tid[0];
        auto mask_1 = indices_1 < 300;
        float load = (mask_1 ? x[tgid[0] * 300 + indices_1] : -INFINITY);
        float local_amax = fold::tg_max(slots_0, load, tid[0], 128);
        float mi_next = ::c10::metal::max(mi, local_amax);
        float v_1 = mask_1 ? metal::precise::exp(load - mi_next) : 0.0f;
        di = di * metal::precise::exp(mi - mi_next) + fold::tg_sum(slots_1, v_1, tid[0], 128);
        mi = mi_next;
    }
    for (int offset_2 = 0; offset_2 < 300; offset_2 += 128) {
        auto indices_2 = offset_2 + tid[0];
        if (indices_2 < 300) {
            out[tgid[0] * 300 + indices_2] = metal::precise::exp(x[tgid[0] * 300 + indices_2] - mi) / di;
        }
    }
}
""", "softmax", [x, out], (7, 1, 1), (128, 1, 1))  # fmt: skip
        e = np.exp(x - x.max(1, keepdims=True))
        self.close(out, e / e.sum(1, keepdims=True))

    def operands(self, kind):
        x, y = self.random.standard_normal((64, 64)).astype(np.float32), self.random.standard_normal((64, 96)).astype(np.float32)
        if kind == "bfloat":
            bits = bits_of_bfloat(x), bits_of_bfloat(y)
            return *bits, floats_of_bfloat(bits[0]) @ floats_of_bfloat(bits[1])
        if kind == "half":
            x, y = x.astype(np.float16), y.astype(np.float16)
        return x, y, x.astype(np.float32) @ y.astype(np.float32)

    def test_a_product_of_halves(self):
        x, y, want = self.operands("half")
        out = np.zeros((64, 96), np.float32)
        self.launch(product("mm", "half", "float", "*_it = ((*_it) < 0 ? 0 : (*_it) * 0.5f);"), "mm", [x, y, out], (6, 1, 1), (128, 1, 1))
        self.close(out, np.maximum(want, 0) / 2, 1e-3)

    def test_a_product_over_a_bias(self):
        x, y, want = self.operands("float")
        out, bias = np.zeros((64, 96), np.float32), self.random.standard_normal((64, 96)).astype(np.float32)
        self.launch(product("addmm", "float", "float", "*_it = (*_it) + 1;", bias="float"), "addmm", [x, y, out, bias], (6, 1, 1), (128, 1, 1))
        self.close(out, want + bias + 1, 1e-3)

    def test_a_product_of_bfloats(self):
        x, y, want = self.operands("bfloat")
        out = np.zeros((64, 96), np.float32)
        self.launch(product("mm16", "bfloat", "float", "*_it = metal::precise::exp((*_it) * 0.01f);"), "mm16", [x, y, out], (6, 1, 1), (128, 1, 1))
        self.close(out, np.exp(want * 0.01), 1e-3)


class TileLang(Compilers):
    def test_a_structure_of_scalars(self):
        a, b = self.random.standard_normal(300).astype(np.float32), self.random.standard_normal(300).astype(np.float16)
        c = np.zeros(300, np.float32)
        source = tiled("""  const device float* __restrict A [[ buffer(0) ]],
  const device half* __restrict B [[ buffer(1) ]],
  device float* __restrict C [[ buffer(2) ]],
  constant main_kernel_args_t& arg [[ buffer(3) ]]""", """  int at = ((((int)blockIdx) * 128) + ((int)threadIdx));
  if (at < arg.n[0]) {
    C[at] = (select(1.000000e+00f, A[at], (((int)threadIdx) < 64)) + (((float)B[at]) * 2.500000e-01f)) + ((float)arg.m);
  }""", 128)  # fmt: skip
        record = "struct main_kernel_args_t {\n  int n[2];\n  long m;\n  __TVMArgUnion flag;\n};\n"
        source = source.replace("[[kernel, max", record + "[[kernel, max")
        self.launch(source, "main_kernel", [a, b, c, np.frombuffer(struct.pack("<iiqii", 300, 0, 5, 0, 0), np.uint8)], (3, 1, 1), (128, 1, 1))
        self.close(c, np.where(np.arange(300) % 128 < 64, a, 1) + b.astype(np.float32) / 4 + 5)

    def test_eight_halves_as_four_words(self):
        a, b = self.random.standard_normal(256).astype(np.float16), bits_of_bfloat(self.random.standard_normal(256))
        c = np.zeros(256, np.float16)
        self.launch(tiled("""  device half* A [[ buffer(0) ]],
  device bfloat* B [[ buffer(1) ]],
  device half* C [[ buffer(2) ]]""", """  thread uint4 v[1];
  *(thread uint4*)(v + 0) = *(device uint4*)(A + (((int)threadIdx) * 8));
  uint4 scale = uint4(as_type<uint>(half2(1.500000e+00h, 1.500000e+00h)));
  uint4 w = *(device uint4*)(B + (((int)threadIdx) * 8));
  uint4 r;
  TILELANG_PRAGMA_UNROLL
  for (int i = 0; i < 8; ++i) {
    ((thread half*)(&r))[i] =
        (half)((((float)((thread half*)(&v[0]))[i]) * ((float)((thread half*)(&scale))[i])) + ((float)((thread bfloat*)(&w))[i]));
  }
  *(device uint4*)(C + (((int)threadIdx) * 8)) = r;""", 32), "main_kernel", [a, b, c], (1, 1, 1), (32, 1, 1))  # fmt: skip
        self.assertTrue((c == (a.astype(np.float32) * 1.5 + floats_of_bfloat(b)).astype(np.float16)).all())

    def test_a_product_by_threads(self):
        a, b = self.random.standard_normal((32, 48)).astype(np.float32), self.random.standard_normal((48, 32)).astype(np.float32)
        c = np.zeros((32, 32), np.float32)
        self.launch(tiled("""  const device float* __restrict A [[ buffer(0) ]],
  const device float* __restrict B [[ buffer(1) ]],
  device float* __restrict C [[ buffer(2) ]]""", """  thread float C_local[8];
  threadgroup float A_shared[256];
  threadgroup float B_shared[256];
  TILELANG_PRAGMA_UNROLL
  for (int i = 0; i < 8; ++i) {
    C_local[i] = 0.000000e+00f;
  }
  for (int ko = 0; ko < 3; ++ko) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < 8; ++i) {
      A_shared[((i * 32) + ((int)threadIdx.x))] =
          A[((((((int)blockIdx.y) * 16) + (i * 2) + (((int)threadIdx.x) >> 4)) * 48) + (ko * 16) + (((int)threadIdx.x) & 15))];
      B_shared[((i * 32) + ((int)threadIdx.x))] =
          B[(((ko * 16) + (i * 2) + (((int)threadIdx.x) >> 4)) * 32) + (((int)blockIdx.x) * 16) + (((int)threadIdx.x) & 15)];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < 8; ++i) {
        C_local[i] =
            (C_local[i] + (A_shared[((((i * 2) + (((int)threadIdx.x) >> 4)) * 16) + k)] * B_shared[((k * 16) + (((int)threadIdx.x) & 15))]));
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    C[((((((int)blockIdx.y) * 16) + (i * 2) + (((int)threadIdx.x) >> 4)) * 32) + (((int)blockIdx.x) * 16) + (((int)threadIdx.x) & 15))] = C_local[i];
  }""", 32, "uint2"), "main_kernel", [a, b, c], (2, 2, 1), (32, 1, 1))  # fmt: skip
        self.close(c, a @ b, 1e-4)

    def test_a_product_by_simd_groups(self):
        a, b = self.random.standard_normal((32, 64)).astype(np.float16), self.random.standard_normal((64, 32)).astype(np.float16)
        c = np.zeros((32, 32), np.float32)
        self.launch(tiled("""  const device half* __restrict A [[ buffer(0) ]],
  const device half* __restrict B [[ buffer(1) ]],
  device float* __restrict C [[ buffer(2) ]]""", """  simdgroup_float8x8 C_local[1];
  simdgroup_half8x8 A_local[1];
  simdgroup_half8x8 B_local[1];
  threadgroup half A_shared[256];
  threadgroup half B_shared[256];
  C_local[0] = make_filled_simdgroup_matrix<float, 8, 8>(0.000000e+00f);
  for (int ko = 0; ko < 4; ++ko) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *(threadgroup half2*)(A_shared + (((int)threadIdx.x) * 2)) =
        *(device half2*)(A + ((((((int)blockIdx.y) * 16) + (((int)threadIdx.x) >> 3)) * 64) + (ko * 16) + ((((int)threadIdx.x) & 7) * 2)));
    *(threadgroup half2*)(B_shared + (((int)threadIdx.x) * 2)) =
        *(device half2*)(B + ((((ko * 16) + (((int)threadIdx.x) >> 3)) * 32) + (((int)blockIdx.x) * 16) + ((((int)threadIdx.x) & 7) * 2)));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int ki = 0; ki < 2; ++ki) {
      simdgroup_load(A_local[0], (&(A_shared[((((((int)__simd_group_id) & 3) >> 1) * 128) + (ki * 8))])), 16, 0, (bool)0);
      simdgroup_load(B_local[0], (&(B_shared[((ki * 128) + ((((int)__simd_group_id) & 1) * 8))])), 16, 0, (bool)0);
      simdgroup_multiply_accumulate(C_local[0], A_local[0], B_local[0], C_local[0]);
    }
  }
  simdgroup_store(C_local[0],
                  (&(C[(((((int)blockIdx.y) * 512) + (((((int)__simd_group_id) & 3) >> 1) * 256)) + (((int)blockIdx.x) * 16)) + ((((int)__simd_group_id) & 1) * 8)])), 32, 0, (bool)0);""",
            128, "uint2"), "main_kernel", [a, b, c], (2, 2, 1), (128, 1, 1))  # fmt: skip
        self.close(c, a.astype(np.float32) @ b.astype(np.float32), 1e-2)

    def test_a_product_by_the_lanes_of_a_cooperative_tensor(self):
        a, b = self.random.standard_normal((16, 32)).astype(np.float16), self.random.standard_normal((32, 32)).astype(np.float16)
        c = np.zeros((16, 32), np.float32)
        source = tiled("""  const device half* A [[ buffer(0) ]],
  const device half* B [[ buffer(1) ]],
  device float* C [[ buffer(2) ]]""", """  const ushort __lane = __metal_get_thread_index_in_simdgroup(ushort());
  const ushort __quad = __lane >> 2;
  const ushort __row = (__quad & 4) | ((__lane >> 1) & 3);
  const ushort __column = ((__quad & 2) | (__lane & 1)) * 4;
  constexpr auto __desc = mpp::tensor_ops::matmul2d_descriptor(16, 32, 16, false, false, true,
                                                               mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<__desc, metal::execution_simdgroup> __op;
  auto __c = __op.get_destination_cooperative_tensor<decltype(__op.get_left_input_cooperative_tensor<half, half, float>()),
                                                     decltype(__op.get_right_input_cooperative_tensor<half, half, float>()), float>();
  TILELANG_PRAGMA_UNROLL for (ushort __i = 0; __i < 16; __i++) __c[__i] = 0.000000e+00f;
  for (int k = 0; k < 2; ++k) {
    auto __a = __op.get_left_input_cooperative_tensor<half, half, float>();
    auto __b = __op.get_right_input_cooperative_tensor<half, half, float>();
    thread half A_local[8];
    thread half B_local[16];
    for (ushort __half = 0; __half < 2; __half++) {
      *(thread half4*)(&A_local[__half * 4]) = *(const device half4*)(&A[(__row + __half * 8) * 32 + k * 16 + __column]);
      *(thread half4*)(&B_local[__half * 4]) = *(const device half4*)(&B[(k * 16 + __row + __half * 8) * 32 + __column]);
      *(thread half4*)(&B_local[8 + __half * 4]) = *(const device half4*)(&B[(k * 16 + __row + __half * 8) * 32 + __column + 16]);
    }
    TILELANG_PRAGMA_UNROLL for (ushort __i = 0; __i < 8; __i++) __a[__i] = A_local[__i];
    TILELANG_PRAGMA_UNROLL for (ushort __i = 0; __i < 16; __i++) __b[__i] = B_local[__i];
    __op.run(__a, __b, __c);
  }
  TILELANG_PRAGMA_UNROLL for (ushort __i = 0; __i < 16; __i++)
    C[(__row + ((__i >> 2) & 1) * 8) * 32 + __column + (__i >> 3) * 16 + (__i & 3)] = __c[__i];""",
            32, "uint2")  # fmt: skip
        source = source.replace("#define TILE", "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n#define TILE", 1)
        self.launch(source, "main_kernel", [a, b, c], (1, 1, 1), (32, 1, 1))
        self.close(c, a.astype(np.float32) @ b.astype(np.float32), 1e-2)

    def test_folds_of_a_simd_group(self):
        a, c = self.random.integers(-1000, 1000, 64).astype(np.int32), np.zeros((5, 64), np.int32)
        self.launch(tiled("  device int* A [[ buffer(0) ]],\n  device int* C [[ buffer(1) ]]", """  thread int value[1];
  value[0] = A[((int)threadIdx)];
  C[((int)threadIdx)] = simd_sum(value[0]);
  C[((int)threadIdx) + 64] = simd_max(value[0]);
  C[((int)threadIdx) + 128] = simd_min(value[0]);
  C[((int)threadIdx) + 192] = simd_and(value[0]);
  C[((int)threadIdx) + 256] = simd_or(value[0]);""", 64), "main_kernel", [a, c], (1, 1, 1), (64, 1, 1))  # fmt: skip
        rows = a.reshape(2, 32)
        want = [rows.sum(1), rows.max(1), rows.min(1), np.bitwise_and.reduce(rows, 1), np.bitwise_or.reduce(rows, 1)]
        self.assertTrue((c == np.stack([one.repeat(32) for one in want])).all())

    def test_groups_in_another_order(self):
        c = np.full((6, 8, 32), -1, np.int32)
        self.launch(tiled("  device int* C [[ buffer(0) ]]", """  { const uint __at = blockIdx.x + blockIdx.y * __gridDim.x; const uint __all = __gridDim.x * __gridDim.y;
  const uint __panel = 4u * __gridDim.x; const uint __in = __at % __panel; const uint __which = __at / __panel;
  const uint __count = (__all + __panel - 1u) / __panel;
  const uint __rows = __which + 1u < __count ? 4u : (__all - __which * __panel) / __gridDim.x;
  const uint3 blockIdx = uint3((__which & 1u) ? __gridDim.x - 1u - __in / __rows : __in / __rows, __in % __rows + __which * 4u, 0u);
  C[((((int)blockIdx.y) * 256) + (((int)blockIdx.x) * 32)) + ((int)threadIdx.x)] = ((int)blockIdx.x) * 100 + ((int)blockIdx.y);
  }""", 32, "uint3"), "main_kernel", [c], (8, 6, 1), (32, 1, 1))  # fmt: skip
        self.assertTrue((c == (np.arange(8)[None, :, None] * 100 + np.arange(6)[:, None, None])).all())

    def test_bytes_read_as_other_types(self):
        a, c = self.random.integers(0, 256, 256).astype(np.uint8), np.zeros((32, 3), np.float32)
        a[64:128] = self.random.standard_normal(32).astype(np.float16).view(np.uint8)
        self.launch(tiled("  device uchar* A [[ buffer(0) ]],\n  device float* C [[ buffer(1) ]]", """  device half* p = (device half*)((device void*)((device uchar*)A + 64));
  thread half acc = 0.000000e+00h;
  acc = p[((int)threadIdx)];
  uchar code = A[((int)threadIdx)];
  int exponent = ((int)(code >> 3)) & 15;
  float fp8 = exponent == 0 ? ((float)(code & 7)) * 0x1p-9f : as_type<float>(((uint)(exponent + 120) << 23) | ((uint)(code & 7) << 20));
  C[((int)threadIdx) * 3] = (float)acc;
  C[(((int)threadIdx) * 3) + 1] = (code & 128) != 0 ? -fp8 : fp8;
  C[(((int)threadIdx) * 3) + 2] = ((float)((char4)(((char)A[((int)threadIdx)]))).w) + -INFINITY * 0.000000e+00f * 0.000000e+00f;""", 32),
            "main_kernel", [a, c], (1, 1, 1), (32, 1, 1))  # fmt: skip
        code = a[:32].astype(np.int32)
        e, m = code >> 3 & 15, code & 7
        value = np.where(e == 0, m * 2.0**-9, (8 + m) * 2.0 ** (e - 10.0)) * np.where(code & 128, -1, 1)
        self.assertTrue((c[:, 0] == a[64:128].view(np.float16)).all())
        self.close(c[:, 1], value)
        self.assertTrue(np.isnan(c[:, 2]).all())

    def test_softmax_over_a_workspace(self):
        x, out = self.random.standard_normal((4, 128)).astype(np.float32), np.zeros((4, 128), np.float32)
        self.launch(tiled("  const device float* X [[ buffer(0) ]],\n  device float* O [[ buffer(1) ]]", """  threadgroup float workspace[128];
  float most = X[(((int)blockIdx) * 128) + ((int)threadIdx)];
  workspace[((int)threadIdx)] = most;
  for (int step = 64; step > 0; step >>= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (((int)threadIdx) < step) {
      workspace[((int)threadIdx)] = max(workspace[((int)threadIdx)], workspace[((int)threadIdx) + step]);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  most = workspace[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float e = exp2((X[(((int)blockIdx) * 128) + ((int)threadIdx)] - most) * 1.442695e+00f);
  workspace[((int)threadIdx)] = e;
  for (int step = 64; step > 0; step >>= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (((int)threadIdx) < step) {
      workspace[((int)threadIdx)] = workspace[((int)threadIdx)] + workspace[((int)threadIdx) + step];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  O[(((int)blockIdx) * 128) + ((int)threadIdx)] = e / workspace[0];""", 128), "main_kernel", [x, out], (4, 1, 1), (128, 1, 1))  # fmt: skip
        e = np.exp(x - x.max(1, keepdims=True))
        self.close(out, e / e.sum(1, keepdims=True))

    def test_attention_that_keeps_its_maximum(self):
        q, k, v = (self.random.standard_normal((rows, 16)).astype(np.float16) for rows in (8, 64, 64))
        out = np.zeros((8, 16), np.float32)
        self.launch(tiled("""  const device half* Q [[ buffer(0) ]],
  const device half* K [[ buffer(1) ]],
  const device half* V [[ buffer(2) ]],
  device float* O [[ buffer(3) ]]""", """  thread float acc[16];
  float scores_max = -INFINITY;
  float logsum = 0.000000e+00f;
  TILELANG_PRAGMA_UNROLL
  for (int d = 0; d < 16; ++d) {
    acc[d] = 0.000000e+00f;
  }
  for (int block = 0; block < 2; ++block) {
    int row = (block * 32) + ((int)threadIdx);
    float score = 0.000000e+00f;
    for (int d = 0; d < 16; ++d) {
      score = score + (((float)Q[(((int)blockIdx) * 16) + d]) * ((float)K[(row * 16) + d]));
    }
    float before = scores_max;
    scores_max = max(scores_max, simd_max(score));
    float rescale = exp2((before - scores_max) * 3.606738e-01f);
    float p = exp2((score - scores_max) * 3.606738e-01f);
    logsum = (logsum * rescale) + simd_sum(p);
    for (int d = 0; d < 16; ++d) {
      acc[d] = (acc[d] * rescale) + simd_sum(p * ((float)V[(row * 16) + d]));
    }
  }
  if (((int)threadIdx) < 16) {
    float mine = 0.000000e+00f;
    for (int d = 0; d < 16; ++d) {
      mine = select(mine, acc[d], d == ((int)threadIdx));
    }
    O[(((int)blockIdx) * 16) + ((int)threadIdx)] = mine / logsum;
  }""", 32), "main_kernel", [q, k, v, out], (8, 1, 1), (32, 1, 1))  # fmt: skip
        s = q.astype(np.float32) @ k.astype(np.float32).T / 4
        p = np.exp(s - s.max(1, keepdims=True))
        self.close(out, p / p.sum(1, keepdims=True) @ v.astype(np.float32), 1e-4)


if __name__ == "__main__":
    unittest.main()
