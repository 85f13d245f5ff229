"""P19: shared libraries that are opened by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('ctypes.CDLL("libcuda.so.1")', 'ctypes.CDLL("libmusa.so.1")'),
        (
            'ctypes.CDLL("libcudart.so.12", mode=ctypes.RTLD_GLOBAL)',
            'ctypes.CDLL("libmusart.so.5", mode=ctypes.RTLD_GLOBAL)',
        ),
        ('ctypes.PyDLL(name="libcudart.so")', 'ctypes.PyDLL(name="libmusart.so")'),
        (
            'for n in ("libcuda.so", "libcuda.so.1"):\n    ctypes.CDLL(n)',
            'for n in ("libmusa.so", "libmusa.so.1"):\n    ctypes.CDLL(n)',
        ),
        ('n = "libnccl.so.2"\nx = ctypes.CDLL(n)', 'n = "libmccl.so.2"\nx = ctypes.CDLL(n)'),
        ('ctypes.CDLL(os.environ.get("LIB", "libcuda.so"))', 'ctypes.CDLL(os.environ.get("LIB", "libmusa.so"))'),
        (
            'def load(name):\n    return ctypes.CDLL(name)\nload("libcuda.so")',
            'def load(name):\n    return ctypes.CDLL(name)\nload("libmusa.so")',
        ),
        (
            'ctypes.CDLL(util.find_library("cuda") or "libcuda.so")',
            'ctypes.CDLL(util.find_library("musa") or "libmusa.so")',
        ),
        (
            'for n, f in (("libcuda.so", 1), ("libm.so", 2)):\n    ctypes.CDLL(n)',
            'for n, f in (("libmusa.so", 1), ("libm.so", 2)):\n    ctypes.CDLL(n)',
        ),
        (
            'def find(n):\n    return maps()[n]\np = find("libcudart")\nctypes.CDLL(p)',
            'def find(n):\n    return maps()[n]\np = find("libmusart")\nctypes.CDLL(p)',
        ),
    ],
)
def test_names(rewrites: Rewrites, before: str, after: str) -> None:
    head = "import ctypes, os\nfrom ctypes import util\n"
    rewrites(f"{head}{before}\n", f"{head}{after}\n", ["P19"])


def test_foreign_function_interface(rewrites: Rewrites) -> None:
    text = """\
import cffi
ffi = cffi.FFI()
ffi.cdef("int cudaFree(void*);")
lib = ffi.dlopen("libcudart.so")
lib.cudaFree(p)
"""
    rewrites(text, text.replace("cudaFree", "musaFree").replace("cudart", "musart"), ["P19", "P20", "P25"])


@pytest.mark.parametrize(
    "text",
    [
        'import ctypes\nctypes.CDLL("libmy_cuda.so")\nctypes.CDLL("cuda/libx.so")\n',
        'import ctypes\nx = "libcudart.so"\nopen(x)\n',
        'import ctypes\nfind("libcudart")\nctypes.CDLL(p)\n',
        'def load(ctypes):\n    ctypes.CDLL("libcudart.so")\n',
        'lib = ffi.dlopen("libcudart.so")\n',
    ],
)
def test_others_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    "name", ['"libcudart.so.13"', 'f"libcudart.so.{v}"', '"/opt/lib/libnccl.so.2"', '"libcublas" + suffix + ".so"']
)
def test_files_that_are_not_known(port: Port, name: str) -> None:
    """Reported as an error, once, and left."""
    text = f"import ctypes\nlib = ctypes.CDLL({name})\n"
    result = port(text)
    assert result.data.decode() == text
    assert [(finding.rule, finding.severity.value) for finding in result.findings] == [("P19", "error")]


def test_names_in_other_places_are_noticed(notices: Notices) -> None:
    notices('FILES = [\n    "libcudart.so.12",\n]\n', "libcudart")
