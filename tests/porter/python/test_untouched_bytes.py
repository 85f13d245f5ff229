"""What surrounds an edit stays byte for byte: line ends, encodings, byte-order marks, files without a last line end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Port

FLAGS = (
    "from torch.utils.cpp_extension import CUDAExtension\n"
    "e = CUDAExtension('é', [], extra_compile_args={'nvcc': [\n    '-t0',  # é\n    'é',\n    '-G'\n]})  # é\n"
)
CASES = {
    "flags": (
        FLAGS,
        "from torch_musa.utils.musa_extension import MUSAExtension\n"
        "e = MUSAExtension('é', [], extra_compile_args={'mcc': [\n    # é\n    'é',\n    '-g'\n]})  # é\n",
    ),
    "statement": (
        FLAGS.replace("{'nvcc': [\n    '-t0',  # é\n    'é',\n    '-G'\n]}", "{'nvcc': a}").replace(
            "e =", "a = ['é']\na += ['-t0']\nif a:\n    a.append('-t0')\ne ="
        ),
        "from torch_musa.utils.musa_extension import MUSAExtension\n"
        "a = ['é']\nif a:\n    pass\ne = MUSAExtension('é', [], extra_compile_args={'mcc': a})  # é\n",
    ),
    "environment": (
        "import os\nx = 'é'; os.environ['CUDA_HOME'] = 'é'  # é\n",
        "import os\nx = 'é'; os.environ['MUSA_HOME'] = 'é'  # é\n",
    ),
    "library": (
        "import ctypes\nx = 'é'; y = ctypes.CDLL('libcuda.so'); y.cuInit('é')  # é\n",
        "import ctypes\nx = 'é'; y = ctypes.CDLL('libmusa.so'); y.muInit('é')  # é\n",
    ),
    "command": (
        "import subprocess\nx = 'é'; subprocess.run(['nvcc', 'é', '-G'])  # é\n",
        "import subprocess\nx = 'é'; subprocess.run(['mcc', 'é', '-g'])  # é\n",
    ),
    "command-text": (
        "import os\nx = 'é'; os.system('nvcc é -t0 -G')  # é\n",
        "import os\nx = 'é'; os.system('mcc é -g')  # é\n",
    ),
    "folder": (
        "import os\nx = 'é'; y = os.path.join(os.environ['CUDA_HOME'], 'é', 'lib64')  # é\n",
        "import os\nx = 'é'; y = os.path.join(os.environ['MUSA_HOME'], 'é', 'lib')  # é\n",
    ),
    "key": (
        "import torch\nx = 'é'; y.impl('é', f, 'CUDA')  # é\n",
        "import torch\nimport torch_musa\nx = 'é'; y.impl('é', f, 'PrivateUse1')  # é\n",
    ),
    "source": (
        "from torch.utils.cpp_extension import load_inline\n"
        "m = load_inline('é', '', '''\n// é\nvoid f() { cudaFree(p); /* é */ cudaFree(q); }\n''')  # é\n",
        "from torch_musa.utils.musa_extension import load_inline\n"
        "m = load_inline('é', '', '''\n// é\nvoid f() { musaFree(p); /* é */ musaFree(q); }\n''')  # é\n",
    ),
}
VARIANTS = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "no-line-end": lambda text: text.rstrip("\n").encode(),
    "byte-order-mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "latin-1": lambda text: b"# coding: latin-1\n" + text.encode("latin-1"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", CASES)
def test_bytes(port: Port, name: str, variant: str) -> None:
    before, after = map(VARIANTS[variant], CASES[name])
    assert port(before).data == after
