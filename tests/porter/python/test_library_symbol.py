"""P20: functions of a library, on every way from the call that opens it to the attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port, Rewrites

OPEN = "import ctypes\nimport helper  # cuda\n"


@pytest.mark.parametrize(
    "text",
    [
        "lib = ctypes.CDLL(p)\nlib.cudaFree.argtypes = [x]\nlib.cudaFree.restype = y\nf = lib.cudaFree\n",
        "def load():\n    return ctypes.CDLL(p)\nload().cudaFree(1)\n",
        "def load():\n    lib = ctypes.CDLL(p)\n    return lib\ndef f():\n    rt = load()\n    rt.cudaFree(1)\n",
        "def f(lib: ctypes.CDLL):\n    lib.cudaFree(1)\n",
        "def f(lib):\n    lib.cudaFree(1)\nf(ctypes.CDLL(p))\n",
        "class A:\n    lib = ctypes.CDLL(p)\n    def f(self):\n        self.lib.cudaFree(1)\n",
        "class A:\n    def open(self):\n        self.a = ctypes.CDLL(p)\n    def f(self):\n        self.a.cudaFree()\n",
        "class A:\n    c = {}\n    def f(self):\n        A.c[p] = ctypes.CDLL(p)\n        A.c[p].cudaFree(1)\n",
        "a = b = ctypes.CDLL(p)\nb.cudaFree(a)\n",
        "lib, n = ctypes.CDLL(p), 1\nlib.cudaFree(n)\n",
        "lib = ctypes.CDLL(p) if p else None\nlib.cudaFree(1)\n",
        "libs = [ctypes.CDLL(p)]\nfor lib in libs:\n    lib.cudaFree(1)\n",
        "if (lib := ctypes.CDLL(p)):\n    lib.cudaFree(1)\n",
        "lib = None\ndef load():\n    global lib\n    lib = ctypes.CDLL(p)\ndef f():\n    lib.cudaFree(1)\n",
        "lib = ctypes.CDLL(p)\ngetattr(lib, 'cudaFree', None)\nhasattr(lib, 'cudaFree')\nlib['cudaFree']\n",
        "lib = ctypes.CDLL(p)\nfor n in ('cudaFree', 'x'):\n    getattr(lib, n)\n",
        "lib = ctypes.CDLL(p)\nT = {'cudaFree': 1}\nfor n in T:\n    getattr(lib, n)\nT['cudaFree']\n",
        "lib = ctypes.CDLL(p)\ndef call(n):\n    return getattr(lib, n)()\ncall('cudaFree')\n",
    ],
)
def test_ways(rewrites: Rewrites, text: str) -> None:
    rewrites(OPEN + text, OPEN + text.replace("cudaFree", "musaFree"), ["P20"])


@pytest.mark.parametrize(
    "text",
    [
        "lib = helper.CDLL(p)\nlib.cudaFree(1)\n",
        "lib = helper.lib\nlib.cudaFree(1)\ngetattr(lib, 'cudaFree')\n",
        "lib = ctypes.CDLL(p)\ndef f(lib):\n    lib.cudaFree(1)\n",
        "lib = ctypes.CDLL(p)\nclass A:\n    def cudaFree(self):\n        return self.cudaFree\n",
        "lib = ctypes.CDLL(p)\nx.lib.cudaFree(1)\nhelper.cudaFree(1)\n",
        "lib = ctypes.CDLL(p)\ngetattr(lib, name)\nprint('cudaFree')\nraise ValueError('cudaFree')\n",
        "lib = ctypes.CDLL(p)\ngetattr(lib, 'x')\nT = ['cudaFree']\n",
        "lib = ctypes.CDLL(p)\ngetattr(lib, name)\nx = 'cudaFree failed'\ndef f():\n    'cudaFree'\n",
        "lib = ctypes.CDLL(p)\nlib.my_cudaFree()\nlib.cuda_init()\n",
    ],
)
def test_other_objects_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(OPEN + text)


def test_names_of_low_confidence_are_reported(port: Port) -> None:
    result = port(OPEN + "lib = ctypes.CDLL(p)\nlib.cuMemExportToShareableHandle(1)\nlib.cudnnCreate(1)\n")
    assert b"lib.muMemExportToShareableHandle(1)" in result.data
    assert {finding.name for finding in result.findings} >= {"cudnnCreate"}


def test_names_that_stay(port: Port) -> None:
    text = OPEN + "lib = ctypes.CDLL(p)\nlib.cudaFree(1)\n"
    assert port(text, keep_names=("cudaFree",)).data.decode() == text
