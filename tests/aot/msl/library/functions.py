#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the functions that the headers of the Metal library declare for users, one a line: `exp`, `fast::exp`,
`array::data`. Reads the preprocessed text of <metal_stdlib> on stdin.

A function is a name with a parenthesis behind it, in a namespace or a class and not in a body. Names that begin with an
underscore, and those in namespaces or classes of such names, are the library's own.
"""
import re
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|::|\S')
NO_NAMES = {"alignas", "alignof", "bool", "decltype", "operator", "requires", "sizeof", "static_assert"}


def scope_of(statement):
    """What the brace behind these tokens opens: the name of a namespace or a class, "" for extern "C", None: a body."""
    if "namespace" in statement:
        return "".join(statement[statement.index("namespace") + 1:])
    if statement[:1] == ["extern"] and len(statement) == 2:
        return ""
    if "(" in statement or "enum" in statement or "=" in statement:
        return None
    for at, token in enumerate(statement[:-1]):
        if token in ("struct", "class") and (at == 0 or statement[at - 1] not in "<,"):
            return statement[at + 1]
    return None


def declared(text):
    tokens = TOKEN.findall(text)
    scopes, statement, at = [], [], 0
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            scopes.append(scope_of(statement))
            statement = []
        elif token == "}":
            scopes.pop()
            statement = []
        elif token == ";":
            statement = []
        elif token in "([" and None not in scopes:
            name = statement[-1] if statement else ""
            if token == "(" and re.fullmatch(r"[A-Za-z]\w*", name) and name not in NO_NAMES | set(scopes):
                own = any(part.startswith("_") for scope in scopes for part in scope.split("::"))
                # Behind a colon is what a constructor initialises, behind an equals sign a value.
                if not own and "operator" not in statement and ":" not in statement and statement[-2:-1] != ["="]:
                    yield "::".join([scope for scope in scopes if scope not in ("", "metal")] + [name])
            depth = 0
            while True:
                depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
                if depth == 0:
                    break
                at += 1
            statement.append("(")
        else:
            statement.append(token)
        at += 1


if __name__ == "__main__":
    print("\n".join(sorted(set(declared(sys.stdin.read())))))
