"""Shell scripts: what is renamed, what is reported, and what is left alone."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from musa_port import Options, port_sources
from musa_port.mappings import read_rows

if TYPE_CHECKING:
    from tests.porter.conftest import Check

PATH = "run.sh"


def case(before: str, after: str | None = None, *findings: str, **options: Any) -> Any:
    """One row; without `after`, nothing may change."""
    return pytest.param(before, after, findings, Options(**options), id=before.replace("\n", " ")[:60])


ENVIRONMENT = [
    case("export CUDA_HOME=x\n", "export MUSA_HOME=x\n"),
    case("CUDA_HOME=x\n", "MUSA_HOME=x\n"),
    case("CUDA_HOME+=x cmd\n", "MUSA_HOME+=x cmd\n"),
    case("export A=1 CUDA_HOME B=$CUDA_HOME\n", "export A=1 MUSA_HOME B=$MUSA_HOME\n"),
    case(
        "declare -x CUDA_HOME; local CUDA_HOME=1; readonly CUDA_HOME\n",
        "declare -x MUSA_HOME; local MUSA_HOME=1; readonly MUSA_HOME\n",
    ),
    case("unset CUDA_HOME OTHER\n", "unset MUSA_HOME OTHER\n"),
    case("CUDA_HOME=a NCCL_ROOT=b cmd\n", "MUSA_HOME=a MCCL_ROOT=b cmd\n"),
    case("env -u CUDA_HOME CUDNN_PATH=1 cmd\n", "env -u MUSA_HOME MUDNN_PATH=1 cmd\n"),
    case("sudo CUDA_HOME=1 make\n", "sudo MUSA_HOME=1 make\n"),
    case("make CUDA_HOME=1 CUDNN_PATH=2\n", "make MUSA_HOME=1 MUDNN_PATH=2\n"),
    case("mpirun -np 2 -x CUDA_HOME ./a\n", "mpirun -np 2 -x MUSA_HOME ./a\n"),
    case(
        "docker run -e CUDA_HOME -e CUDNN_PATH=1 --env=NCCL_ROOT=2 img\n",
        "docker run -e MUSA_HOME -e MUDNN_PATH=1 --env=MCCL_ROOT=2 img\n",
    ),
    case("docker build --build-arg CUDA_HOME=1 .\n", "docker build --build-arg MUSA_HOME=1 .\n"),
    case('[ -n "$CUDA_HOME" ] && [[ -v CUDA_HOME ]]\n', '[ -n "$MUSA_HOME" ] && [[ -v CUDA_HOME ]]\n', "B49 info 1"),
    case("[ -v CUDA_HOME ]\n", "[ -v MUSA_HOME ]\n"),
    case("printenv CUDA_HOME; read -r CUDA_HOME\n", "printenv MUSA_HOME; read -r MUSA_HOME\n"),
    case("for CUDA_HOME in a b; do c; done\n", "for MUSA_HOME in a b; do c; done\n"),
    case(
        'echo ${CUDA_HOME} ${CUDA_HOME:-x} ${CUDA_HOME%/*} ${#CUDA_HOME} ${!CUDA_HOME} "a${CUDA_HOME}b"\n',
        'echo ${MUSA_HOME} ${MUSA_HOME:-x} ${MUSA_HOME%/*} ${#MUSA_HOME} ${!MUSA_HOME} "a${MUSA_HOME}b"\n',
    ),
    case("x=${A:-${CUDA_HOME:-y}}\n", "x=${A:-${MUSA_HOME:-y}}\n"),
    case("x=$(cd $CUDA_HOME && pwd) y=`ls $CUDA_HOME`\n", "x=$(cd $MUSA_HOME && pwd) y=`ls $MUSA_HOME`\n"),
    case("case $CUDA_HOME in cuda) x ;; esac\n", "case $MUSA_HOME in cuda) x ;; esac\n"),
    case("cat <<EOF\n$CUDA_HOME\nEOF\n", "cat <<EOF\n$MUSA_HOME\nEOF\n"),
    case("bash -c 'CUDA_HOME=1 x'\n", "bash -c 'MUSA_HOME=1 x'\n"),
    case('bash -lc "CUDA_HOME=1 x \\$CUDA_HOME"\n', 'bash -lc "MUSA_HOME=1 x \\$MUSA_HOME"\n'),
    case('eval "export CUDA_HOME=1"\n', 'eval "export MUSA_HOME=1"\n'),
    case("trap 'unset CUDA_HOME' EXIT\n", "trap 'unset MUSA_HOME' EXIT\n"),
    case("ssh host 'CUDA_HOME=1 x'\n", "ssh host 'MUSA_HOME=1 x'\n"),
    case("bash <<'EOF'\nexport CUDA_HOME=1\nEOF\n", "bash <<'EOF'\nexport MUSA_HOME=1\nEOF\n"),
    case("cat > env.sh <<EOF\nexport CUDA_HOME=1\nEOF\n", "cat > env.sh <<EOF\nexport MUSA_HOME=1\nEOF\n"),
    case(
        "sudo tee /etc/profile.d/a.sh <<EOF\nexport CUDA_HOME=1\nEOF\n",
        "sudo tee /etc/profile.d/a.sh <<EOF\nexport MUSA_HOME=1\nEOF\n",
    ),
    case("echo 'export CUDA_HOME=1' >> ~/.bashrc\n", "echo 'export MUSA_HOME=1' >> ~/.bashrc\n"),
    case('echo "CUDA_HOME=1" >> $GITHUB_ENV\n', 'echo "MUSA_HOME=1" >> $GITHUB_ENV\n'),
    case("(CUDA_HOME=1; { CUDA_HOME=2; })\n", "(MUSA_HOME=1; { MUSA_HOME=2; })\n"),
    case("f() { local x=$CUDA_HOME; }\n", "f() { local x=$MUSA_HOME; }\n"),
    case("export CUDA_VISIBLE_DEVICES=0\n", "export MUSA_VISIBLE_DEVICES=0\n", "B40 info 1"),
    case("export NCCL_SOCKET_IFNAME=eth0\n", "export MCCL_SOCKET_IFNAME=eth0\n", "C2 info 1"),
    case("n=$((CUDA_DEVICE_MAX_CONNECTIONS + 1))\n", "n=$((MUSA_DEVICE_MAX_CONNECTIONS + 1))\n", "C2 info 1"),
]

LEFT = [
    case("# CUDA_HOME=/usr/local/cuda\n"),
    case("x=1 # export CUDA_HOME=1\n"),
    case('echo "CUDA_HOME is not set"\n', None, "B49 info 1"),
    case("echo 'use $CUDA_HOME'\n", None, "B49 info 1"),
    case('printf "set CUDA_HOME=%s" x\n', None, "B49 warning 1"),
    case('CMD="CUDA_HOME=1 ./a"\n', None, "B49 warning 1"),
    case("grep CUDA_HOME file\n", None, "B49 info 1"),
    case("MY_CUDA_HOME=1; CUDA_HOMES=2; x=$MY_CUDA_HOME\n"),
    case("use_cuda=1; cuda_arch=80; barracuda\n"),
    case("cat <<'EOF'\nset $CUDA_HOME to the toolkit\nEOF\n", None, "B49 info 2"),
    case(
        "python <<EOF\nimport os; os.environ['CUDA_HOME']\nEOF\n",
        "python <<EOF\nimport os; os.environ['MUSA_HOME']\nEOF\n",
    ),
    case("perl <<EOF\n$ENV{CUDA_HOME}\nEOF\n", None, "B49 warning 2"),
    case("export CUDA_DEVICE_ORDER=PCI_BUS_ID; x=$CUDA_DEVICE_ORDER\n", None, "B41 warning 1"),
    case("export NCCL_FANCY=1\n", None, "B41 info 1"),
    case("NCCL_FANCY=1\n"),
    case("export USE_CUDA=1 WITH_CUDA=0\n", None, "B41 info 1", "B41 info 1"),
    case("export MUSA_HOME=a CUDA_HOME=b\n", None, "B41 info 1"),
    case("export CUDA_HOME=b\n", None, keep_names=("CUDA_HOME",)),
    case("export NCCL_SOCKET_IFNAME=a\n", None, "C2 warning 1", min_confidence="medium"),
    case("# musa-port: off\nexport CUDA_HOME=/usr/local/cuda-12\n# musa-port: on\n", None, "C60 info 1"),
    case("export CUDA_HOME=1 # musa-port: ignore\n", None, "C60 info 1"),
    case("wget https://a.b/cuda/nvcc.html\n", None, "B52 warning 1"),
    case('if [ "$DEVICE" = cuda ]; then echo cuda; fi\n'),
    case("cd my/cuda && ls csrc/cuda/*.cuh kernels.cu\n"),
]

VALUES = [
    case(
        'export TORCH_CUDA_ARCH_LIST="8.0;9.0"\n', 'export TORCH_MUSA_ARCH_LIST="22;31"\n', "B40 info 1", "B42 info 1"
    ),
    case("TORCH_CUDA_ARCH_LIST=8.0 cmd\n", "TORCH_MUSA_ARCH_LIST=22 cmd\n", "B40 info 1", "B42 info 1"),
    case(
        'x="${TORCH_CUDA_ARCH_LIST:-8.0 9.0+PTX}"\n',
        'x="${TORCH_MUSA_ARCH_LIST:-22;31}"\n',
        "B40 info 1",
        "B42 info 1",
    ),
    case("TORCH_CUDA_ARCH_LIST=10.0\n", "TORCH_MUSA_ARCH_LIST=10.0\n", "B40 info 1", "B42 error 1"),
    case("TORCH_CUDA_ARCH_LIST=$X\n", "TORCH_MUSA_ARCH_LIST=$X\n", "B40 info 1", "B42 warning 1"),
    case("CUDA_HOME=/usr/local/cuda\n", "MUSA_HOME=/usr/local/musa\n"),
    case("CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}\n", "MUSA_HOME=${MUSA_HOME:-/usr/local/musa}\n"),
    case("CUDA_HOME=/usr/local/cuda-12.4\n", "MUSA_HOME=/usr/local/cuda-12.4\n", "B2 error 1"),
    case("CUDA_HOME=/usr/local/cuda-$V\n", "MUSA_HOME=/usr/local/cuda-$V\n", "B2 error 1"),
    case("CUDA_HOME=/opt/nvidia/sdk\n", "MUSA_HOME=/opt/nvidia/sdk\n", "B2 error 1"),
    case("PATH=/usr/local/cuda/bin:$PATH\n", "PATH=/usr/local/musa/bin:$PATH\n"),
    case("PATH=/usr/local/cuda-11.8/bin:$PATH\n", None, "B2 warning 1"),
    case(
        "LD_LIBRARY_PATH=/usr/local/cuda/lib64:$CUDA_HOME/lib64\n",
        "LD_LIBRARY_PATH=/usr/local/musa/lib:$MUSA_HOME/lib\n",
    ),
    case("X=$CUDA_HOME/extras/CUPTI\n", "X=$MUSA_HOME/extras/CUPTI\n", "B2 warning 1"),
    case("X=/usr/local/cuda/lib64/stubs\n", None, "B2 warning 1"),
    case("X=my/usr/local/cuda\n"),
    case("LD_PRELOAD=/a/libnccl.so.2\n", "LD_PRELOAD=/a/libmccl.so.2\n", "B2 info 1"),
    case("CC=nvcc\n", "CC=mcc\n", "B44 info 1"),
    case("NVCC=${NVCC:-nvcc}\n", "MCC=${MCC:-mcc}\n", "B40 info 1", "B44 info 1"),
    case('MY_NVCC_FLAGS="-O3 --use_fast_math"\n', 'MY_NVCC_FLAGS="-O3 -ffast-math"\n', "B1 warning 1"),
    case("DEVICE=cuda\n", None, "B42 warning 1"),
    case("DEVICE=${1:-cuda:0}\n", None, "B42 warning 1"),
    case('ARGS="--lr 1 --device cuda:0"\n', None, "B42 warning 1"),
    case("IMAGE=nvidia/cuda:12.4.1-devel\n", None, "B50 error 1"),
]

COMMANDS = [
    case("nvcc -O3 -lcudart main.cpp\n", "mcc -O3 -lmusart main.cpp\n", "B44 info 1"),
    case("$CUDA_HOME/bin/nvcc -o x main.cpp\n", "$MUSA_HOME/bin/mcc -o x main.cpp\n"),
    case('"${CUDA_HOME}"/bin/nvcc x.cpp\n', '"${MUSA_HOME}"/bin/mcc x.cpp\n'),
    case("/usr/local/cuda/bin/nvcc x.cpp\n", "/usr/local/musa/bin/mcc x.cpp\n"),
    case("/opt/x/nvcc x.cpp\n"),
    case("ccache nvcc x.cpp\n", "ccache mcc x.cpp\n", "B44 info 1"),
    case("nvcc -arch=sm_80 x.cpp\n", "mcc --offload-arch=mp_22 x.cpp\n", "B1 warning 1", "B44 info 1"),
    case("nvcc -O3 --expt-relaxed-constexpr x.cpp\n", "mcc -O3 x.cpp\n", "B44 info 1"),
    case("nvcc -O3 \\\n  -lcuda -Xptxas -v \\\n  x.cpp\n", "mcc -O3 \\\n  -lmusa \\\n  x.cpp\n", "B44 info 1"),
    case('nvcc -DNAME="a b" -lcublas x.cpp\n', 'mcc -DNAME="a b" -lmublas x.cpp\n', "B44 info 1"),
    case("nvcc -ptx x.cpp\n", "mcc -ptx x.cpp\n", "B1 error 1", "B44 info 1"),
    case("$NVCC -lcudart x.cpp\n", "$MCC -lmusart x.cpp\n", "B40 info 1"),
    case(
        "g++ -I$CUDA_HOME/include -L/usr/local/cuda/lib64 -lcudart x.cpp\n",
        "g++ -I$MUSA_HOME/include -L/usr/local/musa/lib -lmusart x.cpp\n",
    ),
    case("v=$(nvcc --version | tail -1)\n", "v=$(mcc --version | tail -1)\n", "B44 info 1", "B44 warning 1"),
    case("command -v nvcc || which nvcc\n", "command -v mcc || which mcc\n", "B44 info 1"),
    case("nvidia-smi --query-gpu=name --format=csv | head -1\n", None, "B46 warning 1"),
    case("x=$(nvidia-smi -L | wc -l)\n", None, "B46 warning 1"),
    case("if command -v nvidia-smi; then x; fi\n", None, "B46 warning 1"),
    case("cuda-gdb ./a; compute-sanitizer ./a; ncu ./a\n", None, "B46 warning 1", "B46 warning 1", "B46 warning 1"),
    case("nsys profile python t.py --device cuda\n", "nsys profile python t.py --device musa\n", "B46 warning 1"),
    case("python t.py --device cuda\n", "python t.py --device musa\n"),
    case(
        "python3 -m t --device=cuda:0 --devices 'cuda:0,cuda:1'\n",
        "python3 -m t --device=musa:0 --devices 'musa:0,musa:1'\n",
    ),
    case(
        'python t.py --device="cuda" --map-location cuda model.device=cuda\n',
        'python t.py --device="musa" --map-location musa model.device=musa\n',
    ),
    case("torchrun --nproc 2 t.py --backend nccl\n", "torchrun --nproc 2 t.py --backend mccl\n"),
    case("$PYTHON t.py --backend=nccl --lib nccl\n", "$PYTHON t.py --backend=mccl --lib nccl\n"),
    case("CUDA_HOME=1 srun -n 2 python t.py --device cuda\n", "MUSA_HOME=1 srun -n 2 python t.py --device musa\n"),
    case("python t.py --accelerator cuda\n", None, "B47 warning 1"),
    case("python t.py --name my-cuda --device cuda-like --path cuda/x\n"),
    case("./a.out --device cuda\n", None, "B47 info 1"),
    case("ARGS=(--device cuda)\n", None, "B47 info 1"),
    case("docker run --device /dev/cuda img\n"),
    case(
        "cmake -B b -DCMAKE_CUDA_ARCHITECTURES='80;90' .\n", "cmake -B b -DMUSA_ARCHITECTURES='22;31' .\n", "B48 info 1"
    ),
    case("cmake -DCMAKE_CUDA_ARCHITECTURES=native .\n", None, "B48 error 1"),
    case("cmake -DUSE_CUDA=ON .\n", None, "B48 info 1"),
    case("cmake -DUSE_CUDA=ON .\n", "cmake -DUSE_MUSA=ON .\n", rename_project_names=True),
    case("cmake -D CUDA_TOOLKIT_ROOT_DIR=/usr/local/cuda .\n", "cmake -D MUSA_TOOLKIT_ROOT_DIR=/usr/local/musa .\n"),
    case("cmake -DFOO_CUDA_BAR=1 -DX=2 .\n", None, "B48 info 1"),
    case("pip install nvidia-cublas-cu12 torch==2.4.0+cu121\n", None, "B70 warning 1", "B72 error 1", "B73 info 1"),
    case("python -m pip install -q 'cupy-cuda12x>=13' numpy\n", None, "B71 error 1"),
    case("uv pip install x --index-url https://download.pytorch.org/whl/cu124 # cuda\n", None, "B72 warning 1"),
    case("sudo apt-get install -y cuda-toolkit-12-4 libnccl2 git\n", None, "B52 warning 1", "B52 warning 1"),
    case("conda install -c nvidia cudatoolkit=11.8 numpy\n", None, "B52 warning 1", "B52 warning 1"),
    case("module load cuda/12.4 gcc\n", None, "B52 warning 1"),
    case(
        "docker run --gpus all nvidia/cuda:12.4.1-base nvidia-smi\n",
        None,
        "B46 warning 1",
        "B50 error 1",
        "B51 warning 1",
    ),
    case("ln -s /usr/local/cuda-12.4 /usr/local/cuda\n", None, "B2 warning 1", "B2 warning 1"),
]


@pytest.mark.parametrize(("before", "after", "findings", "options"), ENVIRONMENT + LEFT + VALUES + COMMANDS)
def test_script(check: Check, before: str, after: str | None, findings: tuple[str, ...], options: Options) -> None:
    check({PATH: before}, None if after is None else {PATH: after}, findings, options)


SOURCES = {"csrc/a.cu": "", "csrc/b.cu": "", "util.cuh": "", "keep/c.cu": "", "keep/c.mu": ""}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nvcc -c csrc/a.cu\n", "mcc -c csrc/a.mu\n"),
        ("cp csrc/*.cu build/\n", "cp csrc/*.mu build/\n"),
        ('find . -name "*.cuh" | xargs clang-format\n', 'find . -name "*.muh" | xargs clang-format\n'),
        ("for f in csrc/*.cu; do x; done\n", "for f in csrc/*.mu; do x; done\n"),
        ("F=(csrc/a.cu 'csrc/b.cu')\n", "F=(csrc/a.mu 'csrc/b.mu')\n"),
        ("ls $PWD/csrc/a.cu\n", "ls $PWD/csrc/a.mu\n"),
        ("ls other.cu ${f%.cu}.o x.cu.bak\n", "ls other.cu ${f%.mu}.o x.cu.bak\n"),
        ("echo csrc/a.cu\n", None),
        ("ls *.cu\n", None),
    ],
)
def test_sources_keep_their_names_or_follow(before: str, after: str | None) -> None:
    tree = {PATH: before.encode(), **{path: text.encode() for path, text in SOURCES.items()}}
    assert port_sources(tree)[PATH].data == (after or before).encode()


def test_a_source_that_keeps_its_name_needs_a_flag() -> None:
    result = port_sources({PATH: b"nvcc -c a.cu\n", "a.cu": b""}, Options(rename_ext=False))[PATH]
    assert result.data == b"mcc -c a.cu\n"
    assert [(finding.rule, finding.severity.value) for finding in result.findings] == [
        ("B44", "info"),
        ("B45", "warning"),
    ]


ROWS = [row for row in read_rows("env") if row.cuda.isidentifier() and row.cuda not in ("USE_CUDA", "WITH_CUDA")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.cuda)
def test_each_variable_of_the_table(row: Any) -> None:
    """Set, read and unset under one name; or under none of the new ones, and reported."""
    text = "export {0}=1\necho ${0}\nunset {0}\n# cuda {1}\n"
    result = port_sources({PATH: text.format(row.cuda, row.cuda).encode()})[PATH]
    name = row.musa if row.supported else row.cuda
    assert result.data.decode() == text.format(name, row.cuda)
    if not row.supported:
        assert [(finding.rule, finding.name) for finding in result.findings] == [("B41", row.cuda)]


@pytest.mark.parametrize(
    "data",
    [
        b"export CUDA_HOME=1\r\n# \xe9\r\nCUDA_HOME=$CUDA_HOME cmd\r\n",
        b"\xef\xbb\xbfexport CUDA_HOME=1",
        b"echo \xff\xfe '\xe9' $CUDA_HOME\n\n\n",
        b"x='\xe4\xb8\xad' CUDA_HOME=\xe4\xb8\xad y",
        b"CUDA_HOME=1 \\\r\n  cmd \\\r\n  $CUDA_HOME",
        b"\tCUDA_HOME=1\x0c\n",
    ],
)
def test_other_bytes_stay(data: bytes) -> None:
    assert port_sources({PATH: data})[PATH].data == data.replace(b"CUDA_HOME", b"MUSA_HOME")


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/usr/bin/env bash", "#! /usr/bin/zsh -f", "#!/bin/dash"])
def test_scripts_without_an_extension(first: str) -> None:
    data = f"{first}\nexport CUDA_HOME=1\n".encode()
    assert port_sources({"tools/run": data})["tools/run"].data == data.replace(b"CUDA", b"MUSA")


@pytest.mark.parametrize("first", ["#!/usr/bin/perl", "#!/usr/bin/env fish", "no script", "#!/bin/shark"])
def test_files_that_are_no_scripts(first: str) -> None:
    data = f"{first}\nexport CUDA_HOME=1\n".encode()
    assert port_sources({"tools/run": data})["tools/run"].data == data


LINES = st.sampled_from([row.values[0] for row in ENVIRONMENT + LEFT + VALUES + COMMANDS]) | st.sampled_from(
    [
        "if x; then\n",
        "fi\n",
        "'",
        '"',
        "$(",
        ")",
        "`",
        "<<EOF\n",
        "EOF\n",
        "\\\n",
        "case x in\n",
        "a)",
        ";;\nesac\n",
        "é",
    ]
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(LINES, max_size=8).map("".join))
@example("nvcc python x.py --device cuda\n")
def test_any_mix_is_ported_once(text: str) -> None:
    """No crash, no second change; and what bash could read, it can read afterwards."""
    once = port_sources({PATH: text.encode()})[PATH]
    assert not [finding for finding in once.findings if finding.rule == "F10"]
    assert port_sources({PATH: once.data})[PATH].data == once.data
    if shutil.which("bash") and _readable(text.encode()):
        assert _readable(once.data)


def _readable(script: bytes) -> bool:
    return subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False).returncode == 0
