# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of docs/design/measured.md: what measures them, who the rival is, and which ratio was the aim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    name: str
    what: str
    aim: float = 0  # at most this ratio, or where `absolute` this figure; 0: none was set
    absolute: bool = False


@dataclass(frozen=True)
class Section:
    name: str  # --only
    title: str
    rival: str
    text: str
    command: tuple[str, ...]
    rows: tuple[Row, ...]
    once: tuple[str, ...] = ()  # another command, in the first round alone


@dataclass(frozen=True)
class Bar:
    """A bar of the summary: the geometric mean of the ratios of these rows."""

    what: str
    rival: str
    rows: tuple[str, ...]  # names; one that ends with a full stop stands for all rows that begin with it


BARS = (
    Bar("Compile a source again", "ccache on a C file", ("hit.compile",)),
    Bar("Compile ggml's 616 kernels", "Clang and LLVM, -O2", ("air.ggml",)),
    Bar("Open a package of 500 kernels", "reading and hashing it", ("load.open",)),
    Bar("Run eight simple kernels", "C loops, -O3", ("loop.",)),
    Bar("Run six of ggml's kernels", "ggml's code for CPUs", ("ggml.",)),
    Bar("Run seven of Triton's kernels", "NumPy over OpenBLAS", ("triton.",)),
)

# Above the tables of scale.py.
SCALE = (
    "### Stores of many sizes", "",
    "Each put is one transaction with one entry of 1 kB. The table shows the times of all puts, and of gets of 1,000 keys, the same number at each size. LMDB does "
    "not sync. SQLite keeps the bytes in its rows and syncs when smelt does. Files are in Triton's layout. A new process gets the keys once "
    "(first get), then again (hot get), and misses in the same way. The folder is in memory, so the figures include no disk syncs. The machine was idle. "
    "`bench_store_scale --folder /dev/shm/scale 1000 10000 100000 1000000 > docs/design/store-scale.csv` makes these figures in one run.",
)  # fmt: skip

# Above the table of growth/growth.py.
GROWTH = (
    "### Kernels that grow", "",
    "Metal source that grows in one dimension, to AIR, and from AIR to CPU code (`x86-64-v3`, efforts *fast* and *balanced*). The rival is "
    "`clang -O2 -c` on the same AIR for the same processor; operations of Metal are calls that it cannot see into. Figures are "
    "processor seconds of whole processes at the largest size. The columns with an x say how many times the time of half that size: 2 is linear. "
    "`bench/growth/growth.py BUILD --csv docs/design/growth.csv` makes these figures in one run.",
)  # fmt: skip

# Above the table of model_load/series.py.
LOAD = (
    "### A model's kernels, one by one", "",
    "A Python process loads 100, 1,000 or 10,000 kernels of Metal source, builds all pipelines and launches one. *First launch* is wall-clock time "
    "from the start of the process, the median of 5; a hit is one kernel. *package*: one file has all kernels. *store*: "
    "each kernel is an entry, found by its source. *files*: folders in the layout of Triton's cache hold smelt's packages. *JIT*: everything is "
    "compiled. *process each*: a process for each kernel. *Cold*: the files were dropped from the page cache. The first hit of a process loads the compiler, which makes "
    "the keys (30 ms). The machine was idle, and has no AVX-512. "
    "`bench/model_load/series.py BUILD --counts 100,1000,10000 --rounds 5 --csv docs/design/model-load.csv` makes these figures in one run.",
)  # fmt: skip

# {bin}, {python}, {source} and {build} are filled in.
SECTIONS = (
    Section(
        "commands", "Commands and processes", "rival",
        "Wall-clock time of whole processes, least of 30 (first compile: of 10). A hit is a compile that the store answers; its rival "
        "is ccache's direct mode on a C file of the same length. The first compile has an empty store; its rival is Clang on one line "
        "of C. The Python row is the import and the first load; its rival reads and hashes the file.",
        ("{python}", "{source}/bench/start/start.py", "{build}", "30"),
        (
            Row("hit.compile", "`smelt compile`, a hit", 1.0),
            Row("hit.metal", "`metal -c`, a hit", 1.0),
            Row("first.metal", "first Metal compile in a new store, the slowest target", 60, absolute=True),
            Row("python.first", "`import smelt` and the first load", 2, absolute=True),
        ),
    ),
    Section(
        "load", "Loading", "read and hash",
        "A package of 500 kernels (1.7 MB), from `main()` of a fresh process, median of 40. The rival reads and hashes the bytes "
        "that the loader reads.",
        ("{bin}/bench_load", "40"),
        (
            Row("load.open", "every kernel known by name"),
            Row("load.call", "and the first kernel has run"),
            Row("load.all", "and all pipelines are built", 1.0),
        ),
    ),
    Section(
        "air", "Metal source to AIR", "Clang's way",
        "Processor time of ggml's kernels (`ggml-metal.metal` of llama.rn 0.12.9). The rival does the same translation, runs "
        "LLVM's -O2 once for all kernels, and writes LLVM's bitcode.",
        ("{bin}/bench_metal_stages", "1"),
        (Row("air.ggml", "ggml's 616 kernels to a Metal library", 1.5),),
    ),
    Section(
        "loops", "CPU code", "loop",
        "One thread, fastest launch. Loops are C by Clang 19, `-O3 -march=native -ffast-math`. One million elements; softmax 512 x "
        "1024, matmul 512.",
        ("{bin}/bench_cpu_kernels", "--threads", "1", "7"),
        (
            Row("loop.vadd", "vadd"),
            Row("loop.square", "square"),
            Row("loop.saxpy_half", "saxpy, half"),
            Row("loop.sreduce", "reduction by `simd_sum`", 1.2),
            Row("loop.softmax", "softmax"),
            Row("loop.matmul", "matmul"),
            Row("loop.rope", "rope"),
            Row("loop.hist", "histogram", 1.1),
        ),
    ),
    Section(
        "ggml", "Kernels of Apple's ggml library", "ggml on CPUs",
        "From llama.rn 0.8.3, one thread, processor time, beside ggml's code for CPUs. ggml rounds the vector of `mul_mv` to 8 bits; "
        "the Metal kernel keeps floats.",
        ("{bin}/bench_cpu_kernels_ggml", "", "0.7"),
        (
            Row("ggml.mul_mv_q4_0_f32", "`mul_mv_q4_0_f32`, 4096 x 4096, one vector", 1.5),
            Row("ggml.mul_mm_f16_f32", "`mul_mm_f16_f32`, 4096 x 4096, 128 vectors", 1.2),
            Row("ggml.soft_max", "`soft_max`, 512 rows of 4096"),
            Row("ggml.rms_norm", "`rms_norm`, 512 rows of 4096"),
            Row("ggml.flash_attn_ext_f16", "`flash_attn_ext_f16`, 32 heads of 128, 128 queries", 1.8),
            Row("ggml.flash_attn_ext_vec_f16", "`flash_attn_ext_vec_f16`, 32 heads of 128, 1 query", 1.8),
        ),
    ),
    Section(
        "triton", "Triton's kernels", "NumPy",
        "`hip-gfx1100` of Triton 3.6, one thread, beside NumPy over OpenBLAS. Products of 512 x 512 x 512 use tiles of 32 and unknown "
        "strides. Specialised products, as Triton's launcher makes them, have tiles of 64, strides of one and sizes that are multiples of 16.",
        ("{python}", "{source}/bench/cpu_kernels/triton.py", "--smelt", "{bin}/smelt", "--seconds", "0.5"),
        (
            Row("triton.matmul_f32", "matmul f32", 1.5),
            Row("triton.matmul_f32_tiles", "matmul f32, specialised", 1.5),
            Row("triton.matmul_f16", "matmul f16", 1.5),
            Row("triton.matmul_f16_tiles", "matmul f16, specialised", 1.5),
            Row("triton.softmax_row", "softmax, 512 rows of 1024"),
            Row("triton.layer_norm", "layer norm, 512 rows of 4096"),
            Row("triton.attention", "attention, 8 heads of 64", 1.0),
        ),
    ),
    Section(
        "apple", "Triton's Apple back end", "NumPy",
        "Ten kernels like those that the back end writes, from source to checked results: `xcrun metal`, `xcrun metallib`, load and launch of "
        "each. Processor time of all processes, least of 3. The first run has an empty store. The rival computes the same with NumPy.",
        ("{python}", "{source}/bench/python/apple_backend.py", "{build}", "3"),
        (
            Row("apple.first", "first run of ten kernels"),
            Row("apple.second", "second run of ten kernels"),
        ),
    ),
    Section(
        "tensors", "Metal 4 tensors", "sgemm",
        "Products of `mpp::tensor_ops`, 512 x 512 x 512, tiles of 128 x 64 by four SIMD groups, one thread, beside OpenBLAS's sgemm.",
        ("{python}", "{source}/bench/cpu_kernels/tensors.py", "--smelt", "{bin}/smelt", "--seconds", "0.5"),
        (
            Row("tensors.whole_f16", "one `run` of f16", 2.5),
            Row("tensors.whole_f32", "one `run` of f32", 2.5),
            Row("tensors.stepped_f16", "eight steps of f16 to a cooperative destination"),
            Row("tensors.stepped_f32", "eight steps of f32 to a cooperative destination"),
        ),
    ),
    Section(
        "textures", "Textures", "OpenCV",
        "1280 x 720 from Python, groups of 32 x 8, fast math, one thread, beside OpenCV 4.6. OpenCV computes on bytes where the "
        "kernel has floats.",
        ("{python}", "{source}/bench/cpu_kernels/textures.py", "--smelt", "{bin}/smelt", "--seconds", "0.4"),
        tuple(
            Row(f"textures.{what} {kind}", f"{what}, {kind}", 2.0)
            for what in ("resize to half", "resize to 3/2", "blur of 13", "grey", "invert")
            for kind in ("rgba8", "rgba32f")
        ),
    ),
    Section(
        "images", "Textures beside PoCL's images", "PoCL",
        "The same kernels in OpenCL C on images, one thread.",
        ("{python}", "{source}/bench/cpu_kernels/textures.py", "--smelt", "{bin}/smelt", "--seconds", "0.4", "--rival", "pocl"),
        tuple(
            Row(f"images.{what} {kind}", f"{what}, {kind}")
            for what in ("resize to half", "resize to 3/2", "blur of 13", "invert")
            for kind in ("rgba8", "rgba32f")
        ),
    ),
    Section(
        "checks", "Watched threads", "unchecked",
        "Ten kernels of 65,536 threads from Python, on one CPU thread; geometric means of the ratio of checked to unchecked time. "
        "`bench/cpu_kernels/checks.py` prints each kernel.",
        ("{python}", "{source}/bench/cpu_kernels/checks.py", "--smelt", "{bin}/smelt", "--seconds", "0.1"),
        (
            Row("checks.memory", "`--checked=memory`"),
            Row("checks.races", "`races`", 20),
            Row("checks.init", "`init`", 10),
            Row("checks.sync", "`sync`"),
            Row("checks.all", "all"),
            Row("checks.oclgrind", "Oclgrind on the same kernels in OpenCL C, races and uninitialised memory, beside smelt's unchecked code"),
        ),
        once=("{python}", "{source}/bench/cpu_kernels/checks.py", "--smelt", "{bin}/smelt", "--seconds", "0.1", "--checks", "races",
              "--oclgrind"),
    ),
    Section(
        "store", "The store", "rival",
        "32 kB each. The rivals: memcpy (hot get), LMDB (lookup), reading a file (open and first get), files in Triton's layout (the "
        "rest).",
        ("{bin}/bench_store", "--rows", "1,3,5,6,8,9"),
        (
            Row("store.hot", "hot get with a copy", 1.15),
            Row("store.sqlite", "lookup through SQLite", 5),
            Row("store.fresh", "500 kernels in a fresh process", 1.0),
            Row("store.open", "open and first get", 70, absolute=True),
            Row("store.put", "put", 100, absolute=True),
            Row("store.writers", "p99 of a put with 4 writers and 4 readers", 15, absolute=True),
        ),
    ),
)  # fmt: skip
