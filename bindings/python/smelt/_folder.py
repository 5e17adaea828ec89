# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the folder of the user's store."""

import os


def default_folder() -> str:
    """Return $SMELT_STORE, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt, or "" if there is no folder.

    $XDG_CACHE_HOME and the home folder count only if they are absolute paths.
    """
    environment = os.environ.get
    if environment("SMELT_STORE"):
        return os.environ["SMELT_STORE"]
    if os.path.isabs(environment("XDG_CACHE_HOME", "")):
        return os.path.join(os.environ["XDG_CACHE_HOME"], "smelt")
    if os.path.isabs(environment("HOME", "")):
        return os.path.join(os.environ["HOME"], ".cache", "smelt")
    return ""
