# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what the driver of Triton's Apple back end does with its device module, without Triton: two commands make a library of a text,
scalars lie in one argument behind the pointers, and buffers for prints and asserts, which the text describes, come last."""

from __future__ import annotations

import pathlib
import re
import struct
import subprocess
import tempfile
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
_FORMATS = {"i1": "<?", "i8": "<b", "u8": "<B", "i16": "<h", "i32": "<i", "u32": "<I", "i64": "<q", "fp16": "<e", "fp32": "<f"}
_TOO_MUCH = re.compile(r"Threadgroup (?:memory )?size \((\d+)\) exceeds the maximum .+ \((\d+)\)")


class OutOfResources(Exception):
    """Triton's word for a kernel that wants more than there is; autotuning goes on with the next configuration."""

    def __init__(self, required: int, limit: int) -> None:
        super().__init__(f"required {required}, limit {limit}")
        self.required, self.limit = required, limit


def library_of(text: str, environment: dict[str, str] | None = None) -> bytes:
    """By the two programs that the back end's compiler runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k.metal").write_text(text)
        flags = ["-c", "-fmetal-math-mode=safe", "-fmetal-math-fp32-functions=fast"]
        for tool, words in (("metal", [*flags, folder / "k.metal", "-o", folder / "k.air"]), ("metallib", [folder / "k.air", "-o", folder / "k.metallib"])):
            done = subprocess.run(["xcrun", "-sdk", "macosx", tool, *words], capture_output=True, text=True, env=environment)
            if done.returncode != 0:
                raise RuntimeError(f"{tool} failed: {done.stderr.strip()}")
        return (folder / "k.metallib").read_bytes()


def layout_of(text: str, what: str) -> dict[str, str]:
    """The lines by which a text says what a buffer of records holds; empty where it has none."""
    return dict(re.findall(rf"^\s*AGPU-{what}-LAYOUT\s+([\w.]+)=(.*)$", text, re.MULTILINE))


def load_binary(metal: Any, name: str, library: bytes) -> Any:
    try:
        return metal.load_metallib(library).get_function(name)
    except RuntimeError as error:
        if found := _TOO_MUCH.search(str(error)):
            raise OutOfResources(int(found[1]), int(found[2])) from error
        raise


def packed(kinds: list[str], values: list[Any]) -> bytes:
    """Scalars, each where its own size divides its place."""
    data = bytearray()
    for kind, value in zip(kinds, values):
        if kind == "bf16":
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            item = struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
        else:
            item = struct.pack(_FORMATS[kind], value)
        data += bytes(-len(data) % len(item)) + item
    return bytes(data)


class Records:
    """The buffer for a launch's prints or asserts, and the records that the launch left in it."""

    def __init__(self, metal: Any, layout: dict[str, str]) -> None:
        self.layout = layout
        self.buffer = metal.alloc(int(layout["bytes"]), np.dtype("int32"))

    def found(self) -> tuple[int, list[dict[str, int]]]:
        """How many were tried, and those that had room."""
        words = np.frombuffer(self.buffer, np.uint32)
        number = {key: int(value) for key, value in self.layout.items() if value.isdigit()}
        tried = int(words[number["headWord"]])
        fields = {key.split(".", 1)[1]: at for key, at in number.items() if key.startswith("field.")}
        starts = (number["headerWords"] + slot * number["recordWords"] for slot in range(min(tried, number["records"])))
        return tried, [{name: int(words[start + at]) for name, at in fields.items()} for start in starts]


class Launcher:
    """One kernel. `arrays`: how a caller's array becomes what the module takes."""

    def __init__(self, metal: Any, case: Any, text: str, library: bytes) -> None:
        self.metal, self.case = metal, case
        self.kernel = load_binary(metal, case.name, library)
        self.prints, self.asserts = layout_of(text, "PRINT"), layout_of(text, "ASSERT")
        self.printed: list[dict[str, int]] = []

    def __call__(self, *values: Any, arrays: Any = None) -> None:
        arrays = arrays or self.metal.wrap
        pointers, kinds, scalars, keep = [], [], [], []
        reads_addresses = False
        for kind, value in zip(self.case.signature, values):
            if not kind.startswith("*"):
                kinds.append(kind)
                scalars.append(value)
            elif isinstance(value, list):
                keep = [self.metal.wrap(one) for one in value]
                pointers.append(self.metal.wrap(np.array([one.gpu_address() for one in keep], np.int64)))
                reads_addresses = True
            else:
                pointers.append(arrays(value))
        arguments = [*pointers, packed(kinds, scalars)] if kinds else pointers
        prints = Records(self.metal, self.prints) if self.prints else None
        asserts = Records(self.metal, self.asserts) if self.asserts else None
        arguments += [one.buffer for one in (prints, asserts) if one]
        group = [32 * self.case.warps, 1, 1]
        self.kernel(
            *arguments, threads=[n * own for n, own in zip(self.case.grid, group)], group_size=group, threadgroup_mem=self.case.shared,
            exposes_addresses=False, reads_addresses=reads_addresses,
        )  # fmt: skip
        self.metal.synchronize()
        if prints:
            self.printed = prints.found()[1]
        if asserts and (found := asserts.found())[0]:
            site = found[1][0]["site"]
            raise RuntimeError(f"{found[0]} threads failed: {self.asserts[f'msg.{site}']} ({self.asserts[f'where.{site}']})")


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.metal").read_text()


def differs(case: Any, out: Any, want: Any) -> str:
    """Say how a result differs; empty if it is right."""
    from cases import floats_of_bfloat

    got = floats_of_bfloat(out) if case.signature[0] == "*bf16" else out
    if np.issubdtype(np.asarray(want).dtype, np.floating):
        off = np.abs(got.astype(np.float64) - want) / (1 + np.abs(want))
        return "" if off.max() <= case.tolerance else f"{case.name}: off by {off.max():.3g}"
    return "" if np.array_equal(got, want) else f"{case.name}: {int((got != want).sum())} of {want.size} differ"
