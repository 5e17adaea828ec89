# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that grow in one dimension each. What they compute is of no use, but no part of it can be left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
BUFFERS = "device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant uint& n [[buffer(2)]]"
POSITION = "uint i [[thread_position_in_grid]]"
GROUP = POSITION + ", uint l [[thread_index_in_threadgroup]]"


@dataclass(frozen=True)
class Dimension:
    name: str
    first: int  # the smallest size; each further one is twice as large
    source: Callable[[int], str]
    names: Callable[[int], list[str]] = lambda size: ["k"]  # of its kernels


def kernel(body: str, parameters: str = POSITION, before: str = "") -> str:
    return f"{HEAD}{before}kernel void k({BUFFERS}, {parameters}) {{\n{body}}}\n"


def lines(size: int, line: Callable[[int], str]) -> str:
    return "".join(f"  {line(at)}\n" for at in range(size))


def statements(size: int) -> str:
    """A line each, of which every one needs the one before and memory."""
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v = v * x[i + {at}u] + {at}.5f;") + "  y[i] = v;\n")


def in_a_loop(size: int) -> str:
    """The same inside a loop, which makes the kernel one of lanes."""
    body = lines(size, lambda at: f"v = v * x[i + r + {at}u] + {at}.5f;")
    return kernel(f"  float v = x[i];\n  for (uint r = 0; r < n; ++r) {{\n{body}  }}\n  y[i] = v;\n")


def integers(size: int) -> str:
    """Sums, products, rotations and exclusive ors: a hash function written out."""
    def line(at: int) -> str:
        return f"a = rotate(a + (b ^ {at * 2654435761 % 2**32}u), {at % 31 + 1}u); b = b * 5u + (a >> 3);"

    start = "  uint a = as_type<uint>(x[i]), b = i;\n"
    return kernel(f"{start}  for (uint r = 0; r < n; ++r) {{\n{lines(size, line)}  }}\n  y[i] = float(a ^ b);\n")


def wide_integers(size: int) -> str:
    """Products of 64 bits with carries, as arithmetic of large numbers has them."""
    start = "  ulong a = as_type<uint>(x[i]), b = i, c = n;\n"
    def line(at: int) -> str:
        return f"c = mulhi(a, b) + (a * b < c ? 1ul : 0ul); a = a * b + c; b += c ^ {at * 11400714819323198485 % 2**64}ul;"

    return kernel(f"{start}  for (uint r = 0; r < n; ++r) {{\n{lines(size, line)}  }}\n  y[i] = float(a ^ b ^ c);\n")


def loops(size: int) -> str:
    def line(at: int) -> str:
        return f"for (uint r = i; r < n + {at}u; ++r) v += x[r + {at}u] * v;"

    return kernel("  float v = x[i];\n" + lines(size, line) + "  y[i] = v;\n")


def nested_loops(size: int) -> str:
    def nest(at: int) -> str:
        indent = "  " * (at + 1)
        if at == size:
            index = " + ".join(f"r{one}" for one in range(size))
            return f"{indent}v += x[{index}] * v;\n"
        return f"{indent}for (uint r{at} = 0; r{at} < n + {at}u; ++r{at}) {{\n{nest(at + 1)}{indent}  v *= x[r{at}];\n{indent}}}\n"

    return kernel("  float v = x[i];\n" + nest(0) + "  y[i] = v;\n")


def unrolled(size: int) -> str:
    """A loop that the source wants unrolled."""
    body = "    v = fma(v, x[i + r], float(r)); if (v > 100.0f) v -= 100.0f;\n"
    return kernel(f"  float v = x[i];\n#pragma clang loop unroll(full)\n  for (uint r = 0; r < {size}u; ++r) {{\n{body}  }}\n  y[i] = v;\n")


def unrolled_arrays(size: int) -> str:
    """Loops over arrays of the thread's own, unrolled, as products of tiles have them."""
    turns = f"#pragma clang loop unroll(full)\n  for (uint r = 0; r < {size}u; ++r)"
    return kernel(
        f"  float a[{size}];\n{turns} a[r] = x[i + r];\n  for (uint s = 0; s < n; ++s) {{\n{turns} a[r] = fma(a[r], x[s], a[(r + 1) % {size}]);\n  }}\n"
        f"{turns} y[i + r] = a[r];\n"
    )


HELPER = "float help(float v, float w, device const float* x) {\n  for (int r = 0; r < 3; ++r) v = v > w ? sqrt(v) * x[int(w)] : v + w;\n  return v;\n}\n"


def calls(size: int) -> str:
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v = help(v, {at}.0f, x);") + "  y[i] = v;\n", before=HELPER)


def functions(size: int) -> str:
    """Each calls the one before."""
    first = "float f0(float v, device const float* x) { return v * x[0]; }\n"
    def one(at: int) -> str:
        return f"float f{at}(float v, device const float* x) {{ if (v > {at}.0f) v = sqrt(v); return f{at - 1}(v * x[{at}], x) + v; }}\n"

    return kernel(f"  y[i] = f{size}(x[i], x);\n", before=first + "".join(one(at) for at in range(1, size + 1)))


def calls_of_calls(size: int) -> str:
    """A tree: each function calls the one below twice; the size is that of the code with all inlined."""
    text = HELPER.replace("help", "f0")
    for at in range(1, size.bit_length()):
        text += f"float f{at}(float v, float w, device const float* x) {{ return f{at - 1}(f{at - 1}(v, w, x), w + {at}.0f, x); }}\n"
    return kernel(f"  y[i] = f{size.bit_length() - 1}(x[i], x[i + 1], x);\n", before=text)


def arrays(size: int) -> str:
    """Many of the thread's own, with indices that are not constants."""
    declare = lines(size, lambda at: f"float a{at}[8]; for (uint r = 0; r < 8; ++r) a{at}[r] = x[i * {at + 1}u + r];")
    use = lines(size, lambda at: f"v += a{at}[(i + {at}u + n) & 7]; a{at}[n & 7] = v; v *= a{at}[i & 7];")
    return kernel(f"{declare}  float v = 0;\n{use}  y[i] = v;\n")


def array_of(size: int) -> str:
    """One array, filled by as many statements."""
    fill = lines(size, lambda at: f"a[{at}] = x[i + {at}u] * {at}.5f;")
    return kernel(f"  float a[{size}];\n{fill}  float v = 0;\n  for (uint r = 0; r < n; ++r) v += a[(i + r) % {size}u];\n  y[i] = v;\n")


def constant_array(size: int) -> str:
    values = ", ".join(f"{at * 7 % 101}.25f" for at in range(size))
    before = f"constant float table[{size}] = {{{values}}};\n"
    return kernel(f"  float v = x[i];\n  for (uint r = 0; r < n; ++r) v += table[(i + r) % {size}u];\n  y[i] = v;\n", before=before)


def branches(size: int) -> str:
    def line(at: int) -> str:
        return f"if (v > {at}.0f) {{ v -= x[i + {at}u]; y[i + {at}u] = v; }} else {{ v += {at}.5f; }}"

    return kernel("  float v = x[i];\n" + lines(size, line) + "  y[i] = v;\n")


def nested_branches(size: int) -> str:
    text = "".join("  " * (at + 1) + f"if (v > {at}.0f) {{ v += x[i + {at}u];\n" for at in range(size))
    return kernel(f"  float v = x[i];\n{text}  {'}' * size}\n  y[i] = v;\n")


def cases(size: int) -> str:
    text = lines(size, lambda at: f"case {at}: v = v * {at}.5f + x[{at}]; break;")
    return kernel(f"  float v = x[i];\n  for (uint r = 0; r < n; ++r) switch (int(v)) {{\n{text}  default: v += 1;\n  }}\n  y[i] = v;\n")


def returns(size: int) -> str:
    """Early ends."""
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v *= x[i + {at}u]; if (v < {at}.0f) {{ y[i] = v; return; }}") + "  y[i] = v;\n")


def loop_exits(size: int) -> str:
    text = lines(size, lambda at: f"v *= x[i + {at}u]; if (v < {at}.0f) break; if (v > {at + 9}00.0f) continue;")
    return kernel(f"  float v = x[i];\n  for (uint r = 0; r < n; ++r) {{\n{text}    v += r;\n  }}\n  y[i] = v;\n")


def variables(size: int) -> str:
    """All live through a loop."""
    declare = lines(size, lambda at: f"float v{at} = x[i + {at}u];")
    turn = lines(size, lambda at: f"v{at} = v{at} * v{(at * 7 + 1) % size} + x[r];")
    store = lines(size, lambda at: f"y[i + {at}u] = v{at};")
    return kernel(f"{declare}  for (uint r = 0; r < n; ++r) {{\n{turn}  }}\n{store}")


def vectors(size: int) -> str:
    declare = lines(size, lambda at: f"float4 v{at} = *(device const packed_float4*)(x + 4 * (i + {at}u));")
    turn = lines(size, lambda at: f"v{at} = v{at}.yzwx * v{(at * 7 + 1) % size} + v{at}.w;")
    store = lines(size, lambda at: f"*(device packed_float4*)(y + 4 * (i + {at}u)) = v{at};")
    return kernel(f"{declare}  for (uint r = 0; r < n; ++r) {{\n{turn}  }}\n{store}")


def parameters(size: int) -> str:
    """Members of an argument's structure."""
    members = " ".join(f"float m{at}; uint c{at};" for at in range(size))
    body = lines(size, lambda at: f"if (p.c{at} > i) v = v * p.m{at} + x[p.c{at}];")
    return kernel(f"  float v = x[i];\n{body}  y[i] = v;\n", POSITION + ", constant P& p [[buffer(3)]]", f"struct P {{ {members} }};\n")


def kernels(size: int) -> str:
    def one(at: int) -> str:
        return f"kernel void k{at}({BUFFERS}, {POSITION}) {{\n  for (uint r = 0; r < n; ++r) y[i] += x[r] * {at}.0f;\n}}\n"

    return HEAD + "".join(one(at) for at in range(size))


def templates(size: int) -> str:
    """A template's kernels by name."""
    body = "template <typename T, int N> kernel void t(device const T* x [[buffer(0)]], device T* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
    body += "  T v = x[i];\n  for (int r = 0; r < N; ++r) v = v * x[i + r] + T(N);\n  y[i] = v;\n}\n"
    def one(at: int) -> str:
        return f'template [[host_name("k{at}")]] kernel void t<float, {at + 1}>(device const float*, device float*, uint);\n'

    return HEAD + body + "".join(one(at) for at in range(size))


def many_names(size: int) -> list[str]:
    return [f"k{at}" for at in range(size)]


BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def threadgroup_arrays(size: int) -> str:
    declare = lines(size, lambda at: f"threadgroup float t{at}[64];")
    fill = lines(size, lambda at: f"t{at}[l] = x[i + {at}u];")
    use = lines(size, lambda at: f"v += t{at}[(l + {at + 1}u) & 63];")
    return kernel(f"{declare}{fill}  {BARRIER}\n  float v = 0;\n{use}  y[i] = v;\n", GROUP)


def barriers(size: int) -> str:
    turn = lines(size, lambda at: f"t[l] = v; {BARRIER} v += t[(l + {at + 1}u) & 255]; {BARRIER}")
    return kernel(f"  threadgroup float t[256];\n  float v = x[i];\n{turn}  y[i] = v;\n", GROUP)


def reductions(size: int) -> str:
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v = simd_sum(v * {at}.5f) + x[i + {at}u];") + "  y[i] = v;\n", GROUP)


def shuffles(size: int) -> str:
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v += simd_shuffle_xor(v, {1 << at % 5}) * {at}.5f;") + "  y[i] = v;\n", GROUP)


def matrices(size: int) -> str:
    """Products of SIMD-group matrices."""
    body = "  simdgroup_float8x8 a, b, c(0);\n"
    body += lines(size, lambda at: f"simdgroup_load(a, x + {64 * at}, 8); simdgroup_load(b, x + n + {64 * at}, 8); simdgroup_multiply_accumulate(c, a, b, c);")
    return kernel(body + "  simdgroup_store(c, y, 8);\n")


def atomics(size: int) -> str:
    body = lines(size, lambda at: f"atomic_fetch_add_explicit(h + (as_type<uint>(x[i + {at}u]) & 255), {at + 1}u, memory_order_relaxed);")
    return kernel(body, POSITION + ", device atomic_uint* h [[buffer(3)]]")


def functions_of_math(size: int) -> str:
    return kernel("  float v = x[i];\n" + lines(size, lambda at: f"v = precise::sin(v) + precise::log2(v + {at}.5f);") + "  y[i] = v;\n")


def textures(size: int) -> str:
    body = lines(size, lambda at: f"v += t.read(uint2(i + {at}u, n)) + t.sample(s, float2(v.x, {at}.5f));")
    text = "  constexpr sampler s(filter::linear);\n  float4 v = 0;\n"
    return kernel(text + body + "  y[i] = v.x + v.y + v.z + v.w;\n", POSITION + ", texture2d<float> t [[texture(0)]]")


def halves(size: int) -> str:
    start = "  half4 v = half4(x[i]);\n"
    body = lines(size, lambda at: f"v = v * half4(x[i + {at}u]) + {at % 100}.5h;")
    return kernel(f"{start}  for (uint r = 0; r < n; ++r) {{\n{body}  }}\n  y[i] = float(v.x + v.y + v.z + v.w);\n")


DIMENSIONS = (
    Dimension("statements", 250, statements),
    Dimension("in a loop", 125, in_a_loop),
    Dimension("integers", 100, integers),
    Dimension("64-bit products", 25, wide_integers),
    Dimension("half vectors", 50, halves),
    Dimension("loops", 10, loops),
    Dimension("nested loops", 2, nested_loops),
    Dimension("unrolled", 64, unrolled),
    Dimension("unrolled, arrays", 16, unrolled_arrays),
    Dimension("calls", 16, calls),
    Dimension("functions", 32, functions),
    Dimension("calls of calls", 16, calls_of_calls),
    Dimension("arrays", 8, arrays),
    Dimension("array's elements", 64, array_of),
    Dimension("constants", 1000, constant_array),
    Dimension("branches", 32, branches),
    Dimension("nested branches", 16, nested_branches),
    Dimension("cases", 16, cases),
    Dimension("returns", 16, returns),
    Dimension("exits of a loop", 8, loop_exits),
    Dimension("variables", 32, variables),
    Dimension("vectors", 16, vectors),
    Dimension("members", 32, parameters),
    Dimension("kernels", 16, kernels, many_names),
    Dimension("instances of a template", 16, templates, many_names),
    Dimension("threadgroup arrays", 16, threadgroup_arrays),
    Dimension("barriers", 8, barriers),
    Dimension("simd_sum", 8, reductions),
    Dimension("simd_shuffle", 16, shuffles),
    Dimension("matrices", 8, matrices),
    Dimension("atomics", 16, atomics),
    Dimension("mathematics", 16, functions_of_math),
    Dimension("textures", 8, textures),
)
