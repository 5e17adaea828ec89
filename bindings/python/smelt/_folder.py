# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a user's store is."""

import os


def default_folder() -> str:
    """$SMELT_STORE, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt."""
    environment = os.environ.get
    if environment("SMELT_STORE"):
        return os.environ["SMELT_STORE"]
    if environment("XDG_CACHE_HOME"):
        return os.path.join(os.environ["XDG_CACHE_HOME"], "smelt")
    return os.path.join(environment("HOME") or "/tmp", ".cache", "smelt")
