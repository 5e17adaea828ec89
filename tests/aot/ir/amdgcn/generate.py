#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernels.py with stock Triton (3.6) for AMD targets; needs no GPU. usage: generate.py OUT [NAME...]

Writes OUT/hip-ARCH/NAME.llir and .json for each of ARCHS, and OUT/prints/NAME for the kernels that print. What Triton's
passes refuse is reported and skipped. thin.py OUT then removes what repeats.
"""

import json
import os
import pathlib
import re
import sys
import traceback

import triton
import triton.backends.amd.compiler
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

# AMD's own code generator is not wanted, and ends the process on operations that its chip lacks.
def no_assembly(source, metadata, options):
    metadata["name"] = re.search(r"define amdgpu_kernel void @(\w+)", source).group(1)
    return ""


ARCHS = ("gfx1030", "gfx1100", "gfx1200")

backends["amd"].compiler.make_amdgcn = staticmethod(no_assembly)
backends["amd"].compiler.make_hsaco = staticmethod(lambda *arguments: b"")


class WithoutOckl:
    """Triton's module of AMD's, but for the answer whether a kernel needs the library ockl."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        return getattr(self.module, name)

    def need_extern_lib(self, kernel, name):
        return name != "ockl" and self.module.need_extern_lib(kernel, name)


out = pathlib.Path(sys.argv[1])
names = sys.argv[2:] or [*kernels.VARIANTS, *kernels.PRINTS]
failed = 0
jobs = [(arch, name, f"hip-{arch}") for arch in ARCHS for name in names if name in kernels.VARIANTS]
jobs += [("gfx1100", name, "prints") for name in names if name in kernels.PRINTS]
for arch, name, where in jobs:
    folder = out / where
    folder.mkdir(parents=True, exist_ok=True)
    if where == "prints":
        amd = triton.backends.amd.compiler
        amd.amd = amd.amd if isinstance(amd.amd, WithoutOckl) else WithoutOckl(amd.amd)
    function, types, constants, warps = {**kernels.VARIANTS, **kernels.PRINTS}[name]
    try:
        signature = {key: types.get(key, "constexpr") for key in function.arg_names}
        known = ("*", "i32") if name in kernels.DIVISIBLE else "*" if name in kernels.ALIGNED else ()
        divisible = [i for i, kind in enumerate(signature.values()) if kind.startswith(known)]
        aligned = {(i,): [["tt.divisibility", 16]] for i in divisible} or None
        source = ASTSource(function, signature, constexprs=constants, attrs=aligned)
        compiled = triton.compile(source, target=GPUTarget("hip", arch, 32), options={"num_warps": warps})
    except Exception as error:
        failed += 1
        print(f"{arch} {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
        if not isinstance(error, RuntimeError): traceback.print_exc()
        continue
    text = compiled.asm["llir"]
    text = text if isinstance(text, str) else text.decode()
    here = re.escape(os.path.dirname(os.path.abspath(kernels.__file__)))
    (folder / f"{name}.llir").write_text(re.sub(here, "tests/aot/amdgcn", text))
    keep = {key: value for key, value in compiled.metadata._asdict().items() if key not in ("target", "extern_libs")}
    keep["target"] = str(compiled.metadata.target)
    (folder / f"{name}.json").write_text(json.dumps(keep, indent=1, sort_keys=True, default=str) + "\n")
print(f"triton {triton.__version__}: {len(jobs) - failed} of {len(jobs)} written")
