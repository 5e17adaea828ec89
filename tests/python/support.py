# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python tests share: real inputs, a store of their own, and the kernels of kernels.ll."""

import atexit
import functools
import os
import pathlib
import shutil
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
SHARED = FOLDER.parent.parent.parent / "shared"

_temporary = tempfile.mkdtemp(prefix="smelt-python-")
atexit.register(shutil.rmtree, _temporary, ignore_errors=True)
os.environ["SMELT_STORE"] = os.path.join(_temporary, "store")
for name in ("SMELT_TARGET", "SMELT_OFFLINE", "SMELT_CPU"):
    os.environ.pop(name, None)

import smelt  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipIf(numpy is None, "SKIPPED: no NumPy")


def temporary(name: str) -> pathlib.Path:
    path = pathlib.Path(_temporary) / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def shared(name: str) -> pathlib.Path:
    """A real input of tests/data or ../shared/data, or the test is skipped."""
    path = FOLDER.parent / "data" / name
    if not path.exists():
        path = SHARED / "data" / name
    if not path.exists():
        raise unittest.SkipTest(f"SKIPPED: no ../shared/data/{name}")
    return path


@functools.cache
def package() -> "smelt.Package":
    return smelt.compile(FOLDER / "kernels.ll", targets=["macos14"])


@functools.cache
def library() -> "smelt.Library":
    return smelt.load_metallib(package())


class DLPackOnly:
    """What PyTorch's CPU tensors are to us: an array without the buffer protocol. `device` is DLPack's pair."""

    def __init__(self, array, device=(1, 0), grad=False):
        self.array, self.device, self.grad = array, device, grad

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        if self.grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.array.__dlpack__()

    def detach(self):
        return DLPackOnly(self.array, self.device)
