"""How kernels are compiled: H8 and H9 (backends), H10 and H11 (flags), H12, H13 and H28 (pass configurations)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Finds, Rewrites

K = "tilelang.PassConfigKey"

# ---- H8, H9 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["nvrtc", "cutedsl", "torch"])
@pytest.mark.parametrize(
    "text",
    [
        '@tilelang.jit(execution_backend="{}")\ndef f(): ...\n',
        'k = tilelang.compile(p, execution_backend="{}")\n',
        'def build(execution_backend="{}"): ...\n',
        'execution_backend = "{}"\n',
        'options = {{"execution_backend": "{}"}}\n',
        'import os\nos.environ["TILELANG_EXECUTION_BACKEND"] = "{}"\n',
        'k = tilelang.compile(p, [-1], "{}")\n',
        'k = tilelang.compile(p, execution_backend="{}" if fast else "cython")\n',
    ],
)
def test_backends(rewrites: Rewrites, text: str, backend: str) -> None:
    rewrites(text.format(backend), text.format("tvm_ffi"), ["H8"])


@pytest.mark.parametrize("backend", ["tvm_ffi", "cython", "auto", "dlpack"])
def test_other_backends_stay(rewrites: Rewrites, backend: str) -> None:
    rewrites(f'k = tilelang.compile(p, execution_backend="{backend}")\nbackend = "torch"\nf(backend="torch")\n')


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn"])
def test_cython_with_types_that_it_does_not_know(rewrites: Rewrites, dtype: str) -> None:
    before = f'x = "{dtype}"\nk = tilelang.compile(p, execution_backend="cython")\n'
    rewrites(before, before.replace("cython", "tvm_ffi"), ["H9"])


@pytest.mark.parametrize("dtype", ["float8_e4m3", "float8_e5m2", "float16"])
def test_cython_with_types_that_it_knows(rewrites: Rewrites, dtype: str) -> None:
    rewrites(f'x = "{dtype}"\nk = tilelang.compile(p, execution_backend="cython")\n')


# ---- H10, H11 ----------------------------------------------------------------------------------------------------

FLAGS = [
    ('["--use_fast_math"]', '["-ffast-math"]', "H10"),
    ('["-O3", "-use_fast_math"]', '["-O3", "-ffast-math"]', "H10"),
    ("['-use_fast_math', \"-O3\"]", "['-ffast-math', \"-O3\"]", "H10"),
    ('"-O3 -use_fast_math"', '"-O3 -ffast-math"', "H10"),
    ('["-O3 -use_fast_math"]', '["-O3 -ffast-math"]', "H10"),
    ('["--ptxas-options=-v", "-O3"]', '["-O3"]', "H11"),
    ('["-O3", "--ptxas-options=-v"]', '["-O3"]', "H11"),
    ('["-Xptxas", "-v", "-O3"]', '["-O3"]', "H11"),
    ('["-O3", "-Xptxas", "-v"]', '["-O3"]', "H11"),
    ('["-O3", "-Xptxas -v"]', '["-O3"]', "H11"),
    ('["-lineinfo"]', "[]", "H11"),
    ('["-O3", "--maxrregcount=128"]', '["-O3"]', "H11"),
    ('["--expt-relaxed-constexpr", "--expt-extended-lambda"]', "[]", "H11"),
    ('["-gencode", "arch=compute_90a,code=sm_90a", "-O3"]', '["-O3"]', "H11"),
    ('["-gencode=arch=compute_90,code=sm_90"]', "[]", "H11"),
    ('"-lineinfo -O3"', '"-O3"', "H11"),
]


@pytest.mark.parametrize(("before", "after", "rule"), FLAGS)
def test_flags(rewrites: Rewrites, before: str, after: str, rule: str) -> None:
    text = "k = tilelang.compile(p, compile_flags={})\n"
    rewrites(text.format(before), text.format(after), [rule], [rule])


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("FLAGS = ['-use_fast_math']\nk = tilelang.compile(p, compile_flags=FLAGS)\n", "FLAGS = ['-ffast-math']"),
        ("@tilelang.jit(compile_flags=BASE + ['-use_fast_math'])\ndef f(): ...\n", "BASE + ['-ffast-math']"),
        (f"C = {{{K}.TL_DEVICE_COMPILE_FLAGS: ['-use_fast_math']}}\n", "['-ffast-math']"),
        ('C = {"tl.device_compile_flags": "-use_fast_math"}\n', '"-ffast-math"'),
    ],
)
def test_where_flags_are_given(rewrites: Rewrites, text: str, new: str) -> None:
    after = text.replace("-use_fast_math", "-ffast-math")
    assert new in after
    rewrites(text, after, ["H10"])


@pytest.mark.parametrize("flags", ['["-O3", "-DX=1"]', '"-std=c++17"', "flags", "[f'-DN={n}', flag]", "None"])
def test_other_flags_stay(rewrites: Rewrites, flags: str) -> None:
    rewrites(f"k = tilelang.compile(p, compile_flags={flags})\nx = ['-use_fast_math']\n")


def test_a_list_over_lines_keeps_its_comments(rewrites: Rewrites) -> None:
    before = (
        "k = tilelang.compile(\n    p,\n    compile_flags=[\n        '-O3',  # fast\n        '-lineinfo',  # for ncu\n"
        "        # the rest\n        '--use_fast_math',\n    ],\n)\n"
    )
    after = (
        "k = tilelang.compile(\n    p,\n    compile_flags=[\n        '-O3',  # fast\n        # for ncu\n"
        "        # the rest\n        '-ffast-math',\n    ],\n)\n"
    )
    rewrites(before, after, ["H10", "H11"])


def test_a_lost_register_limit_is_a_warning(rewrites: Rewrites) -> None:
    before, after = "k = f(compile_flags=['-maxrregcount=128', '-O3'])\n", "k = f(compile_flags=['-O3'])\n"
    rewrites(before, after, ["H11"], ["H11 warning"])


# ---- H12, H13, H28 -----------------------------------------------------------------------------------------------

PTXAS, FAST = f"{K}.TL_PTXAS_REGISTER_USAGE_LEVEL: 10", f"{K}.TL_ENABLE_FAST_MATH: True"
LOADS, SCHEDULE = f"{K}.TL_ENABLE_LOWER_LDGSTG: True", f"{K}.TL_ENABLE_AUTO_SCHEDULE: True"

CONFIGS = [
    ("{%s}", [PTXAS], [], "H12"),
    ("{%s}", [PTXAS, FAST], [FAST], "H12"),
    ("{%s}", [FAST, PTXAS], [FAST], "H12"),
    ("{ %s }", [FAST, PTXAS, "x: 1"], [FAST, "x: 1"], "H12"),
    ("{%s}", [LOADS, FAST], [FAST], "H13"),
    ("{%s}", [f"{K}.TL_ENABLE_LOWER_LDGSTG_PREDICATED: True"], [], "H13"),
    ("{%s}", [FAST, SCHEDULE], [FAST], "H28"),
    (
        "{%s}",
        ['"tl.enable_auto_schedule": True', '"tl.enable_fast_math": True'],
        ['"tl.enable_fast_math": True'],
        "H28",
    ),
    ("{%s}", ['"tl.ptxas_register_usage_level": 8', FAST], [FAST], "H12"),
    ("{%s}", [f"{K}.TL_NO_SUCH_KEY: 1", FAST], [FAST], "H28"),
    ("{%s}", [f"{K}.TL_ENABLE_PTXAS_VERBOSE: True"], [], "H28"),
    ("{%s}", [f"{K}.TL_LAYOUT_COST_MODEL.value: 1", FAST], [FAST], "H28"),
]


@pytest.mark.parametrize(("form", "before", "after", "rule"), CONFIGS)
@pytest.mark.parametrize("comma", ["", ","])
def test_entries_go(rewrites: Rewrites, form: str, before: list[str], after: list[str], rule: str, comma: str) -> None:
    text = "@tilelang.jit(pass_configs={})\ndef f(): ...\n"
    result = rewrites(
        text.format(form % (", ".join(before) + comma)),
        text.format(form % (", ".join(after) + (comma if after else ""))),
        [rule],
    )
    assert ("H28 warning" in {f"{f.rule} {f.severity.value}" for f in result.findings}) == (rule == "H28")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", ","])
def test_entries_on_lines_of_their_own(rewrites: Rewrites, ending: str, last: str) -> None:
    lines = ["C = {", f"    {PTXAS},", f"    {FAST},", f"    {SCHEDULE}{last}", "}", ""]
    kept = ["C = {", f"    {FAST},", "}", ""]
    head = ending.join(["import tilelang", ""])
    rewrites(ending.join(lines).encode(), ending.join(kept).encode(), ["H12", "H28"], head=head)


def test_comments_stay(rewrites: Rewrites) -> None:
    before = f"C = {{\n    # registers\n    {PTXAS},  # as tuned\n    {FAST},\n    {SCHEDULE}  # last\n}}\n"
    after = f"C = {{\n    # registers\n    # as tuned\n    {FAST},\n    # last\n}}\n"
    rewrites(before, after, ["H12", "H28"])


def test_values_over_lines(rewrites: Rewrites) -> None:
    before = f"C = {{\n    {K}.TL_PASS_PROFILE: (\n        1 +\n        1\n    ),\n    {FAST},\n}}\n"
    rewrites(before, f"C = {{\n    {FAST},\n}}\n", ["H28"])


def test_comments_within_values(rewrites: Rewrites) -> None:
    before = f"C = {{\n    {K}.TL_PASS_PROFILE: (\n        1  # one\n    ),  # more\n    {FAST},\n}}\n"
    rewrites(before, f"C = {{\n    # one\n    # more\n    {FAST},\n}}\n", ["H28"])


def test_several_on_a_line(rewrites: Rewrites) -> None:
    before = f"C = {{{FAST}, {PTXAS}, {SCHEDULE}}}\n"
    rewrites(before, f"C = {{{FAST}}}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"c[{K}.TL_PTXAS_REGISTER_USAGE_LEVEL] = 10\nx = 1\n", "x = 1\n"),
        (f"if x:\n    c[{K}.TL_PTXAS_REGISTER_USAGE_LEVEL] = 10\n", "if x:\n    pass\n"),
        (f"if x: c[{K}.TL_PTXAS_REGISTER_USAGE_LEVEL] = 10\n", "if x: pass\n"),
        (f"y = 1; c[{K}.TL_PTXAS_REGISTER_USAGE_LEVEL] = 10; z = 2\n", "y = 1; pass; z = 2\n"),
        ('pass_configs["tl.no_such_key"] = 1\nx = 1\n', "x = 1\n"),
    ],
)
def test_items(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after)


@pytest.mark.parametrize("how", ["import", "from", "alias", "transform"])
def test_however_it_is_imported(rewrites: Rewrites, how: str) -> None:
    head, key = {
        "import": ("import tilelang\n", "tilelang.PassConfigKey"),
        "from": ("from tilelang import PassConfigKey\n", "PassConfigKey"),
        "alias": ("import tilelang as tl\nP = tl.PassConfigKey\n", "P"),
        "transform": ("from tilelang.transform import PassConfigKey\n", "PassConfigKey"),
    }[how]
    rewrites(f"C = {{{key}.TL_PTXAS_REGISTER_USAGE_LEVEL: 8}}\n", "C = {}\n", ["H12"], head=head)


@pytest.mark.parametrize(
    "text",
    [
        f"C = {{{FAST}, {K}.TL_DISABLE_TMA_LOWER: True, {K}.TL_DISABLE_WGMMA: True}}\n",
        f"C = {{{K}.TL_ENABLE_MUSA_BURST: True, {K}.TL_DISABLE_SQMMA: True}}\n",
        'C = {"tl.enable_musa_burst": True, "tirx.disable_vectorize": True}\n',
        'attrs = {"tl.some_binding": {x: y}}\n',
        f"level = hasattr({K}, 'TL_PTXAS_REGISTER_USAGE_LEVEL')\n",
        "C = {PassConfigKey.TL_PTXAS_REGISTER_USAGE_LEVEL: 10}\n",
        "class PassConfigKey:\n    TL_X = 1\nC = {PassConfigKey.TL_X: 1}\n",
    ],
)
def test_other_entries_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_a_key_that_stays_is_named(finds: Finds) -> None:
    finds(f"C = {{{K}.TL_DISABLE_OUT_OF_BOUND_WARNING: True}}\n", "H13", "info 1")


def test_a_key_elsewhere_is_an_error(finds: Finds) -> None:
    finds(f"key = {K}.TL_PASS_PROFILE\nok = {K}.TL_ENABLE_FAST_MATH\n", "H28", "error 1")
