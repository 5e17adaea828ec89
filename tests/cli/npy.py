# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of one dimension or more as .npy files, version 1.0. Standard library only, as the tests run without NumPy."""

import ast
import math
import struct

FORMATS = {
    "|b1": "?", "<f4": "f", "<i4": "i", "<u4": "I", "<f2": "e", "<i8": "q", "|u1": "B", "|i1": "b", "<u2": "H",
}  # fmt: skip


def write(path, values, dtype="<f4", shape=None):
    shape = tuple(shape or (len(values),))
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
    return path


def read(path):
    """Values as a flat list, and the shape."""
    raw = path.read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    (length,) = struct.unpack("<H", raw[8:10])
    header = ast.literal_eval(raw[10 : 10 + length].decode())
    assert not header["fortran_order"]
    count = math.prod(header["shape"])
    return list(struct.unpack(f"<{count}{FORMATS[header['descr']]}", raw[10 + length :])), header["shape"]
