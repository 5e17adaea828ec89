# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m smelt.compat.doctor`` lists which parts are installed and work, and which are missing. It tests each installed part: it compiles and
runs a kernel with smelt alone, with Triton and with torch.compile. The exit code is 1 if an installed part fails."""

from __future__ import annotations

import array
import importlib
import os
import platform
import sys
import time
from typing import Any, Callable, NamedTuple

import smelt
from smelt import _installed

SOURCE = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"
TRITON, PYTORCH = "3.6", "2.11"  # what the tests are run with
tl: Any = None  # triton.language, by the name that the kernel below has for it


class Missing(Exception):
    """An optional part that is not installed."""


class Row(NamedTuple):
    part: str
    state: str  # works, missing or FAILS
    text: str


def _package() -> str:
    if smelt.edition != "native" and sys.platform == "linux":
        raise RuntimeError(_installed.why_reader())
    return f"{smelt.__version__}, edition {smelt.edition}, in {os.path.dirname(smelt.__file__)}"


def _compiler() -> str:
    start = time.perf_counter()
    library = smelt.compile_shader(SOURCE)
    x = array.array("f", range(64))
    library.twice(x)
    if x.tolist() != [2 * i for i in range(64)]:
        raise RuntimeError("a kernel gave wrong numbers")
    first = time.perf_counter() - start
    rounds = 200
    start = time.perf_counter()
    for _ in range(rounds):
        library.twice(x)
    each = (time.perf_counter() - start) / rounds
    return f"a kernel compiled and run in {first * 1e3:.0f} ms, then {each * 1e6:.1f} us a launch"


def _store() -> str:
    store = smelt.Store()
    entries = store.stat()["entries"]
    return f"{store.path or 'no folder'}, {entries} entries" + (f", behind it {' '.join(store.remotes)}" if store.remotes else "")


def _remotes() -> str:
    try:
        from smelt import _remote  # noqa: F401
    except ImportError:
        raise Missing(_installed.how_to_get("remote")) from None
    return os.environ.get("SMELT_REMOTE") or "SMELT_REMOTE names none"


def _module(name: str, tested: str) -> tuple[Any, str]:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise Missing(str(error)) from None
    version = str(getattr(module, "__version__", "?"))
    told = "" if not tested or version.startswith(tested + ".") else f" (tests are run with {tested})"
    return module, f"{version}{told}"


def _numpy() -> str:
    return _module("numpy", "")[1]


def _triton() -> str:
    global tl
    triton, version = _module("triton", TRITON)
    torch, _ = _module("torch", "")
    from smelt_triton import reasons

    importlib.import_module("triton.backends")
    if reasons:
        raise RuntimeError(f"{version}; smelt's back end for it is not available: {'; '.join(reasons.values())}")
    from smelt.compat import triton_backend

    triton_backend.activate()
    tl = importlib.import_module("triton.language")

    def twice(x, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, at < n) * 2, at < n)

    x = torch.ones(1000)
    triton.jit(twice)[(8,)](x, 1000, BLOCK=128)
    if not bool((x == 2).all()):
        raise RuntimeError(f"{version}; a kernel gave wrong numbers")
    return f"{version}; a kernel compiled and run"


def _torch() -> str:
    torch, version = _module("torch", PYTORCH)
    from smelt.compat import inductor

    x = torch.ones(100)
    with torch.no_grad(), inductor.use_metal():
        found = torch.compile(lambda x: x.sin() + 1)(x)
    if not torch.allclose(found, x.sin() + 1):
        raise RuntimeError(f"{version}; torch.compile gave wrong numbers by use_metal()")
    return f"{version}; torch.compile runs by use_metal()"


PARTS: dict[str, Callable[[], str]] = {
    "smelt": _package, "compiler": _compiler, "store": _store, "remotes": _remotes, "NumPy": _numpy, "Triton": _triton, "PyTorch": _torch,
}  # fmt: skip


def look(part: str) -> Row:
    try:
        return Row(part, "works", PARTS[part]())
    except Missing as missing:
        return Row(part, "missing", str(missing))
    except smelt.ToolchainError as missing:
        return Row(part, "missing", str(missing))
    except Exception as error:  # each is told of, whatever stops it
        return Row(part, "FAILS", f"{type(error).__name__}: {error}")


def main() -> int:
    print(f"Python     {platform.python_implementation()} {platform.python_version()} on {platform.platform()}")
    rows = []
    for part in PARTS if smelt.edition == "native" else ["smelt"]:
        rows.append(look(part))
        print(f"{part:<10} {rows[-1].state:<8} {rows[-1].text}", flush=True)
    return 1 if any(row.state == "FAILS" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
