"""Findings are about the architectures that the port is for, and about no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from musa_port import rules

if TYPE_CHECKING:
    from tests.porter.tilelang.conftest import Port

EXAMPLES = {rule.id: rule.example[0] for rule in rules.all_rules() if rule.id[0] in "HK" and rule.example}
MORE = {
    "unknown sizes": "def f(m):\n    with T.Kernel(8) as i:\n        a = T.alloc_shared((m, 64), 'float16')\n"
    "        T.gemm(a, a, a)\n",
    "bulk copies": "T.tma_load(d, b, s)\nT.tma_store_wait(1)\n",
    "asynchronous products": "T.gemm(A, B, C, wg_wait=-1)\nT.wgmma_gemm(A, B, C)\nT.wait_wgmma(1)\n",
    "a layout elsewhere": "layout = tilelang.layout.make_swizzled_layout(A)\n",
    "pipelines": "for i in T.Pipelined(8, num_stages=n):\n    x = i\n",
}
#: What only mp_31 has.
OF_MP_31 = re.compile(r"sqmma|WMMA|TME|TMA|196608|192 KiB|\b3\.1\b", re.I)
#: What only mp_22 has.
OF_MP_22 = re.compile(r"mp_22|\b2\.2\b|MP22|\b128 lanes|S4000")


#: Words of the program, and what a finding says to be missing.
NAMED = re.compile(r"T\.\w+|mp_22 has no \w+|is for mp_22 only")


def texts(port: Port, program: str, arch: str) -> list[str]:
    found = [item for item in port(program, arch=(arch,)).findings if item.rule[0] in "HK"]
    return [NAMED.sub("", f"{item.message} | {item.advice}") for item in found]


@pytest.mark.parametrize("program", [*EXAMPLES.values(), *MORE.values()], ids=[*EXAMPLES, *MORE])
def test_a_port_for_mp_22_is_not_told_of_mp_31(port: Port, program: str) -> None:
    said = [text for text in texts(port, program, "mp_22") if OF_MP_31.search(text)]
    assert said == []


@pytest.mark.parametrize("program", [*EXAMPLES.values(), *MORE.values()], ids=[*EXAMPLES, *MORE])
def test_a_port_for_mp_31_is_not_told_of_mp_22(port: Port, program: str) -> None:
    said = [text for text in texts(port, program, "mp_31") if OF_MP_22.search(text)]
    assert said == []
