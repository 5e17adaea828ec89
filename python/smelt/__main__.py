"""python -m smelt is the command smelt."""

from ._command import main

main()
