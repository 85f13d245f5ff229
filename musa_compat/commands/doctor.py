"""`musa-compat doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from musa_compat.doctor import Report


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--no-probe", is_flag=True, help="Do not import torch, which is done in a process of its own.")
@click.pass_context
def doctor(context: click.Context, as_json: bool, no_probe: bool) -> None:
    """Say what is installed, what is missing for what, and what is in the way of what.

    The exit status is 1 if something is an error.
    """
    from musa_compat.commands.tables import print_json
    from musa_compat.doctor import examine

    report = examine(probe=not no_probe)
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
    context.exit(0 if report.ok else 1)


def _print(report: Report) -> None:
    from musa_compat.commands.tables import console, print_table

    out = console()
    facts = [*report.versions.items(), ("device", f"{report.device['kind']}: {report.device['why']}")]
    facts += [(f"torch: {name.replace('_', ' ')}", str(value)) for name, value in report.torch.items()]
    facts += [(name, path or "not found") for name, path in report.tools.items()]
    print_table(out, "This machine", ("", ""), facts)
    packages = [
        (
            one.name,
            one.version or "-",
            one.pinned or "",
            one.purpose,
            one.place or "-" if one.version else f"get it {one.get}",
        )
        for one in report.packages
    ]
    print_table(out, "Packages", ("import", "version", "pinned", "for", "place"), packages)
    providers = [
        (one.provider, one.kind, "yes" if one.missing is None else "no", one.missing or "") for one in report.providers
    ]
    print_table(out, "Providers of kernels", ("provider", "on", "ready", "missing"), providers)
    counts = ", ".join(f"{package}: {count}" for package, count in report.operators.items())
    out.print(f"Registered operators: {counts or 'none; the shims register theirs when they are installed'}")
    if report.findings:
        findings = [(one.severity, one.text, one.advice) for one in report.findings]
        print_table(out, "Findings", ("", "what", "what to do"), findings)
    else:
        out.print("Nothing is in the way of anything.")
