# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a user's store is."""

import os


def default_folder() -> str:
    """$SMELT_STORE, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt; the latter two as absolute paths. "": there is none."""
    environment = os.environ.get
    if environment("SMELT_STORE"):
        return os.environ["SMELT_STORE"]
    if os.path.isabs(environment("XDG_CACHE_HOME", "")):
        return os.path.join(os.environ["XDG_CACHE_HOME"], "smelt")
    if os.path.isabs(environment("HOME", "")):
        return os.path.join(os.environ["HOME"], ".cache", "smelt")
    return ""
