# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a process waits for smelt: the import, and the first load of a package of one kernel, beside the same in C;
then a compile that the store answers, beside ccache; then whole processes, from execve to exit, that load a package of
500 kernels, against making it.

    python3 bench/start/start.py build/release [rounds]

Each figure is of fresh processes, the least of many; the processor's time stands beside the clock's, since it changes
less on a busy machine. Needs the build's Python package, bench_start and smelt.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from processes import environment_of, forget, least, python_of, record, run  # noqa: E402

LOAD = """
import smelt, time, sys
start = time.perf_counter_ns()
library = smelt.load_metallib(sys.argv[1])
loaded = time.perf_counter_ns()
kernel = library.saxpy
built = time.perf_counter_ns()
kernel(bytearray(64), bytearray(64), 2.0, 1, threads=1, arg_casts={3: "int32"}, check="off")
print(0, loaded - start, built - loaded, time.perf_counter_ns() - built)
"""


def stages(command: list[str], environment: dict[str, str], rounds: int) -> list[float]:
    """Milliseconds of device, load, pipeline and dispatch, the least of each."""
    rows = [[int(word) for word in run(command, environment)[2].split()[:4]] for _ in range(rounds)]
    return [min(column) * 1e-6 for column in zip(*rows)]


def many(kernels: int) -> str:
    """So many kernels of different code in one text."""
    text = (ROOT / "examples" / "saxpy.ll").read_text()
    head, body = text.split("define", 1)
    made = (
        body.replace("@saxpy(", f"@saxpy_{i}(").replace("%sum, ptr", "%own, ptr").replace(
            "  store", f"  %own = fadd float %sum, {i}.0\n  store")
        for i in range(kernels)
    )  # fmt: skip
    return head + "".join("define" + one + "\n" for one in made)


def whole_processes(build: pathlib.Path, python: str, folder: str, environment: dict[str, str], rounds: int) -> None:
    text, package = pathlib.Path(folder) / "many.ll", pathlib.Path(folder) / "many.smelt"
    text.write_text(many(500))
    bench, smelt = str(build / "bin" / "bench_start"), str(build / "bin" / "smelt")
    compiling = [smelt, "compile", str(text), "--target", "macos14", "-o", str(package)]
    made = run(compiling, environment)
    found = least(compiling, environment, 3)
    print("\nwhole processes, package of 500 kernels, over one that does nothing:")
    nothing_c, nothing_python = least([bench], environment, rounds), least([python, "-c", "pass"], environment, rounds)
    open_all = "import smelt, sys; smelt.open(sys.argv[1]).prepare()"
    rows = [
        ("C: one kernel", [bench, str(package), "saxpy_7"], nothing_c, False),
        ("C: one kernel, file not cached", [bench, str(package), "saxpy_7"], nothing_c, True),
        ("C: all pipelines", [bench, str(package), "saxpy_7", "all"], nothing_c, False),
        ("Python: one kernel", [python, "-c", LOAD.replace("saxpy", "saxpy_7"), str(package)], nothing_python, False),
        ("Python: all pipelines", [python, "-c", open_all, str(package)], nothing_python, False),
    ]
    for name, command, nothing, cold in rows:
        times = []
        for _ in range(rounds):
            if cold:
                forget(package)
            times.append(run(command, environment)[0] * 1e3)
        print(f"{name:<34} {min(times) - nothing[0]:9.2f} ms")
    print(f"{'smelt compile, from the store':<34} {found[0] - nothing_c[0]:9.2f} ms")
    print(f"{'smelt compile, empty store':<34} {made[0] * 1e3 - nothing_c[0]:9.2f} ms")


def hits(build: pathlib.Path, folder: pathlib.Path, environment: dict[str, str], rounds: int) -> None:
    """A source that was compiled before: from smelt's store, and a C file of the same size from ccache's (direct mode)."""
    source = (ROOT / "examples" / "saxpy.metal").read_text()
    (folder / "saxpy.metal").write_text(source)
    (folder / "same.c").write_text("int same(int x) { return x; }\n".ljust(len(source) - 1, " ") + "\n")
    smelt = str(build / "bin" / "smelt")
    subprocess.run([smelt, "toolchain", folder / "tools"], check=True)
    rows = [
        ("smelt compile, a hit", [smelt, "compile", str(folder / "saxpy.metal"), "-o", str(folder / "saxpy.metallib")]),
        ("metal -c, a hit", [str(folder / "tools/metal"), "-c", str(folder / "saxpy.metal"), "-o", str(folder / "saxpy.air")]),
        ("smelt --version", [smelt, "--version"]),
    ]
    if shutil.which("ccache") and shutil.which("cc"):
        environment = {**environment, "CCACHE_DIR": str(folder / "ccache")}
        rows.append(("ccache cc -c, a direct hit", ["ccache", "cc", "-c", str(folder / "same.c"), "-o", str(folder / "same.o")]))
    print()
    clocks = {}
    for name, command in rows:
        run(command, environment)
        clock, processor = least(command, environment, rounds)
        clocks[name] = clock
        print(f"{name:<30} {clock:7.2f} ms   {processor:7.2f} ms of processor")
    for row, name in (("hit.compile", "smelt compile, a hit"), ("hit.metal", "metal -c, a hit")):
        if rival := clocks.get("ccache cc -c, a direct hit"):
            record(row, "ms", clocks[name], rival)


def first_compiles(build: pathlib.Path, folder: pathlib.Path, environment: dict[str, str], rounds: int) -> None:
    """Metal source with an empty store and an empty folder of precompiled headers, as on a new machine, for each target
    that smelt knows, beside clang on a C file of one line."""
    smelt = str(build / "bin" / "smelt")
    source = folder / "first.metal"
    (folder / "one.c").write_text("int one(int x) { return x; }\n")
    clang = least(["clang-19", "-O2", "-c", str(folder / "one.c"), "-o", str(folder / "one.o")], environment, rounds)[0]
    targets = [row["name"] for row in json.loads((build / "python/smelt/_pure/facts.json").read_text())["targets"]]
    print("\nfirst compile in a new store, each target:")
    worst = 0.0
    for target in targets:
        clocks, processors = [], []
        for round in range(rounds):
            source.write_text((ROOT / "examples" / "saxpy.metal").read_text() + f"// {target} {round}\n")
            new = {**environment, "SMELT_STORE": str(folder / f"new-{target}-{round}"), "XDG_CACHE_HOME": str(folder / f"cache-{target}-{round}")}
            clock, processor, _ = run([smelt, "compile", str(source), "--target", target, "-o", str(folder / "first.metallib")], new)
            clocks.append(clock * 1e3)
            processors.append(processor * 1e3)
        worst = max(worst, min(clocks))
        print(f"{target:<34} {min(clocks):7.2f} ms   {min(processors):7.2f} ms of processor")
    print(f"{'clang-19 -O2 -c of one line':<34} {clang:7.2f} ms")
    record("first.metal", "ms", worst, clang)


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    python = python_of(build)
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "saxpy.smelt")
        environment = environment_of(build, pathlib.Path(folder) / "store")
        subprocess.run([build / "bin" / "smelt", "compile", ROOT / "examples" / "saxpy.ll", "--target", "macos14",
                        "-o", package], env=environment, check=True)  # fmt: skip
        nothing = least([python, "-c", "pass"], environment, rounds)
        imported = least([python, "-c", "import smelt"], environment, rounds)
        print(f"python3 -c pass                {nothing[0]:7.2f} ms   {nothing[1]:7.2f} ms of processor")
        print(f"import smelt, over that        {imported[0] - nothing[0]:7.2f} ms   {imported[1] - nothing[1]:7.2f} ms of processor")
        read = "import hashlib, sys, time; start = time.perf_counter_ns(); "
        read += "hashlib.sha256(open(sys.argv[1], 'rb').read()).digest(); print(0, time.perf_counter_ns() - start, 0, 0)"
        hashed = stages([python, "-c", read, package], environment, rounds)[1]
        print(f"{'Python: read and hash the file':<30} {hashed:7.3f} ms")
        for name, command in (("Python", [python, "-c", LOAD, package]), ("C", [build / "bin" / "bench_start", package, "saxpy"])):
            device, load, pipeline, dispatch = stages([str(word) for word in command], environment, rounds)
            if name == "Python":
                record("python.first", "ms", imported[0] - nothing[0] + device + load, hashed)
            print(f"{name + ': load':<30} {device + load:7.3f} ms   pipeline {pipeline:.3f} ms, first dispatch {dispatch:.3f} ms")
        hits(build, pathlib.Path(folder), environment, rounds)
        first_compiles(build, pathlib.Path(folder), environment, min(rounds, 10))
        whole_processes(build, python, folder, environment, rounds)


if __name__ == "__main__":
    main()
