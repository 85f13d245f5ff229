"""Makefiles: what each family of rules changes, reports and leaves alone; and make itself on a port."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from musa_port import Options, port_sources, rules
from musa_port.api import port_tree
from musa_port.build.make.lexer import Line, lines, words
from musa_port.model import Severity

Check = Callable[..., Any]
PATH = "Makefile"
SOURCES = {"a.cu": "", "src/b.cu": "", "util.cuh": "", "host.cpp": ""}


@pytest.fixture
def make(check: Check) -> Check:
    """`check` for one makefile in a tree with sources. A comment at the end makes a rule look at the file at all."""

    def run(
        before: str | bytes,
        after: str | bytes,
        findings: tuple[str, ...] = (),
        options: Options | None = None,
    ) -> None:
        if isinstance(before, str) and isinstance(after, str):
            before, after = before + "\n# cuda", after + "\n# cuda"
        placed = tuple(" ".join([*finding.split(" ")[:2], f"{PATH}:{finding.split(' ')[2]}"]) for finding in findings)
        check({PATH: before, **SOURCES}, {PATH: after}, placed, options)

    return run


# ---- the compiler -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("NVCC = nvcc\nx:\n\t$(NVCC) -c a.cu", "MCC = mcc\nx:\n\t$(MCC) -c a.mu", ()),
        ("NVCC ?= $(CUDA_HOME)/bin/nvcc\nx:\n\t@${NVCC} y", "MCC ?= $(MUSA_HOME)/bin/mcc\nx:\n\t@${MCC} y", ()),
        ("export NVCC := nvcc -ccbin g++\nifdef NVCC\nendif", "export MCC := mcc\nifdef MCC\nendif", ()),
        ("x:\n\t$(NVCC) -c a.cu", "x:\n\t$(MCC) -c a.mu", ()),
        ("x: ; nvcc a.cu && echo nvcc", "x: ; mcc a.mu && echo nvcc", ()),
        ("x:\n\t-@ccache nvcc -arch=sm_80 a.cu", "x:\n\t-@ccache mcc --offload-arch=mp_22 a.mu", ("B1 warning 2",)),
        ("V := $(shell $(NVCC) --version)", "V := $(shell $(MCC) --version)", ()),
        ("V := $(shell nvcc --version)", "V := $(shell mcc --version)", ("B30 warning 1",)),
        ("W := $(shell which nvcc)", "W := $(shell which mcc)", ()),
        # something else is put into the variable, or its new name is taken
        (
            "NVCC = nvcc\nifdef X\nNVCC = clang++\nendif",
            "NVCC = mcc\nifdef X\nNVCC = clang++\nendif",
            ("B30 warning 3",),
        ),
        ("NVCC = nvcc\nNVCC_FLAGS = -O3\nMY_NVCC = $(NVCC)", "MCC = mcc\nNVCC_FLAGS = -O3\nMY_NVCC = $(MCC)", ()),
        ("CC = nvcc\nx:\n\t$(CC) -G a.cu", "CC = mcc\nx:\n\t$(CC) -g a.mu", ("B1 warning 3",)),
        ("x:\n\tnvidia-smi && cuda-gdb ./x", "x:\n\tnvidia-smi && cuda-gdb ./x", ("B15 warning 2", "B15 warning 2")),
    ],
)
def test_compiler(make: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    make(before, after, findings)


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        (
            "NVCCFLAGS = -O3 -Xcompiler -fPIC \\\n  -Xptxas -v \\\n  -gencode arch=compute_90,code=sm_90",
            "NVCCFLAGS = -O3 -fPIC \\\n  --offload-arch=mp_31",
            ("B1 warning 3",),
        ),
        ("MINE = -G\nx:\n\tnvcc $(MINE) a.cu", "MINE = -g\nx:\n\tmcc $(MINE) a.mu", ("B1 warning 1",)),
        (
            "INNER = -G\nMINE = $(INNER)\nx:\n\tnvcc $(MINE)",
            "INNER = -g\nMINE = $(INNER)\nx:\n\tmcc $(MINE)",
            ("B1 warning 1",),
        ),
        ("CFLAGS = -G -t 4\nx:\n\tg++ $(CFLAGS) -x cu", "CFLAGS = -G -t 4\nx:\n\tg++ $(CFLAGS) -x cu", ()),
        ("LDLIBS += -lcudart -lcublas -lm", "LDLIBS += -lmusart -lmublas -lm", ()),
        ("LDLIBS = -lcufile", "LDLIBS = -lcufile", ("B1 error 1",)),
        ("LDLIBS = -lcublasXt -lcublasXt", "LDLIBS = -lcublasXt -lcublasXt", ("B32 warning 1",)),
        ("CPPFLAGS = -D__CUDA_NO_HALF_OPERATORS__", "CPPFLAGS = -D__MUSA_NO_HALF_OPERATORS__", ()),
        ("CPPFLAGS = -DUSE_CUDA", "CPPFLAGS = -DUSE_CUDA", ("B1 info 1",)),
        ("x: CUFLAGS += -lineinfo", "x: CUFLAGS += -gline-tables-only", ("B1 warning 1",)),
        ('NVCCFLAGS = "-Xcompiler=-Wall,-O2"', "NVCCFLAGS = -Wall -O2", ()),
        (
            'NVCCFLAGS = -Xcompiler "-fPIC -I$(CUDA_HOME)/include"',
            "NVCCFLAGS = -fPIC -I$(MUSA_HOME)/include",
            (),
        ),
        ("NVCCFLAGS = -Xcompiler $(CFLAGS)", "NVCCFLAGS = $(CFLAGS)", ()),
        (
            "NVCCFLAGS = -Xcompiler=$(subst a,b,$(CFLAGS))",
            "NVCCFLAGS = -Xcompiler=$(subst a,b,$(CFLAGS))",
            ("B1 error 1",),
        ),
        (
            "$(foreach s,$(SMS),$(eval GENCODE += -gencode arch=compute_$(s),code=sm_$(s)))",
            "$(foreach s,$(SMS),$(eval GENCODE += -gencode arch=compute_$(s),code=sm_$(s)))",
            ("B1 error 1",),
        ),
        (
            "x:\n\tcmake -G Ninja -DCMAKE_CUDA_ARCHITECTURES=80 ..",
            "x:\n\tcmake -G Ninja -DMUSA_ARCHITECTURES=22 ..",
            ("B48 info 2",),
        ),
    ],
)
def test_flags(make: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    make(before, after, findings)


# ---- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("CUDA_HOME ?= /usr/local/cuda", "MUSA_HOME ?= /usr/local/musa", ()),
        ("ifndef CUDA_PATH\nX = $(CUDA_PATH:%=%/x)\nendif", "ifndef MUSA_PATH\nX = $(MUSA_PATH:%=%/x)\nendif", ()),
        ("export CUDA_HOME PATH", "export MUSA_HOME PATH", ()),
        ("X = -L$(CUDA_HOME)/lib64 -I${CUDA_HOME}/include", "X = -L$(MUSA_HOME)/lib -I${MUSA_HOME}/include", ()),
        ("X = $(origin CUDA_HOME)", "X = $(origin MUSA_HOME)", ()),
        (
            "x:\n\tCUDA_VISIBLE_DEVICES=0 ./a $$CUDA_HOME/lib64 $${CUDA_PATH}",
            "x:\n\tMUSA_VISIBLE_DEVICES=0 ./a $$MUSA_HOME/lib $${MUSA_PATH}",
            (),
        ),
        ("x:\n\tCUDA_DEVICE_ORDER=PCI_BUS_ID ./a", "x:\n\tCUDA_DEVICE_ORDER=PCI_BUS_ID ./a", ("B31 warning 2",)),
        (
            "L = -Wl,-rpath,/usr/local/cuda/lib64 -L/usr/local/cuda/lib64 -I/usr/local/cuda-12/include",
            "L = -Wl,-rpath,/usr/local/musa/lib -L/usr/local/musa/lib -I/usr/local/cuda-12/include",
            ("B2 warning 1",),
        ),
        ("X = $(CUDA_HOME)/extras/CUPTI", "X = $(MUSA_HOME)/extras/CUPTI", ("B2 warning 1",)),
        ("CPPFLAGS = -DROOT=/usr/local/cuda", "CPPFLAGS = -DROOT=/usr/local/cuda", ("B2 warning 1",)),
        ("ifeq ($(USE_CUDA),1)\nendif", "ifeq ($(USE_CUDA),1)\nendif", ("B31 info 1",)),
    ],
)
def test_names(make: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    make(before, after, findings)


def test_names_of_the_project_move_on_request(make: Check) -> None:
    make(
        "USE_CUDA ?= 1\nifeq ($(USE_CUDA),1)\nX = -DUSE_CUDA\nendif",
        "USE_MUSA ?= 1\nifeq ($(USE_MUSA),1)\nX = -DUSE_MUSA\nendif",
        options=Options(rename_project_names=True),
    )


def test_names_that_the_user_keeps(make: Check) -> None:
    text = "CUDA_HOME = x\nX = $(CUDA_HOME) $(NVCC)"
    make(text, text, options=Options(keep_names=("CUDA_HOME", "NVCC")))


# ---- sources ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SRC = a.cu src/b.cu util.cuh host.cpp", "SRC = a.mu src/b.mu util.muh host.cpp"),
        ("SRC := $(wildcard src/*.cu)", "SRC := $(wildcard src/*.mu)"),
        ("SRC := $(wildcard $(DIR)/*.cu)", "SRC := $(wildcard $(DIR)/*.mu)"),
        (
            "OBJ = $(SRC:.cu=.o) $(SRC:%.cu=build/%.o) $(SRC:.cu=.cu.o)",
            "OBJ = $(SRC:.mu=.o) $(SRC:%.mu=build/%.o) $(SRC:.mu=.cu.o)",
        ),
        (
            "OBJ = $(patsubst src/%.cu,%.o,$(filter %.cu,$(SRC)))",
            "OBJ = $(patsubst src/%.mu,%.o,$(filter %.mu,$(SRC)))",
        ),
        ("%.o: %.cu util.cuh\n\tnvcc -c $<", "%.o: %.mu util.muh\n\tmcc -c $<"),
        ("%.cu.o: %.cu", "%.cu.o: %.mu"),
        ("$(B)/%.o: $(S)/%.cu | $(B)", "$(B)/%.o: $(S)/%.mu | $(B)"),
        (".SUFFIXES: .cu .o\n.cu.o:\n\tnvcc -c $<", ".SUFFIXES: .mu .o\n.mu.o:\n\tmcc -c $<"),
        ("x: $(NAME).cu\n\tnvcc -c src/$*.cu", "x: $(NAME).mu\n\tmcc -c src/$*.mu"),
        ("x: a.o\na.o: a.cu ; nvcc -c a.cu", "x: a.o\na.o: a.mu ; mcc -c a.mu"),
    ],
)
def test_sources(make: Check, before: str, after: str) -> None:
    make(before, after)


def test_sources_that_the_tree_does_not_have(make: Check) -> None:
    make("S = gone.cu other/gone.cu nothing/*.cu", "S = gone.cu other/gone.cu nothing/*.cu", ("B33 warning 1",))


def test_sources_that_keep_their_names(make: Check) -> None:
    text = "S = a.cu $(wildcard *.cu)\n%.o: %.cu"
    make(text, text, options=Options(rename_ext=False))


# ---- left alone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# NVCC = nvcc -arch=sm_80 a.cu -lcudart \\\n# $(CUDA_HOME) goes on\nX = 1 # nvcc a.cu",
        'x:\n\t@echo "set CUDA_HOME, NVCC or -lcudart"\n\t@echo nvcc -G -lcudart',
        "$(error CUDA_HOME is not set)\n$(info nvcc -G)",
        "MY_CUDA_HOME = 1\nX = $(MY_CUDA_HOME) $(CUDA_HOME_X)",
        "X = cudart nvcc_wrapper barracuda -lmycudart",
        "cuda:\n\t$(MAKE) -C cuda\n.PHONY: cuda",
        "X = http://example.org/cuda/a.html",
        "",
    ],
)
def test_left_alone(make: Check, text: str) -> None:
    make(text, text)


@pytest.mark.parametrize(
    "text",
    [
        "ifdef USE_MUSA\nCC = mcc\nelse\nCC = nvcc\nendif\nS = a.cu",
        "MUSA_HOME = x\nCUDA_HOME = y\nS = a.cu",
        "MCC = mcc\nNVCC = nvcc\nS = a.cu",
        "x:\n\tmcc -c y\n\tnvcc -c z\nS = a.cu",
    ],
)
def test_file_that_builds_for_musa(make: Check, text: str) -> None:
    line = 2 if text.startswith("x:") else 1
    make(text, text.replace("a.cu", "a.mu"), (f"B34 info {line}",))


def test_kept_region(make: Check) -> None:
    make(
        "# musa-port: off\nNVCC = nvcc\n# musa-port: on\nX = -lcudart",
        "# musa-port: off\nNVCC = nvcc\n# musa-port: on\nX = -lmusart",
        (f"{rules.get('kept-region').id} info 1",),
    )


def test_reverse_run_leaves_makefiles(check: Check) -> None:
    check({PATH: "NVCC = nvcc\n"}, None, options=Options(reverse=True))


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_bytes_elsewhere_stay(make: Check, ending: bytes, last: bytes) -> None:
    before = b'# caf\xe9\nNVCC = nvcc # \xe4\nX = \xf6 -lcudart \\\n  \xfc a.cu\nx: a.cu\n\t$(NVCC) "\xe9" -c a.cu'
    after = b'# caf\xe9\nMCC = mcc # \xe4\nX = \xf6 -lmusart \\\n  \xfc a.mu\nx: a.mu\n\t$(MCC) "\xe9" -c a.mu'
    make((before + last).replace(b"\n", ending), (after + last).replace(b"\n", ending))


@pytest.mark.parametrize("path", ["makefile", "GNUmakefile", "sub/Makefile", "rules.mk", "Makefile.linux"])
def test_kinds_of_files(check: Check, path: str) -> None:
    check({path: "NVCC = nvcc\n"}, {path: "MCC = mcc\n"})


# ---- the lexer ----------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "$(",
        "${",
        ")",
        "}",
        ":",
        "=",
        "\\\n",
        "\\",
        "\n",
        "\t",
        " ",
        "#",
        "'",
        '"',
        ";",
        ",",
        "foreach ",
        "define X\n",
        "%.cu",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=30).map("".join))
@example("$(")
@example("a: b \\")
@example("\tx $(foreach a,$(b")
def test_any_text(text: str) -> None:
    """Lines are in order and inside the text; so are their words, each of which is the text at its place."""
    end = 0
    for line in lines(text):
        assert end <= line.start <= line.end <= len(text)
        end = line.end
        for span in (line.name, line.value):
            assert line.start <= span[0] <= max(span[1], span[0]) <= len(text)
        for word in words(text, *line.value):
            assert text[word.start : word.end] == word.text
            assert line.value[0] <= word.start < word.end <= line.value[1]


def kinds(text: str) -> list[tuple[str, str, str]]:
    def part(line: Line, span: tuple[int, int]) -> str:
        return text[slice(*span)].strip()

    return [(line.kind, part(line, line.name), part(line, line.value)) for line in lines(text)]


def test_lines() -> None:
    text = (
        "A ?= b # c\nexport B := d\\#e\nC = f \\\n  g\ndefine D\n  h\nendef\nifeq ($(A),x)\n  E += i\nendif\n"
        "t $(A): p | q ; r\n\t@s # t\n\nt: F = u\nv:=w:x\n-include y.mk\n$(call z,1:2)\n"
    )
    assert kinds(text) == [
        ("assignment", "A", "b"),
        ("assignment", "B", "d\\#e"),
        ("assignment", "C", "f \\\n  g"),
        ("assignment", "D", ""),
        ("text", "", "h"),
        ("directive", "", "endef"),
        ("condition", "", "ifeq ($(A),x)"),
        ("assignment", "E", "i"),
        ("directive", "", "endif"),
        ("rule", "t $(A)", "p | q ; r"),
        ("recipe", "", "@s # t"),
        ("assignment", "F", "u"),
        ("assignment", "v", "w:x"),
        ("directive", "", "-include y.mk"),
        ("text", "", "$(call z,1:2)"),
    ]


WORDS = (
    "NVCC;nvcc;$(NVCC);${CUDA_HOME};$(CUDA_HOME)/lib64;CUDA_HOME;/usr/local/cuda;a.cu;src/b.cu;%.cu;*.cu;.cu;.cu.o;"
    "$(SRC:.cu=.o);X;-Xcompiler -fPIC;-Xcompiler $(X);-Xptxas -v;-t 4;-G;-gencode arch=compute_80,code=sm_80;"
    '-arch=sm_90;-lcudart;-lcublasXt;"-Xcompiler=-a,-b";\\\n;&&;|;#;\';";nvidia-smi;$$CUDA_PATH;CUDA_VISIBLE_DEVICES=0;-DUSE_CUDA;'
    "cmake;-DCMAKE_CUDA_ARCHITECTURES=80;echo;-x cu;$(patsubst %.cu,%.o,$(X));$(shell nvcc --version)"
).split(";")
HEADS = [
    "NVCC = ",
    "X += ",
    "NVCCFLAGS = ",
    "CUDA_HOME ?= ",
    "\t",
    "a.o: ",
    "%.o: %.cu ; ",
    "ifdef ",
    "export ",
    "# ",
    ".SUFFIXES: ",
]
LINES = st.builds(
    lambda head, words: head + " ".join(words), st.sampled_from(HEADS), st.lists(st.sampled_from(WORDS), max_size=7)
)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, max_size=6).map("\n".join))
def test_any_makefile(text: str) -> None:
    """No crash, a second run changes nothing, quotes and parentheses stay balanced."""
    source, options = text.encode() + b"\n# cuda", Options(rename_ext=False)
    tree = {"a.cu": b"", "src/b.cu": b""}
    first = port_sources({PATH: source, **tree}, options)[PATH]
    assert [finding for finding in first.findings if finding.rule == "F10"] == []
    for opener, closer in ((b"(", b")"), (b"{", b"}")):
        assert first.data.count(opener) - first.data.count(closer) == source.count(opener) - source.count(closer)
    assert first.data.count(b'"') % 2 == source.count(b'"') % 2
    second = port_sources({PATH: first.data, **tree}, options)[PATH]
    assert second.data == first.data


# ---- make itself --------------------------------------------------------------------------------------------------

PROJECT = r"""
# Builds a program from two kernels.
CUDA_HOME ?= /usr/local/cuda
NVCC      := nvcc
SRC       := $(wildcard src/*.cu)
OBJ       := $(patsubst src/%.cu,build/%.o,$(SRC))
NVCCFLAGS := -O2 -gencode arch=compute_80,code=sm_80 \
             -gencode arch=compute_90,code=sm_90 \
             -Xcompiler -fPIC,-Wall --expt-relaxed-constexpr
LDFLAGS   := -L$(CUDA_HOME)/lib64 -lcudart

app: $(OBJ) build/main.o
	$(NVCC) -o $@ $^ $(LDFLAGS)
build/%.o: src/%.cu src/util.cuh
	@mkdir -p build
	$(NVCC) $(NVCCFLAGS) -c $< -o $@
build/main.o: main.cpp
	$(CXX) -c $< -o $@
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_ported_project_runs_the_right_commands(tmp_path: Path) -> None:
    """make on the port calls mcc, as it called nvcc on the source, with the flags that the table gives."""
    source, output, tools = tmp_path / "source", tmp_path / "output", tmp_path / "bin"
    for name, text in {
        PATH: PROJECT, "src/a.cu": "", "src/b.cu": "", "src/util.cuh": "", "main.cpp": "int main() {}",
    }.items():  # fmt: skip
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    report = port_tree(source, output, Options())
    assert [finding.message for finding in report.findings() if finding.severity is Severity.ERROR] == []

    tools.mkdir()
    for program in ("mcc", "g++"):
        script = f'#!/bin/sh\necho "{program} $*" >> {tmp_path}/calls\nwhile [ "$1" != -o ]; do shift; done; : > "$2"\n'
        (tools / program).write_text(script, encoding="utf-8")
        (tools / program).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "MUSA_HOME": "/sdk", "CXX": "g++"}
    done = subprocess.run(["make", "-C", output, "app"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    flags = "-O2 --offload-arch=mp_22 --offload-arch=mp_31 -fPIC -Wall"
    assert sorted((tmp_path / "calls").read_text(encoding="utf-8").splitlines()) == sorted(
        [
            f"mcc {flags} -c src/a.mu -o build/a.o",
            f"mcc {flags} -c src/b.mu -o build/b.o",
            "g++ -c main.cpp -o build/main.o",
            "mcc -o app build/a.o build/b.o build/main.o -L/sdk/lib -lmusart",
        ]
    )


# ---- variables over the whole tree ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("define R\n$(1).o: x\n\t$$(NVCC) -c $$<\nendef", "define R\n$(1).o: x\n\t$$(MCC) -c $$<\nendef"),
        ("$(eval $(call R,NVCC,$(NVCC)))", "$(eval $(call R,MCC,$(MCC)))"),
        ("$(eval NVCC := $$(shell which nvcc))", "$(eval MCC := $$(shell which mcc))"),
        ("$(foreach v,CC NVCC LD,$(info $($(v))))", "$(foreach v,CC MCC LD,$(info $($(v))))"),
        ("$(if $(NVCC),,$(error NVCC is not set))", "$(if $(MCC),,$(error NVCC is not set))"),
        ("x:\n\tNVCC=$(NVCC) ./y.sh $${NVCC} $$NVCC", "x:\n\tMCC=$(MCC) ./y.sh $${MCC} $$MCC"),
        ("x:\n\t$(MAKE) -C sub NVCC=$(NVCC)", "x:\n\t$(MAKE) -C sub MCC=$(MCC)"),
        ("define R\n\t$$(CUDA_HOME)/lib64\nendef", "define R\n\t$$(MUSA_HOME)/lib\nendef"),
        # names that only begin or end so
        ("$(call R,MY_NVCC,NVCC_X,-NVCC)\n$(call NVCC.sh)", "$(call R,MY_NVCC,NVCC_X,-NVCC)\n$(call NVCC.sh)"),
    ],
)
def test_a_name_changes_at_every_kind_of_place(make: Check, before: str, after: str) -> None:
    make(before, after)


USE = "x:\n\t$(NVCC) $(CUDA_HOME)\n"


@pytest.mark.parametrize(
    ("config", "ported", "after", "findings"),
    [
        ("NVCC = nvcc\n", "MCC = mcc\n", "x:\n\t$(MCC) $(MUSA_HOME)\n", ()),
        ("NVCC = clang++\n", "NVCC = clang++\n", "x:\n\t$(NVCC) $(MUSA_HOME)\n", ("B30 warning Makefile:2", "B30 warning c.mk:1")),
        ("MCC = m4\n", "MCC = m4\n", "x:\n\t$(NVCC) $(MUSA_HOME)\n", ("B30 warning Makefile:2",)),
        (
            "NVCC = nvcc\nCUDA_HOME = /x\nMUSA_HOME = /y\n",
            "NVCC = nvcc\nCUDA_HOME = /x\nMUSA_HOME = /y\n",
            USE,
            ("B30 warning Makefile:2", "B31 info Makefile:2", "B34 info c.mk:3"),
        ),
    ],
)
def test_makefiles_of_a_tree_agree_on_a_name(check: Check, config: str, ported: str, after: str, findings: tuple[str, ...]) -> None:
    check({"Makefile": USE, "c.mk": config}, {"Makefile": after, "c.mk": ported}, findings)


def test_scripts_keep_a_variable_that_makefiles_keep(check: Check) -> None:
    before = {"Makefile": "NVCC = clang++\n", "y.sh": "${NVCC} -c x\n"}
    check(before, before, ("B30 warning Makefile:1", "B41 info y.sh:1"))


def test_recipes_follow_renamed_sources(make: Check) -> None:
    before = "x:\n\tfor f in a src/b; do nvcc $$f.cu -o $${f}.o; done\n\tnvcc $${g%.cu}.cu `basename $$h .cu`"
    make(before, before.replace(".cu", ".mu").replace("nvcc", "mcc"))
