"""Python in scripts, images, makefiles and workflows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.conftest import Check

LINE = "import torch; print(torch.cuda.is_available())"
PORTED = "import torch; import torch_musa; print(torch.musa.is_available())"
BLOCK = "import torch\nx = torch.zeros(1, device='cuda')\n"
BLOCK_PORTED = "import torch\nimport torch_musa\nx = torch.zeros(1, device='musa')\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.sh", 'python -c "{line}"\n'),
        ("a.sh", "CUDA=1 python3.11 -u -c '{line}' && x\n"),
        ("a.sh", 'x=$(python -c "{line}")\n'),
        ("a.sh", "sudo docker run img python3 -c '{line}'\n"),
        ("a.sh", "python - <<'EOF'\n{block}EOF\nx\n"),
        ("a.sh", "python3 <<EOF\n{block}EOF\n"),
        ("a.sh", "cat > t.py <<'EOF'\n{block}EOF\n"),
        ("Dockerfile", 'FROM a\nRUN python -c "{line}"\n'),
        ("Dockerfile", 'FROM a\nCMD ["python", "-c", "{line}"]\n'),
        ("Dockerfile", "FROM a\nRUN python3 - <<EOF\n{block}EOF\n"),
        ("Dockerfile", "FROM a\nRUN <<EOF\n#!/usr/bin/env python3\n{block}EOF\n"),
        ("Makefile", 'x:\n\tpython -c "{line}"\n'),
        ("Makefile", "V := $(shell $(PYTHON) -c '{line}')\n"),
        ("ci.yml", "jobs:\n  b:\n    steps:\n      - run: |\n          python -c '{line}'\n"),
    ],
)
def test_python_is_ported(check: Check, path: str, text: str) -> None:
    before = text.replace("{line}", LINE).replace("{block}", BLOCK)
    check({path: before}, {path: text.replace("{line}", PORTED).replace("{block}", BLOCK_PORTED)})


def test_python_in_an_indented_block(check: Check) -> None:
    def step(block: str, head: str = "shell: python") -> str:
        return f"steps:\n  - {head}\n    run: |\n" + re.sub("^", "      ", block.rstrip("\n"), flags=re.M) + "\n"

    check({"ci.yml": step(BLOCK)}, {"ci.yml": step(BLOCK_PORTED)})
    script = "python - <<'EOF'\n{}EOF\n"
    check({"ci.yml": step(script.format(BLOCK), "x: y")}, {"ci.yml": step(script.format(BLOCK_PORTED), "x: y")})


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        # what the shell puts in stays; escaped quotes are reported
        (
            "python -c \"import torch; torch.cuda.set_device($RANK)\"\n",
            "python -c \"import torch; import torch_musa; torch.musa.set_device($RANK)\"\n",
            (),
        ),
        ("python -c 'import torch; torch.cuda.x('\n", None, ("B43 warning 1",)),
        (
            'python -c "import torch; x = torch.zeros(1, device=\\"cuda\\")"\n',
            'python -c "import torch; import torch_musa; x = torch.zeros(1, device=\\"musa\\")"\n',
            (),
        ),
        ("python -c 'print(1)' --x cuda.py\npython x.py -c 'torch.cuda.x()'\necho 'torch.cuda.x()'\n", None, ()),
        ("cat > t.txt <<'EOF'\ntorch.cuda.synchronize()\nEOF\n", None, ()),
    ],
)
def test_python_that_a_script_holds(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    check({"a.sh": before}, {"a.sh": after or before}, findings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("python run.py --device cuda --backend=nccl", "python run.py --device musa --backend=mccl"),
        ("MUSA_X=1 torchrun x.py --device=cuda:0", "MUSA_X=1 torchrun x.py --device=musa:0"),
        ("@$(PYTHON) -m pkg --device cuda", "@$(PYTHON) -m pkg --device musa"),
        ("./tool --mode cuda --cuda", "./tool --mode cuda --cuda"),
    ],
)
def test_options_of_programs_in_recipes(check: Check, before: str, after: str) -> None:
    check({"Makefile": f"x:\n\t{before}\n"}, {"Makefile": f"x:\n\t{after}\n"})
