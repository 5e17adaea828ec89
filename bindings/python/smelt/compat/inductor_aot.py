# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the Metal kernels of AOTInductor's models for MPS, which contain them as source, into a package beside the model.

    torch._inductor.aoti_compile_and_package(exported, package_path="model.pt2")      # with PyTorch, on a Mac
    python -m smelt.compat.inductor_aot model.pt2 --target macos14 --target macos15   # anywhere; writes model.smelt

The source stays in the model. The name of each library in the package is the SHA-256 of its source, so a program that has the source finds the
library, and can compile the source if there is none:

    kernels = smelt.compat.inductor_aot.open_beside("model.pt2")
    library = kernels.library(text)                        # runs here; None if the package does not have this source
    data = kernels.metallib(text, "macos14")               # for torch.mps.load_metallib

Read at PyTorch 01e37ee (torch/_inductor/codegen/cpp_wrapper_mps.py): a shader is a raw string ``R"MTL(...)MTL"`` in the generated C++, which passes it
to ``aoti_torch_mps_create_shader_library``. PyTorch has no such function for a compiled library, so the generated code itself still compiles the
source at its first use. This module has not run on a Mac.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _package, _request
from .._package import Package
from ..errors import ArgumentError

__all__ = ["Kernels", "name_of", "open_beside", "precompile", "shaders_of"]

_SHADER = re.compile(r'R"MTL\((.*?)\)MTL"', re.DOTALL)
_SOURCES = (".cpp", ".cc", ".mm")
_MOST_BYTES = 1 << 30


def shaders_of(text: str) -> list[str]:
    """Return the Metal sources in generated C++, each once, in order."""
    return list(dict.fromkeys(_SHADER.findall(text)))


def name_of(source: str) -> str:
    """Return the name of the library for a source in a package."""
    return "mtl-" + hashlib.sha256(source.encode()).hexdigest()


def _texts(model: str) -> Iterator[str]:
    """Iterate over the generated C++ of a .pt2 file, a folder, or a single file."""
    if os.path.isdir(model):
        for folder, folders, files in os.walk(model):
            folders.sort()
            for file in sorted(files):
                if file.endswith(_SOURCES):
                    with open(os.path.join(folder, file), encoding="utf-8") as one:
                        yield one.read()
    elif zipfile.is_zipfile(model):
        with zipfile.ZipFile(model) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                if entry.filename.endswith(_SOURCES):
                    if entry.file_size > _MOST_BYTES:
                        raise ArgumentError(f"{model}: {entry.filename} has {entry.file_size} bytes, want at most {_MOST_BYTES}")
                    yield archive.read(entry).decode()
    else:
        with open(model, encoding="utf-8") as one:
            yield one.read()


def beside(model: str | os.PathLike[str]) -> str:
    """Return the path of the package for a model: model.smelt for model.pt2."""
    return os.path.splitext(os.fspath(model).rstrip("/"))[0] + ".smelt"


def precompile(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    targets: str | Sequence[str] | None = None,
    **options: Any,
) -> Package:
    """Compile every shader of a model, or find it in the store, and write the package.

    Args:
        model: a .pt2 file, a folder, or a file of generated C++.
        out: the package to write; None is beside the model.
        targets: as for smelt.compile.
        options: other options of smelt.compile.

    Returns:
        The package.

    Raises:
        ArgumentError: the model contains no Metal source.
        CompileError: a shader does not compile; the message names it, and no package is written.
    """
    path = os.fspath(model)
    sources = list(dict.fromkeys(source for text in _texts(path) for source in shaders_of(text)))
    if not sources:
        raise ArgumentError(f'{path}: it has no Metal source; want generated C++ with R"MTL(...)MTL"')
    made = [
        _request.compile(source + "\n", targets, name=name_of(source), filename=f"{path}: shader {number}", **options)
        for number, source in enumerate(sources)
    ]
    package = _package.pack(made)
    package.save(beside(path) if out is None else out)
    return package


class Kernels:
    """The package of a model, which finds libraries by their source."""

    def __init__(self, package: Package) -> None:
        self.package = package

    def __contains__(self, source: str) -> bool:
        return name_of(source) in self.package

    def library(self, source: str) -> Any:
        """Return the library for a source, on the default device; None if the package does not have it."""
        return self.package[name_of(source)] if source in self else None

    def metallib(self, source: str, target: str = "") -> bytes | None:
        """Return the Metal library of a source for a target, or the only one; None if the package does not have it."""
        return self.package.metallib(target, name_of(source)) if source in self else None


def open_beside(model: str | os.PathLike[str], **options: Any) -> Kernels:
    """Open the package that precompile() wrote. `options` are those of smelt.open."""
    return Kernels(_package.open(beside(model), **options))


def _main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m smelt.compat.inductor_aot", description="Compiles the Metal kernels of a model of AOTInductor.")
    parser.add_argument("model", help="a .pt2 file, a folder or a file of generated C++")
    parser.add_argument("-o", "--output", help="package to write (default: beside the model)")
    parser.add_argument("--target", action="append", help="target, as for smelt compile; may be repeated")
    options = parser.parse_args(words)
    package = precompile(options.model, options.output, options.target)
    for line in package.warnings:
        print(line, file=sys.stderr)
    print(f"{options.output or beside(options.model)}: {len(package)} shaders for {', '.join(package.targets)}")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
