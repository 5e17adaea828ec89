# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two builds of smelt against each other, in turns: starting, a hit in the store, loading a package and running one of its
kernels, compiling a Metal library here. For the speed of the kernels themselves: bench/cpu_kernels/compare_code.sh.

    python3 bench/two_builds.py BEFORE/bin AFTER/bin [rounds]

Each figure is the processor's time of whole processes, which changes less on a busy machine than the clock's: the least and
the median of each build, their ratios (after to before), and the ratios of two halves of the runs of one build, which say
what a ratio is worth here.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from processes import environment_of, run  # noqa: E402


def cases(smelt: str, folder: pathlib.Path) -> dict[str, list[str]]:
    """Commands by what they measure; what they read is made here, by this build."""
    source = str(ROOT / "examples/saxpy.ll")
    package, library, out = (str(folder / name) for name in ("p.smelt", "l.metallib", "out.smelt"))
    environment = environment_of(folder, folder / "store")
    for words in (["-o", package], ["-o", library, "--no-cpu"], ["-o", out]):
        subprocess.run([smelt, "compile", source, *words], check=True, env=environment)
    run_words = ["--threads", "4096", "f32[4096]", "f32[4096]", "f32:2", "i32:4096"]
    return {
        "start": [smelt, "--version"],
        "hit": [smelt, "compile", source, "-o", out],
        "load and run a package": [smelt, "run", package, "saxpy", *run_words],
        "load and run, made before": [smelt, "run", library, "saxpy", *run_words],
        "compile a Metal library here": [smelt, "compile", library, "-o", out, "--no-store", "--no-cpu"],
    }


def halves(values: list[float]) -> float:
    return min(values[1::2]) / min(values[0::2])


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    with tempfile.TemporaryDirectory() as top:
        commands, environments = [], []
        for i, build in enumerate(sys.argv[1:3]):
            folder = pathlib.Path(top, str(i))
            folder.mkdir(mode=0o700)
            commands.append(cases(str(pathlib.Path(build, "smelt").resolve()), folder))
            environments.append(environment_of(folder, folder / "store"))
        print(f"{'processor ms, ' + str(rounds) + ' rounds':32} {'before':>8} {'after':>8} {'least':>7} {'median':>7} {'halves':>15}")
        for name in commands[0]:
            taken: list[list[float]] = [[], []]
            for turn in range(2 * rounds + 2):
                which = (turn + turn // 2) % 2  # before, after, after, before
                spent = run(commands[which][name], environments[which])[1] * 1e3
                if turn >= 2:
                    taken[which].append(spent)
            before, after = taken
            print(
                f"{name:32} {min(before):8.2f} {min(after):8.2f} {min(after) / min(before):7.3f}"
                f" {statistics.median(after) / statistics.median(before):7.3f} {halves(before):7.3f} {halves(after):7.3f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
