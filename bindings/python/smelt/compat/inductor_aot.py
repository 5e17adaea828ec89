# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AOTInductor's models for MPS: the Metal kernels that it leaves as source text, compiled ahead of time into a package beside the model.

    torch._inductor.aoti_compile_and_package(exported, package_path="model.pt2")      # by PyTorch, on a Mac
    python -m smelt.compat.inductor_aot model.pt2 --target macos14 --target macos15   # anywhere: model.smelt

The text stays in the model. A library of the package is named by the SHA-256 of the text that it was made of, so that whoever holds a text finds its
library, and compiles the text where there is none:

    kernels = smelt.compat.inductor_aot.open_beside("model.pt2")
    library = kernels.library(text)                        # runs here; None when the package has no such text
    data = kernels.metallib(text, "macos14")               # for torch.mps.load_metallib

Read at PyTorch 01e37ee (torch/_inductor/codegen/cpp_wrapper_mps.py): a shader is a raw string ``R"MTL(...)MTL"`` in the generated C++. The generated C++
hands it to ``aoti_torch_mps_create_shader_library``, beside which PyTorch has no function for a library that is compiled already; so the
generated code itself still compiles the text at its first use. Not run on a Mac.
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
    """The Metal sources in generated C++, each once, in order."""
    return list(dict.fromkeys(_SHADER.findall(text)))


def name_of(source: str) -> str:
    """The library of a source in a package."""
    return "mtl-" + hashlib.sha256(source.encode()).hexdigest()


def _texts(model: str) -> Iterator[str]:
    """The generated C++ of a .pt2 file, of a folder, or a file of it."""
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
    """The package beside a model: model.smelt for model.pt2."""
    return os.path.splitext(os.fspath(model).rstrip("/"))[0] + ".smelt"


def precompile(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    targets: str | Sequence[str] | None = None,
    **options: Any,
) -> Package:
    """Compiles every shader of a model (a .pt2 file, a folder or a generated C++ file), each found in the store if it is there, and writes
    the package beside it or to `out`. `options` are those of smelt.compile, which finds <c10/metal/...> where the text still includes it. An error names the shader; then nothing is written."""
    path = os.fspath(model)
    sources = list(dict.fromkeys(source for text in _texts(path) for source in shaders_of(text)))
    if not sources:
        raise ArgumentError(f'{path}: there is no Metal source in it: want generated C++ with R"MTL(...)MTL"')
    made = [
        _request.compile(source + "\n", targets, name=name_of(source), filename=f"{path}: shader {number}", **options)
        for number, source in enumerate(sources)
    ]
    package = _package.pack(made)
    package.save(beside(path) if out is None else out)
    return package


class Kernels:
    """A model's package, asked by source text."""

    def __init__(self, package: Package) -> None:
        self.package = package

    def __contains__(self, source: str) -> bool:
        return name_of(source) in self.package

    def library(self, source: str) -> Any:
        """The library on the default device; None when the text is not in the package."""
        return self.package[name_of(source)] if source in self else None

    def metallib(self, source: str, target: str = "") -> bytes | None:
        """The Metal library for a target, or the only one; None when the text is not in the package."""
        return self.package.metallib(target, name_of(source)) if source in self else None


def open_beside(model: str | os.PathLike[str], **options: Any) -> Kernels:
    """The package that precompile() wrote. `options` are those of smelt.open."""
    return Kernels(_package.open(beside(model), **options))


def _main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m smelt.compat.inductor_aot", description="Compiles the Metal kernels of a model of AOTInductor.")
    parser.add_argument("model", help="a .pt2 file, a folder or a file of generated C++")
    parser.add_argument("-o", "--output", help="package to write (default: beside the model)")
    parser.add_argument("--target", action="append", help="as for smelt compile; may be given several times")
    options = parser.parse_args(words)
    package = precompile(options.model, options.output, options.target)
    for line in package.warnings:
        print(line, file=sys.stderr)
    print(f"{options.output or beside(options.model)}: {len(package)} shaders for {', '.join(package.targets)}")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
