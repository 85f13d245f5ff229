"""The examination: look, ask torch, check."""

from __future__ import annotations

import platform
from typing import Any

import musa_compat
from musa_compat import device, packages, registry
from musa_compat.doctor.conflicts import check
from musa_compat.doctor.environment import Environment
from musa_compat.doctor.model import Finding, Installed, ProviderState, Report
from musa_compat.doctor.probe import ask_torch
from musa_compat.doctor.tools import find_tools
from musa_compat.registry.providers import FAMILIES


def examine(*, probe: bool = True) -> Report:
    """Examine this machine. With `probe`, torch is imported in a process of its own, which takes seconds."""
    environment = Environment(cards=device.pci_cards())
    if probe and environment.place("torch"):
        environment.torch = ask_torch(environment.variables)
    failed = registry.load_installed()
    return Report(
        versions=_versions(),
        device=_device(environment),
        torch=environment.torch,
        tools=find_tools(environment.variables),
        packages=tuple(_installed(environment, one) for one in packages.PACKAGES.values()),
        providers=_providers(environment),
        operators=_operators(),
        findings=(*check(environment), *(_unregistered(module, why) for module, why in failed.items())),
    )


def _versions() -> dict[str, str]:
    return {
        "musa-compat": musa_compat.__version__,
        "Python": platform.python_version(),
        "platform": platform.platform(),
    }


def _device(environment: Environment) -> dict[str, Any]:
    try:
        kind, why = device.kind(), device.why()
    except ValueError as error:
        kind, why = "cpu", str(error)
    # Before torch is imported it is a guess, and torch has just said it in the other process.
    said = environment.torch
    if kind == "cpu" and said.get("musa_devices"):
        kind, why = "musa", f"torch sees {said['musa_devices']} MUSA devices"
    elif kind == "cpu" and said.get("cuda_devices"):
        kind, why = "cuda", f"torch sees {said['cuda_devices']} CUDA devices"
    return {"kind": kind, "why": why, "cards": dict(environment.cards)}


def _installed(environment: Environment, package: packages.Package) -> Installed:
    found = packages.installed(package.name)
    return Installed(
        name=package.name,
        purpose=package.purpose,
        distribution=found.metadata["Name"] if found else None,
        version=found.version if found else None,
        place=environment.place(package.import_name),
        pinned=package.tested or None,
        get=package.source,
    )


def _providers(environment: Environment) -> tuple[ProviderState, ...]:
    states = []
    for name, family in FAMILIES.items():
        for kind in family.on:
            wanted = ["torch_musa"] if kind == "musa" else []
            wanted += filter(None, [packages.provider_package(name, kind)])
            reasons = [reason for reason in map(packages.missing, wanted) if reason]
            if kind == "cuda" and "version" in environment.torch and not environment.torch.get("cuda"):
                reasons.append("the installed torch is built without CUDA; install one that is built with it")
            states.append(ProviderState(name, kind, "; ".join(reasons) or None))
    return tuple(states)


def _operators() -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in registry.names():
        package = name.partition(".")[0]
        counts[package] = counts.get(package, 0) + 1
    return counts


def _unregistered(module: str, why: str) -> Finding:
    return Finding(
        "operators-not-loaded",
        "error",
        f"the operators of {module} cannot be registered: {why}",
        f"`python -c 'import {module}'` shows the whole error",
    )
