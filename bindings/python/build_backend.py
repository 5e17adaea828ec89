# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build backend for pip (PEP 517): pip install . builds the tree with CMake and makes the wheel of the loader and
the store. Needs Python 3.9 or newer and what scripts/setup installs. The compiler's wheel comes from the target smelt_wheel."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("cmake", "ninja", "pkg-config", "c++", "patchelf", "readelf", "strip")


def _needs(what: str) -> None:
    sys.exit(f"\nsmelt is not built: {what}\nOn Debian 12 and 13, `scripts/setup build` installs all that a build needs. Or build wheels there, "
             "for every Python: docs/guide/install.md#the-wheels\n")  # fmt: skip


def _check_tools() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        missing.append(f"Python.h of {sys.executable}")
    if missing:
        _needs(f"it needs {', '.join(missing)}")


def build_wheel(
    wheel_directory: str, config_settings: dict[str, str] | None = None, metadata_directory: str | None = None
) -> str:
    _check_tools()
    sys.path.insert(0, str(ROOT / "bindings/python"))
    import wheels

    build = ROOT / "build" / "wheel"
    configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSMELT_TESTS=OFF", "-DSMELT_UNITY=ON",
                 "-DSMELT_BENCH=OFF", f"-DPython_EXECUTABLE={sys.executable}"]  # fmt: skip
    configured = subprocess.run(configure, stderr=subprocess.PIPE, text=True)
    if configured.returncode:
        _needs("CMake does not find what it needs.\n" + configured.stderr.strip())
    subprocess.run(["cmake", "--build", build, "--target", "_loader", "_store"], check=True)
    return wheels.make("smelt", build, pathlib.Path(wheel_directory)).name
