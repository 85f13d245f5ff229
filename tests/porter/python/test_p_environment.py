"""What a program asks the system for: P18 (variables), P19 (libraries), P20 (symbols), P26 (programs)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from musa_port.mappings import Row, read_rows

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

#: `USE_CUDA` and `WITH_CUDA` are flags of a project's own build, which move with the build files.
ROWS = [
    row
    for row in read_rows("env")
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", row.cuda) and row.cuda not in ("USE_CUDA", "WITH_CUDA")
]


def named(row: Row) -> str:
    return row.cuda


# ---- P18 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [row for row in ROWS if row.supported], ids=named)
def test_variables(rewrites: Rewrites, row: Row) -> None:
    before = f'import os\nx = os.environ["{row.cuda}"]\ny = os.getenv("{row.cuda}", "{row.cuda}")\n'
    after = f'import os\nx = os.environ["{row.musa}"]\ny = os.getenv("{row.musa}", "{row.cuda}")\n'
    result = rewrites(before, after, ["P18"], imported="any")
    assert {edit.confidence for edit in result.edits if edit.rule == "P18"} == {row.confidence}


@pytest.mark.parametrize("row", [row for row in ROWS if not row.supported], ids=named)
def test_variables_without_a_counterpart_stay(rewrites: Rewrites, row: Row) -> None:
    result = rewrites(f'import os\nx = os.environ.get("{row.cuda}")\n')
    assert {(finding.severity.value, finding.line) for finding in result.findings} == {("error", 2)}


@pytest.mark.parametrize(
    "text",
    [
        'os.environ["CUDA_VISIBLE_DEVICES"] = "0"\n',
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)  # CUDA\n",
        'x = os.environ.get("CUDA_HOME")\n',
        'x = os.environ.get("CUDA_HOME", "/usr/local/cuda")\n',
        'x = os.getenv("CUDA_HOME") or "CUDA"\n',
        'x = os.getenv(key="CUDA_HOME")\n',
        'os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")\n',
        'os.environ.pop("CUDA_VISIBLE_DEVICES", None)\n',
        'del os.environ["CUDA_VISIBLE_DEVICES"]\n',
        'os.putenv("CUDA_VISIBLE_DEVICES", "1")\n',
        'os.unsetenv("CUDA_VISIBLE_DEVICES")\n',
        'if "CUDA_VISIBLE_DEVICES" in os.environ: pass\n',
        'if "CUDA_VISIBLE_DEVICES" not in os.environ: pass\n',
        'n = len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))\n',
        "print(f\"CUDA_HOME is {os.environ['CUDA_HOME']}\")\n",
        'subprocess.run(cmd, env={"CUDA_VISIBLE_DEVICES": "0"})\n',
        'subprocess.Popen(cmd, env={**os.environ, "CUDA_VISIBLE_DEVICES": "CUDA_VISIBLE_DEVICES"})\n',
        'def test_x(monkeypatch):\n    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")\n',
        'os.environ["CUDA_VISIBLE_DEVICES"] += ",1"\n',
    ],
)
def test_places_of_variables(rewrites: Rewrites, text: str) -> None:
    """The key, once in each of these, and nothing else."""
    after = re.sub(r"(?<=[\"'])CUDA_(?=[A-Z_]+[\"'])", "MUSA_", text, count=1)
    rewrites("import os, subprocess\n" + text, "import os, subprocess\n" + after, ["P18"], imported="any")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'from os import environ, getenv\nenviron["CUDA_HOME"] = getenv("CUDA_PATH")\n',
            'from os import environ, getenv\nenviron["MUSA_HOME"] = getenv("MUSA_PATH")\n',
        ),
        ('import os as o\no.environ["CUDA_HOME"]\n', 'import os as o\no.environ["MUSA_HOME"]\n'),
        (
            'from os import environ as env\nenv.get("CUDA_HOME")\n',
            'from os import environ as env\nenv.get("MUSA_HOME")\n',
        ),
        (
            'def f():\n    import os\n    return os.getenv("NCCL_DEBUG")\n',
            'def f():\n    import os\n    return os.getenv("MCCL_DEBUG")\n',
        ),
    ],
)
def test_variables_by_other_names(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites(before, after, ["P18"])


@pytest.mark.parametrize(
    "text",
    [
        'import os\nx = config["CUDA_HOME"]\ny = config.get("CUDA_VISIBLE_DEVICES")\n',
        'import os\nprint("CUDA_HOME not set", "CUDA_HOME")\n',
        'import os\nos.environ["MY_CUDA_HOME"] = os.environ["CUDA_HOME_DIR"]\n',
        'import os\nos.environ["X"] = "CUDA_VISIBLE_DEVICES"\n',
        'import os\nx = {"CUDA_HOME": 1}\n',
        'import os\nos.environ["HIP_VISIBLE_DEVICES"]  # CUDA_VISIBLE_DEVICES\n',
        'import os\nos.environ["ROCM_HOME"], "cuda"\n',
        'from mylib import os\nos.environ["CUDA_HOME"]\n',
        'environ = {}\nenviron["CUDA_HOME"] = 1\n',
        'def f(os):\n    return os.environ["CUDA_HOME"]\n',
        "import os\nCUDA_HOME = os.environ\n",
    ],
)
def test_other_places_of_variables_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('env = os.environ.copy()\nenv["CUDA_VISIBLE_DEVICES"] = "0"\nsubprocess.run(c, env=env)\n', "CUDA_V"),
        ('subprocess.run(c, env=dict(os.environ, CUDA_VISIBLE_DEVICES="0"))\n', "CUDA_V"),
        ('os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})\n', "CUDA_V"),
        ('os.environ.update(CUDA_VISIBLE_DEVICES="0")\n', "CUDA_V"),
        ('mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "0"})\n', "CUDA_V"),
        ('NAME = "CUDA_VISIBLE_DEVICES"\nos.environ[NAME] = "0"\n', "CUDA_V"),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0"\n', "TORCH_CUDA_ARCH_LIST"),
    ],
)
def test_other_ways_to_set_variables_are_noticed(notices: Notices, text: str, word: str) -> None:
    notices("import os, subprocess\nfrom unittest import mock\n" + text, word)


# ---- P19 ---------------------------------------------------------------------------------------------------------

LIBRARIES = [row for row in read_rows("libraries") if row.kind == "shared-object" and row.cuda.startswith("lib")]
PLAIN = [row for row in LIBRARIES if row.cuda.endswith(".so") and row.supported]


@pytest.mark.parametrize("row", PLAIN, ids=named)
@pytest.mark.parametrize(
    "form",
    [
        'import ctypes\nlib = ctypes.CDLL("{}")\n',
        "from ctypes import CDLL\nlib = CDLL('{}', mode=1)\n",
        'import ctypes as c\nlib = c.cdll.LoadLibrary("{}")\n',
    ],
)
def test_libraries(rewrites: Rewrites, row: Row, form: str) -> None:
    rewrites(form.format(row.cuda), form.format(row.musa), ["P19"])


@pytest.mark.parametrize("row", [row for row in LIBRARIES if not row.supported], ids=named)
def test_libraries_without_a_counterpart_stay(rewrites: Rewrites, row: Row) -> None:
    result = rewrites(f'import ctypes\nlib = ctypes.CDLL("{row.cuda}")\n')
    assert "error" in {finding.severity.value for finding in result.findings}


@pytest.mark.parametrize("row", [row for row in LIBRARIES if ".so." in row.cuda and row.supported], ids=named)
def test_version_is_not_that_of_cuda(port: Port, row: Row) -> None:
    """`libcudart.so.12` is no reason to ask for a `libmusart.so.12`."""
    text = port(f'import ctypes\nlib = ctypes.CDLL("{row.cuda}")\n').data.decode()
    match = re.search(r'"(lib\w+\.so)(?:\.([\d.]+))?"', text)
    assert match
    assert match[1] == row.musa.split(".so")[0] + ".so"
    assert match[2] in (None, row.musa.partition(".so.")[2])


@pytest.mark.parametrize(
    ("cuda", "musa"),
    [("cudart", "musart"), ("nccl", "mccl"), ("cublas", "mublas"), ("cuda", "musa"), ("nvrtc", "mtrtc")],
)
def test_find_library(rewrites: Rewrites, cuda: str, musa: str) -> None:
    before = f'import ctypes.util\nx = ctypes.util.find_library("{cuda}")\n'
    rewrites(before, before.replace(f'"{cuda}"', f'"{musa}"'), ["P19"], imported="any")
    before = f"from ctypes.util import find_library as find\nx = find('{cuda}')\n"
    rewrites(before, before.replace(f"'{cuda}'", f"'{musa}'"), ["P19"], imported="any")


@pytest.mark.parametrize(
    "text",
    [
        'import ctypes\nlib = ctypes.CDLL("libmycuda.so")\n',
        'import ctypes\nlib = ctypes.CDLL("./build/my_cuda_ops.so")\n',
        'import ctypes\nprint("libcudart.so", "libcudart.so not found")\n',
        'import torch\ntorch.ops.load_library("libcuda_ops.so")\n',
        'x = {"libcudart.so": 1}\ny = "libcudart.so"\nz = y.endswith("libcudart.so")\n',
        'from ctypes.util import find_library\nx = find_library("m")  # cudart\n',
        'from mylib import CDLL, find_library\nCDLL("libcudart.so")\nfind_library("cudart")\n',
    ],
)
def test_other_libraries_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('lib = ctypes.CDLL("/usr/local/cuda/lib64/libcudart.so")\n', "libcudart"),
        ('for n in ("libcudart.so", "libcudart.so.12"):\n    ctypes.CDLL(n)\n', "libcudart"),
        ('lib = ctypes.CDLL(f"libcudart.so.{v}")\n', "libcudart"),
        ('lib = ctypes.CDLL(os.environ.get("LIB", "libcudart.so"))\n', "libcudart"),
        ('lib = ctypes.CDLL("libcudart.so.13.1")\n', "libcudart"),
    ],
)
def test_other_ways_to_name_libraries_are_noticed(notices: Notices, text: str, word: str) -> None:
    notices("import ctypes, os\n" + text, word)


# ---- P20 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'lib = ctypes.CDLL("libcudart.so")\nlib.cudaMalloc(p, 4)\nlib.cudaFree.restype = ctypes.c_int\n',
            'lib = ctypes.CDLL("libmusart.so")\nlib.musaMalloc(p, 4)\nlib.musaFree.restype = ctypes.c_int\n',
        ),
        (
            'lib = ctypes.CDLL("libcudart.so")\nf = getattr(lib, "cudaFree")\n',
            'lib = ctypes.CDLL("libmusart.so")\nf = getattr(lib, "musaFree")\n',
        ),
        (
            'lib = ctypes.cdll.LoadLibrary("libcuda.so")\ndef f():\n    return lib.cuInit(0)  # cuInit\n',
            'lib = ctypes.cdll.LoadLibrary("libmusa.so")\ndef f():\n    return lib.muInit(0)  # cuInit\n',
        ),
        (
            "class A:\n    def __init__(self):\n"
            '        self.lib = ctypes.CDLL("libcudart.so")\n        self.lib.cudaDeviceSynchronize()\n',
            "class A:\n    def __init__(self):\n"
            '        self.lib = ctypes.CDLL("libmusart.so")\n        self.lib.musaDeviceSynchronize()\n',
        ),
        (
            'def f():\n    lib = ctypes.CDLL("libcudart.so")\n    return lib.cudaGetLastError()\n',
            'def f():\n    lib = ctypes.CDLL("libmusart.so")\n    return lib.musaGetLastError()\n',
        ),
    ],
)
def test_symbols(rewrites: Rewrites, before: str, after: str) -> None:
    rewrites("import ctypes\n" + before, "import ctypes\n" + after, ["P19", "P20"])


def test_table_of_symbols(port: Port) -> None:
    """The style of wrappers that list the functions of a library as strings."""
    text = port(
        'import ctypes\n\nFUNCTIONS = [\n    Function("cudaSetDevice", int, [int]),\n'
        '    Function("cudaIpcOpenMemHandle", int, []),\n]\n\nlib = ctypes.CDLL("libcudart.so")\n'
        "for function in FUNCTIONS:\n    f = getattr(lib, function.name)\n"
    ).data.decode()
    assert '"musaSetDevice"' in text
    assert '"musaIpcOpenMemHandle"' in text


@pytest.mark.parametrize(
    "text",
    [
        "x.cudaMalloc(4)\nlib.cudaFree(p)\n",
        'getattr(x, "cudaFree")\n',
        'import ctypes\nlib = ctypes.CDLL("./my.so")\nlib.my_cuda_init()\nlib.fwd_cuda(1)\n',
        'import ctypes\nprint("cudaMalloc failed", "cudaMalloc")\n',
        "import ctypes\nother.cudaMalloc()\nx = ctypes.c_int\n",
        "def f(lib):\n    return lib.cudaMalloc()\n",
        'FUNCTIONS = ["cudaMalloc", "cudaFree"]\n',
    ],
)
def test_other_symbols_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)


def test_unknown_symbols_are_noticed(notices: Notices) -> None:
    text = 'import ctypes\nlib = ctypes.CDLL("libcudart.so")\nlib.cudaNoSuchName()\n'
    notices(text, "cudaNoSuchName")
    notices(text.replace("lib.cudaNoSuchName", 'getattr(lib, "cudaNoSuchName")'), "cudaNoSuchName")


def test_symbols_of_another_scope(rewrites: Rewrites) -> None:
    """The library is a local variable of one function; the parameter of another has the same name."""
    before = 'def f():\n    lib = ctypes.CDLL("libcudart.so")\n    lib.cudaFree(p)\ndef g(lib):\n    lib.cudaFree(p)\n'
    after = 'def f():\n    lib = ctypes.CDLL("libmusart.so")\n    lib.musaFree(p)\ndef g(lib):\n    lib.cudaFree(p)\n'
    rewrites("import ctypes\n" + before, "import ctypes\n" + after)


# ---- P26 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        'subprocess.run(["{}", "-c", "a.cu"])\n',
        "out = subprocess.check_output(['{}', '-c', 'a.cu'], text=True)\n",
        'p = subprocess.Popen(["{}"], stdout=subprocess.PIPE)  # nvcc\n',
        'subprocess.check_call(("{}", "x"))\n',
    ],
)
def test_compiler(rewrites: Rewrites, form: str) -> None:
    rewrites("import subprocess\n" + form.format("nvcc"), "import subprocess\n" + form.format("mcc"), ["P26"], ["P26"])


@pytest.mark.parametrize(
    "text",
    [
        'subprocess.check_output(["nvidia-smi", "--query-gpu=name", "--format=csv"])\n',
        "subprocess.Popen(['nvidia-smi'])\n",
    ],
)
def test_management_program_stays_and_is_reported(rewrites: Rewrites, text: str) -> None:
    rewrites("import subprocess\n" + text, findings=["P26"])


@pytest.mark.parametrize(
    "text",
    [
        'subprocess.run("nvidia-smi --list-gpus", shell=True)\n',
        'subprocess.getoutput("nvidia-smi")\n',
    ],
)
def test_management_program_in_a_text_stays_and_is_reported(rewrites: Rewrites, text: str) -> None:
    """The text is a script of the shell, whose rules decide it."""
    rewrites("import subprocess\n" + text, findings=["B46"])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('os.system("nvcc -c a.cu")\n', "nvcc"),
        ('subprocess.run("nvcc --version", shell=True)\n', "nvcc"),
        ('subprocess.run([os.path.join(home, "bin", "nvcc"), "-V"])\n', "nvcc"),
        ('subprocess.run([home + "/bin/nvcc", "-V"])\n', "nvcc"),
        ('os.system("nvidia-smi")\n', "nvidia"),
        ('x = os.popen("nvidia-smi -L").read()\n', "nvidia"),
        ('cmd = ["nvcc", "-V"]\nsubprocess.run(cmd)\n', "nvcc"),
    ],
)
def test_other_ways_to_run_are_noticed(notices: Notices, text: str, word: str) -> None:
    notices("import os, subprocess\n" + text, word)


@pytest.mark.parametrize(
    "text",
    [
        'import subprocess\nprint("nvcc not found; run nvidia-smi")\n',
        'import subprocess\nsubprocess.run(["echo", "nvcc_wrapper"])\n',
        'f(["nvcc"])\nx = {"nvcc": 1}\n',
        'import subprocess\nsubprocess.run(["my_nvcc"])\nsubprocess.run(["ls"], cwd="nvcc")\n',
    ],
)
def test_other_texts_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text)
