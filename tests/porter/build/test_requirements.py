"""Requirements of Python: files of pip, pyproject.toml and setup.cfg."""

from __future__ import annotations

import configparser
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement

from musa_port import port_sources
from musa_port.build.distributions import is_toolkit, normalise, row_for
from musa_port.build.toml_strings import strings
from musa_port.mappings import read_rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

if TYPE_CHECKING:
    from tests.porter.conftest import Check

REQUIREMENTS, PYPROJECT, SETUP = "requirements.txt", "pyproject.toml", "setup.cfg"


def case(before: str, after: str | None = None, *findings: str) -> Any:
    """One row; without `after`, nothing may change."""
    return pytest.param(before, after, findings, id=before.replace("\n", " ")[:60])


LINES = [
    case("nvidia-cublas-cu12==12.4.5.8\nnumpy\n", "numpy\n", "B70 warning 1"),
    case("numpy\nnvidia-cublas-cu12", "numpy\n", "B70 warning 2"),
    case("nvidia-nccl-cu12 ; platform_system == 'Linux'  # NCCL\nnumpy\n", "numpy\n", "B70 warning 1"),
    case("Nvidia_CuDNN.cu12>=9\nnumpy\n", "numpy\n", "B70 warning 1"),
    case(
        "nvidia-cudnn-cu12==9 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n    # via\n    #   torch\nnumpy\n",
        "numpy\n",
        "B70 warning 1",
    ),
    case("# nvidia-cublas-cu12\n\n  numpy # nvidia-cublas-cu12\n"),
    case("nvidia-ml-py==12.555  # cuda\n", "mthreads-ml-py  # cuda\n", "B71 info 1"),
    case(
        "nvidia_ml_py [x] >=12,<13 ; python_version > '3'\n",
        "mthreads-ml-py [x] ; python_version > '3'\n",
        "B71 info 1",
    ),
    case("nvidia-ml-py==12 --hash=sha256:aa\n", None, "B71 warning 1"),
    case("pynvml\nnvitop\nflash-attn>=2 # cuda\n", None, "B71 warning 1", "B71 warning 2", "B71 warning 3"),
    case("cupy-cuda12x\ncupy-cuda11x==13\ncuda-python\n", None, "B71 error 1", "B71 error 2", "B71 error 3"),
    case("torch==2.4.0+cu121\ntorchvision==0.19+cu121\n# cuda\n", None, "B72 error 1", "B72 error 2", "B73 info 1"),
    case("torch\ntorch>=2 # cuda\n", None, "B73 info 1"),
    case("--extra-index-url https://download.pytorch.org/whl/cu124\n-r cuda.txt\n", None, "B72 warning 1"),
    case("pkg @ https://x.y/cuda/pkg-1+cu121-none.whl\n", None, "B72 warning 1"),
    case(
        "nvidia-dali-cuda120\nnvidia-modelopt\nspconv-cu120\n", None, "B71 warning 1", "B71 warning 2", "B71 warning 3"
    ),
    case("./wheels/cuda.whl\n-e .\ngit+https://x.y/cuda.git\n"),
    case("my-cudalib\nbarracuda\ncudacanvas\n"),
    case("# musa-port: off\nnvidia-cublas-cu12\n# musa-port: on\n", None, "C60 info 1"),
]


@pytest.mark.parametrize(("before", "after", "findings"), LINES)
def test_requirements(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({REQUIREMENTS: before}, None if after is None else {REQUIREMENTS: after}, findings)


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "constraints.txt", "requirements.in"]
)
@pytest.mark.parametrize("data", [b"a\r\nnvidia-nccl-cu12\r\nb # \xe9\r\n", b"\xef\xbb\xbfa\nnvidia-nccl-cu12\n"])
def test_names_and_other_bytes(name: str, data: bytes) -> None:
    after = data.replace(b"nvidia-nccl-cu12\r\n", b"").replace(b"nvidia-nccl-cu12\n", b"")
    assert port_sources({name: data})[name].data == after


@pytest.mark.parametrize(
    "row", [row for row in read_rows("libraries") if row.kind == "python-package"], ids=lambda row: row.cuda
)
def test_each_package_of_the_table(row: Any) -> None:
    """A row that is certain renames; every other one is told, and the line stays or goes."""
    result = port_sources({REQUIREMENTS: f"{row.cuda}\n# cuda\n".encode()})[REQUIREMENTS]
    assert len(result.findings) == 1
    certain = row.supported and row.confidence == "high" and " " not in row.musa
    expected = "" if is_toolkit(row.cuda) else f"{row.musa if certain else row.cuda}\n"
    assert result.data.decode() == expected + "# cuda\n"


def test_wheels_for_other_versions_of_cuda_have_the_same_row() -> None:
    assert row_for("cupy-cuda11x") == row_for("cupy-cuda12x") == row_for("cupy")
    assert row_for("numpy") is row_for("cu12") is row_for("cuda") is None
    assert normalise("A_b.-C") == "a-b-c"


DOCUMENTS = [
    case(
        '[project]\ndependencies = ["a", "nvidia-nccl-cu12==2", "b"]\n',
        '[project]\ndependencies = ["a", "b"]\n',
        "B70 warning 2",
    ),
    case('[project]\ndependencies = ["a", "nvidia-nccl-cu12"]\n', '[project]\ndependencies = ["a"]\n', "B70 warning 2"),
    case('[project]\ndependencies = ["nvidia-nccl-cu12"]\n', "[project]\ndependencies = []\n", "B70 warning 2"),
    case(
        '[project]\ndependencies = ["nvidia-nccl-cu12", "nvidia-cublas-cu12", "a"]\n',
        '[project]\ndependencies = ["a"]\n',
        "B70 warning 2",
        "B70 warning 2",
    ),
    case(
        "[project]\ndependencies = [\n  'a', # x\n  'nvidia-nccl-cu12', # y\n  'b',\n]\n",
        "[project]\ndependencies = [\n  'a', # x\n  'b',\n]\n",
        "B70 warning 4",
    ),
    case(
        "[project]\ndependencies = [\n  'a',\n  'nvidia-nccl-cu12'\n]\n",
        "[project]\ndependencies = [\n  'a',\n]\n",
        "B70 warning 4",
    ),
    case(
        '[project.optional-dependencies]\ngpu = ["nvidia-ml-py>=12", "cupy-cuda12x"]\n',
        '[project.optional-dependencies]\ngpu = ["mthreads-ml-py", "cupy-cuda12x"]\n',
        "B71 info 2",
        "B71 error 2",
    ),
    case('[build-system]\nrequires = ["torch", "ninja"] # cuda\n', None, "B73 info 2"),
    case(
        '[dependency-groups]\ndev = ["nvidia-cublas-cu12", {include-group = "x"}]\n',
        '[dependency-groups]\ndev = [{include-group = "x"}]\n',
        "B70 warning 2",
    ),
    case('build-system.requires = ["nvidia-cublas-cu12"]\n', "build-system.requires = []\n", "B70 warning 1"),
    case(
        '[tool.uv]\ndev-dependencies = ["nvidia-cublas-cu12"]\n[[tool.uv.index]]\nurl = "https://a.b/whl/cu124"\n',
        '[tool.uv]\ndev-dependencies = []\n[[tool.uv.index]]\nurl = "https://a.b/whl/cu124"\n',
        "B70 warning 2",
        "B72 warning 4",
    ),
    case('[tool.poetry.dependencies]\nnvidia-ml-py = "^12"\n', None, "B71 warning 2"),
    case(
        '[tool.cibuildwheel]\nenvironment = {CUDA_HOME = "/usr/local/cuda"}\nbefore-all = "CUDA_HOME=1 x"\n',
        '[tool.cibuildwheel]\nenvironment = {MUSA_HOME = "/usr/local/musa"}\nbefore-all = "MUSA_HOME=1 x"\n',
    ),
    case(
        "[tool.cibuildwheel.linux]\nenvironment = \"FORCE_CUDA=1 CUDA_HOME='/usr/local/cuda'\"\n",
        "[tool.cibuildwheel.linux]\nenvironment = \"FORCE_MUSA=1 MUSA_HOME='/usr/local/musa'\"\n",
        "B40 info 2",
    ),
    case(
        '[tool.scikit-build]\ncmake.args = ["-DCMAKE_CUDA_ARCHITECTURES=80;90", "-DX=1"]\n',
        '[tool.scikit-build]\ncmake.args = ["-DMUSA_ARCHITECTURES=22;31", "-DX=1"]\n',
        "B48 info 2",
    ),
    case(
        '[tool]\nscikit-build.cmake.define.CMAKE_CUDA_ARCHITECTURES = "80"\n',
        '[tool]\nscikit-build.cmake.define.MUSA_ARCHITECTURES = "22"\n',
        "B48 info 2",
    ),
    case('[tool.scikit-build.cmake.define]\n"USE_CUDA" = "ON"\n', None, "B48 info 2"),
    case('[project]\nname = "cuda-x"\ndescription = "nvidia-cublas-cu12"\nurls.x = "https://x.y/cuda"\n'),
    case('[project]\nkeywords = ["nvidia-cublas-cu12", "CUDA_HOME"]\n'),
    case('[tool.other]\ndependencies = ["nvidia-cublas-cu12"]\nenvironment = {CUDA_HOME = "x"}\n'),
    case('# dependencies = ["nvidia-cublas-cu12"]\n[project]\nx = """\ndependencies = ["nvidia-cublas-cu12"]\n"""\n'),
]


@pytest.mark.parametrize(("before", "after", "findings"), DOCUMENTS)
def test_pyproject(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({PYPROJECT: before}, None if after is None else {PYPROJECT: after}, findings)
    tomllib.loads(after or before)


SPECIFIERS = st.sampled_from(["", "==1", ">=1,<2", " ~= 1.0", "; python_version > '3'", "[x]"])
ELEMENTS = st.tuples(
    st.sampled_from(["a", "torch", "nvidia-nccl-cu12", "nvidia-ml-py", "cupy", "x-cuda"]), SPECIFIERS
).map("".join)
SEPARATORS = st.sampled_from([", ", ",", ",\n  ", " ,\n\n", ", # c, ]\n  ", ",\r\n\t"])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(ELEMENTS, SEPARATORS), max_size=5),
    st.booleans(),
    st.sampled_from(["", " ", "\n", "# ]\n"]),
)
def test_a_list_loses_exactly_the_wheels(items: list[tuple[str, str]], trailing: bool, start: str) -> None:
    """What TOML reads afterwards is what it read before, without the wheels."""
    body = "".join(f'"{item}"{separator}' for item, separator in items)
    if items and not trailing:
        body = body[: len(body) - len(items[-1][1])]
    text = f"[project]\ndependencies = [{start}{body}]\nx = 'cuda'\n"
    before = tomllib.loads(text.replace("\r\n", "\n"))["project"]["dependencies"]
    data = port_sources({PYPROJECT: text.encode()})[PYPROJECT].data
    after = tomllib.loads(data.decode().replace("\r\n", "\n"))["project"]["dependencies"]
    kept = [Requirement(item).name for item in before if not item.startswith("nvidia-nccl")]
    assert [Requirement(item).name for item in after] == [name.replace("nvidia-ml", "mthreads-ml") for name in kept]
    assert port_sources({PYPROJECT: data})[PYPROJECT].data == data


VALUES = st.recursive(
    st.text("ab \"'#[]{}=,\\", max_size=5) | st.integers(0, 9) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, max_size=4),
    st.sampled_from([", ", " ,\n # ' ] \n", ","]),
)
def test_strings_are_those_that_toml_reads(table: dict[str, Any], separator: str) -> None:
    text = "[t.'u v']\n" + "".join(f"{key} = {_toml(value, separator)} # c\n" for key, value in table.items())
    found = [(string.path, text[slice(*string.outer)]) for string in strings(text)]
    expected = [(("t", "u v", key, *path), value) for key, inner in table.items() for path, value in _strings(inner)]
    assert [(path, tomllib.loads("x = " + quoted)["x"]) for path, quoted in found] == expected
    assert tomllib.loads(text)["t"]["u v"] == table


def _toml(value: Any, separator: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f"'{value}'" if "'" not in value else f'"{escaped}"'
    if isinstance(value, list):
        return "[" + separator.join(_toml(item, separator) for item in value) + "]"
    return "{" + ", ".join(f"{key} = {_toml(item, ', ')}" for key, item in value.items()) + "}"


def _strings(value: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, list):
        return [found for item in value for found in _strings(item, path)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _strings(item, (*path, key))]
    return []


SETTINGS = [
    case(
        "[options]\ninstall_requires =\n    a\n    nvidia-nccl-cu12==2\n    nvidia-ml-py>=1\n",
        "[options]\ninstall_requires =\n    a\n    mthreads-ml-py\n",
        "B70 warning 4",
        "B71 info 5",
    ),
    case("[options]\nsetup_requires = nvidia-nccl-cu12\n", "[options]\nsetup_requires = \n", "B70 warning 2"),
    case(
        "[options.extras_require]\ngpu =\n  cupy-cuda12x\n  # nvidia-nccl-cu12\n  torch\n",
        None,
        "B71 error 3",
        "B73 info 5",
    ),
    case("[options]\npackages = nvidia-nccl-cu12\n[other]\ninstall_requires =\n  nvidia-nccl-cu12\n"),
    case("[metadata]\nname = cuda\ndescription =\n  nvidia-nccl-cu12\n"),
]


@pytest.mark.parametrize(("before", "after", "findings"), SETTINGS)
def test_setup_cfg(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({SETUP: before}, None if after is None else {SETUP: after}, findings)
    configparser.ConfigParser().read_string(after or before)


NAMES = st.sampled_from(["nvidia-nccl-cu12", "nvidia-ml-py", "Torch", "cupy", "flash_attn", "a"])
TAILS = st.sampled_from(
    [
        "",
        "==1.0",
        " >= 1 , < 2",
        "[x,y]",
        "[x]==1",
        " ; python_version<'3'",
        "==1; os_name=='a'",
        " @ https://x.y/cuda",
        "~=1.0+cu121",
    ]
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(NAMES, TAILS, st.sampled_from(["", "  # c", " \\\n  --hash=sha256:a", "\r"]))
def test_what_stays_is_a_requirement(name: str, tail: str, end: str) -> None:
    """`packaging` reads the same extras and marker out of what is left."""
    try:
        before = Requirement(name + tail)
    except InvalidRequirement:
        return
    data = port_sources({REQUIREMENTS: f"{name}{tail}{end}\n# cuda\n".encode()})[REQUIREMENTS].data.decode()
    if is_toolkit(normalise(name)):
        assert data == "# cuda\n"
        return
    after = Requirement(data.split("\n")[0].split("  #")[0].split(" \\")[0].strip())
    assert (after.extras, str(after.marker)) == (before.extras, str(before.marker))
    assert after.name == (before.name if data.startswith(name) else "mthreads-ml-py")


@pytest.mark.parametrize("path", [REQUIREMENTS, PYPROJECT, SETUP])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from([row.values[0] for row in LINES + DOCUMENTS + SETTINGS])
        | st.sampled_from(['"', "'", '"""', "[", "]", "\\\n", "=", ",", "é", "#"]),
        max_size=8,
    ).map("".join)
)
def test_any_mix_is_ported_once(path: str, text: str) -> None:
    once = port_sources({path: text.encode()})[path]
    assert not [finding for finding in once.findings if finding.rule == "F10"]
    assert port_sources({path: once.data})[path].data == once.data


@pytest.mark.parametrize(
    ("path", "text", "finding"),
    [
        ("requirements.txt", "onnxruntime-gpu>=1.18\n", "B71 error 1"),
        ("requirements.txt", "faiss_gpu\n", "B71 error 1"),
        ("requirements.txt", "somebody-gpu>=1.18\n", "B71 warning 1"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nx = { version = "2.5.1+cu124", source = "y" }\n', "B72 error 2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nx = "2.5.1+cu124"\n', "B72 error 2"),
        ("pyproject.toml", '[[tool.uv.index]]\nurl = "https://a.org/whl/cu124"\n', "B72 warning 2"),
        ("pyproject.toml", '[dependency-groups]\ng = ["cupy-cuda12x"]\n', "B71 error 2"),
    ],
)
def test_builds_for_cuda_are_reported(check: Check, path: str, text: str, finding: str) -> None:
    check({path: text}, {path: text}, (finding,))


def test_names_that_only_look_like_builds_for_cuda(check: Check) -> None:
    check({"requirements.txt": "gpustat\ngputil-x\n# onnxruntime-gpu\n"}, None)
