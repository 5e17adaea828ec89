# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the docstrings of a stub's classes as C++ constants: docstrings.py STUB FILE. Class Buffer has kBuffer."""
import ast
import pathlib
import sys

stub, file = sys.argv[1:]
lines = ["// Made by docstrings.py.", "#pragma once", "", "namespace smelt::python {", ""]
for one in ast.parse(pathlib.Path(stub).read_text()).body:
    if isinstance(one, ast.ClassDef) and ast.get_docstring(one):
        lines.append(f'inline constexpr const char* k{one.name} = R"({ast.get_docstring(one)}\n)";')
pathlib.Path(file).write_text("\n".join([*lines, "", "}  // namespace smelt::python", ""]))
