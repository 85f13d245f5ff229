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
        ('subprocess.run(["nvcc", "csrc/a.cu"])', 'subprocess.run(["mcc", "csrc/a.mu"])'),
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
        'x = shutil.which("nvidia-smi")\n',
        'subprocess.run(["cuobjdump", x])\n',
        'subprocess.run(["/usr/local/cuda/bin/nvdisasm", x])\n',
        'subprocess.run(["nvidia-cuda-mps-control", "-d"])\n',
    ],
)
def test_tools_are_reported(rewrites: Rewrites, text: str) -> None:
    rewrites(f"{HEAD}{text}# cuda\n", findings=["P26 warning"])


def test_version(notices: Notices) -> None:
    text = f'{HEAD}subprocess.run(["nvcc",\n    "--version"])\n'
    assert "P26" in {finding.rule for finding in notices(text, "--version").findings}


# ---- commands as text: scripts of the shell -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('subprocess.run("nvcc -G  -t0 -c x", shell=True)', 'subprocess.run("mcc -g -c x", shell=True)'),
        ('subprocess.run("nvcc -c csrc/a.cu -G", shell=True)', 'subprocess.run("mcc -c csrc/a.mu -g", shell=True)'),
        ('subprocess.run(shlex.split("nvcc -G"))', 'subprocess.run(shlex.split("mcc -g"))'),
        ("os.system(\"cd x && nvcc -G 'a b' | tee log\")", "os.system(\"cd x && mcc -g 'a b' | tee log\")"),
        ('os.system(f"nvcc -arch=sm_{n} {x}")', 'os.system(f"mcc -arch=sm_{n} {x}")'),
        ('os.system("nvcc -arch=sm_%d" % n)', 'os.system("mcc -arch=sm_%d" % n)'),
        ('os.system(f"nvcc {x} -arch=sm_90 -lcudart")', 'os.system(f"mcc {x} --offload-arch=mp_31 -lmusart")'),
        ('os.system("nvcc " + x + " -arch=sm_90")', 'os.system("mcc " + x + " --offload-arch=mp_31")'),
        ('os.system("nvcc -G "\n    "-arch=sm_90")', 'os.system("mcc -g "\n    "--offload-arch=mp_31")'),
        ('os.system("nvcc -G \\"a b\\" -arch=sm_90")', 'os.system("mcc -g \\"a b\\" --offload-arch=mp_31")'),
        ('c = "nvcc -arch=sm_80 x && ./x"\nos.system(c)', 'c = "mcc --offload-arch=mp_22 x && ./x"\nos.system(c)'),
        ('subprocess.run(["bash", "-c", "nvcc -G x"])', 'subprocess.run(["bash", "-c", "mcc -g x"])'),
        (
            'os.system("CUDA_VISIBLE_DEVICES=0 python t.py --device cuda")',
            'os.system("MUSA_VISIBLE_DEVICES=0 python t.py --device musa")',
        ),
        (
            'os.system(f"CUDA_VISIBLE_DEVICES={torch.cuda.current_device()} ./x")',
            'os.system(f"MUSA_VISIBLE_DEVICES={torch.musa.current_device()} ./x")',
        ),
        ('os.system("export CUDA_HOME=/usr/local/cuda")', 'os.system("export MUSA_HOME=/usr/local/musa")'),
    ],
)
def test_text(rewrites: Rewrites, before: str, after: str) -> None:
    head = HEAD + "import torch\n"
    rewrites(f"{head}{before}\n", f"{head}{after}\n", path="tool.py", tree={"csrc/a.cu": ""}, imported="any")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ('os.system("timeout 5 nvidia-smi -L | head")', "B46 warning"),
        ('subprocess.run("ncu --set full python x.py".split())', "B46 warning"),
        ('subprocess.run("nvidia-smi | grep MiB", shell=True)', "B46 warning"),
        ('subprocess.run("nvprof ./x", shell=True)', "B46 warning"),
        ('os.popen("/usr/bin/nvcc -c x")', "P26 warning"),
        ('os.system("find . | my-runner nvcc")', "P26 warning"),
        ('os.system("nvcc x " + "-t0")', "P26 warning"),
        ('os.system("pip install nvidia-cublas-cu12")', "B70 warning"),
        ('c = "make"\nc += " -arch=sm_90"\nos.system(c)', "P26 warning"),
    ],
)
def test_text_that_is_left(rewrites: Rewrites, text: str, finding: str) -> None:
    rewrites(f"{HEAD}{text}  # cuda\n", findings=[finding])


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
