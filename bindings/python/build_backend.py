# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pip runs (PEP 517): pip install . builds the tree with CMake and makes the wheel of the loader and
the store. Needs Python 3.9 or newer and what scripts/setup installs. The compiler's wheel comes from the target smelt_wheel."""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None
) -> str:
    sys.path.insert(0, str(ROOT / "bindings/python"))
    import wheels

    build = ROOT / "build" / "wheel"
    configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSMELT_TESTS=OFF",
                 "-DSMELT_BENCH=OFF", f"-DPython_EXECUTABLE={sys.executable}"]  # fmt: skip
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", build, "--target", "_loader", "_store"], check=True)
    return wheels.make("smelt", build, pathlib.Path(wheel_directory)).name
