# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smelt` (also `python -m smelt`) on a machine without the compiler."""

from __future__ import annotations

import argparse
import json
import os
import sys

from .. import errors


def _misses(options: argparse.Namespace) -> int:
    from . import keys, misses
    from .._folder import default_folder

    store = options.store or default_folder()
    found = misses.noted(store)
    text = json.dumps({"smelt": misses.FORMAT, "compiler": keys.facts().compiler, "misses": found}, indent=1) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        try:
            misses.write_whole(options.output, text.encode())
        except OSError as error:
            raise errors.from_code("io", f"{options.output}: {error.strerror}") from None
        print(f"{len(found)} misses of {store} are in {options.output}. On a build machine: smelt compile --from {options.output}")
    if options.clear:
        misses.forget(store)
    return 0


def _compile(options: argparse.Namespace) -> int:
    """Run `smelt compile`, with options of the full command, so that a program that calls it need not know which command is installed."""
    from . import api, misses
    from .request import own_target
    from .files import read_file

    if options.emit != "metallib" and not options.output.endswith((".metallib", ".smelt")):
        raise errors.from_code("invalid_argument", f"-o {options.output}: want an ending of .metallib or .smelt, or --emit metallib")
    if options.input == "-":
        source, name = sys.stdin.buffer.read(), "stdin"
    else:
        source, name = read_file(options.input, "compile"), options.input
    targets = options.target or [own_target(api.device())]
    package = api.compile(source, targets, cpu=False, fast_math=options.fast_math, filename=name)
    data = bytes(package) if options.output.endswith(".smelt") and not options.emit else package.metallib()
    if options.output == "-":
        sys.stdout.buffer.write(data)
    else:
        misses.write_whole(options.output, data)
    return 0


def _inspect(options: argparse.Namespace) -> int:
    from .files import read_file
    from .load import At
    from .metallib import read_metallib, version_text
    from .package import PackageFile, looks_like_package

    data = read_file(options.file, "inspect")
    with At(options.file):
        if not looks_like_package(data):
            library = read_metallib(data, "full")
            print(f"Metal library for {library.platform} {version_text(library.os)}, container 1.2.{library.patch}")
            for kernel in library.functions:
                print(f"  {kernel.kind} {kernel.name}, Metal {version_text(kernel.metal)}")
            return 0
        package = PackageFile(data)
        package.check_all_parts()
    print(f"package, format {package.format}, digest {package.digest}")
    for signature in package.signatures:
        print(f"signed {signature.partition(':')[0]} (not looked at)")
    for rows in package.libraries:
        print(f"library {rows.name} {rows.version}".rstrip())
        for function in rows.functions:
            print(f"  {function.kind} {function.name}({', '.join(function.arguments)})")
        for one in rows.slices:
            missing = sum(note.missing for note in one.functions)
            print(f"  {one.target}: {len(one.part.bytes)} bytes" + (f", {missing} functions missing" if missing else ""))
    return 0


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="smelt", description="smelt as a reader: without a compiler.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    one = verbs.add_parser("misses", help="write a list of the compiles that were requested but not found, for `smelt compile --from`")
    one.add_argument("-o", "--output", default="-", help="file to write (default: to standard output)")
    one.add_argument("--store", help="folder of the store (default: the default store)")
    one.add_argument("--clear", action="store_true", help="clear the list of the store afterwards")
    one.set_defaults(run=_misses)
    one = verbs.add_parser("compile", help="get the Metal library of a source that a build machine compiled; a miss is recorded")
    one.add_argument("input", help="file, or - for standard input")
    one.add_argument("-o", "--output", required=True, help="file to write, or -")
    one.add_argument("--emit", choices=["metallib"])
    one.add_argument("--target", action="append", help="system to build for (default: this one)")
    one.add_argument("--fast-math", action="store_true")
    one.set_defaults(run=_compile)
    one = verbs.add_parser("inspect", help="show what is in a package or a Metal library; every digest is checked")
    one.add_argument("file")
    one.set_defaults(run=_inspect)
    options = parser.parse_args(words)
    try:
        code: int = options.run(options)
    except errors.Error as error:
        print(f"smelt: error: {error} ({error.code})", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: nothing to say at the end either
        return 1
    return code
