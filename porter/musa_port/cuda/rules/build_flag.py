"""Macros such as USE_CUDA that the project's build defines."""

from __future__ import annotations

from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.syntax import Role
from musa_port.model import Severity
from musa_port.names import BUILD_FLAGS
from musa_port.rules import Rule, register

FLAG = register(
    Rule(
        "C16",
        "build-flag",
        Severity.INFO,
        "Leaves USE_CUDA and WITH_CUDA: the build defines them (--rename-project-names moves them).",
        example=("#ifdef USE_CUDA", "#ifdef USE_CUDA"),
        advice="Define the macro in the MUSA build as well.",
    )
)


@check(order=75)
def decide(port: Port) -> None:
    """Leave or move the flags."""
    if port.names.reverse:
        return
    for word in port.facts.words:
        name = port.text(word.start, word.end)
        if name not in BUILD_FLAGS or port.is_claimed(word.start) or word.role in (Role.COMMENT, Role.STRING):
            continue
        if port.options.rename_project_names:
            port.edit(word.start, word.end, name.replace("CUDA", "MUSA"), "project-name")
        else:
            port.claim(word.start, word.end)
            port.report(
                "build-flag", word.start, word.end, f"{name} is left: the build defines it", name=name, once=name
            )
