# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any

from ._store import Entry as Entry
from ._store import Flight as Flight
from ._store import Store as Store
from ._store import cpu_code_key as cpu_code_key
from ._store import sha256 as sha256
from ._store import write_file as write_file

def statistics(folder: str) -> list[dict[str, Any]]: ...
