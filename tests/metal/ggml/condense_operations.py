#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of outcomes that metal_ggml_operations writes (FILE), as the page has it: operations by outcome, not one row for each.

    condense_operations.py FILE
"""

import re
import sys

LARGE = 1e-7  # errors above it are named


def condensed(text: str) -> str:
    head, _, table = text.partition("\n\n")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    columns, rows = lines[0], [row for row in lines[2:] if row[0] != "together"]
    whole, part, absent, errors = [], [], [], []
    bad: dict[str, list[str]] = {name: [] for name in columns[3:] if name != "Largest error"}
    for row in rows:
        cells = dict(zip(columns, row))
        name, passed, not_claimed = row[0].strip("`"), int(row[1]), int(row[2])
        if passed == 0 and not_claimed:
            absent.append(name)
        elif not_claimed:
            part.append(f"{name}:{passed}/{passed + not_claimed}")
        elif not any(int(cells[column]) for column in bad):
            whole.append(name)
        for column in bad:
            if int(cells[column]):
                bad[column].append(f"`{name}` ({cells[column]})")
        if float(cells.get("Largest error", 0)) > LARGE:
            errors.append(f"`{name}` {cells['Largest error']}")
    total = lambda column: sum(int(row[column]) for row in rows)  # noqa: E731
    out = [head, "", "| Outcome | Operations |", "|---|---|", f"| all cases pass | `{' '.join(whole)}` |"]
    for title, names in (("some cases claimed, and all of these pass: claimed/all", part), ("not claimed", absent)):
        out += [f"| {title} | `{' '.join(names)}` |"] if names else []
    for column, names in bad.items():
        title = "wrong results" if column == "Other numbers" else column[0].lower() + column[1:]
        out.append(f"| {title} | {', '.join(names) or 'none'} |")
    out += [f"| errors above {LARGE:g} | {', '.join(errors)} |"] if errors else []
    out.append(f"| cases | {total(1):,} passed, {total(2):,} not claimed |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    text = open(sys.argv[1]).read()
    assert re.match(r"(Outcomes of|Of) a", text), "want a table of metal_ggml_operations"
    sys.stdout.write(condensed(text))
