"""The port of TileKernels 1.0.0, a published package of TileLang kernels for CUDA.

Each construct that the tables of rules name is changed or reported; and what the people at Moore Threads had to change
by hand, in the fork that runs on an S5000, is a place that the port changes or points at.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from musa_port import Options, port_tree

if TYPE_CHECKING:
    from musa_port.model import FileResult

pytestmark = pytest.mark.corpus
ROOT = Path(__file__).resolve().parents[3]


class Ported(NamedTuple):
    """Both trees, and the report's entry of each file."""

    source: Path
    output: Path
    files: dict[str, FileResult]

    def rules(self, path: str) -> set[str]:
        """The rules that say or do something in a file."""
        file = self.files[path]
        return {item.rule for item in file.findings} | {edit.rule for edit in file.edits}


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ported]:
    sys.path.insert(0, str(ROOT))
    from examples.demo import fetch

    source = fetch("tile-kernels", "1.0.0") / "tile_kernels"
    output = tmp_path_factory.mktemp("tile-kernels") / "ported"
    report = port_tree(source, output, Options(keep_edits=True))
    yield Ported(source, output, {file.path: file for file in report.files})
    shutil.rmtree(output)


def test_every_file_is_ported_and_parses(ported: Ported) -> None:
    names = {path.relative_to(ported.source).as_posix() for path in ported.source.rglob("*.py")}
    assert len(names) > 70
    assert names <= set(ported.files)
    for name in names:
        assert not [item for item in ported.files[name].findings if item.rule in ("F10", "F16")]
        ast.parse((ported.output / name).read_bytes())


def test_a_second_run_changes_nothing(ported: Ported, tmp_path: Path) -> None:
    report = port_tree(ported.output, tmp_path / "again", Options(keep_edits=True))
    assert [(file.path, file.edits) for file in report.files if file.edits] == []


# ---- constructs --------------------------------------------------------------------------------------------------


def _call(*names: str) -> Callable[[ast.AST], bool]:
    """Calls of words of the language, which every file of this package calls T."""

    def test(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        return node.func.attr in names and ast.unparse(node.func.value) == "T"

    return test


def _attribute(pattern: str) -> Callable[[ast.AST], bool]:
    return lambda node: isinstance(node, ast.Attribute) and re.fullmatch(pattern, ast.unparse(node)) is not None


def _modulo_32(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mod, ast.FloorDiv)):
        return False
    return ast.unparse(node.right) == "32" and "thread" in ast.unparse(node.left)


#: Constructs of the tables whose answer is not "unchanged", and the rule that has to say or do something about each.
CONSTRUCTS: list[tuple[str, Callable[[ast.AST], bool]]] = [
    ("K3", _call("gemm")),
    ("K12", _attribute(r"tilelang\.layout\.make_\w*swizzled_layout")),
    ("K13", _call("Fragment")),
    ("K19", _call("pdl_sync", "pdl_trigger")),
    ("K20", _call("sync_grid")),
    ("K25", _call("shfl_sync", "shfl_xor", "warp_reduce_sum", "warp_reduce_max")),
    ("K26", _modulo_32),
    ("K28", lambda node: _call("ptx_mma")(node) or _attribute(r"T\.ptx_(?!wait_group|commit_group).*")(node)),
    ("K29", _call("call_extern")),
    ("K30", _attribute(r"T\.float4_\w+")),
    ("K31", _attribute(r"(T|torch)\.float8_\w+")),
    ("K37", _call("view", "reshape")),
    ("H12", _attribute(r"tilelang\.PassConfigKey\.TL_PTXAS_\w+")),
    ("H13", _attribute(r"tilelang\.PassConfigKey\.TL_(ENABLE_LOWER_LDGSTG\w*|DISABLE_OUT_OF_BOUND_WARNING)")),
    ("H18", _attribute(r".*\.shared_memory_per_multiprocessor")),
    ("H20", _attribute(r"nvcc\.(get_target_compute_version|parse_compute_version)")),
    ("H26", _attribute(r"torch\.uint(16|32)")),
]


def _places(ported: Ported, test: Callable[[ast.AST], bool]) -> Iterator[tuple[str, ast.AST, ast.Module]]:
    """(path, node, tree) of each construct in files that import TileLang, or torch alone for rules about tensors."""
    for path in sorted(ported.source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if test(node):
                yield path.relative_to(ported.source).as_posix(), node, tree


def _functions(tree: ast.Module, node: ast.AST) -> list[ast.FunctionDef]:
    """The functions around a node, outermost first."""
    line = node.lineno  # type: ignore[attr-defined]
    functions = [item for item in ast.walk(tree) if isinstance(item, ast.FunctionDef)]
    return [item for item in functions if item.lineno <= line <= (item.end_lineno or 0)]


def _is_handled(ported: Ported, path: str, node: ast.AST, tree: ast.Module, rule: str) -> bool:
    """Whether the rule changed or reported the node's lines, or reported once for its function or file."""
    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    file = ported.files[path]
    lines = {item.line for item in file.findings if item.rule == rule} | {
        edit.line + offset for edit in file.edits if edit.rule == rule for offset in range(edit.old.count("\n") + 1)
    }
    if lines & set(range(first, last + 1)):
        return True
    if rule in ("K3", "K31"):  # once for a file
        return bool(lines)
    functions = _functions(tree, node)
    return any(item.lineno <= line <= (item.end_lineno or 0) for item in functions[-1:] for line in lines)


@pytest.mark.parametrize(("rule", "test"), CONSTRUCTS, ids=[rule for rule, _ in CONSTRUCTS])
def test_every_construct_is_changed_or_reported(ported: Ported, rule: str, test: Callable[[ast.AST], bool]) -> None:
    silent = []
    for path, node, tree in _places(ported, test):
        imports = "tilelang" in (ported.source / path).read_text(encoding="utf-8")
        if rule in ("K31", "H26") and not imports:
            continue  # plain torch, which is examined where a word of CUDA stands in it
        if rule == "H26" and isinstance(_parent(tree, node), ast.Compare):
            continue
        if not _is_handled(ported, path, node, tree, rule):
            silent.append(f"{path}:{node.lineno}: {ast.unparse(node)[:80]}")  # type: ignore[attr-defined]
    assert silent == []


def _parent(tree: ast.Module, node: ast.AST) -> ast.AST:
    return next(item for item in ast.walk(tree) if any(child is node for child in ast.iter_child_nodes(item)))


def test_pipelines_of_two_stages_and_more_are_named(ported: Ported) -> None:
    """By the literal numbers in the source: none is silent, and none of a single stage is named."""
    for path in sorted(ported.source.rglob("*.py")):
        name = path.relative_to(ported.source).as_posix()
        stages = [int(number) for number in re.findall(r"num_stages=(\d+)", path.read_text(encoding="utf-8"))]
        assert ("K14" in ported.rules(name)) == any(number >= 2 for number in stages), name


def test_nothing_of_cuda_is_left_in_targets_and_devices(ported: Ported) -> None:
    for path in ported.output.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert "cuda" not in strings, path
        assert not [node for node in ast.walk(tree) if _attribute(r"torch\.cuda\b.*")(node)], path


# ---- what the fork changed ---------------------------------------------------------------------------------------

#: Files of the fork that differ from the original, and the rules by which the port touches the same matter.
FORK = {
    "config.py": {"P1", "H18"},  # torch.musa only, shared memory fixed to 192 KiB
    "quant/common.py": {"P4", "P24", "H20"},  # default device, import path of determine_target
    "moe/common.py": {"K25", "K26"},  # shfl_sync with the mask first
    "moe/top2_sum_gate_kernel.py": {"K25", "H13"},  # the same, and the key for warnings of accesses out of bounds
    "moe/topk_gate_kernel.py": {"K35"},  # one warp per block; tuned with keys of MUSA
    "moe/topk_sum_and_topk_group_idx_kernel.py": {"K35", "K26"},  # 32 to 128 threads
    "moe/get_fused_mapping_kernel.py": {"K20"},  # no grid barrier
    "moe/expand_to_fused_kernel.py": {"P4"},  # device
    "moe/reduce_fused_kernel.py": {"P4"},
    "moe/aux_fi_kernel.py": {"P4"},
    "moe/group_count_kernel.py": {"P4"},
    "moe/normalize_weight_kernel.py": {"P4"},
    "moe/inplace_unique_group_indices_kernel.py": {"H13"},  # loads lowered to instructions of CUDA
    "engram/engram_fused_weight_kernel.py": {"K35"},  # 32 to 128 threads
    "engram/engram_grad_w_reduce_kernel.py": {"K14"},  # the pipelined form hung
    "mhc/norm_fn_kernel.py": {"K3", "K4", "K8", "K12"},  # small and transposed products, swizzle
    "mhc/post_kernel.py": {"H12", "K14", "K19"},  # pipelines, programmatic launch
    "quant/per_token_cast_kernel.py": {"H13", "K30"},  # stores; indices
    "quant/per_block_cast_kernel.py": {"K13"},  # layout of fragments; indices
    "quant/per_channel_cast_fused_kernel.py": {"P4", "K25"},  # threads per token
    "quant/swiglu_forward_and_per_token_cast_kernel.py": {"P4"},
    "transpose/batched_transpose_kernel.py": {"P4", "K13"},  # threads and layouts, target
    "torch/cast_e5m6.py": {"H26"},  # no tensors of uint16 and uint32
}


@pytest.mark.parametrize("path", FORK)
def test_what_the_fork_changed_is_visible(ported: Ported, path: str) -> None:
    assert FORK[path] <= ported.rules(path)


#: What the port writes where the fork wrote the same.
SAME = {
    "config.py": ["return 196608", "torch.musa.current_device()"],
    "quant/common.py": ["from tilelang.backend.target import determine_target", "device: torch.device = 'musa'"],
    "moe/aux_fi_kernel.py": ["device='musa'"],
}
GONE = {
    "moe/inplace_unique_group_indices_kernel.py": "TL_ENABLE_LOWER_LDGSTG_PREDICATED",
    "mhc/norm_fn_kernel.py": "make_swizzled_layout",
    "mhc/post_kernel.py": "pdl_sync",
    "mhc/pre_big_fuse_kernel.py": "TL_PTXAS_REGISTER_USAGE_LEVEL",
}


def test_what_the_port_writes_as_the_fork_does(ported: Ported) -> None:
    for path, found in SAME.items():
        text = (ported.output / path).read_text(encoding="utf-8")
        assert [part for part in found if part not in text] == []
    for path, word in GONE.items():
        assert word in (ported.source / path).read_text(encoding="utf-8")
        assert word not in (ported.output / path).read_text(encoding="utf-8")


def test_the_product_of_a_fragment(ported: Ported) -> None:
    """mhc/norm_fn multiplies a fragment with a shared tile; the fork wrote loops instead."""
    text = (ported.output / "mhc/norm_fn_kernel.py").read_text(encoding="utf-8")
    assert "x_frag_shared = T.alloc_shared((token_block, hidden_block), T.float32)" in text
    assert "T.copy(x_frag, x_frag_shared)" in text


def test_shared_memory_that_was_worked_out_by_hand(ported: Ported) -> None:
    """mhc/norm_fn, backward: fn 32x128, x 128x128 and the padded gradient 128x32, of four bytes each."""
    messages = [item.message for item in ported.files["mhc/norm_fn_kernel.py"].findings if item.rule == "K32"]
    assert any("fn_smem 16384, x_smem 65536, padded_grad 16384" in message for message in messages)
    assert 16384 + 65536 + 16384 == 98304
    assert any("98304" in message for message in messages)
