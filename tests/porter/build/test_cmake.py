"""CMake files: what each family of rules changes, reports and leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from musa_port import Options, rules
from musa_port.model import FileStatus

Check = Callable[..., Any]
PATH = "CMakeLists.txt"
MODULES = 'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake")\n'
SOURCES = {"a.cu": "", "src/b.cu": "", "src/c.cu": "", "host.cpp": ""}


@pytest.fixture
def cmake(check: Check) -> Check:
    """`check` for one CMake file in a tree with sources.

    A comment at the end holds the word without which no rule would look at the file.
    """

    def run(
        before: str | bytes,
        after: str | bytes,
        findings: tuple[str, ...] = (),
        options: Options | None = None,
        path: str = PATH,
        sources: tuple[str, ...] = tuple(SOURCES),
    ) -> None:
        tree = {name: SOURCES.get(name, "") for name in sources}
        if isinstance(before, str) and isinstance(after, str):
            before, after = before + "\n# cuda", after + "\n# cuda"
        expected = {path: after}
        placed = tuple(" ".join([*finding.split(" ")[:2], f"{path}:{finding.split(' ')[2]}"]) for finding in findings)
        check({path: before, **tree}, expected, placed if tree else findings, options)

    return run


# ---- packages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("find_package(CUDAToolkit REQUIRED)", MODULES + "find_package(MUSAToolkit REQUIRED)", ()),
        ("find_package(CUDA QUIET)", MODULES + "find_package(MUSA QUIET)", ()),
        ("Find_Package ( CUDNN )", MODULES + "Find_Package ( MUDNN )", ()),
        ("find_package(NCCL)\nfind_package(NVSHMEM)", MODULES + "find_package(MCCL)\nfind_package(MTSHMEM)", ()),
        (
            "find_package(CUDAToolkit 11.8 EXACT REQUIRED)",
            MODULES + "find_package(MUSAToolkit REQUIRED)",
            ("B5 warning 1",),
        ),
        ("find_package(CUDA 10.2)", MODULES + "find_package(MUSA)", ("B5 warning 1",)),
        ("find_package(CUDA 11...<13)", MODULES + "find_package(MUSA)", ("B5 warning 1",)),
        (
            "find_package(CUDAToolkit REQUIRED COMPONENTS cublas)",
            MODULES + "find_package(MUSAToolkit REQUIRED COMPONENTS cublas)",
            ("B4 warning 1",),
        ),
        ("find_dependency(CUDAToolkit)", MODULES + "find_dependency(MUSAToolkit)", ()),
        # where the modules are is said once, before the first call, or before the block that holds all of them
        (
            "if(A)\n  find_package(CUDA)\n  find_package(CUDNN)\nendif()",
            f"if(A)\n  {MODULES}  find_package(MUSA)\n  find_package(MUDNN)\nendif()",
            (),
        ),
        (
            "if(A)\n  find_package(CUDA)\nelse()\n  find_package(CUDAToolkit)\nendif()",
            f"{MODULES}if(A)\n  find_package(MUSA)\nelse()\n  find_package(MUSAToolkit)\nendif()",
            (),
        ),
        (
            "if(A)\n  if(B)\n    find_package(CUDA)\n  endif()\n  find_package(NCCL)\nendif()",
            f"if(A)\n  {MODULES}  if(B)\n    find_package(MUSA)\n  endif()\n  find_package(MCCL)\nendif()",
            (),
        ),
        (MODULES + "find_package(CUDA)", MODULES + "find_package(MUSA)", ()),
    ],
)
def test_packages(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(before, after, findings, sources=("host.cpp",))


def test_torch_stays_and_torch_musa_joins(cmake: Check) -> None:
    cmake(
        "find_package(Torch REQUIRED)  # PyTorch\nadd_library(k a.cu)",
        "find_package(Torch REQUIRED)  # PyTorch\nfind_package(TorchMusa REQUIRED)\nmusa_add_library(k a.mu)",
        ("B4 warning 1",),
    )


def test_torch_alone_has_nothing_to_do_with_cuda(cmake: Check) -> None:
    text = "# no cuda here\nfind_package(Torch REQUIRED)\n"
    cmake(text, text, sources=("host.cpp",))


def test_module_of_the_tree_keeps_its_name(check: Check) -> None:
    module = "find_library(NCCL_LIBRARY NAMES nccl)\nset(NCCL_FOUND TRUE)\n"
    check(
        {PATH: "find_package(NCCL)\nif(NCCL_FOUND)\nendif()\n", "cmake/FindNCCL.cmake": module},
        {"cmake/FindNCCL.cmake": module.replace("NAMES nccl", "NAMES mccl")},
        ("B4 info CMakeLists.txt:1",),
    )


def test_copy_of_the_module_of_cmake_is_left(check: Check) -> None:
    check(
        {PATH: "find_package(CUDA)\n", "cmake/FindCUDA.cmake": "set(CUDA_VERSION 10)\nfind_program(X nvcc)\n"},
        {PATH: MODULES + "find_package(MUSA)\n"},
        ("B24 info cmake/FindCUDA.cmake:1",),
    )


# ---- languages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("project(x LANGUAGES CXX CUDA)", "project(x LANGUAGES CXX)"),
        ("project(x LANGUAGES CUDA CXX)", "project(x LANGUAGES CXX)"),
        ("project(x LANGUAGES CUDA)", "project(x LANGUAGES CXX)"),
        ("project(x CUDA)", "project(x CXX)"),
        ("project(x C CUDA)", "project(x C CXX)"),
        ("project(x CXX C CUDA)", "project(x CXX C)"),
        (
            "project(CUDA VERSION 1 DESCRIPTION CUDA LANGUAGES CUDA CXX)",
            "project(CUDA VERSION 1 DESCRIPTION CUDA LANGUAGES CXX)",
        ),
        (
            "project(x\n  VERSION 1\n  LANGUAGES\n    CXX\n    CUDA\n)",
            "project(x\n  VERSION 1\n  LANGUAGES\n    CXX\n)",
        ),
        ('project(x LANGUAGES "CUDA" CXX)', "project(x LANGUAGES CXX)"),
        ("enable_language(C CUDA)", "enable_language(C CXX)"),
    ],
)
def test_languages(cmake: Check, before: str, after: str) -> None:
    cmake(before, after, ("B6 warning " + str(before[: before.rindex("CUDA")].count("\n") + 1),), sources=("host.cpp",))


@pytest.mark.parametrize(
    "text", ["project(CUDA)", "project(cuda_tools LANGUAGES CXX C)", "project(x NONE)", "project(x VERSION 1)"]
)
def test_other_languages(cmake: Check, text: str) -> None:
    cmake(text, text, sources=("host.cpp",))


def test_project_with_device_sources_finds_what_compiles_them(cmake: Check) -> None:
    cmake(
        "project(x LANGUAGES CXX CUDA) # both\nset(A 1)\n",
        f"project(x LANGUAGES CXX) # both\n{MODULES}find_package(MUSA REQUIRED)\nset(A 1)\n",
        ("B6 warning 1",),
    )


def test_project_that_looks_for_cuda_itself(cmake: Check) -> None:
    cmake(
        "project(x LANGUAGES CXX CUDA)\nfind_package(CUDA REQUIRED)\n",
        f"project(x LANGUAGES CXX)\n{MODULES}find_package(MUSA REQUIRED)\n",
        ("B6 warning 1",),
    )


@pytest.mark.parametrize(("arguments", "found"), [("CUDA", "MUSA REQUIRED"), ("CUDA OPTIONAL", "MUSA")])
def test_enable_language(cmake: Check, arguments: str, found: str) -> None:
    cmake(
        f"if(USE_CUDA)\n  enable_language({arguments})\nendif()\n",
        f"if(USE_CUDA)\n  {MODULES}  find_package({found})\nendif()\n",
        ("B21 info 1", "B6 warning 2"),
    )


def test_languages_in_a_variable(cmake: Check) -> None:
    cmake(
        "set(LANGS CXX)\nlist(APPEND LANGS CUDA)\nproject(x LANGUAGES ${LANGS})",
        "set(LANGS CXX)\nlist(APPEND LANGS)\nproject(x LANGUAGES ${LANGS})",
        ("B6 warning 2",),
        sources=("host.cpp",),
    )


def test_check_language(cmake: Check) -> None:
    cmake(
        "include(CheckLanguage)\ncheck_language(CUDA)\nif(CMAKE_CUDA_COMPILER)\n  enable_language(CUDA)\nendif()\n",
        f"include(CheckLanguage)\n{MODULES}find_package(MUSAToolkit QUIET)\nif(MUSAToolkit_FOUND)\n"
        "  find_package(MUSA REQUIRED)\nendif()\n",
        ("B6 warning 4",),
    )


# ---- device sources -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add_library(k STATIC a.cu)", "musa_add_library(k STATIC a.mu)"),
        ("ADD_EXECUTABLE(k host.cpp a.cu)", "musa_add_executable(k host.cpp a.mu)"),
        ("add_library(k\n  a.cu # first\n  src/b.cu)", "musa_add_library(k\n  a.mu # first\n  src/b.mu)"),
        ('add_library(k "a.cu;src/b.cu")', 'musa_add_library(k "a.mu;src/b.mu")'),
        (
            "add_library(k ${CMAKE_CURRENT_SOURCE_DIR}/src/b.cu)",
            "musa_add_library(k ${CMAKE_CURRENT_SOURCE_DIR}/src/b.mu)",
        ),
        (
            "set(S host.cpp)\nlist(APPEND S src/b.cu)\nset(ALL ${S})\nadd_library(k SHARED ${ALL})",
            "set(S host.cpp)\nlist(APPEND S src/b.mu)\nset(ALL ${S})\nmusa_add_library(k SHARED ${ALL})",
        ),
        (
            'file(GLOB S CONFIGURE_DEPENDS "src/*.cu")\nadd_library(k ${S})',
            'file(GLOB S CONFIGURE_DEPENDS "src/*.mu")\nmusa_add_library(k ${S})',
        ),
        (
            "file(GLOB_RECURSE S *.cu)\nadd_library(k ${S})",
            "file(GLOB_RECURSE S *.mu)\nmusa_add_library(k ${S})",
        ),
        (
            "foreach(n b c)\n  list(APPEND S src/${n}.cu)\nendforeach()",
            "foreach(n b c)\n  list(APPEND S src/${n}.mu)\nendforeach()",
        ),
        ("cuda_add_library(k a.cu)", "musa_add_library(k a.mu)"),
        ("CUDA_ADD_EXECUTABLE(k a.cu OPTIONS -Xptxas -v)", "musa_add_executable(k a.mu OPTIONS)"),
        ("cuda_include_directories(src)", "musa_include_directories(src)"),
        ("add_library(k host.cpp)", "add_library(k host.cpp)"),
        ("add_library(k ALIAS a.cu_target)", "add_library(k ALIAS a.cu_target)"),
        ("install(FILES a.cu DESTINATION src)", "install(FILES a.mu DESTINATION src)"),
    ],
)
def test_targets(cmake: Check, before: str, after: str) -> None:
    cmake(before, after)


@pytest.mark.parametrize(
    "command", ["target_sources(t PRIVATE {})", "pybind11_add_module(m {})", "add_library(o OBJECT {})"]
)
def test_targets_that_musa_add_cannot_make(cmake: Check, command: str) -> None:
    properties = 'PROPERTIES LANGUAGE CXX COMPILE_FLAGS "-x musa")'
    cmake(
        command.format("a.cu src/b.cu host.cpp"),
        command.format("a.mu src/b.mu host.cpp") + f"\nset_source_files_properties(a.mu src/b.mu {properties}",
        ("B7 warning 1",),
    )
    cmake(
        "set(S a.cu)\n" + command.format("${S}"),
        "set(S a.mu)\n" + command.format("${S}") + f"\nset_source_files_properties(${{S}} {properties}",
        ("B7 warning 2",),
    )
    mixed = "set(S a.cu host.cpp)\n" + command.format("${S}")
    cmake(mixed, mixed.replace("a.cu", "a.mu"), ("B7 error 2",))


def test_function_of_the_project_that_makes_a_target(cmake: Check) -> None:
    cmake("my_add_library(k a.cu)", "my_add_library(k a.mu)", ("B7 warning 1",))


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        (
            "set_source_files_properties(a.cu PROPERTIES LANGUAGE CUDA)",
            'set_source_files_properties(a.mu PROPERTIES LANGUAGE CXX COMPILE_FLAGS "-x musa")',
            ("B9 warning 1",),
        ),
        (
            'set_source_files_properties(host.cpp PROPERTIES COMPILE_FLAGS "-O1" LANGUAGE CUDA)',
            'set_source_files_properties(host.cpp PROPERTIES COMPILE_FLAGS "-O1" LANGUAGE CXX)',
            ("B9 warning 1",),
        ),
        (
            "set_property(SOURCE a.cu PROPERTY LANGUAGE CUDA)",
            "set_property(SOURCE a.mu PROPERTY LANGUAGE CXX)",
            ("B9 warning 1",),
        ),
        (
            "set_target_properties(t PROPERTIES LINKER_LANGUAGE CUDA)",
            "set_target_properties(t PROPERTIES LINKER_LANGUAGE CXX)",
            ("B9 warning 1",),
        ),
    ],
)
def test_language_of_sources(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(before, after, findings)


def test_kept_extension(cmake: Check) -> None:
    cmake(
        "add_library(k a.cu)\nadd_library(l a.cu)",
        "musa_add_library(k a.cu)\nmusa_add_library(l a.cu)",
        ("B7 warning 1",),
        Options(rename_ext=False),
    )


def test_sources_that_the_tree_does_not_have(cmake: Check) -> None:
    cmake(
        "set(S ${other_SOURCE_DIR}/x.cu gone.cu nothing/*.cu)",
        "set(S ${other_SOURCE_DIR}/x.cu gone.cu nothing/*.cu)",
        ("B8 warning 1",),
    )


def test_patterns_of_names(cmake: Check) -> None:
    text = 'list(FILTER S EXCLUDE REGEX ".*test\\\\.cu$")\nif(f MATCHES "\\\\.cu$")\nendif()\n'
    cmake(text, text, ("B8 warning 1", "B8 warning 2"))


# ---- flags --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        (
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -Xcompiler -fPIC --expt-relaxed-constexpr -O3")',
            'set(MUSA_MCC_FLAGS "${MUSA_MCC_FLAGS} -fPIC -O3")',
            (),
        ),
        ('string(APPEND CMAKE_CUDA_FLAGS " -Xptxas=-v")', 'string(APPEND MUSA_MCC_FLAGS "")', ()),
        (
            "list(APPEND CUDA_NVCC_FLAGS -gencode arch=compute_80,code=sm_80\n  "
            "-gencode arch=compute_86,code=sm_86\n  -O2)",
            "list(APPEND MUSA_MCC_FLAGS --offload-arch=mp_22\n  -O2)",
            ("B1 warning 1", "B1 warning 2"),
        ),
        (
            "set(CUDA_NVCC_FLAGS ${CUDA_NVCC_FLAGS};-Xcompiler;-fPIC;-O2)",
            "set(MUSA_MCC_FLAGS ${MUSA_MCC_FLAGS};-fPIC;-O2)",
            (),
        ),
        (
            "set(MINE --use_fast_math)\ntarget_compile_options(t PRIVATE ${MINE})",
            "set(MINE -ffast-math)\ntarget_compile_options(t PRIVATE ${MINE})",
            ("B1 warning 1",),
        ),
        ("set(MINE --use_fast_math)", "set(MINE --use_fast_math)", ()),
        (
            "target_compile_options(t PRIVATE\n    -Wall\n    --extended-lambda # lambdas\n"
            "    --expt-relaxed-constexpr\n)",
            "target_compile_options(t PRIVATE\n    -Wall\n    # lambdas\n)",
            (),
        ),
        (
            'target_compile_options(t PRIVATE "SHELL:-Xcompiler -fPIC" "-Xcompiler=-Wall,-Wextra")',
            'target_compile_options(t PRIVATE "SHELL:-fPIC" "-Wall;-Wextra")',
            (),
        ),
        (
            'target_compile_options(t PRIVATE "$<$<CONFIG:Debug>:-Xptxas;-v;-O0>")',
            'target_compile_options(t PRIVATE "$<$<CONFIG:Debug>:-O0>")',
            (),
        ),
        (
            "set_source_files_properties(host.cpp PROPERTIES COMPILE_FLAGS --expt-relaxed-constexpr)",
            'set_source_files_properties(host.cpp PROPERTIES COMPILE_FLAGS "")',
            (),
        ),
        ('set(CUDA_NVCC_FLAGS "-Xptxas=-v;-t4;-Xcompiler;-fPIC")', 'set(MUSA_MCC_FLAGS "-fPIC")', ()),
        ('set(CUDA_NVCC_FLAGS "-O2;-Xptxas=-v;-t4")', 'set(MUSA_MCC_FLAGS "-O2")', ()),
        ('set(CMAKE_CUDA_FLAGS "-Xptxas=-v -t4 -O2")', 'set(MUSA_MCC_FLAGS "-O2")', ()),
        ('set(FLAGS "-Xptxas=-v")\nadd_compile_options(${FLAGS})', 'set(FLAGS "")\nadd_compile_options(${FLAGS})', ()),
        (
            "add_definitions(-D__CUDA_NO_HALF_OPERATORS__ -DX=/usr/local/cuda)",
            "add_definitions(-D__MUSA_NO_HALF_OPERATORS__ -DX=/usr/local/cuda)",
            ("B2 warning 1",),
        ),
        (
            "target_compile_definitions(t PRIVATE __CUDA_NO_HALF_OPERATORS__ -D__CUDA_NO_HALF2_OPERATORS__ MY_CUDA=1)",
            "target_compile_definitions(t PRIVATE __MUSA_NO_HALF_OPERATORS__ -D__MUSA_NO_HALF2_OPERATORS__ MY_CUDA=1)",
            (),
        ),
        ("set(CUDA_NVCC_FLAGS --maxrregcount=64)", "set(MUSA_MCC_FLAGS --maxrregcount=64)", ("B1 error 1",)),
        (
            "execute_process(COMMAND nvcc -arch=sm_80 -c a.cu)",
            "execute_process(COMMAND mcc --offload-arch=mp_22 -c a.mu)",
            ("B1 warning 1",),
        ),
        ("execute_process(COMMAND cmake -G Ninja -t 4)", "execute_process(COMMAND cmake -G Ninja -t 4)", ()),
    ],
)
def test_flags(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(before, after, findings)


@pytest.mark.parametrize(
    "text",
    [
        "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)",
        "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler -fPIC -lcudart>)",
        'target_compile_options(t PRIVATE "$<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CUDA>>:-G;-lineinfo>")',
        "target_compile_options(t PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--use_fast_math>)",
        "target_compile_options(t PRIVATE $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-Wall>)",
    ],
)
def test_expressions_about_the_language(cmake: Check, text: str) -> None:
    cmake(text, text, ("B3 warning 1",))


def test_expressions_about_both_languages(cmake: Check) -> None:
    text = "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CXX,CUDA>:-Wall>)"
    cmake(text, text)


# ---- targets and libraries ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("CUDA::cudart CUDA::cublas CUDA::cuda_driver", "MUSA::musart MUSA::mublas MUSA::musa_driver", ()),
        ('PRIVATE "$<LINK_ONLY:CUDA::cudart>"', 'PRIVATE "$<LINK_ONLY:MUSA::musart>"', ()),
        ("CUDA::cufft_static_nocallback", "CUDA::cufft_static_nocallback", ("B13 error 1",)),
        ("CUDA::nvToolsExt", "CUDA::nvToolsExt", ("B13 error 1",)),
        ("NCCL::NCCL", "NCCL::NCCL", ("B20 warning 1",)),
        ("cudart nccl -lcublas ${CUDA_LIBRARIES}", "musart mccl -lmublas ${MUSA_LIBRARIES}", ()),
        ("nvToolsExt", "nvToolsExt", ("B14 error 1",)),
        ("my_cudart MYCUDA::cudart xcudart", "my_cudart MYCUDA::cudart xcudart", ("B20 warning 1",)),
    ],
)
def test_linking(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(f"target_link_libraries(t {before})", f"target_link_libraries(t {after})", findings)


def test_target_of_the_project_with_the_name_of_a_library(cmake: Check) -> None:
    text = "add_library(cuda host.cpp)\ntarget_link_libraries(t cuda)"
    cmake(text, text)


def test_libraries_in_variables_and_searches(cmake: Check) -> None:
    cmake(
        "set(LIBS cudart m)\ntarget_link_libraries(t ${LIBS})\nset(OTHER cudart)\n"
        'find_library(RT NAMES cudart libcublas.so PATHS "$ENV{CUDA_HOME}/lib64")\nfind_path(I cuda_runtime.h)',
        "set(LIBS musart m)\ntarget_link_libraries(t ${LIBS})\nset(OTHER cudart)\n"
        'find_library(RT NAMES musart libmublas.so PATHS "$ENV{MUSA_HOME}/lib")\nfind_path(I musa_runtime.h)',
    )


# ---- properties and architectures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("set(CMAKE_CUDA_ARCHITECTURES 80 90)", "set(MUSA_ARCHITECTURES 22 31)", ("B11 warning 1", "B16 info 1")),
        (
            'set(CMAKE_CUDA_ARCHITECTURES "70;80;86-real;90a" CACHE STRING "for 80 and 90")',
            'set(MUSA_ARCHITECTURES "22;31" CACHE STRING "for 80 and 90")',
            ("B11 warning 1", "B16 info 1"),
        ),
        (
            "set(CMAKE_CUDA_ARCHITECTURES 80 120)",
            "set(MUSA_ARCHITECTURES 22 120)",
            ("B11 error 1", "B11 warning 1", "B16 info 1"),
        ),
        ("set(CMAKE_CUDA_ARCHITECTURES native)", "set(MUSA_ARCHITECTURES native)", ("B11 error 1", "B16 info 1")),
        (
            'set(TORCH_CUDA_ARCH_LIST "8.0 9.0+PTX")',
            'set(TORCH_MUSA_ARCH_LIST "2.2 3.1")',
            ("B11 warning 1", "B16 info 1"),
        ),
        (
            "set(MY_ARCHS 80)\nset(CMAKE_CUDA_ARCHITECTURES ${MY_ARCHS})",
            "set(MY_ARCHS 22)\nset(MUSA_ARCHITECTURES ${MY_ARCHS})",
            ("B11 warning 1", "B16 info 2"),
        ),
        # used for something else as well: not guessed
        (
            "set(MY_ARCHS 80)\nset(CMAKE_CUDA_ARCHITECTURES ${MY_ARCHS})\nset(X lib_${MY_ARCHS})",
            "set(MY_ARCHS 80)\nset(MUSA_ARCHITECTURES ${MY_ARCHS})\nset(X lib_${MY_ARCHS})",
            ("B16 info 2",),
        ),
        (
            "if(90 IN_LIST CMAKE_CUDA_ARCHITECTURES)\nendif()",
            "if(90 IN_LIST MUSA_ARCHITECTURES)\nendif()",
            ("B11 warning 1", "B16 info 1"),
        ),
        (
            'set_target_properties(t PROPERTIES CUDA_ARCHITECTURES "80;90" FOLDER 80)',
            'set_target_properties(t PROPERTIES MUSA_ARCHITECTURES "22;31" FOLDER 80)',
            ("B10 warning 1", "B11 warning 1"),
        ),
        (
            "set_property(TARGET t PROPERTY CUDA_ARCHITECTURES 80 86 90)",
            "set_property(TARGET t PROPERTY MUSA_ARCHITECTURES 22 31)",
            ("B10 warning 1", "B11 warning 1"),
        ),
        (
            "set_target_properties(t PROPERTIES CUDA_STANDARD 17 CUDA_SEPARABLE_COMPILATION ON)",
            "set_target_properties(t PROPERTIES CXX_STANDARD 17 MUSA_SEPARABLE_COMPILATION ON)",
            ("B10 info 1", "B10 warning 1"),
        ),
        (
            "set_target_properties(t PROPERTIES CXX_STANDARD 17 CUDA_STANDARD 14 FOLDER x)",
            "set_target_properties(t PROPERTIES CXX_STANDARD 17 FOLDER x)",
            ("B10 warning 1",),
        ),
        ("target_compile_features(t PUBLIC cuda_std_17)", "target_compile_features(t PUBLIC cxx_std_17)", ()),
        ("set(CMAKE_CUDA_STANDARD 17)", "set(CMAKE_CXX_STANDARD 17)", ("B16 info 1",)),
    ],
)
def test_properties(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(before, after, findings)


# ---- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ("include_directories(${CUDA_INCLUDE_DIRS})", "include_directories(${MUSA_INCLUDE_DIRS})", ()),
        ("if(CUDA_FOUND AND NOT CUDAToolkit_FOUND)\nendif()", "if(MUSA_FOUND AND NOT MUSAToolkit_FOUND)\nendif()", ()),
        ("if(NCCL_FOUND)\nendif()", "if(MCCL_FOUND)\nendif()", ()),
        ("set(X ${CUDA_TOOLKIT_ROOT_DIR}/lib64)", "set(X ${MUSA_TOOLKIT_ROOT_DIR}/lib)", ()),
        ("set(X $ENV{CUDA_HOME})\nset(ENV{CUDA_PATH} y)", "set(X $ENV{MUSA_HOME})\nset(ENV{MUSA_PATH} y)", ()),
        ("find_path(X y.h HINTS ENV CUDA_HOME)", "find_path(X y.h HINTS ENV MUSA_HOME)", ()),
        ("set(X @CUDA_FOUND@)", "set(X @MUSA_FOUND@)", ()),
        (
            "if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.0)\nendif()",
            "if(MUSAToolkit_VERSION VERSION_GREATER_EQUAL 12.0)\nendif()",
            ("B16 info 1", "B17 warning 1"),
        ),
        (
            'if("${CUDA_VERSION}" STREQUAL "11.8")\nendif()',
            'if("${MUSA_VERSION}" STREQUAL "11.8")\nendif()',
            ("B16 info 1", "B17 warning 1"),
        ),
        (
            "if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)\nendif()",
            "if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)\nendif()",
            ("B17 warning 1",),
        ),
        (
            "set(X ${CUDA_nppc_LIBRARY} ${CUDA_nppc_LIBRARY} ${CMAKE_CUDA_HOST_COMPILER})",
            "set(X ${CUDA_nppc_LIBRARY} ${CUDA_nppc_LIBRARY} ${CMAKE_CUDA_HOST_COMPILER})",
            ("B20 warning 1", "B20 warning 1"),
        ),
        ("cuda_compile_ptx(X a.cu)", "cuda_compile_ptx(X a.mu)", ("B19 error 1",)),
        ("cuda_select_nvcc_arch_flags(X 8.0)", "cuda_select_nvcc_arch_flags(X 8.0)", ("B19 error 1",)),
        ("cuda_add_cublas_to_target(t)", "cuda_add_cublas_to_target(t)", ("B20 warning 1",)),
        ("find_program(N nvcc)", "find_program(N mcc)", ()),
        ("execute_process(COMMAND nvidia-smi)", "execute_process(COMMAND nvidia-smi)", ("B15 warning 1",)),
        ("set(C ${CUDAToolkit_ROOT}/bin/nvcc)", "set(C ${MUSAToolkit_ROOT}/bin/mcc)", ("B16 info 1",)),
        (
            "include_directories(/usr/local/cuda/include /usr/local/cuda/include/sub)",
            "include_directories(/usr/local/musa/include /usr/local/musa/include/sub)",
            ("B2 warning 1",),
        ),
        ("set(X /usr/local/cuda-12.1/lib64)", "set(X /usr/local/cuda-12.1/lib64)", ("B2 warning 1",)),
        ("set(X /home/me/usr/local/cuda my/usr/local/cudas)", "set(X /home/me/usr/local/cuda my/usr/local/cudas)", ()),
        (
            'option(USE_CUDA "Use CUDA" ON)\nif(USE_CUDA)\nendif()',
            'option(USE_CUDA "Use CUDA" ON)\nif(USE_CUDA)\nendif()',
            ("B21 info 1",),
        ),
    ],
)
def test_names(cmake: Check, before: str, after: str, findings: tuple[str, ...]) -> None:
    cmake(before, after, findings)


def test_names_of_the_project_move_on_request(cmake: Check) -> None:
    cmake(
        "option(USE_CUDA)\nif(USE_CUDA AND ${WITH_CUDA})\n  add_definitions(-DUSE_CUDA)\nendif()\nset(ENABLE_CUDA 1)",
        "option(USE_MUSA)\nif(USE_MUSA AND ${WITH_MUSA})\n  add_definitions(-DUSE_MUSA)\nendif()\nset(ENABLE_CUDA 1)",
        options=Options(rename_project_names=True),
    )


def test_names_that_the_user_keeps(cmake: Check) -> None:
    text = "find_package(CUDA)\nset(X ${CUDA_FOUND} $ENV{CUDA_HOME})\ntarget_link_libraries(t CUDA::cudart)\n"
    cmake(text, text, options=Options(keep_names=("CUDA", "CUDA_FOUND", "CUDA_HOME", "CUDA::cudart")))


def test_weak_names_below_the_chosen_confidence(cmake: Check) -> None:
    cmake(
        "target_link_libraries(t CUDA::cudart CUDA::cupti)",
        "target_link_libraries(t MUSA::musart CUDA::cupti)",
        ("B12 warning 1",),
        Options(min_confidence="high"),
    )


# ---- left alone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# find_package(CUDA) a.cu CUDA::cudart nvcc\n#[[ enable_language(CUDA)\nadd_library(k a.cu) ]]\n",
        'message(STATUS "CUDA::cudart, a.cu, nvcc and /usr/local/cuda" CUDA_FOUND)\n',
        "set(CUDA_SOURCES x.cpp)\nset(Y ${CUDA_SOURCES})\n",
        "set(BARRACUDA 1)\nset(NOT_CUDA_FOUND ${MY_CUDA_LIBRARIES})\n",
        "add_subdirectory(cuda)\ninclude(cmake/cuda.cmake)\n",
        "function(cuda_add_library name)\nendfunction()\ncuda_add_library(x)\n",
        "set(URL https://example.org/cuda/cudart.html)\n",
        "set(TEXT [[ ${CUDA_FOUND} a.cu CUDA_HOME ]])\n",
        'set(DOC "set CUDA_HOME to the folder of cudart")\n',
        "set(CUDA_HOME_HINT cudart)\nset(X nvcc)\n",
        'list(APPEND NAMES CUDA)\nset(BACKEND CUDA)\nif(BACKEND STREQUAL "CUDA")\nendif()\n',
        "find_package(Thrust)\nfind_package(CUB)\nfind_package(CCCL)\n",
    ],
)
def test_left_alone(cmake: Check, text: str) -> None:
    cmake(text, text)


def test_file_with_a_branch_for_musa(cmake: Check) -> None:
    text = (
        "if(USE_MUSA)\n  find_package(MUSAToolkit)\n"
        "else()\n  find_package(CUDAToolkit)\n  enable_language(CUDA)\nendif()\n"
        "add_library(k a.cu)\n"
    )
    cmake(text, text.replace("a.cu", "a.mu"), ("B23 info 1",))


@pytest.mark.parametrize(
    "line",
    [
        "find_package(MUSAToolkit REQUIRED)",
        "find_package(musa_compat)",
        "musa_add_library(x y.cpp)",
        "musa_port_sources(t a.cu)",
    ],
)
def test_file_that_is_written_for_musa(cmake: Check, line: str) -> None:
    text = f"find_package(CUDA)\n{line}\nset(X a.cu)"
    cmake(text, text.replace("a.cu", "a.mu"), ("B23 info 2",))


def test_reverse_run_leaves_build_files(check: Check) -> None:
    check({PATH: "find_package(CUDA)\n"}, None, options=Options(reverse=True))


def test_kept_region(cmake: Check) -> None:
    cmake(
        "# musa-port: off\nfind_package(CUDA)\n# musa-port: on\nset(X ${CUDA_FOUND})\n",
        "# musa-port: off\nfind_package(CUDA)\n# musa-port: on\nset(X ${MUSA_FOUND})\n",
        (f"{rules.get('kept-region').id} info 1",),
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_bytes_elsewhere_stay(cmake: Check, ending: str, last: str) -> None:
    before = (
        b'\xef\xbb\xbf# caf\xe9 cuda\nproject(x CXX CUDA)\nset(A "\xf6 a" \xfc) # \xe4 ${CUDA_FOUND}\n'
        b"set(B \xe4 ${CUDA_FOUND} \xe4)\nadd_library(k a.cu)"
    )
    after = (
        b"\xef\xbb\xbf# caf\xe9 cuda\nproject(x CXX)\n" + MODULES.encode() + b"find_package(MUSA REQUIRED)\n"
        b'set(A "\xf6 a" \xfc) # \xe4 ${CUDA_FOUND}\nset(B \xe4 ${MUSA_FOUND} \xe4)\nmusa_add_library(k a.mu)'
    )

    def end(text: bytes) -> bytes:
        return (text + last.encode()).replace(b"\n", ending.encode())

    cmake(end(before), end(after), ("B6 warning 2",))


def test_renamed_source_in_a_name_that_is_not_ascii(check: Check) -> None:
    check(
        {PATH: "add_library(k größe/a.cu)\n", "größe/a.cu": ""},
        {PATH: "musa_add_library(k größe/a.mu)\n"},
    )


def test_text_after_an_error_is_left(cmake: Check) -> None:
    cmake(
        'find_package(CUDA)\nset(A "open)\nfind_package(NCCL)\n',
        MODULES + 'find_package(MUSA)\nset(A "open)\nfind_package(NCCL)\n',
        ("B22 warning 2",),
    )


@pytest.mark.parametrize("path", ["sub/CMakeLists.txt", "cmake/deps.cmake", "cmake/config.cmake.in"])
def test_kinds_of_files(check: Check, path: str) -> None:
    check({path: "set(X ${CUDA_FOUND})\n"}, {path: "set(X ${MUSA_FOUND})\n"})


def test_only_cmake_is_asked_for(check: Check) -> None:
    results = check({PATH: "set(X ${CUDA_FOUND})\n"}, None, options=Options(only=frozenset({"cpp"})))
    assert results[PATH].status is FileStatus.SKIPPED
