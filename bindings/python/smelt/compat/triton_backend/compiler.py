# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of the compiler: Triton's stages for AMD down to LLVM IR, then a package with the Metal library and CPU code for this machine. Triton
reads the results of all stages except the last as text, so the Metal library has no stage; get it with ``smelt.open(kernel.asm["smelt"])``."""

from __future__ import annotations

import copy
import functools
import os
import re
from types import ModuleType
from typing import Any

import smelt
from smelt import _session

# The module, not its class: Triton looks for exactly one back end among this module's names.
from triton.backends import compiler as base  # type: ignore[import]
from triton.backends.amd import compiler as amd  # type: ignore[import]
from triton.runtime.errors import OutOfResources  # type: ignore[import]

from .asserts import asserts_of
from .prints import PRINTS, formats_of

# What a launch needs to know, and what the IR was made for.
_METADATA = ("shared", "num_warps", "warp_size", "global_scratch_size", "profile_scratch_size", "triton_version")
# What Metal grants a threadgroup on every GPU.
_THREADGROUP_BYTES = 32768
# Of the LLVM IR of a kernel with asserts.
_REPORTS = "@__ockl_fprintf_stderr_begin"
_ENTRY = re.compile(r"define amdgpu_kernel void @(?:\"([^\"]+)\"|([\w.$]+))")


def default_target(cpu_only: bool) -> str:
    """Return the target of the Metal library. Triton's atomics acquire and release by default, which needs macOS 15, so this
    is the default for kernels that run only on the CPU."""
    return os.environ.get("SMELT_TARGET") or ("macos15" if cpu_only else "macos14")


class SmeltBackend(base.BaseBackend):  # type: ignore[misc]
    binary_ext = "smelt"
    supports_native_tensor_specialization = False

    @property
    def cpu_only(self) -> bool:
        """True if kernels may use features that no Apple GPU has: double precision, all atomics of 64 bits."""
        return os.environ.get("SMELT_TRITON_CPU_ONLY") == "1"

    @staticmethod
    def supports_target(target: base.GPUTarget) -> bool:
        return bool(target.backend == "smelt")

    def __init__(self, target: base.GPUTarget) -> None:
        super().__init__(target)
        self._amd = amd.HIPBackend(base.GPUTarget("hip", target.arch, 32))

    # Everything that shapes the IR is AMD's.
    def parse_options(self, options: dict[str, Any]) -> Any:
        made = self._amd.parse_options(options)
        # Metal has no TF32: such products are of whole floats, as Triton's language has it for devices without tensor cores.
        precisions = (*made.allowed_dot_input_precisions, "tf32", "tf32x3")
        object.__setattr__(made, "allowed_dot_input_precisions", tuple(dict.fromkeys(precisions)))  # options are frozen
        return made

    def get_codegen_implementation(self, options: Any) -> Any:
        return self._amd.get_codegen_implementation(options)

    def get_module_map(self) -> dict[str, ModuleType]:
        modules: dict[str, ModuleType] = self._amd.get_module_map()
        return modules

    def load_dialects(self, context: Any) -> None:
        self._amd.load_dialects(context)

    def pack_metadata(self, metadata: Any) -> Any:
        return self._amd.pack_metadata(metadata)

    @staticmethod
    def parse_attr(description: str) -> Any:
        return amd.HIPBackend.parse_attr(description)

    @staticmethod
    def get_tensor_specialization(argument: Any, **options: Any) -> Any:
        return base.BaseBackend.get_tensor_specialization(argument, **options)

    @functools.lru_cache
    def hash(self) -> str:
        alone = ", for the CPU alone" if self.cpu_only else ""
        return f"smelt {smelt.__version__} for {default_target(self.cpu_only)} and {_session.device().target}{alone}, {self._amd.hash()}"

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = base.Language.TRITON) -> None:
        self._amd.add_stages(stages, options, language)
        for machine in ("amdgcn", "hsaco"):
            stages.pop(machine, None)
        messages = self._note_reports(stages, options)
        stages["smelt"] = lambda source, metadata: self.make_package(source, metadata, options, messages)

    def _note_reports(self, stages: dict[str, Any], options: Any) -> list[list[Any]]:
        """Read the messages and lines of tl.device_assert before Triton turns them into calls. A kernel that prints is
        not linked with the library that would print through a queue of AMD's."""
        messages: list[list[Any]] = []
        ttgir_before, llir_before = stages["ttgir"], stages["llir"]
        prints = False

        def ttgir(module: Any, metadata: dict[str, Any]) -> Any:
            nonlocal prints
            text = str(module)
            messages[:] = asserts_of(text)
            prints = "tt.print " in text
            return ttgir_before(module, metadata)

        def llir(module: Any, metadata: dict[str, Any]) -> Any:
            if not prints:
                return llir_before(module, metadata)
            alone = copy.copy(options)
            libraries = tuple(library for library in options.extern_libs if library[0] != "ockl")
            object.__setattr__(alone, "extern_libs", libraries)  # options are frozen
            return self._amd.make_llir(module, metadata, alone)

        stages["ttgir"], stages["llir"] = ttgir, llir
        return messages

    def make_package(self, source: str, metadata: dict[str, Any], options: Any, messages: list[list[Any]]) -> bytes:
        """Compile the package, with CPU code for this processor, because Inductor compiles in worker processes and only loads the result elsewhere."""
        entries = [quoted or plain for quoted, plain in _ENTRY.findall(source)]
        if len(entries) != 1:
            raise RuntimeError(f"smelt: want one kernel in the IR, there are {len(entries)}: {', '.join(entries)}")
        metadata["name"] = entries[0]
        if metadata.get("shared", 0) > _THREADGROUP_BYTES:
            # Triton's own word for it: autotuning goes on with its next configuration.
            raise OutOfResources(metadata["shared"], _THREADGROUP_BYTES, "threadgroup memory")
        # The launcher binds a word for what failed, and more for what is printed.
        metadata["smelt_asserts"] = messages if _REPORTS in source else None
        metadata["smelt_prints"] = formats_of(source) if PRINTS in source else None
        launch = {key: metadata[key] for key in _METADATA if key in metadata}
        launch.setdefault("warp_size", options.warp_size)
        package = smelt.compile(
            source.encode(), targets=default_target(self.cpu_only), cpu=True, metadata=launch, cpu_only=self.cpu_only, store=False
        )
        for one in package.slices:
            if not one["target"].startswith("cpu-"):
                continue  # what is for the CPU alone is missing there
            for name, reason in one["missing"]:
                raise RuntimeError(f"smelt: kernel {name} has no code for the CPU: {reason}")
        return bytes(package)
