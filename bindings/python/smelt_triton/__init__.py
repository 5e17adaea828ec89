# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Triton's entry points name: ``metal`` and ``cpu``, each smelt's back end (smelt.compat.triton_backend, triton_cpu).

Triton imports the modules behind all its entry points, and is gone for everybody when one of them fails. So these stand outside smelt,
and import nothing of it that they cannot do without: where smelt does not load (a build for another Python, native modules that are
missing), their place is taken by classes that want no target and are never active.

    python -m smelt_triton       says what is here, and else why not; SMELT_LOG=info says it when Triton looks
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

#: Why a module of smelt's could not be imported, by its name.
reasons: dict[str, str] = {}


def _stand_in(module: str, base: type, says_no: str, why: str) -> type:
    def refuse(*arguments: Any, **named: Any) -> Any:
        raise ImportError(f"smelt's back end for Triton is not available: {why}")

    # Whatever a version of Triton wants of its back ends.
    names = getattr(base, "__abstractmethods__", ())
    members: dict[str, Any] = {name: refuse for name in names}
    members |= {"__init__": refuse, "__module__": module, says_no: staticmethod(lambda *arguments: False)}
    return type("SmeltIsNotHere", (base,), members)


def load(module: str, name: str, base_module: str, base: str, says_no: str) -> type:
    """The class `name` of smelt's `module`; else one that answers False to `says_no` and does nothing."""
    try:
        found = importlib.import_module(module)
    except Exception as error:  # whatever is wrong with it: Triton has other back ends
        why = f"{module}: {type(error).__name__}: {error}"
    else:
        return getattr(found, name)  # type: ignore[no-any-return]
    reasons[module] = why
    if os.environ.get("SMELT_LOG") in ("info", "debug", "trace"):
        print(f"smelt: its back end for Triton is not available: {why}", file=sys.stderr)
    return _stand_in(__name__, getattr(importlib.import_module(base_module), base), says_no, why)
