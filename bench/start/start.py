# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a process waits for smelt: the import, and the first load of a package of one kernel, beside the same in C;
then whole processes, from execve to exit, that load a package of 500 kernels, against making it.

    python3 bench/start/start.py build/release [rounds]

Each figure is of fresh processes, the least of many; the processor's time stands beside the clock's, since it changes
less on a busy machine. Needs the build's Python package, bench_start and smelt.
"""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

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


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """Seconds by the clock and of the processor, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def least(command: list[str], environment: dict[str, str], rounds: int) -> tuple[float, float]:
    runs = [run(command, environment) for _ in range(rounds)]
    return min(r[0] for r in runs) * 1e3, min(r[1] for r in runs) * 1e3


def stages(command: list[str], environment: dict[str, str], rounds: int) -> list[float]:
    """Milliseconds of device, load, pipeline and dispatch, the least of each."""
    rows = [[int(word) for word in run(command, environment)[2].split()] for _ in range(rounds)]
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


def forget(path: pathlib.Path) -> None:
    """Out of the page cache, as far as the system does that for a user."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


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


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    python = next((line.split("=", 1)[1] for line in (build / "CMakeCache.txt").read_text().splitlines()
                   if line.startswith("Python_EXECUTABLE")), sys.executable)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "saxpy.smelt")
        environment = {**os.environ, "PYTHONPATH": str(build / "python"), "SMELT_STORE": os.path.join(folder, "store")}
        subprocess.run([build / "bin" / "smelt", "compile", ROOT / "examples" / "saxpy.ll", "--target", "macos14",
                        "-o", package], env=environment, check=True)  # fmt: skip
        # As installers do; without it each run would compile the sources again.
        subprocess.run([python, "-m", "compileall", "-q", build / "python" / "smelt"], check=True)
        nothing = least([python, "-c", "pass"], environment, rounds)
        imported = least([python, "-c", "import smelt"], environment, rounds)
        print(f"python3 -c pass                {nothing[0]:7.2f} ms   {nothing[1]:7.2f} ms of processor")
        print(f"import smelt, over that        {imported[0] - nothing[0]:7.2f} ms   {imported[1] - nothing[1]:7.2f} ms of processor")
        for name, command in (("Python", [python, "-c", LOAD, package]), ("C", [build / "bin" / "bench_start", package, "saxpy"])):
            device, load, pipeline, dispatch = stages([str(word) for word in command], environment, rounds)
            print(f"{name + ': load':<30} {device + load:7.3f} ms   pipeline {pipeline:.3f} ms, first dispatch {dispatch:.3f} ms")
        whole_processes(build, python, folder, environment, rounds)


if __name__ == "__main__":
    main()
