"""What holds for any CMake file: no crash, a second run changes nothing, quotes and parentheses stay balanced."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from musa_port import Options, port_sources
from musa_port.build.cmake.lexer import Kind, tokens

WORDS = (
    "CUDA CUDAToolkit Torch NCCL a.cu src/b.cu *.cu host.cpp ${A} ${CUDA_FOUND} $ENV{CUDA_HOME} /usr/local/cuda/lib64 "
    "CUDA::cudart CUDA::x cudart -Xcompiler -fPIC -Xptxas=-v -gencode arch=compute_80,code=sm_80 80;90 100 REQUIRED "
    "11.8 LANGUAGES CXX PROPERTIES LANGUAGE CUDA_STANDARD 17 CUDA_ARCHITECTURES CMAKE_CUDA_FLAGS CUDA_NVCC_FLAGS A "
    "PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-G $<$<CONFIG:Debug>:-G> > CACHE STRING APPEND GLOB USE_CUDA nvcc COMMAND "
    "VERSION_LESS"
).split()
COMMANDS = (
    "project enable_language check_language find_package set list string file if elseif add_library add_executable "
    "target_sources target_link_libraries target_compile_options set_target_properties set_source_files_properties "
    "cuda_add_library execute_process find_library message add_definitions target_compile_definitions"
).split()
#: In a list, a name could become a whole argument once the flags beside it are gone.
LISTED = [word for word in WORDS if not word.replace("_", "").isalnum()]
ARGUMENT = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(LISTED), max_size=3).map(lambda words: '"' + " ".join(words) + '"'),
    st.lists(st.sampled_from(LISTED), min_size=1, max_size=3).map(lambda words: '"' + ";".join(words) + '"'),
    st.sampled_from(["[[a.cu]]", "# CUDA\n", "(", ")", '"', "\n", "\\;", '"\\""']),
)
COMMAND = st.builds(
    lambda name, arguments, space: f"{name}({space.join(arguments)})",
    st.sampled_from(COMMANDS),
    st.lists(ARGUMENT, max_size=6),
    st.sampled_from([" ", "\n  ", "\r\n\t"]),
)
FILES = st.lists(COMMAND, max_size=6).map("\n".join)
TREE = {"a.cu": b"", "src/b.cu": b"", "host.cpp": b""}


def errors(data: bytes) -> int:
    return sum(token.kind is Kind.ERROR for token in tokens(data))


def depth(data: bytes) -> int:
    kinds = [token.kind for token in tokens(data)]
    return kinds.count(Kind.OPEN) - kinds.count(Kind.CLOSE)


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_any_file(text: str) -> None:
    source = text.encode() + b"\n# cuda"
    options = Options(rename_ext=False)
    first = port_sources({"CMakeLists.txt": source, **TREE}, options)["CMakeLists.txt"]
    assert [finding for finding in first.findings if finding.rule == "F10"] == []
    assert (errors(first.data), depth(first.data)) == (errors(source), depth(source))
    second = port_sources({"CMakeLists.txt": first.data, **TREE}, options)["CMakeLists.txt"]
    assert second.data == first.data
