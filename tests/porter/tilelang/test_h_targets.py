"""Targets: H5 (cuda to musa), H6 (architectures), H7 (none given)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Port, Rewrites

# ---- H5 ----------------------------------------------------------------------------------------------------------

CHANGED = {
    "jit": '@tilelang.jit(out_idx=[-1], target="cuda")\ndef f(): ...\n',
    "jit-single-quotes": "@tilelang.jit(target='cuda')\ndef f(): ...\n",
    "compile": 'k = tilelang.compile(p, out_idx=-1, target = "cuda" , verbose=True)\n',
    "lower": 'm = tilelang.lower(p, target="cuda")\n',
    "autotune": '@tilelang.autotune(configs=[])\n@tilelang.jit(target="cuda")\ndef f(): ...\n',
    "tuner-method": 'tuner = tuner.set_compile_args(out_idx=[-1], target="cuda")\n',
    "kernel-method": 'k = f.compile(target="cuda")\n',
    "local-function": 'def build(target): ...\nbuild(target="cuda")\n',
    "target-class": 'import tvm\nt = tvm.target.Target("cuda", host="llvm")\n',
    "imported-class": 'from tvm.target import Target\nwith Target("cuda"):\n    pass\n',
    "determine": 'from tilelang.backend.target import determine_target as d\nt = d("cuda", return_object=True)\n',
    "default": 'def build(p, target="cuda"): ...\n',
    "annotated-default": 'def build(p, target: str = "cuda"): ...\n',
    "variable": 'target = "cuda"\n',
    "constant": 'DEFAULT_TARGET = "cuda"\n',
    "entry": 'options = {"target": "cuda", "verbose": True}\n',
    "item": 'options["target"] = "cuda"\n',
    "choice": 'k = tilelang.compile(p, target="cuda" if gpu else "llvm")\n',
    "environment": 'import os\nos.environ["TILELANG_DEFAULT_TARGET"] = "cuda"\n',
    "environment-default": 'import os\nos.environ.setdefault("TILELANG_DEFAULT_TARGET", "cuda")\n',
    "comparison": 'if str(target) == "cuda":\n    pass\n',
    "kind": 'if target.kind.name == "cuda":\n    pass\n',
    "kind-variable": 'if self.target_kind != "cuda":\n    pass\n',
    "kind-function": 'if _target_kind_name(t) == "cuda":\n    pass\n',
    "kinds": 'assert target.kind.name in ("cuda", "llvm")\n',
    "dictionary": 't = {"kind": "cuda"}\n',
    "compile-position": 'k = tilelang.compile(p, [-1], "tvm_ffi", "cuda")\n',
    "lower-position": 'm = tilelang.lower(p, "cuda")\nn = tilelang.engine.lower(p, "cuda")\n',
    "tvm-device": "import tvm\ndevice = tvm.cuda(0)\n",
    "tvm-device-text": 'import tvm\ndevice = tvm.device("cuda", 0)\n',
}


@pytest.mark.parametrize("name", CHANGED)
def test_targets(rewrites: Rewrites, name: str) -> None:
    before = CHANGED[name]
    after = before.replace('"cuda"', '"musa"').replace("'cuda'", "'musa'").replace("tvm.cuda", "tvm.musa")
    rewrites(before, after, ["H5"])


LEFT = {
    "other-position": 'k = tilelang.compile("cuda")\nm = tilelang.lower("cuda")\n',
    "other-function": 'from myplot import draw\ndraw(target="cuda")\n',
    "other-keyword": 'k = tilelang.compile(p, name="cuda")\n',
    "longer": 'k = tilelang.compile(p, target="cuda_like")\n',
    "host": 'k = tilelang.compile(p, target="auto", target_host="llvm")\n',
    "text": '"""target="cuda" is the default."""\n',
    "comment": '# target="cuda"\n',
    "both": 'if target.kind.name == "musa":\n    x = 1\nelif target.kind.name == "cuda":\n    x = 2\n',
    "variable": 'my_targets = {"cuda": 1}\n',
    "musa": 'k = tilelang.compile(p, target="musa")\n',
}


@pytest.mark.parametrize("name", LEFT)
def test_left_alone(rewrites: Rewrites, name: str) -> None:
    rewrites(LEFT[name])


def test_files_without_tilelang_are_left(rewrites: Rewrites) -> None:
    rewrites('k = compile(p, target="cuda")\nt = {"kind": "cuda", "arch": "sm_90"}\n', head="import torch\n")


def test_under_any_import(rewrites: Rewrites) -> None:
    before = 'import tilelang as tl\nfrom tilelang import jit as J\nk = tl.compile(p, target="cuda")\n'
    before += '@J(target="cuda")\ndef f(): ...\n'
    rewrites(before, before.replace('"cuda"', '"musa"'), ["H5"], head="")


# ---- H6 ----------------------------------------------------------------------------------------------------------

MP31 = '{"kind": "musa", "arch": "mp_31"}'


@pytest.mark.parametrize("number", ["90", "90a", "100", "100a", "120"])
@pytest.mark.parametrize("archs", [("mp_31",), ("mp_22", "mp_31")])
def test_new_architectures(rewrites: Rewrites, number: str, archs: tuple[str, ...]) -> None:
    before = f'k = tilelang.compile(p, target="cuda -arch=sm_{number}")\n'
    result = rewrites(before, f"k = tilelang.compile(p, target={MP31})\n", ["H6"], arch=archs)
    assert "H6" not in {finding.rule for finding in result.findings}


@pytest.mark.parametrize(
    ("number", "archs", "arch"),
    [
        ("80", ("mp_31",), "mp_31"),
        ("80", ("mp_22",), "mp_22"),
        ("86", ("mp_22", "mp_31"), "mp_22"),
        ("89", ("mp_22", "mp_31"), "mp_22"),
        ("89", ("mp_31",), "mp_31"),
        ("90", ("mp_22",), "mp_22"),
        ("75", ("mp_22", "mp_31"), "mp_22"),
    ],
)
def test_assumed_architectures(rewrites: Rewrites, number: str, archs: tuple[str, ...], arch: str) -> None:
    """What --arch decides, and what is none of them, is said."""
    before = f't = {{"kind": "cuda", "arch": "sm_{number}"}}\n'
    after = f't = {{"kind": "musa", "arch": "{arch}"}}\n'
    exact = (number, archs) == ("80", ("mp_22",))
    rewrites(before, after, ["H5", "H6"], [] if exact else ["H6 warning"], arch=archs)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('import tvm\nt = tvm.target.Target("cuda -arch=sm_90")\n', f"import tvm\nt = tvm.target.Target({MP31})\n"),
        ("target = 'cuda -arch=sm_90a'\n", f"target = {MP31}\n"),
        ('targets = ["cuda -arch=sm_90", "llvm"]\n', f'targets = [{MP31}, "llvm"]\n'),
        ('def f(target="cuda -arch=sm_90"): ...\n', f"def f(target={MP31}): ...\n"),
        ('t = {"kind": "cuda", "arch": "sm_90", "max_num_threads": 1024}\n',
         't = {"kind": "musa", "arch": "mp_31", "max_num_threads": 1024}\n'),
        ('t = "cuda -keys=cuda,gpu -arch=sm_90"\n', f"t = {MP31}\n"),
    ],
)  # fmt: skip
def test_places(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after)


@pytest.mark.parametrize(
    "text",
    [
        'k = tilelang.compile(p, target="cuda -arch=sm_90 -max_threads_per_block=1024")\n',
        'k = tilelang.compile(p, target="nvidia/nvidia-h100")\n',
        'assert str(target) == "cuda -arch=sm_90"\n',
        'k = tilelang.compile(p, target=f"cuda -arch=sm_{number}")\n',
    ],
)
def test_what_is_not_understood_is_an_error(finds: Finds, text: str) -> None:
    finds(text, "H6", "error 1")


def test_an_architecture_that_is_computed(rewrites: Rewrites) -> None:
    rewrites('t = {"kind": "cuda", "arch": arch}\n', 't = {"kind": "musa", "arch": arch}\n', ["H5"], ["H6 error"])


def test_docstrings_stay(rewrites: Rewrites) -> None:
    rewrites('def f():\n    "cuda -arch=sm_90"\n')


# ---- H7 ----------------------------------------------------------------------------------------------------------


def test_no_target(finds: Finds) -> None:
    text = "@tilelang.jit\ndef f(): ...\n\n@tilelang.jit(out_idx=[1])\ndef g(): ...\nk = tilelang.compile(p)\n"
    result = finds(text, "H7", "info 1")
    (finding,) = (finding for finding in result.findings if finding.rule == "H7")
    assert "3 kernels" in finding.message
    assert "TILELANG_DEFAULT_TARGET=musa" in finding.advice


@pytest.mark.parametrize(
    "text",
    [
        '@tilelang.jit(target="musa")\ndef f(): ...\n',
        "k = tilelang.compile(p, target=target)\n",
        "k = tilelang.compile(p, **options)\n",
        'import os\nos.environ["TILELANG_DEFAULT_TARGET"] = "musa"\n@tilelang.jit\ndef f(): ...\n',
        "@jit\ndef f(): ...\n",
        "x = T.float32\n",
    ],
)
def test_target_is_known(finds: Finds, text: str) -> None:
    finds(text, "H7")


def test_targets_of_a_file_that_does_not_import_torch_need_no_torch_musa(port: Port) -> None:
    result = port('k = tilelang.compile(p, target="cuda")\n', head="import torch\nimport tilelang\n")
    assert b"torch_musa" not in result.data


@pytest.mark.parametrize("call", ["tvm.target.cuda()", 'tvm.target.cuda(arch="sm_90")'])
def test_makers_of_targets(finds: Finds, call: str) -> None:
    finds(f"import tvm\nt = {call}\n", "H6", "error 2")
    finds("t = musa_or(tvm.target.cuda)\n", "H6")
