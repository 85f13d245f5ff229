"""`musa-compat explain OPERATOR`."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, cast

import click

from musa_compat.device import DEFAULT_ARCH, KINDS, Kind, Target

if TYPE_CHECKING:
    from musa_compat.registry import Explanation, Operator


@click.command()
@click.argument("operator", required=False)
@click.option("--device", type=click.Choice(KINDS), help="Kind of accelerator. Default: the one that is here.")
@click.option("--arch", metavar="ARCH", help="Architecture, such as mp_22. Default: mp_31 on MUSA.")
@click.option(
    "--shape",
    "call",
    metavar="NAME=VALUE,...",
    multiple=True,
    help="What the call is like, by the fields of the operator's signature: m=64,n=2112,k=7168. Or the values of the "
    "first fields: 64,2112,7168. Repeatable.",
)
@click.option("--assume-installed", is_flag=True, help="Answer for a machine that has the packages of all providers.")
@click.option("--import", "modules", metavar="MODULE", multiple=True, help="Import a module that registers operators.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    operator: str | None,
    device: Kind | None,
    arch: str | None,
    call: tuple[str, ...],
    modules: tuple[str, ...],
    as_json: bool,
    assume_installed: bool,
) -> None:
    """Say which provider runs OPERATOR, and why not the others. Without OPERATOR, list all operators."""
    from musa_compat import registry
    from musa_compat.commands.tables import print_json

    failed = _load(modules)
    if operator is None:
        _list(as_json, failed)
        return
    try:
        found = registry.get(operator)
    except registry.UnknownOperatorError as error:
        raise click.ClickException(_unknown(error, failed)) from error
    try:
        explanation = found.explain(_target(device, arch), _signature(found, call), assume_installed=assume_installed)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({**explanation.to_dict(), "fields": _fields(found), "assume_installed": assume_installed})
    else:
        _print(found, explanation)


def _load(modules: tuple[str, ...]) -> dict[str, str]:
    from musa_compat import registry

    failed = registry.load_installed()
    if modules and os.getcwd() not in sys.path:
        # As `python -m` has it; last, so that no folder here hides an installed package.
        sys.path.append(os.getcwd())
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise click.ClickException(
                f"--import {module}: {error}; give a module of this folder or of PYTHONPATH"
            ) from error
    return failed


def _target(kind: Kind | None, arch: str | None) -> Target:
    from musa_compat import device

    chosen = kind or device.kind()
    return Target(chosen, arch or DEFAULT_ARCH[chosen])


# ---- the signature ---------------------------------------------------------------------------------------------------


def _signature(operator: Operator, call: tuple[str, ...]) -> Any:
    """From `--shape`; None if it was not given. Raises ClickException."""
    words = [word.strip() for text in call for word in text.split(",") if word.strip()]
    if not words:
        return None
    if operator.signature is None:
        raise click.ClickException(f"--shape: {operator.name} is chosen by device alone; leave --shape out")
    from musa_compat.registry.signatures import SignatureError, read

    try:
        return read(operator.signature, words)
    except SignatureError as error:
        raise click.ClickException(f"--shape: {error}") from error


def _fields(operator: Operator) -> list[str]:
    return list(cast(Any, operator.signature)._fields) if operator.signature else []


# ---- output ----------------------------------------------------------------------------------------------------------


def _unknown(error: Any, failed: dict[str, str]) -> str:
    lines = [str(error)]
    if error.known:
        lines += ["registered are:", *(f"  {name}" for name in error.known)]
    else:
        lines.append("no operator is registered")
    lines += [f"not loaded: {module}: {reason}" for module, reason in failed.items()]
    lines += [
        "get more: install a shim (deep-gemm, flash-mla, deep-ep), or name a module that registers operators with "
        "--import MODULE"
    ]
    return "\n".join(lines)


def _list(as_json: bool, failed: dict[str, str]) -> None:
    from musa_compat import registry
    from musa_compat.commands.tables import console, print_json, print_table

    found = [registry.get(name) for name in registry.names()]
    if as_json:
        entries = [
            {"operator": one.name, "summary": one.summary, "providers": [each.name for each in one.providers]}
            for one in found
        ]
        print_json({"operators": entries, "not_loaded": failed})
        return
    rows = [(one.name, ", ".join(each.name for each in one.providers) or "none", one.summary) for one in found]
    out = console()
    if rows:
        print_table(out, "Operators", ("operator", "providers", ""), rows)
    else:
        out.print("No operator is registered. Install a shim (deep-gemm, flash-mla, deep-ep), or use --import MODULE.")
    for module, reason in failed.items():
        out.print(f"not loaded: {module}: {reason}", markup=False)


def _print(operator: Operator, explanation: Explanation) -> None:
    from musa_compat.commands.tables import console, print_table

    out = console()
    call = ", ".join(f"{name}={value}" for name, value in explanation.signature.items())
    title = f"{explanation.operator} on {explanation.target}" + (f": {call}" if call else "")
    rows = [
        (row.provider, row.verdict, row.reason or ("needs " + "; ".join(row.needs) if row.needs else ""))
        if row.verdict != "depends"
        else (row.provider, row.verdict, "on: " + ("; ".join(row.needs) or "the call"))
        for row in explanation.rows
    ]
    if explanation.summary:
        out.print(explanation.summary, markup=False)
    print_table(out, title, ("provider", "runs", "why"), rows)
    if explanation.pinned:
        out.print(f"pinned by {explanation.pinned}", markup=False)
    if explanation.selected is None and any(row.verdict == "depends" for row in explanation.rows):
        out.print(f"say more with --shape: {', '.join(_fields(operator))}", markup=False)
    elif explanation.selected is None:
        out.print("no provider can run it here", markup=False)
