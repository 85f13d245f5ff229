"""Names that move: H14 (determine_target), H15 (tir), H16 (hooks), H17 (passes), H21 (requirements of tests)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Rewrites

# ---- H14 ---------------------------------------------------------------------------------------------------------

OLD, NEW = "from tilelang.utils.target import ", "from tilelang.backend.target import "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{OLD}determine_target\n", f"{NEW}determine_target\n"),
        (f"{OLD}determine_target as d\n", f"{NEW}determine_target as d\n"),
        (f"def f():\n    {OLD}determine_target\n", f"def f():\n    {NEW}determine_target\n"),
        (f"{OLD}(\n    determine_target,  # the target\n)\n", f"{NEW}(\n    determine_target,  # the target\n)\n"),
    ],
)
def test_determine_target(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after)


def test_other_names_of_the_module_are_errors(rewrites: Rewrites) -> None:
    before = f"{OLD}determine_target, check_hip_availability\n"
    rewrites(before, f"{OLD}check_hip_availability\n{NEW}determine_target\n", findings=["H14 error"])


def test_the_new_module_stays(rewrites: Rewrites) -> None:
    rewrites(f"{NEW}determine_target\nfrom tilelang.utils import TensorSupplyType\n")


# ---- H15 ---------------------------------------------------------------------------------------------------------


def fallback(new: str, old: str, indent: str = "") -> str:
    lines = ["try:", f"    {new}", "except ImportError:", f"    {old}"]
    return "".join(f"{indent}{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from tvm import tir\n", fallback("from tvm import tirx as tir", "from tvm import tir")),
        ("from tvm import tir as I\n", fallback("from tvm import tirx as I", "from tvm import tir as I")),
        ("from tvm import te, tir\n",
         "from tvm import te\n" + fallback("from tvm import tirx as tir", "from tvm import tir")),
        ("from tvm.tir import PrimFunc, Var as V\n",
         fallback("from tvm.tirx import PrimFunc, Var as V", "from tvm.tir import PrimFunc, Var as V")),
        ("from tvm.tir.stmt_functor import post_order_visit\n",
         fallback("from tvm.tirx.stmt_functor import post_order_visit",
                  "from tvm.tir.stmt_functor import post_order_visit")),
        ("import tvm.tir as tir\n", fallback("import tvm.tirx as tir", "import tvm.tir as tir")),
        ("def f():\n    from tvm import tir\n    return tir\n",
         "def f():\n" + fallback("from tvm import tirx as tir", "from tvm import tir", "    ") + "    return tir\n"),
        ("from tvm.tir import (\n    PrimFunc,\n    Var,\n)\n",
         fallback("from tvm.tirx import PrimFunc, Var", "from tvm.tir import ( PrimFunc, Var, )")),
    ],
)  # fmt: skip
def test_tir(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["H15"])


@pytest.mark.parametrize(
    "text",
    [
        "from tvm import tirx as tir\n",
        fallback("from tvm import tirx as tir", "from tvm import tir"),
        fallback("from tvm import tir", "from tvm import tirx as tir"),
        "from tvm import te\n",
        "from mylib.tvm import tir\n",
        "from . import tir\n",
    ],
)
def test_tir_left_alone(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "text",
    [
        "import tvm.tir\n",
        "from tvm import tir; x = 1\n",
        "if x: from tvm import tir\n",
        "import tvm\nf = tvm.tir.PrimFunc\n",
    ],
)
def test_tir_that_is_not_rewritten_is_an_error(finds: Finds, text: str) -> None:
    finds(text, "H15", f"error {text.count(chr(10))}")


def test_tir_without_tilelang_is_left(rewrites: Rewrites) -> None:
    rewrites("from tvm import tir\n", head="import torch\n")


# ---- H16 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@tilelang.register_cuda_postproc\ndef f(code, target):\n    return code\n",
         "@tilelang.engine.callback.register_musa_postproc\ndef f(code, target):\n    return code\n"),
        ("from tilelang.engine.callback import register_cuda_postproc_callback as r\n",
         "from tilelang.engine.callback import register_musa_postproc_callback as r\n"),
        ('tvm.register_func("tilelang_callback_cuda_postproc", f)\n',
         'tvm.register_func("tilelang_callback_musa_postproc", f)\n'),
        ("@tvm.register_func\ndef tilelang_callback_cuda_postproc(code, _):\n    return code\n",
         "@tvm.register_func\ndef tilelang_callback_musa_postproc(code, _):\n    return code\n"),
    ],
)  # fmt: skip
def test_hooks(rewrites: Rewrites, before: str, after: str) -> None:
    """The names change, and the body is for somebody to read."""
    rewrites(before, after, findings=["H16 warning"])


@pytest.mark.parametrize(
    "text",
    [
        "def tilelang_callback_cuda_postproc(code, _):\n    return code\n",
        'x = "tilelang_callback_cuda_postproc"\n',
        "from tilelang.engine.callback import register_hip_postproc\n",
    ],
)
def test_hooks_left_alone(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


# ---- H17 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "p = tilelang.cuda.transform.LowerHopperIntrin()\n",
        "from tilelang.cuda.transform import LowerHopperIntrin\n",
        "from tilelang.cuda import _ffi_api\n",
        "from tilelang.cuda.op.gemm import GemmMMA\n",
        "from tilelang.cuda import transform\np = transform.LowerHopperIntrin()\n",
    ],
)
def test_passes(rewrites: Rewrites, text: str) -> None:
    rewrites(text, text.replace("tilelang.cuda", "tilelang.musa"), findings=["H17 warning"])


# ---- H21 ---------------------------------------------------------------------------------------------------------

TEST = "def test_gemm(): ...\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("requires_cuda", "requires_musa"),
        ("requires_cuda_compute_version_ge(9, 0)", "requires_musa_compute_version_ge(3, 1)"),
        ("requires_cuda_compute_version_ge(8, 0)", "requires_musa_compute_version_ge(2, 2)"),
        ("requires_cuda_compute_version_ge(8, 9)", "requires_musa_compute_version_ge(2, 2)"),
        ("requires_cuda_compute_version_ge(10)", "requires_musa_compute_version_ge(3, 1)"),
        ("requires_cuda_compute_version_eq(9, 0)", "requires_musa_compute_version_eq(3, 1)"),
        ("requires_cuda_compute_version(9)", "requires_musa_compute_version(3, 1)"),
    ],
)
def test_requirements(rewrites: Rewrites, before: str, after: str) -> None:
    head = "import tilelang.testing\n"
    rewrites(f"@tilelang.testing.{before}\n{TEST}", f"@tilelang.testing.{after}\n{TEST}", head=head)


def test_imported_requirements(rewrites: Rewrites) -> None:
    before = f"from tilelang.testing import requires_cuda_compute_version_ge as needs\n@needs(9, 0)\n{TEST}"
    after = f"from tilelang.testing import requires_musa_compute_version_ge as needs\n@needs(3, 1)\n{TEST}"
    rewrites(before, after, head="")


@pytest.mark.parametrize("text", ["@tilelang.testing.requires_rocm\n", "@requires_cuda_compute_version_ge(9, 0)\n"])
def test_other_requirements_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text + TEST)


def test_a_requirement_that_is_not_a_number(rewrites: Rewrites) -> None:
    before = f"@tilelang.testing.requires_cuda_compute_version_ge(*version)\n{TEST}"
    rewrites(before, before.replace("cuda", "musa"), findings=["H21 warning"])
