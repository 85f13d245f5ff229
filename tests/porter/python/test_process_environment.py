"""P18: variables of the environment, wherever a program keeps the environment that it names them in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD = "import os, copy, subprocess\nfrom unittest import mock\n"


@pytest.mark.parametrize(
    "text",
    [
        'env = os.environ.copy()\nenv["CUDA_HOME"] = x\n',
        'env = dict(os.environ)\nif "CUDA_HOME" in env: del env["CUDA_HOME"]\n',
        'env = {**os.environ, "CUDA_HOME": x}\n',
        'env = os.environ | {"CUDA_HOME": x}\n',
        'env = copy.deepcopy(os.environ)\nenv.setdefault("CUDA_HOME", x)\n',
        "env = dict(os.environ, CUDA_HOME=x)\n",
        'os.environ.update({"CUDA_HOME": x}, CUDA_PATH=y)\n',
        'new = {"CUDA_HOME": x}\nos.environ.update(new)\n',
        'os.environ |= {"CUDA_HOME": x}\n',
        'with mock.patch.dict(os.environ, {"CUDA_HOME": x}): pass\n',
        'with mock.patch.dict("os.environ", {"CUDA_HOME": x}): pass\n',
        "with mock.patch.dict(os.environ, CUDA_HOME=x): pass\n",
        '@mock.patch.dict(os.environ, {"CUDA_HOME": "1"})\ndef test(): ...\n',
        'env = {"CUDA_HOME": x}\nsubprocess.run(c, env=env)\n',
        'env = {}\nenv["CUDA_HOME"] = x\nsubprocess.run(c, env=env)\n',
        'def f(x):\n    return {"CUDA_HOME": x}\nsubprocess.run(c, env=f(1))\n',
        "class A:\n    def __init__(self):\n        self.env = os.environ.copy()\n"
        '    def f(self):\n        self.env["CUDA_HOME"] = 1\n',
        'def f():\n    e = os.environ\n    return e["CUDA_HOME"]\n',
        'def f(env):\n    env["CUDA_HOME"] = 1\n',
        'for name in ("CUDA_HOME", "CUDA_PATH"):\n    x = os.environ.get(name)\n',
        'NAME = "CUDA_HOME"\ndef f():\n    return os.getenv(NAME, "x")\n',
        'class A:\n    NAME = "CUDA_HOME"\n    def f(self):\n        return os.environ[self.NAME]\n',
        'x = os.environ["CUDA_HOME" if a else "CUDA_PATH"]\n',
        'def test(monkeypatch):\n    monkeypatch.delenv("CUDA_HOME", raising=False)\n',
        'if "CUDA_HOME" in os.environ.keys(): pass\n',
    ],
)
def test_places(rewrites: Rewrites, text: str) -> None:
    after = text.replace("CUDA_HOME", "MUSA_HOME").replace("CUDA_PATH", "MUSA_PATH")
    rewrites(HEAD + text, HEAD + after, ["P18"])


@pytest.mark.parametrize(
    "text",
    [
        'env = {"CUDA_HOME": 1}\nf(env)\n',
        'env = {}\nenv["CUDA_HOME"] = 1\n',
        'def f(settings):\n    settings["CUDA_HOME"] = 1\n',
        'settings = load()\nsettings["CUDA_HOME"] = 1\nsettings.get("CUDA_HOME")\n',
        "f(CUDA_HOME=1)\ndict(CUDA_HOME=1)\nx.update(CUDA_HOME=1)\n",
        'os.environ["HOME"] = "CUDA_HOME"\n',
        'x = [k for k in os.environ if k != "CUDA_HOME"]\n',
        'mock.patch.dict(x, {"CUDA_HOME": 1})\n',
        'os.environ.update(x={"CUDA_HOME": 1})\n',
    ],
)
def test_other_places_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


def test_a_table_of_variables_is_noticed(notices: Notices) -> None:
    notices('NAMES = [\n    "CUDA_VISIBLE_DEVICES",\n]\n', "CUDA_V")


def test_a_file_that_knows_both_names(port: Port) -> None:
    text = 'import os\nx = os.getenv("MUSA_HOME") or os.getenv("CUDA_HOME")\n'
    result = port(text)
    assert result.data.decode() == text
    assert "MUSA_HOME as well" in result.findings[0].message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.environ["CUDA_HOME"] = "/usr/local/cuda"', 'os.environ["MUSA_HOME"] = "/usr/local/musa"'),
        (
            'os.environ.setdefault("CUDA_PATH", "/usr/local/cuda")',
            'os.environ.setdefault("MUSA_PATH", "/usr/local/musa")',
        ),
        ('os.environ["CUDA_HOME"] = "/usr/local/cuda-12.1"', 'os.environ["MUSA_HOME"] = "/usr/local/cuda-12.1"'),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0"', 'os.environ["TORCH_MUSA_ARCH_LIST"] = "22;31"'),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0 8.6 9.0a+PTX"', 'os.environ["TORCH_MUSA_ARCH_LIST"] = "22;31"'),
        ('x = os.getenv("TORCH_CUDA_ARCH_LIST", "9.0")', 'x = os.getenv("TORCH_MUSA_ARCH_LIST", "31")'),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = "Hopper"', 'os.environ["TORCH_MUSA_ARCH_LIST"] = "Hopper"'),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = ""', 'os.environ["TORCH_MUSA_ARCH_LIST"] = ""'),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "cuda:0"', 'os.environ["MUSA_VISIBLE_DEVICES"] = "cuda:0"'),
    ],
)
def test_values(rewrites: Rewrites, before: str, after: str) -> None:
    """A value changes only where a table holds what it becomes."""
    rewrites(f"import os\n{before}\n", f"import os\n{after}\n", ["P18"])


def test_values_that_are_not_known_are_noticed(notices: Notices) -> None:
    text = 'import os\nos.environ["TORCH_CUDA_ARCH_LIST"] = \\\n    f"{major}.{minor}"\n'
    notices(text, 'f"{major}')
    text = 'import os\nif (\n    os.environ["TORCH_CUDA_ARCH_LIST"].strip() != "9.0"\n): pass\n'
    messages = [finding.message for finding in notices(text, "TORCH").findings]
    assert any("compared" in message for message in messages)


def test_options(port: Port) -> None:
    text = 'import os\nos.environ["NCCL_IB_HCA"], os.environ["CUDA_HOME"], os.environ["USE_CUDA"]\n'
    assert '"NCCL_IB_HCA"' in port(text, min_confidence="medium").data.decode()
    assert '"CUDA_HOME"' in port(text, keep_names=("CUDA_HOME",)).data.decode()
    assert '"USE_CUDA"' in port(text).data.decode()
    assert '"USE_MUSA"' in port(text, rename_project_names=True).data.decode()


def test_no_import_of_torch_musa(port: Port) -> None:
    """The environment alone needs no torch_musa."""
    assert "torch_musa" not in port('import os, torch\nos.environ["CUDA_HOME"]\n').data.decode()


# ---- variables in no table ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'os.environ["NCCL_FOO_BAR"] = "1"',
        'x = os.getenv("CUDA_FOO_BAR")',
        'os.environ.update(CUDNN_FOO="1")',
        'env = {**os.environ, "NVSHMEM_FOO": "1"}',
        'if "TORCH_NCCL_FOO" in os.environ: pass',
    ],
)
def test_a_variable_of_cuda_in_no_table_is_reported(rewrites: Rewrites, text: str) -> None:
    result = rewrites(f"import os\n{text}\n", findings=["P18 info"])
    assert [finding.message.endswith("is in no table and is left") for finding in result.findings] == [True]


@pytest.mark.parametrize(
    "text",
    ['os.environ["MY_CUDA_FLAG"] = "1"', 'd["NCCL_FOO"] = "1"', 'print("CUDA_FOO_BAR")', 'os.getenv("HOME")  # cuda'],
)
def test_other_names_are_not_reported(port: Port, text: str) -> None:
    assert port(f"import os\n{text}\n").findings == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("TORCH_NCCL_BLOCKING_WAIT", "TORCH_MCCL_BLOCKING_WAIT"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_MCCL_ASYNC_ERROR_HANDLING"),
        ("TORCH_NCCL_RETHROW_CUDA_ERRORS", "TORCH_MCCL_RETHROW_MUSA_ERRORS"),
        ("PYTORCH_NVCC", "PYTORCH_MCC"),
        ("NCCL_DEBUG", "MCCL_DEBUG"),
    ],
)
def test_variables_that_torch_musa_reads_change_without_a_word(rewrites: Rewrites, before: str, after: str) -> None:
    text = 'import os\nos.environ["{}"] = "1"\nx = os.getenv("{}")\n'
    assert rewrites(text.format(before, before), text.format(after, after)).findings == []


def test_weak_evidence_is_told_once_in_a_file(rewrites: Rewrites) -> None:
    text = 'import os\nos.environ["{}"] = "1"\nx = os.getenv("{}")\n'
    result = rewrites(text.format(*["NCCL_IB_TIMEOUT"] * 2), text.format(*["MCCL_IB_TIMEOUT"] * 2))
    assert [finding.line for finding in result.findings] == [2]


def test_host_memory_of_nccl_has_no_counterpart(rewrites: Rewrites) -> None:
    rewrites('import os\nos.environ["NCCL_CUMEM_HOST_ENABLE"] = "0"\n', findings=["P18 error"])
