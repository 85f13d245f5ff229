"""`musa-compat doctor` as a command: table, JSON, exit status, and what torch is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from musa_compat.doctor.probe import ask_torch
from musa_compat.doctor.tools import musa_home

from .conftest import Site

NULLABLE = {"type": ["string", "null"]}
STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": list(fields), "properties": fields}


#: What scripts may rely on, as the documentation says it.
SCHEMA = record(
    ok={"type": "boolean"},
    versions=STRINGS,
    device=record(kind={"enum": ["musa", "cuda", "sim", "cpu"]}, why={"type": "string"}, cards={"type": "object"}),
    torch={"type": "object"},
    tools={"type": "object", "additionalProperties": NULLABLE},
    packages={
        "type": "array",
        "items": record(
            name={"type": "string"},
            purpose={"type": "string"},
            distribution=NULLABLE,
            version=NULLABLE,
            place=NULLABLE,
            pinned=NULLABLE,
            get={"type": "string"},
        ),
    },
    providers={
        "type": "array",
        "items": record(provider={"type": "string"}, kind={"enum": ["musa", "cuda", "sim", "cpu"]}, missing=NULLABLE),
    },
    operators={"type": "object", "additionalProperties": {"type": "integer"}},
    findings={
        "type": "array",
        "items": record(
            id={"type": "string", "pattern": "^[a-z0-9-]+$"},
            severity={"enum": ["error", "warning", "info"]},
            text={"type": "string"},
            advice={"type": "string"},
        ),
    },
)


def doctor(*arguments: str, cwd: Path, path: Path | None = None, **variables: str) -> tuple[int, str]:
    """The exit status of the command and what it printed."""
    environment = {**os.environ, **variables}
    if path:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "musa_compat", "doctor", *arguments]
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, result.stdout


def test_json_has_the_documented_form(tmp_path: Path) -> None:
    status, output = doctor("--json", "--no-probe", cwd=tmp_path)
    document = json.loads(output)
    jsonschema.validate(document, SCHEMA)
    assert document["ok"] is (status == 0)
    assert document["torch"] == {}


def test_versions_are_those_that_pip_lists(tmp_path: Path) -> None:
    _, output = doctor("--json", "--no-probe", cwd=tmp_path)
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    versions = {one["name"].lower().replace("_", "-"): one["version"] for one in json.loads(listed.stdout)}
    known = {"torch", "torchada", "tilelang", "triton", "apache-tvm-ffi", "flashinfer-python", "sgl-kernel"}
    found = {one["distribution"].lower(): one["version"] for one in json.loads(output)["packages"] if one["version"]}
    assert {name: version for name, version in found.items() if name in known} == {
        name: version for name, version in versions.items() if name in known
    }


def test_conflict_is_an_exit_status(site: Site, tmp_path: Path) -> None:
    site.install("tilelang", "0.1.15")
    site.install("tilelang_musa", "0.1.12+musa.2", {"tilelang/__init__.py": ""})
    status, output = doctor("--no-probe", cwd=tmp_path, path=site.folder)
    assert status == 1
    assert "one environment serves one backend" in " ".join(output.split())
    status, output = doctor("--no-probe", "--json", cwd=tmp_path, path=site.folder)
    assert status == 1
    assert [one["id"] for one in json.loads(output)["findings"] if one["severity"] == "error"] == ["two-tilelangs"]


def test_folder_in_the_working_directory(site: Site, tmp_path: Path) -> None:
    """Python that is started there would take it, although this command does not."""
    site.ours()
    site.write("deep_gemm/_operators.py")
    (tmp_path / "deep_gemm").mkdir()
    (tmp_path / "deep_gemm" / "__init__.py").touch()
    code = (
        "from musa_compat.doctor.environment import Environment as E; from musa_compat.doctor.conflicts import check\n"
    )
    code += "import sys; sys.path.remove('') if '' in sys.path else None; print([one.id for one in check(E())])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site.folder), os.environ.get("PYTHONPATH", "")])}
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "shadowed-shim" in result.stdout, result.stderr


def test_operators_that_cannot_be_registered(site: Site, tmp_path: Path) -> None:
    site.ours()
    site.write("deep_gemm/_operators.py", "import a_module_that_is_not_there")
    status, output = doctor("--json", "--no-probe", cwd=tmp_path, path=site.folder)
    found = {one["id"]: one for one in json.loads(output)["findings"]}
    assert status == 1
    assert "deep_gemm._operators cannot be registered: ModuleNotFoundError" in found["operators-not-loaded"]["text"]


def test_operators_are_counted(site: Site, tmp_path: Path) -> None:
    site.ours()
    names = "for name in 'ab': registry.operator('deep_gemm.' + name)"
    site.write("deep_gemm/_operators.py", f"from musa_compat import registry\n{names}\n")
    _, output = doctor("--json", "--no-probe", cwd=tmp_path, path=site.folder)
    document = json.loads(output)
    assert document["operators"] == {"deep_gemm": 2}
    assert "Registered operators: deep_gemm: 2" in doctor("--no-probe", cwd=tmp_path, path=site.folder)[1]
    (shim,) = [one for one in document["packages"] if one["name"] == "deep_gemm"]
    assert (shim["version"], shim["place"]) == ("2.6.1", str(site.folder / "deep_gemm" / "__init__.py"))


def test_providers_say_what_is_missing(tmp_path: Path) -> None:
    _, output = doctor("--json", "--no-probe", cwd=tmp_path)
    missing = {(one["provider"], one["kind"]): one["missing"] for one in json.loads(output)["providers"]}
    assert set(missing) == {
        ("mate", "musa"),
        ("tilelang", "musa"),
        ("tilelang", "cuda"),
        *(("torch", kind) for kind in ("musa", "cuda", "sim", "cpu")),
    }
    if "torch_musa" not in sys.modules:
        assert "torch_musa is not installed; get it from Moore Threads" in missing["mate", "musa"]
        assert "mate is not installed" in missing["mate", "musa"]


# ---- what torch is asked ---------------------------------------------------------------------------------------------


def asked(site: Site) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site.folder), os.environ.get("PYTHONPATH", "")])}
    return ask_torch(environment)


def test_torch_is_asked_in_another_process() -> None:
    pytest.importorskip("torch")
    import torch

    said = ask_torch()
    assert said["version"] == torch.__version__
    assert said["cuda"] == torch.version.cuda
    assert said["cuda_devices"] == torch.cuda.device_count()


MUSA = """
import types
__version__ = "2.11.0"
version = types.SimpleNamespace(cuda=None, musa="50200")
cuda = types.SimpleNamespace(device_count=lambda: 0)
musa = types.SimpleNamespace(device_count=lambda: 2, get_device_name=lambda index: f"MTT S5000 {index}")
"""


def test_devices_of_torch_musa(site: Site) -> None:
    site.install("torch", "2.11.0", {"torch/__init__.py": MUSA})
    assert asked(site) == {
        "version": "2.11.0",
        "cuda": None,
        "musa": "50200",
        "cuda_devices": 0,
        "musa_devices": 2,
        "devices": ["MTT S5000 0", "MTT S5000 1"],
    }


def test_the_cause_behind_the_message(site: Site) -> None:
    source = """
try:
    raise OSError("libmusa_python.so: undefined symbol: x")
except OSError as error:
    raise ImportError("Please try running Python from a different directory!") from error
"""
    site.install("torch", "2.11.0", {"torch/__init__.py": source})
    assert asked(site) == {
        "error": "ImportError: Please try running Python from a different directory!",
        "cause": "OSError: libmusa_python.so: undefined symbol: x",
    }


def test_a_crash_is_reported(site: Site) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    site.install("torch", "2.11.0", {"torch/__init__.py": source})
    assert asked(site)["error"].startswith("Python ended with signal 11 while it imported torch")


def test_a_hang_is_reported(site: Site) -> None:
    site.install("torch", "2.11.0", {"torch/__init__.py": "import time; time.sleep(60)"})
    environment = {**os.environ, "PYTHONPATH": str(site.folder)}
    assert ask_torch(environment, timeout=0.5) == {"error": "importing torch took more than 0 seconds"}


def test_musa_toolkit(tmp_path: Path) -> None:
    mcc = tmp_path / "sdk" / "bin" / "mcc"
    mcc.parent.mkdir(parents=True)
    mcc.write_text("#!/bin/sh\n")
    mcc.chmod(0o755)
    nowhere = str(tmp_path / "nowhere")
    assert musa_home({"MUSA_HOME": "/a", "MUSA_PATH": "/b"}, nowhere) == "/a"
    assert musa_home({"MUSA_PATH": "/b", "PATH": str(mcc.parent)}, nowhere) == "/b"
    assert musa_home({"PATH": str(mcc.parent)}, nowhere) == str(tmp_path / "sdk")
    assert musa_home({"PATH": nowhere}, str(tmp_path)) == str(tmp_path)
    assert musa_home({"PATH": nowhere}, nowhere) is None
