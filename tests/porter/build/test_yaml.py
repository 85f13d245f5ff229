"""YAML: environment blocks, scripts and images; the structure and every other value stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from musa_port import port_sources
from musa_port.build import yaml_text
from musa_port.build.yaml_text import Document
from musa_port.cuda import engine
from musa_port.cuda.index import build
from musa_port.draft import Draft
from musa_port.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from tests.porter.conftest import Check

PATH = "ci.yml"


def case(before: str, after: str | None = None, *findings: str) -> Any:
    """One row; without `after`, nothing may change."""
    return pytest.param(before, after, findings, id=before.replace("\n", " ")[:60])


ENVIRONMENT = [
    case("env:\n  CUDA_HOME: /usr/local/cuda  # CUDA_HOME\n", "env:\n  MUSA_HOME: /usr/local/musa  # CUDA_HOME\n"),
    case(
        "env: {CUDA_HOME: '/usr/local/cuda', \"NCCL_ROOT\": x}\n",
        "env: {MUSA_HOME: '/usr/local/musa', \"MCCL_ROOT\": x}\n",
    ),
    case(
        "environment:\n  - CUDA_HOME=/usr/local/cuda\n  - CUDNN_PATH\n",
        "environment:\n  - MUSA_HOME=/usr/local/musa\n  - MUDNN_PATH\n",
    ),
    case(
        "env:\n- name: CUDA_HOME\n  value: /usr/local/cuda\n- {name: X, value: $(CUDA_HOME)}\n",
        "env:\n- name: MUSA_HOME\n  value: /usr/local/musa\n- {name: X, value: $(MUSA_HOME)}\n",
    ),
    case(
        "variables:\n  CUDA_HOME:\n    value: /usr/local/cuda\n    description: CUDA_HOME\n",
        "variables:\n  MUSA_HOME:\n    value: /usr/local/musa\n    description: CUDA_HOME\n",
    ),
    case("env:\n  TORCH_CUDA_ARCH_LIST: 8.0;9.0\n", "env:\n  TORCH_MUSA_ARCH_LIST: 22;31\n", "B40 info 2", "B42 info 2"),
    case("env:\n  CUDA_HOME: /usr/local/cuda-12\n", "env:\n  MUSA_HOME: /usr/local/cuda-12\n", "B2 error 2"),
    case("env:\n  CUDA_DEVICE_ORDER: PCI_BUS_ID\n  NCCL_FANCY: 1\n", None, "B41 warning 2", "B41 info 3"),
    case(
        "env:\n  NCCL_ASYNC_ERROR_HANDLING: 1\n  TORCH_NCCL_ASYNC_ERROR_HANDLING: 1\n",
        "env:\n  MCCL_ASYNC_ERROR_HANDLING: 1\n  TORCH_MCCL_ASYNC_ERROR_HANDLING: 1\n",
    ),
    case("env:\n  CUDA_HOME: a\n  MUSA_HOME: b\n", None, "B41 info 2"),
    case(
        "env: &e {CUDA_HOME: a}\nx:\n  env:\n    <<: *e\n    NCCL_ROOT: 1\n",
        "env: &e {MUSA_HOME: a}\nx:\n  env:\n    <<: *e\n    MCCL_ROOT: 1\n",
    ),
    case("env:\n  X: ${CUDA_HOME}/lib64\n  CUDA_HOME: a\n", "env:\n  X: ${MUSA_HOME}/lib\n  MUSA_HOME: a\n"),
    case("a: ${{ env.CUDA_HOME }}\nif: env.CUDA_HOME != ''\n", "a: ${{ env.MUSA_HOME }}\nif: env.MUSA_HOME != ''\n"),
    case("services:\n  a:\n    image: x:${CUDNN_PATH:-1}\n", "services:\n  a:\n    image: x:${MUDNN_PATH:-1}\n"),
    case("build:\n  args:\n    CUDA_HOME: 1\n", "build:\n  args:\n    MUSA_HOME: 1\n"),
    case("with:\n  build-args: |\n    CUDA_HOME=1\n    X=2\n", "with:\n  build-args: |\n    MUSA_HOME=1\n    X=2\n"),
    case(
        "env:\n  CIBW_ENVIRONMENT: FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST='8.0'\n",
        "env:\n  CIBW_ENVIRONMENT: FORCE_MUSA=1 TORCH_MUSA_ARCH_LIST='22'\n",
        "B40 info 2",
        "B40 info 2",
        "B42 info 2",
    ),
    case(
        "env:\n  CUDA_HOME: a\n---\nenv:\n  CUDA_HOME: b\n...\n",
        "env:\n  MUSA_HOME: a\n---\nenv:\n  MUSA_HOME: b\n...\n",
    ),
    case("env:\n  DEVICE: cuda\n", None, "B42 warning 2"),
]

SCRIPTS = [
    case("run: CUDA_HOME=1 make\n", "run: MUSA_HOME=1 make\n"),
    case(
        "run: |\n  export CUDA_HOME=1\n  cat <<EOF\n  $CUDA_HOME\n  EOF\n  CUDA_HOME=2 x\n",
        "run: |\n  export MUSA_HOME=1\n  cat <<EOF\n  $MUSA_HOME\n  EOF\n  MUSA_HOME=2 x\n",
    ),
    case("run: |-2\n    export CUDA_HOME=1\n", "run: |-2\n    export MUSA_HOME=1\n"),
    case("run: >-\n  python t.py\n  --device\n  cuda\n", "run: >-\n  python t.py\n  --device\n  musa\n"),
    case("run: python t.py\n  --device cuda\n", "run: python t.py\n  --device musa\n"),
    case(
        'run: "CUDA_HOME=1 x \\"$CUDA_HOME\\" \\\n  $CUDA_HOME"\n',
        'run: "MUSA_HOME=1 x \\"$MUSA_HOME\\" \\\n  $MUSA_HOME"\n',
    ),
    case("run: 'echo ''a''; CUDA_HOME=1 x'\n", "run: 'echo ''a''; MUSA_HOME=1 x'\n"),
    case(
        "script:\n  - CUDA_HOME=1 x\n  - - nvcc a.cpp\n", "script:\n  - MUSA_HOME=1 x\n  - - mcc a.cpp\n", "B44 info 3"
    ),
    case("script: &s !!str CUDA_HOME=1 x\nscript2: *s\n", "script: &s !!str MUSA_HOME=1 x\nscript2: *s\n"),
    case("command: [python, t.py, --device, cuda]\n", "command: [python, t.py, --device, musa]\n"),
    case(
        'command: ["bash", "-c"]\nargs: ["-c", "CUDA_HOME=1 x"]\n',
        'command: ["bash", "-c"]\nargs: ["-c", "MUSA_HOME=1 x"]\n',
    ),
    case("commands:\n  - CUDA_HOME=1 x\n", "commands:\n  - MUSA_HOME=1 x\n"),
    case(
        "run: python t.py --device cuda --x ${{ matrix.cuda }} ${{ env.CUDA_HOME }}\n",
        "run: python t.py --device musa --x ${{ matrix.cuda }} ${{ env.MUSA_HOME }}\n",
    ),
    case("run: |\n  é() { CUDA_HOME=é x; }\n", "run: |\n  é() { MUSA_HOME=é x; }\n"),
    case("shell: ruby\nrun: ENV['CUDA_HOME']\n", None, "B53 info 2"),
    case("shell: bash -e {0}\nrun: CUDA_HOME=1 x\n", "shell: bash -e {0}\nrun: MUSA_HOME=1 x\n"),
    case("run: nvidia-smi\n", None, "B46 warning 1"),
]

LEFT = [
    case("image: nvidia/cuda:12.4.1-devel\n", None, "B50 error 1"),
    case(
        "container:\n  image: 'nvcr.io/nvidia/pytorch:24.05-py3'\n  options: --gpus all\n",
        None,
        "B50 error 2",
        "B51 warning 3",
    ),
    case("image:\n  name: nvidia/cuda:12.4.1-devel\n", None, "B50 error 2"),
    case("uses: Jimver/cuda-toolkit@v0.2.16\n", None, "B62 warning 1"),
    case("resources: {limits: {nvidia.com/gpu: 1}}\nruntime: nvidia\n", None, "B51 warning 1", "B51 warning 2"),
    case("devices: [{driver: nvidia, capabilities: [gpu]}]\n", None, "B51 warning 1"),
    case(
        "device: cuda\nbackend: nccl\npath: /usr/local/cuda/lib64\n",
        "device: musa\nbackend: mccl\npath: /usr/local/cuda/lib64\n",
        "B61 info 3",
    ),
    case("devices: [cuda:0, 'cuda:1']\nmap-location: cuda\n", "devices: [musa:0, 'musa:1']\nmap-location: musa\n"),
    case("accelerator: gpu\n", None, "B61 warning 1"),
    case("device: cuda\nother: musa\n", None, "B61 info 1"),
    case("device_name: cuda core\n# device: cuda\ntarget_device: musa\n", None),
    case("cuda: [cuda, 'cuda:0']\nCUDA_HOME: x\nname: build with CUDA_HOME\n", None, "B61 info 1", "B61 info 1"),
    case(
        "dependencies:\n  - cudatoolkit=11.8\n  - pip:\n    - torch==2.1+cu118\n",
        None,
        "B52 warning 2",
        "B72 error 4",
        "B73 info 4",
    ),
    case("{% if cuda %}\nenv: {CUDA_HOME: x}\n", None, "B60 info 1"),
    case("env:\n\tCUDA_HOME: x\n", None, "B60 info 2"),
    case("# musa-port: off\nenv:\n  CUDA_HOME: x\n# musa-port: on\n", None, "C60 info 1"),
    case("# env: {CUDA_HOME: x}\n"),
    case("env: *CUDA_HOME\n", None, "B60 info 1"),
    case("env: &e [CUDA_FREE, *e]\nscript: &s [*s]\n", None, "B41 info 1"),
]


@pytest.mark.parametrize(("before", "after", "findings"), ENVIRONMENT + SCRIPTS + LEFT)
def test_yaml(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({PATH: before}, None if after is None else {PATH: after}, findings)
    if after is not None:
        assert _shape(before) == _shape(after)


def test_no_key_comes_twice(check: Check, tmp_path: Path) -> None:
    """Of two variables that have one name on MUSA, the second stays."""
    mapping = tmp_path / "map.csv"
    mapping.write_text("cuda_name,musa_name,kind\nNCCL_A,MCCL_A,env\nNCCL_OLD_A,MCCL_A,env\n")
    before, after = "env:\n  NCCL_A: 1\n  NCCL_OLD_A: 1\n", "env:\n  MCCL_A: 1\n  NCCL_OLD_A: 1\n"
    check({PATH: before}, {PATH: after}, ("B41 info 3",), options=Options(map_files=(mapping,)))


def _shape(text: str) -> list[Any]:
    """What the documents hold, with every string replaced by its type."""
    return [_types(node) for node in yaml.safe_load_all(text)]


def _types(value: Any) -> Any:
    if isinstance(value, dict):
        return [_types(inner) for inner in value.values()]
    return [_types(inner) for inner in value] if isinstance(value, list) else type(value).__name__


def test_paths_of_sources_follow() -> None:
    before = b"on:\n  push:\n    paths: ['csrc/**.cu', csrc/a.cu, other/b.cu]\nrun: x csrc/a.cu\n"
    result = port_sources({".github/workflows/ci.yml": before, "csrc/a.cu": b""})[".github/workflows/ci.yml"]
    assert result.data == before.replace(b"csrc/**.cu", b"csrc/**.mu").replace(b"csrc/a.cu", b"csrc/a.mu")


@pytest.mark.parametrize(
    "data",
    [
        b"env:\r\n  CUDA_HOME: x\r\nrun: |\r\n  CUDA_HOME=1 x\r\n",
        b"\xef\xbb\xbfenv:\n  CUDA_HOME: x",
        "a: 显\nenv: {CUDA_HOME: é}\nrun: echo 显 $CUDA_HOME".encode(),
        b"a: \xe9 # \xff\nenv:\n  CUDA_HOME: \xe9x\n",
        b"env:   \n\n  CUDA_HOME   :   x   # c\n\n\n",
        b"---\nenv: { CUDA_HOME : x , }\n...\n",
    ],
)
def test_other_bytes_stay(data: bytes) -> None:
    assert port_sources({PATH: data})[PATH].data == data.replace(b"CUDA_HOME", b"MUSA_HOME")


TEXTS = st.sampled_from([row.values[0] for row in ENVIRONMENT + SCRIPTS + LEFT])


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(texts=st.lists(TEXTS | st.sampled_from(["# é 显\r\n", "\n", "a: 'é'\n"]), max_size=5))
def test_both_parsers_give_the_same_places(loader: str, texts: list[str]) -> None:
    """Each text that PyYAML reads stands where the fragment says; libyaml and the parser in Python agree."""
    if not hasattr(yaml, loader):
        pytest.skip("PyYAML was built without libyaml")
    data = "---\n".join(texts).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_text, "_LOADER", getattr(yaml, loader))
        for text, at in _scalars(data):
            for char, place in zip(text, at, strict=True):
                if char not in " \n":
                    assert data[place:].startswith(char.encode()) or data[place : place + 1] == b"\\"


def _scalars(data: bytes) -> list[tuple[str, list[int]]]:
    draft = Draft(PATH, data, build([], {}, {}, []), engine.load(Options()))
    try:
        document = Document(draft)
    except yaml_text.NotYaml:
        return []
    scalars = [node for root in document.nodes for node in _nodes(root, set())]
    found = [document.fragment(node) for node in scalars]
    assert all(text is not None for text in found)
    return [(text.text, list(text.at)) for text in found if text is not None]


def _nodes(node: yaml.Node, seen: set[int]) -> list[yaml.ScalarNode]:
    if id(node) in seen:
        return []
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return [node]
    children = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
    return [inner for child in children for inner in _nodes(child, seen)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(TEXTS | st.sampled_from(["---\n", "  - ", "'", '"', "|\n", "é"]), max_size=6).map("".join))
def test_any_mix_is_ported_once(text: str) -> None:
    once = port_sources({PATH: text.encode()})[PATH]
    assert not [finding for finding in once.findings if finding.rule == "F10"]
    assert port_sources({PATH: once.data})[PATH].data == once.data


@pytest.mark.parametrize("target", ["torch.cuda.amp.GradScaler", "apex.optimizers.FusedAdam"])
def test_names_of_objects_are_reported(check: Check, target: str) -> None:
    """`_target_` of Hydra and its like."""
    text = f"_target_: {target}\n"
    check({"c.yaml": text}, {"c.yaml": text}, ("B61 info 1",))
