"""P26 and P37: programs and folders of the toolkit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

HEAD = "import os, shutil, subprocess, shlex\nfrom pathlib import Path\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('subprocess.run(["nvcc", "-O3", "--use_fast_math"])', 'subprocess.run(["mcc", "-O3", "-ffast-math"])'),
        ('subprocess.run(["nvcc", "-t0", *extra, "-G"])', 'subprocess.run(["mcc", *extra, "-g"])'),
        ('subprocess.run(["nvcc"] + ["-G"])', 'subprocess.run(["mcc"] + ["-g"])'),
        ('c = ["nvcc"]\nc += ["-G"]\nsubprocess.run(c)', 'c = ["mcc"]\nc += ["-g"]\nsubprocess.run(c)'),
        ('c = ["nvcc"]\nc.append("-G")\nsubprocess.run(args=c)', 'c = ["mcc"]\nc.append("-g")\nsubprocess.run(args=c)'),
        (
            'def run(c):\n    subprocess.run(c)\nrun(["nvcc", "-G"])',
            'def run(c):\n    subprocess.run(c)\nrun(["mcc", "-g"])',
        ),
        ('n = "nvcc"\nsubprocess.run([n, "-G"])', 'n = "mcc"\nsubprocess.run([n, "-g"])'),
        ('n = shutil.which("nvcc")\nsubprocess.run([n, "-G"])', 'n = shutil.which("mcc")\nsubprocess.run([n, "-G"])'),
        ('subprocess.run(["which", "nvcc"])', 'subprocess.run(["which", "mcc"])'),
        (
            'subprocess.run([os.path.join(h, "bin", "nvcc"), "-G"])',
            'subprocess.run([os.path.join(h, "bin", "mcc"), "-g"])',
        ),
        ('subprocess.run([f"{h}/bin/nvcc", "-G"])', 'subprocess.run([f"{h}/bin/mcc", "-g"])'),
        ('subprocess.run([str(h / "bin" / "nvcc")])', 'subprocess.run([str(h / "bin" / "mcc")])'),
        ('subprocess.run("nvcc -G  -t0 -c x", shell=True)', 'subprocess.run("mcc -g -c x", shell=True)'),
        ('subprocess.run("nvcc -c csrc/a.cu -G", shell=True)', 'subprocess.run("mcc -c csrc/a.mu -g", shell=True)'),
        ('subprocess.run(["nvcc", "csrc/a.cu"])', 'subprocess.run(["mcc", "csrc/a.mu"])'),
        ('subprocess.run(shlex.split("nvcc -G"))', 'subprocess.run(shlex.split("mcc -g"))'),
        ("os.system(\"cd x && nvcc -G 'a b' | tee log\")", "os.system(\"cd x && mcc -G 'a b' | tee log\")"),
        ('os.system(f"nvcc -arch=sm_{n} {x}")', 'os.system(f"mcc -arch=sm_{n} {x}")'),
        ('os.popen("/usr/bin/nvcc")', 'os.popen("/usr/bin/mcc")'),
        ('os.execvp("nvcc", ["nvcc"])', 'os.execvp("mcc", ["nvcc"])'),
    ],
)
def test_compiler(rewrites: Rewrites, before: str, after: str) -> None:
    tree = {"csrc/a.cu": ""}
    rewrites(f"{HEAD}{before}\n", f"{HEAD}{after}\n", findings=["P26 warning"], path="tool.py", tree=tree)


@pytest.mark.parametrize(
    "text",
    [
        'run(["nvcc"])\nx = ["nvcc", "-G"]\n',
        'subprocess.run(["echo", "nvcc"])\nsubprocess.run(["gcc", "-lineinfo"])\n',
        'subprocess.run(["cmake", "-DCMAKE=nvcc"])\nos.system("nvccc; my-nvcc")\n',
        'print("nvcc")\nraise ValueError("nvcc")\n',
        'x = {"nvcc": 1}\nx["nvcc"]\nif name == "nvcc": pass\n',
        'shutil.which("gcc")\nmodule.which("nvcc")\n',
        'def f(subprocess):\n    subprocess.run(["nvcc"])\n',
    ],
)
def test_others_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        'subprocess.check_output(["nvidia-smi", "-L"])\n',
        'os.system("timeout 5 nvidia-smi -L | head")\n',
        'x = shutil.which("nvidia-smi")\n',
        'subprocess.run(["cuobjdump", x])\n',
        'subprocess.run(["/usr/local/cuda/bin/nvdisasm", x])\n',
        'subprocess.run("ncu --set full python x.py".split())\n',
        'subprocess.run(["nvidia-cuda-mps-control", "-d"])\n',
    ],
)
def test_tools_are_reported(rewrites: Rewrites, text: str) -> None:
    rewrites(f"{HEAD}{text}# cuda\n", findings=["P26 warning"])


def test_version(notices: Notices) -> None:
    text = f'{HEAD}subprocess.run(["nvcc",\n    "--version"])\n'
    assert "P26" in {finding.rule for finding in notices(text, "--version").findings}


# ---- P37 ---------------------------------------------------------------------------------------------------------

ROOTS = {
    "environment": ('h = os.environ["CUDA_HOME"]\n', 'h = os.environ["MUSA_HOME"]\n'),
    "default": ('h = os.environ.get("CUDA_PATH", None)\n', 'h = os.environ.get("MUSA_PATH", None)\n'),
    "several": ('h = os.getenv("CUDA_HOME") or guess()\n', 'h = os.getenv("MUSA_HOME") or guess()\n'),
    "function": (
        'def home():\n    return os.getenv("CUDA_HOME")\nh = home()\n',
        'def home():\n    return os.getenv("MUSA_HOME")\nh = home()\n',
    ),
}
BELOW = [
    ('os.path.join(h, "lib64")', 'os.path.join(h, "lib")'),
    ('os.path.join(h, "lib64", "libcudart.so")', 'os.path.join(h, "lib", "libmusart.so")'),
    ('os.path.join(h, "bin", "nvcc")', 'os.path.join(h, "bin", "mcc")'),
    ('os.path.join(h, "bin/nvcc")', 'os.path.join(h, "bin/mcc")'),
    ('Path(h) / "lib64" / "stubs"', 'Path(h) / "lib" / "stubs"'),
    ('h + "/lib64"', 'h + "/lib"'),
    ('f"-L{h}/lib64"', 'f"-L{h}/lib64"'),
    ('f"{h}/lib64"', 'f"{h}/lib"'),
    ('os.path.join(h, "include")', 'os.path.join(h, "include")'),
    ('os.path.join(h, "lib64_x", "my lib64")', 'os.path.join(h, "lib64_x", "my lib64")'),
]


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(("before", "after"), BELOW)
def test_below_the_toolkit(rewrites: Rewrites, root: str, before: str, after: str) -> None:
    old, new = ROOTS[root]
    rewrites(f"{HEAD}{old}x = {before}\n", f"{HEAD}{new}x = {after}\n")


def test_below_the_constant_of_torch(rewrites: Rewrites) -> None:
    rewrites(
        f"{HEAD}from torch.utils.cpp_extension import CUDA_HOME\nx = os.path.join(CUDA_HOME, 'lib64')\n",
        f"{HEAD}from torch_musa.utils.musa_extension import MUSA_HOME\nx = os.path.join(MUSA_HOME, 'lib')\n",
        ["P15", "P37"],
    )


@pytest.mark.parametrize(
    "text",
    [
        'x = os.path.join(root, "lib64")  # cuda\n',
        'x = os.path.join("lib64", "nvcc")\n',
        'h = os.environ["HOME"]\nx = os.path.join(h, "lib64")  # cuda\n',
        'x = "lib64"  # cuda\ny = z + "lib64"\n',
    ],
)
def test_below_other_folders(rewrites: Rewrites, text: str) -> None:
    rewrites(HEAD + text)


def test_a_name_that_reads_like_the_toolkit_is_noticed(notices: Notices) -> None:
    notices(f'{HEAD}def f(cuda_home):\n    return os.path.join(cuda_home, "lib64")\n', "lib64")


def test_literal_paths_are_left_and_noticed(notices: Notices, port: Port) -> None:
    text = f'{HEAD}x = [\n    "/usr/local/cuda/include"]\n'
    notices(text, "/usr/local")
    assert port(text).data.decode() == text
