"""P17: paths, globs and suffixes of sources follow the files that the run renames, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.python.conftest import Notices, Port, Rewrites

TREE = {"csrc/a.cu": "", "csrc/b.cu": "", "csrc/h.cuh": "", "csrc/c.cpp": ""}
HEAD = "from torch.utils.cpp_extension import CUDAExtension\n"
MUSA = "from torch_musa.utils.musa_extension import MUSAExtension\n"


@pytest.mark.parametrize(
    "source",
    [
        "[os.path.join(here, 'csrc', 'a.cu')]",
        "[os.path.join('csrc', name) for name in ('a.cu', 'b.cu', 'c.cpp')]",
        "[f'{here}/csrc/a.cu']",
        "[f'csrc/{name}.cu' for name in names]",
        "[str(here / 'csrc' / 'a.cu'), \"csrc/c.cpp\"]",
        "sorted(glob.glob('csrc/*.cu')) + ['csrc/b.cu']",
        "list(pathlib.Path('csrc').rglob('*.cu'))",
        "['csrc/a.cu' if x else 'csrc/b.cu']",
        "[r'csrc/a.cu', 'csrc/''b.cu']",
    ],
)
def test_sources(rewrites: Rewrites, source: str) -> None:
    before, after = (f"('m', sources={text})\n" for text in (source, source.replace(".cu", ".mu")))
    rewrites(f"{HEAD}CUDAExtension{before}", f"{MUSA}MUSAExtension{after}", ["P15", "P17"], path="setup.py", tree=TREE)


@pytest.mark.parametrize(
    "text",
    [
        "s = ['csrc/a.cu']\ns += glob.glob('csrc/*.cu')\ns.append('csrc/b.cu')\n",
        "def sources():\n    return ['csrc/a.cu']\ns = sources()\n",
        "name = 'csrc/a.cu'\ns = [name]\n",
        "s = []\nfor name in ['csrc/a.cu', 'csrc/b.cu']:\n    s.append(name)\n",
        "class Build:\n    files = ['csrc/a.cu']\ns = Build.files\n",
    ],
)
def test_sources_that_flow(rewrites: Rewrites, text: str) -> None:
    rewrites(
        f"{HEAD}{text}CUDAExtension('m', s)\n",
        f"{MUSA}{text.replace('.cu', '.mu')}MUSAExtension('m', s)\n",
        ["P15", "P17"],
        path="setup.py",
        tree=TREE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "x = glob.glob('csrc/*.cu')\n",
        "x = glob.glob(os.path.join(here, 'csrc', '*.cuh'))\n",
        "x = Path(__file__).parent / 'csrc' / 'a.cu'\n",
        "x = [p for p in files if p.endswith('.cu') or p.endswith(('.cu', '.cuh'))]\n",
        "if p.suffix == '.cu' or p.suffix in {'.cuh'}: pass\n",
        "if os.path.splitext(p)[1] == '.cu': pass\n",
        "o = p.replace('.cu', '.o')\n",
        "with open('csrc/a.cu') as f: pass\n",
        "setup(package_data={'cuda': ['csrc/*.cuh', 'csrc/a.cu']}, data_files=[])\n",
    ],
)
def test_other_places_of_paths(rewrites: Rewrites, text: str) -> None:
    after = text.replace(".cuh", ".muh").replace(".cu'", ".mu'")
    rewrites(text, after, ["P17"], path="setup.py", tree=TREE)
    rewrites(text, path="setup.py", tree=TREE, rename_ext=False)


@pytest.mark.parametrize(
    "text",
    [
        "x = {'csrc/a.cu': 1}\nprint('csrc/a.cu')\n",
        "x = 'csrc/a.cu'\n",
        "glob.glob('other/*.cu')\nopen('gone.cu')\n",
        "x = 'the file csrc/a.cu is gone'\nopen('a.cubin')\n",
        "parser.add_argument('source', default='a.cu')\n",
        "out = name.replace('.cpp', '.cu')\n",
        "def f():\n    '''Reads csrc/a.cu'''\n",
    ],
)
def test_other_paths_stay(rewrites: Rewrites, text: str) -> None:
    rewrites(text, path="setup.py", tree=TREE)


def test_paths_left_in_other_places_are_noticed(notices: Notices) -> None:
    notices("x = {'csrc/a.cu': 1}\n", "a.cu", path="setup.py", tree=TREE)


def test_sources_that_keep_their_name(notices: Notices) -> None:
    """BuildExtension of torch_musa gives .cu files to the host compiler."""
    text = f"{HEAD}CUDAExtension('m', [\n    'csrc/a.cu'])\n"
    result = notices(text, "csrc/a.cu", path="setup.py", tree=TREE, rename_ext=False)
    assert "P17" in {finding.rule for finding in result.findings}


def test_suffix_when_only_some_files_are_renamed(port: Port) -> None:
    text = "x = glob.glob('csrc/*.cu')\ny = p.endswith('.cu')\n"
    assert port(text, path="setup.py", tree=TREE, exclude=("csrc/a.cu",)).data.decode() == text


def test_without_sources_in_the_tree(rewrites: Rewrites) -> None:
    rewrites("x = glob.glob('*.cu')\ny = p.endswith('.cu')\n")
