# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

_Buffer = Union[bytes, bytearray, memoryview]

class CompileResult:
    def view(self) -> memoryview: ...
    @property
    def key(self) -> str: ...
    @property
    def hit(self) -> bool: ...
    @property
    def kernels_kept(self) -> tuple[int, int]: ...
    @property
    def microseconds(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...

class Session:
    def __init__(
        self,
        store: str = "",
        *,
        use_store: bool = True,
        offline: bool = False,
        read_only: bool = False,
        threads: int = 0,
        warn: Callable[[str], object] | None = None,
        remotes: Sequence[str] | None = None,
    ) -> None: ...
    def make(
        self,
        sources: Sequence[tuple[str, _Buffer]],
        options: Mapping[str, object],
        progress: Callable[[str, int, int], object] | None = None,
    ) -> CompileResult: ...
    def cpu_code(
        self,
        metallib: _Buffer,
        name: str,
        level: str,
        checked: int,
        effort: str | None = None,
        *,
        sandbox: str | None = None,
        timeout: float | None = None,
        background: bool = False,
    ) -> CompileResult: ...

def end_background() -> None: ...
def target_facts(name: str) -> dict[str, Any]: ...
newest_target: str
