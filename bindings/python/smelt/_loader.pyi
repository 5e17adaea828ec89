# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from typing_extensions import Self

_Buffer = Union[bytes, bytearray, memoryview]
_Size = Union[int, Sequence[int]]

class Buffer:
    """Memory that your program owns, as an argument of a kernel.

    A call without arrays needs ``threads`` or ``threadgroups``. ``buffer[start:stop]`` is a part, in bytes;
    ``bytes(buffer)`` and ``memoryview(buffer)`` read it.

    Args:
        address: where the memory begins.
        size: its length in bytes.
        writable: whether kernels may write to it.
        owner: an object that the buffer keeps alive.

    Attributes:
        address: where the memory begins.
        size: its length in bytes.
        writable: whether kernels may write to it.
        owner: the object that it keeps alive.
    """

    def __init__(self, address: int, size: int, *, writable: bool = True, owner: object = None) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def owner(self) -> object: ...
    def __len__(self) -> int: ...
    def __getitem__(self, part: slice) -> Buffer: ...

class Device:
    """A device that runs kernels: the CPU, or Metal on a Mac.

    Args:
        kind: "automatic" (Metal on a Mac, else the CPU), "cpu", "metal", or "offline", which describes libraries and runs
            nothing.
        threads: CPU threads of a launch; 0 is all that the process may use.
        cpu_level: level of CPU code to run, such as "x86-64-v3"; empty is SMELT_CPU, else the best that this machine has.
        target: for "offline", the target to describe, such as "macos14".
        launch_limit: seconds after which a launch ends with CancelledError; 0 is SMELT_LAUNCH_LIMIT, else no limit.

    Attributes:
        kind: "cpu", "metal" or "offline".
        name: the name of the processor or GPU.
        target: the target whose slices it runs, such as "cpu-x86-64-v3".
        limits: a dict of its limits, such as max_threads_per_threadgroup.
        limits_estimated: whether the limits are upper bounds, because there is no GPU to ask.

    Raises:
        DeviceError: there is no such device.
        ArgumentError: the kind is unknown.
    """

    def __init__(
        self,
        kind: str = "automatic",
        *,
        threads: int = 0,
        cpu_level: str = "",
        target: str | None = None,
        launch_limit: float = 0,
    ) -> None: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def limits(self) -> dict[str, int]: ...
    @property
    def limits_estimated(self) -> bool: ...

class Kernel:
    """A kernel of a library. Call it to launch it; the call returns after the kernel has run.

    Attributes:
        name: the kernel's name.
        kind: "kernel", "vertex" or "fragment".
        args: a dict for each argument: name, type_name, index, kind, size, and more.
        constants: a dict for each function constant: name, type_name, index, required.
        effort: effort of the CPU code that runs: "fast", "balanced" or "best"; None for code from a package.
        max_threads_per_threadgroup: the largest number of threads in a threadgroup.
        max_total_threads_per_threadgroup: the same, under Metal's name.
        thread_execution_width: the number of threads in a SIMD group.
        static_threadgroup_memory_length: bytes of threadgroup memory that the kernel declares.
        static_thread_group_memory_length: the same, as PyTorch spells it.
        limits_estimated: whether the limits are upper bounds, because there is no GPU to ask.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def _run(self, *args: Any, **options: Any) -> None: ...
    @property
    def effort(self) -> str | None: ...
    @property
    def max_threads_per_threadgroup(self) -> int: ...
    @property
    def max_total_threads_per_threadgroup(self) -> int: ...
    @property
    def thread_execution_width(self) -> int: ...
    @property
    def static_thread_group_memory_length(self) -> int: ...
    @property
    def static_threadgroup_memory_length(self) -> int: ...
    @property
    def limits_estimated(self) -> bool: ...
    @property
    def args(self) -> list[dict[str, Any]]: ...
    @property
    def constants(self) -> list[dict[str, Any]]: ...
    def __call__(
        self,
        *args: Any,
        threads: _Size | None = None,
        threadgroups: _Size | None = None,
        group_size: _Size | None = None,
        arg_casts: str | Mapping[int, str] | None = None,
        error_buf_idx: int | None = None,
        threadgroup_memory: int | Mapping[int, int] | None = None,
        check: str | None = None,
        **named: Any,
    ) -> Any:
        """Launch the kernel.

        Args:
            args: arrays, numbers and other values, in the order of the kernel's buffers. A kernel with textures or samplers
                takes all its arguments in the order of its declaration.
            threads: the size of the grid in threads, one to three numbers. Default: one thread for each element of the
                first array.
            threadgroups: the size of the grid in threadgroups, one to three numbers; needs group_size.
            group_size: the size of a threadgroup in threads, one to three numbers. Default: the largest along x.
            arg_casts: type to which numbers are converted, such as "fp16", or a dict from the index of an argument to
                its type. Default: the declared type.
            error_buf_idx: index of a buffer into which the kernel writes errors.
            threadgroup_memory: size of threadgroup argument 0 in bytes, or a dict from index to size.
            check: "error" (default) compares the arguments with the kernel's declaration; "warn" issues an
                ArgumentWarning instead of an error; "off" does not compare.
            named: arguments by their names.

        Returns:
            None for a kernel; for a vertex or fragment function, a dict with an array for each result.

        Raises:
            ArgumentError: an argument does not fit the kernel's declaration, or threads are missing.
            BoundsError: a thread accesses memory outside an argument.
            CheckError: checked code found a race, an unwritten value or a divergent barrier.
            KernelReportedError: the kernel wrote a value other than 0 into its error buffer.
            CancelledError: the launch took longer than the device's launch_limit.
        """

class Library:
    """Kernels by name: ``library.saxpy``, ``library["saxpy"]``, ``"saxpy" in library``, ``dir(library)``.

    ``load_metallib`` and ``compile_shader`` return one. It has no public attributes except its kernels; ``smelt.info`` returns
    facts about it.

    Raises:
        FunctionNotFoundError: there is no kernel of that name.
    """

    def __getattr__(self, name: str) -> Kernel: ...
    def __getitem__(self, name: str) -> Kernel: ...
    def __contains__(self, name: str) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...

class Sampler:
    """A sampler, with the options that Metal source has.

    Args:
        words: states as in Metal source, such as "filter::linear, address::repeat".
        states: the same as keywords: coord, address, s_address, t_address, r_address, filter, mag_filter, min_filter,
            mip_filter, compare_func, border_color, max_anisotropy, lod_clamp. Default: nearest, clamped to the edge.

    Raises:
        ArgumentError: a state or its value is unknown.
    """

    def __init__(self, words: str = "", **states: Any) -> None: ...

class Texture:
    """An array as a texture, with information that the array does not have.

    Args:
        array: an array, whose memory the texture uses; or blocks of a compressed format.
        format: pixel format, such as "rgba8unorm_srgb"; None follows from the array's elements.
        type: such as "texture3d"; None follows from the array's shape.
        mipmaps: copy the array and compute all smaller levels.
        width: for blocks, the width in texels.
        height: for blocks, the height in texels.
        depth: for blocks, the depth in texels.
        array_length: for blocks, the number of slices.
        levels: for blocks, the number of levels that they hold.

    Attributes:
        type: such as "texture2d".
        format: the pixel format.
        width: texels of level 0.
        height: texels of level 0.
        depth: texels of level 0.
        array_length: the number of slices.
        levels: the number of levels.
        samples: samples of a texel.

    Raises:
        ArgumentError: the array does not fit a texture; the message says what would.
    """

    def __init__(self, array: Any, format: str | None = None, *, type: str | None = None, mipmaps: bool = False, width: int | None = None,
                 height: int | None = None, depth: int = 1, array_length: int = 1, levels: int = 1) -> None: ...  # fmt: skip
    @property
    def type(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def array_length(self) -> int: ...
    @property
    def levels(self) -> int: ...
    @property
    def samples(self) -> int: ...
    def level(self, level: int = 0, layer: int = 0) -> memoryview: ...

class Package:
    def __init__(self, source: _Buffer, path: str = "") -> None: ...
    def names(self) -> list[str]: ...
    def functions(self, library: str | None = None) -> list[str]: ...
    def slices(self) -> list[dict[str, Any]]: ...
    def missing_cpu_code(self) -> list[str]: ...
    def metallib(self, target: str, library: str | None = None) -> bytes: ...
    def load(self, device: Device, options: Mapping[str, object], as_upstream: bool = False) -> Library: ...
    def version(self, name: str) -> str: ...
    def attachment_names(self, name: str) -> list[str]: ...
    def attachment(self, library: str, name: str) -> bytes: ...
    def view(self) -> memoryview: ...
    def save(self, path: object) -> None: ...
    @property
    def digest(self) -> str: ...

class RunningPipeline:
    def replace(self, package: _Buffer, effort: str) -> None: ...

def load(
    source: _Buffer,
    device: Device,
    options: Mapping[str, object],
    as_upstream: bool = False,
    path: str = "",
    code: object = None,
) -> Library: ...
def end_improving() -> None: ...
def check_expected(source: _Buffer, options: Mapping[str, object], path: str = "") -> None: ...
def check_signature(source: _Buffer, options: Mapping[str, object], path: str = "") -> None: ...
def pack(packages: Sequence[Package]) -> Package: ...
def map_file(path: object, what: str) -> memoryview: ...
def is_metallib(source: _Buffer) -> bool: ...
def info(library: Library) -> dict[str, Any]: ...
def function_info(library: Library, name: str) -> dict[str, Any]: ...
def specialize(library: Library, name: str, constants: dict[Any, Any]) -> Kernel: ...
def prepare(library: Library, names: Sequence[str], progress: Callable[[int, int], object] | None) -> int: ...
def prepare_all(libraries: Sequence[Library], progress: Callable[[int, int], object] | None) -> int: ...

version: str
