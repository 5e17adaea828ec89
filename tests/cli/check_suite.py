# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""200 small kernels in pairs: one with a planted fault, and the nearest that has none. The classes are those of
DataRaceBench and of the checks that CUDA's tools have, in Metal's words. A pair is one row: its name, what is to be found
in the first ("race", "barrier", "lanes", "unwritten"), the line that is wrong, the line that is right, and the kernel
around them with @ in the line's place. Rows are written out for several element types.

All kernels run with 256 threads in groups of 64, so four groups of two SIMD groups."""

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"

PARAMETERS = (
    "device T* a [[buffer(0)]], device T* b [[buffer(1)]], device atomic_uint* n [[buffer(2)]], "
    "uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]], "
    "uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]], "
    "uint w [[simdgroup_index_in_threadgroup]]"
)

WAIT = "threadgroup_barrier(mem_flags::mem_threadgroup);"
WAIT_DEVICE = "threadgroup_barrier(mem_flags::mem_device);"
SIMD_WAIT = "simdgroup_barrier(mem_flags::mem_threadgroup);"

# Written once before the tile that the row is about, so that what races is not unwritten as well.
TILE = f"threadgroup T m[64]; m[t] = T(0); {WAIT}"
# Written where the data, which are zeros, never lead: memory that no line writes is gone before code is made of it.
SOME = "threadgroup T m[64]; if (a[i] == T(7)) m[t] = a[i];"

# name, kind, wrong, right, body
FOUR_TYPES = [
    ("neighbour_in_place", "race", "a[i] = a[(i + 1) & 255] + T(1);", "b[i] = a[(i + 1) & 255] + T(1);", "@"),
    ("neighbour_before", "race", "if (i > 0) a[i] = a[i - 1];", "if (i > 0) b[i] = a[i - 1];", "@"),
    ("two_to_one", "race", "a[i / 2] = T(i);", "a[i] = T(i);", "@"),
    ("folded", "race", "a[i % 64] = T(i);", "if (g == 2) a[i % 64] = T(i);", "@"),
    ("stride_that_meets", "race", "a[(i * 2) & 255] = T(i);", "a[(i * 3) & 255] = T(i);", "@"),
    ("sum_of_all", "race", "b[0] += a[i];", "b[i] += a[i];", "@"),
    ("one_a_group", "race", "b[g] = T(i);", "if (t == 0) b[g] = T(i);", "@"),
    ("tile_turned", "race", "", WAIT, f"{TILE} m[t] = a[i]; @ b[i] = m[63 - t];"),
    ("tile_of_two", "race", SIMD_WAIT, WAIT, f"{TILE} m[t] = a[i]; @ b[i] = m[t ^ 32];"),
    ("pair_of_lanes", "race", "", SIMD_WAIT, f"{TILE} m[t] = a[i]; @ b[i] = m[t ^ 1];"),
    ("tree", "race", "", WAIT,
     f"threadgroup T m[64]; m[t] = a[i]; {WAIT} for (uint s = 32; s > 0; s /= 2) {{ if (t < s) m[t] += m[t + s]; @ }}"
     " if (t == 0) b[g] = m[0];"),
    ("leader", "race", "", WAIT, "threadgroup T m[1]; if (t == 0) m[0] = a[g]; @ b[i] = m[0];"),
    ("buffer_again", "race", "", WAIT,
     f"threadgroup T m[64]; T x = 0; for (uint k = 0; k < 3; ++k) {{ m[t] = a[(i + k) & 255]; {WAIT} x += m[63 - t]; @ }}"
     " b[i] = x;"),
    ("wrong_memory", "race", WAIT, WAIT_DEVICE, "a[i] = T(i); @ b[i] = a[g * 64 + 63 - t];"),
    ("no_memory", "race", "threadgroup_barrier(mem_flags::mem_none);", WAIT,
     f"{TILE} m[t] = a[i]; @ b[i] = m[63 - t];"),
    ("other_group", "race", "b[i] = a[255 - i];", "b[i] = a[g * 64 + 63 - t];", f"a[i] = T(i); {WAIT_DEVICE} @"),
    ("scan", "race", "", WAIT,
     f"threadgroup T m[64]; m[t] = a[i]; {WAIT} for (uint s = 1; s < 64; s *= 2) {{ T x = t >= s ? m[t - s] : T(0); @"
     f" m[t] += x; {WAIT} }} b[i] = m[t];"),
    ("update_by_all", "race", "a[g] = old * T(2) + T(t);", "if (t == 0) a[g] = old * T(2) + T(t);",
     f"T old = a[g]; {WAIT_DEVICE} @"),
    ("unset", "unwritten", "", f"m[t] = T(0); {WAIT}", f"{SOME} @ b[i] = m[t];"),
    ("half_set", "unwritten", "b[i] = m[t];", "b[i] = m[t & 31];",
     f"threadgroup T m[64]; if (t < 32) m[t] = a[i]; {WAIT} @"),
    ("handed_to_nobody", "unwritten", "b[i] = m[t];", "b[i] = m[t & 31];",
     f"threadgroup T m[64]; if (t < 32) m[t] = a[i]; {WAIT} T x = simd_shuffle_xor(m[t], ushort(1)); {WAIT}"
     f" if (t < 32) m[t] = x; {WAIT} @"),
    ("counted_from_below", "unwritten", "b[i] = m[t];", "b[i] = m[t & 47];",
     f"threadgroup T m[64]; if (lane < 16) m[t] = a[i]; {WAIT} T x = simd_prefix_exclusive_sum(m[t]); {WAIT}"
     f" if (lane < 16) m[t] = x; {WAIT} @"),
    ("unset_sum", "unwritten", "", "m[t] = T(0);", "threadgroup T m[64]; @ m[t] += a[i]; b[i] = m[t];"),
    ("unset_tail", "unwritten", "128", "64",
     f"threadgroup T m[128]; m[t] = a[i]; {WAIT} if (t == 0) {{ T x = 0; for (uint k = 0; k < @; ++k) x += m[k]; b[g] = x; }}"),
]  # fmt: skip

ONE_TYPE = [
    ("counter", "race", "b[0] += 1;", "atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);", "@"),
    ("atomic_and_plain", "race", "b[i] = ((device uint*)n)[0];",
     "b[i] = atomic_load_explicit(n, memory_order_relaxed);",
     "atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); @"),
    ("bytes_that_overlap", "race", "p[i] = 1; p[i + 1] = 2;", "p[2 * i] = 1; p[2 * i + 1] = 2;",
     "device uchar* p = (device uchar*)a; @"),
    ("halves_of_a_word", "race", "p[i / 2] = ushort(i);", "p[i] = ushort(i);", "device ushort* p = (device ushort*)a; @"),
    ("local_histogram", "race", "m[(i * 7) & 15] += 1;",
     "atomic_fetch_add_explicit((threadgroup atomic_uint*)&m[(i * 7) & 15], 1u, memory_order_relaxed);",
     f"threadgroup uint m[16]; if (t < 16) m[t] = 0; {WAIT} @ {WAIT} if (t < 16) b[g * 16 + t] = m[t];"),
    ("last_group", "race", "",
     "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);",
     "threadgroup uint last[1]; if (t == 0) { a[g] = g + 1; @"
     " last[0] = atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); @"
     " if (last[0] == 3) { uint x = 0; for (uint k = 0; k < 4; ++k) x += a[k]; b[0] = x; } }"),
    ("two_writers", "race", "b[t] = i;", "if (g == t % 4) b[t] = i;", "a[i] = 1; @"),
    ("turned_square", "race", "", WAIT,
     f"threadgroup uint m[8][8]; m[t / 8][t % 8] = 0; {WAIT} m[t / 8][t % 8] = a[i]; @ b[i] = m[t % 8][t / 8];"),
    ("wait_of_some_groups", "race", f"if ((g & 1) != 0) {WAIT}", WAIT,
     f"{TILE} m[t] = a[i]; @ b[i] = m[63 - t];"),
    # ---- barriers ----
    ("wait_of_a_part", "barrier", f"if (t < 32) {WAIT}", f"if (g < 2) {WAIT}", "b[i] = a[i]; @"),
    ("leaves_before", "barrier", "if (t >= 48) return;", "if (g >= 3) return;", f"@ b[i] = a[i]; {WAIT}"),
    ("rounds_differ", "barrier", "t % 3 + 1", "g + 1", f"for (uint k = 0; k < @; ++k) {{ {WAIT} b[i] = k; }}"),
    ("two_ways", "barrier", "t & 1", "g & 1",
     f"if ((@) != 0) {{ b[i] = 1;\n {WAIT}\n }} else {{ b[i] = a[i];\n {WAIT}\n }}"),
    ("breaks_out", "barrier", "if (a[i] + t == k + 40) break;", "if (a[g] + g == k) break;",
     f"for (uint k = 0; k < 8; ++k) {{ @ {WAIT} }} b[i] = 1;"),
    ("switch_of_ways", "barrier", "t / 16", "g",
     f"switch (@) {{ case 0: b[i] = 1; break; case 1:\n {WAIT}\n b[i] = 2; break; default: b[i] = 3; }}"),
    ("or_else", "barrier", "t == 0 || a[i] == 7", "g == 0 || a[g] == 7", f"if (@) {WAIT} b[i] = 1;"),
    ("simd_wait_of_a_part", "barrier", "lane < 16", "w == 0", f"if (@) {SIMD_WAIT} b[i] = a[i];"),
    ("lane_leaves", "barrier", "if (lane == 31) return;", "if (w == 1) return;", f"@ b[i] = a[i]; {SIMD_WAIT}"),
    ("simd_rounds", "barrier", "lane / 8 + 1", "w + 1", f"for (uint k = 0; k < @; ++k) {{ {SIMD_WAIT} b[i] = k; }}"),
    # ---- lanes ----
    ("shuffle_from_idle", "lanes", "lane < 16", "w == 0",
     "uint x = a[i]; if (@) x = simd_shuffle(x, ushort(lane ^ 16)); b[i] = x;"),
    ("broadcast_from_idle", "lanes", "simd_broadcast(x, ushort(0))", "simd_broadcast_first(x)",
     "uint x = a[i]; if (lane > 3) x = @; b[i] = x;"),
    ("xor_of_odd", "lanes", "1", "2", "uint x = a[i]; if ((lane & 1) != 0) x = simd_shuffle_xor(x, ushort(@)); b[i] = x;"),
    ("down_of_low", "lanes", "lane < 30", "w == 1", "uint x = a[i]; if (@) x = simd_shuffle_down(x, ushort(4)); b[i] = x;"),
    ("up_of_high", "lanes", "lane > 8", "w == 0", "uint x = a[i]; if (@) x = simd_shuffle_up(x, ushort(4)); b[i] = x;"),
    ("quad_of_idle", "lanes", "lane % 4 != 0", "lane / 4 != 0",
     "uint x = a[i]; if (@) x = quad_broadcast(x, ushort(0)); b[i] = x;"),
    ("after_leaving", "lanes", "if (lane >= 20) return;", "if (w == 1) return;",
     "uint x = a[i]; @ b[i] = simd_shuffle_down(x, ushort(16));"),
    # ---- unwritten ----
    ("private_tail", "unwritten", "3", "4",
     "uint p[4]; for (uint k = 0; k < @; ++k) p[k] = a[(i + k) & 255]; b[i] = p[(a[i] + 3) & 3];"),
    ("private_hole", "unwritten", "k != 2", "k != 9",
     "uint p[8]; for (uint k = 0; k < 8; ++k) if (@) p[k] = k; uint x = 0; for (uint k = a[i]; k < 8; ++k) x += p[k];"
     " b[i] = x;"),
    ("copied_struct", "unwritten", "23", "24",
     "struct Big { uint v[24]; }; threadgroup Big m[64]; Big p; for (uint k = 0; k < @; ++k) p.v[k] = a[i] + k; m[t] = p;"
     f" {WAIT} b[i] = m[63 - t].v[(a[i] + 23) % 24];"),
    ("unset_choice", "unwritten", "", f"m[t] = i; {WAIT}", f"{SOME} @ if (m[t] > 5) b[i] = 1;"),
    # Zero times anything is zero, if it is a number: bytes are.
    ("times_zero", "unwritten", "1", "a[i]", f"{SOME} b[i] = m[t] * (@);"),
    ("bytes_times_zero", "unwritten", "1", "a[i]",
     "uchar p[4]; if (a[i] == 7) for (uint k = 0; k < 4; ++k) p[k] = k; float x = 0, y = @;"
     " for (uint k = 0; k < 4; ++k) x += y * float(p[k]); b[i] = uint(x);"),
    ("unset_index", "unwritten", "", f"m[t] = i; {WAIT}", f"{SOME} @ b[(m[t] & 3) * 64 + t] = 1;"),
    ("unset_counter", "unwritten", "", "if (t == 0) m[0] = 0;",
     f"threadgroup uint m[1]; @ {WAIT} atomic_fetch_add_explicit((threadgroup atomic_uint*)m, 1u, memory_order_relaxed);"
     f" {WAIT} if (t == 0) b[g] = m[0];"),
    ("set_by_some_group", "unwritten", "g != 1", "g != 7",
     f"threadgroup uint m[64]; if (@) m[t] = a[i]; {WAIT} b[i] = m[63 - t];"),
    ("row_too_short", "unwritten", "7", "8",
     f"threadgroup uint m[8][8]; if (t % 8 < @) m[t / 8][t % 8] = a[i]; {WAIT} b[i] = m[7 - t / 8][7 - t % 8];"),
    ("bytes_of_a_word", "unwritten", "3", "4",
     f"threadgroup uint m[64]; threadgroup uchar* p = (threadgroup uchar*)&m[t]; for (uint k = 0; k < @; ++k) p[k] = 1;"
     f" {WAIT} b[i] = m[63 - t];"),
]  # fmt: skip

TYPES = ("float", "uint", "half")


def rows():
    """(name, kind, wrong, right, body, type) of each pair."""
    for row in FOUR_TYPES:
        for element in TYPES:
            yield (f"{row[0]}_{element}", *row[1:], element)
    for row in ONE_TYPE:
        yield (*row, "uint")


def kernel(name, body, element):
    return f"kernel void {name}({PARAMETERS.replace('T*', element + '*')}) {{ typedef {element} T;\n{body}\n}}\n"


def suite():
    """The text of all kernels, and what each is to say: (name, kind or None)."""
    text, wanted = HEAD, []
    for name, kind, wrong, right, body, element in rows():
        text += kernel("bad_" + name, body.replace("@", wrong), element)
        text += kernel("good_" + name, body.replace("@", right), element)
        wanted += [("bad_" + name, kind), ("good_" + name, None)]
    return text, wanted
