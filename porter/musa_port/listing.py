"""`--list-names`: the API names of a tree, with the number of uses and what becomes of them."""

from __future__ import annotations

from musa_port.model import Report


def name_table(report: Report) -> str:
    """Tab-separated lines `name, uses, files, status`, most used first; the first line names the columns."""
    uses: dict[str, list[int]] = {}
    status: dict[str, str] = {}
    for file in report.files:
        for name, (count, state) in file.names.items():
            totals = uses.setdefault(name, [0, 0])
            totals[0] += count
            totals[1] += 1
            status[name] = state
    lines = ["name\tuses\tfiles\tstatus"]
    for name in sorted(uses, key=lambda name: (-uses[name][0], name)):
        lines.append(f"{name}\t{uses[name][0]}\t{uses[name][1]}\t{status[name]}")
    return "\n".join(lines) + "\n"
