# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says how to install parts that this copy of smelt lacks. smelt is not on any package index; a package called
smelt-compiler there is not ours."""

from __future__ import annotations

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def how_to_get(part: str) -> str:
    """Return how to install a part, "compiler" or "remote"."""
    build = os.path.dirname(os.path.dirname(_FOLDER))
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        return f"It is built with: cmake --build {build} --target smelt_python"
    if "dist-packages" in _FOLDER.split(os.sep):
        package = "python3-smelt-compiler" if part == "compiler" else "python3-smelt"
        return f"It is in the Debian package {package}, made by the build that python3-smelt came from"
    return (
        f"It is in the wheel smelt_{part}-*.whl, made by the build that this wheel came from (cmake --build BUILD --target "
        "smelt_wheel); no package index has it"
    )


def built_for() -> list[str]:
    """Return the Python versions for which this copy has compiled modules."""
    return sorted(name.split(".")[1] for name in os.listdir(_FOLDER) if name.startswith("_loader.") and name.endswith(".so"))


def why_reader() -> str:
    """Return why this copy cannot run kernels, and what to install to run them."""
    if os.environ.get("SMELT_PURE", "0") not in ("", "0"):
        return "This is the reader, in Python alone: SMELT_PURE=1 asks for it"
    if sys.platform != "linux":
        return "This copy of smelt is the reader, in Python alone (docs/guide/mac.md)"
    version = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"
    return (
        f"This copy of smelt ({_FOLDER}) is the reader, in Python alone. Kernels for {version} on Linux are run and compiled by the wheels "
        "smelt-*-manylinux_*.whl and smelt_compiler-*-manylinux_*.whl (docs/guide/install.md)"
    )


def why_not_here(missing: ImportError) -> str:
    """Return why the loader's module cannot be imported."""
    tag = sys.implementation.cache_tag or ""
    built = built_for()
    if not any(one.startswith(tag) for one in built):
        return (
            f"smelt: this copy ({_FOLDER}) is built for {', '.join(built)}, and this is {tag} ({sys.executable}). Use a "
            "Python that it was built for, or build it for this one too: cmake --preset release "
            f"-DSMELT_PYTHONS={sys.executable}"
        )
    return f"smelt: {missing}"
