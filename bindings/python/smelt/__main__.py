# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m smelt`` runs the command smelt."""

from ._command import main

main()
