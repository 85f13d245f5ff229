"""B18 and B10: variables that CMake gives to programs, and properties without a counterpart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.porter.conftest import Check

PATH = "CMakeLists.txt"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'set_tests_properties(t PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=0;NCCL_DEBUG=INFO")\n',
            'set_tests_properties(t PROPERTIES ENVIRONMENT "MUSA_VISIBLE_DEVICES=0;MCCL_DEBUG=INFO")\n',
        ),
        (
            "set_property(TEST t PROPERTY ENVIRONMENT A=1 CUDA_VISIBLE_DEVICES=0)\n",
            "set_property(TEST t PROPERTY ENVIRONMENT A=1 MUSA_VISIBLE_DEVICES=0)\n",
        ),
        (
            "add_test(NAME t COMMAND ${CMAKE_COMMAND} -E env CUDA_VISIBLE_DEVICES=0 A=1 t.py)\n",
            "add_test(NAME t COMMAND ${CMAKE_COMMAND} -E env MUSA_VISIBLE_DEVICES=0 A=1 t.py)\n",
        ),
    ],
)
def test_settings(check: Check, before: str, after: str) -> None:
    check({PATH: before}, {PATH: after}, ())


@pytest.mark.parametrize(
    "text",
    [
        "add_test(NAME t COMMAND ${CMAKE_COMMAND} -E echo CUDA_VISIBLE_DEVICES=0)\n",
        "set_tests_properties(t PROPERTIES LABELS CUDA_VISIBLE_DEVICES=0)\n",
    ],
)
def test_other_texts_stay(check: Check, text: str) -> None:
    check({PATH: text}, None)


@pytest.mark.parametrize("name", ["CUDA_RESOLVE_DEVICE_SYMBOLS", "CUDA_RUNTIME_LIBRARY", "CUDA_PTX_COMPILATION"])
def test_properties_without_a_counterpart(check: Check, name: str) -> None:
    text = f"set_target_properties(t PROPERTIES {name} ON)\n"
    check({PATH: text}, {PATH: text}, ("B10 warning 1",))
