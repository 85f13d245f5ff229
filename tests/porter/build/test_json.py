"""JSON files: presets of CMake, containers for development, configuration files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musa_port.build.json_values import values

if TYPE_CHECKING:
    from tests.porter.conftest import Check


@pytest.mark.parametrize(
    ("before", "after", "findings"),
    [
        ('{"device": "cuda",\n\t"a" : {"map_location":"cuda:0"}}', '{"device": "musa",\n\t"a" : {"map_location":"musa:0"}}', ()),
        ('{"devices": ["cuda:0", "cuda:1"]}', '{"devices": ["musa:0", "musa:1"]}', ()),
        ('{"train": {"dist-backend": "nccl"}} // cuda', '{"train": {"dist-backend": "mccl"}} // cuda', ()),
        ('{"torch_device": "cuda,cuda:1"}', '{"torch_device": "musa,musa:1"}', ()),
        ('{"accelerator": "gpu", "x": "nccl_"}', None, ("B61 warning 1",)),
        ('{"mode": "cuda"}', None, ("B61 info 1",)),
        ('{"device": "cuda", "choices": ["cuda", "musa"]}', None, ("B61 info 1", "B61 info 1")),
        ('{"device": "cuda device", "cuda": true, "text": "the device: cuda"}', None, ()),
        ('{"files": ["k.cu", "other.cu"]}', '{"files": ["k.mu", "other.cu"]}', ()),
        ('{"a": [{"device": "cuda"}, "cuda"]}', '{"a": [{"device": "musa"}, "cuda"]}', ("B61 info 1",)),
        ("{broken: device: \"cuda\"", None, ("B61 info 1",)),
    ],
)
def test_configuration(check: Check, before: str, after: str | None, findings: tuple[str, ...]) -> None:
    findings = tuple(finding.replace(" 1", " config.json:1") for finding in findings)
    check({"config.json": before, "k.cu": ""}, {"config.json": after or before}, findings)


def test_presets_of_cmake(check: Check) -> None:
    before = """{
  "configurePresets": [{
    "name": "cuda",
    "cacheVariables": {
      "CMAKE_CUDA_ARCHITECTURES": "80;90",
      "CMAKE_CUDA_FLAGS": {"type": "STRING", "value": "-lineinfo"},
      "CMAKE_BUILD_TYPE": "Release"
    },
    "environment": {"CUDA_HOME": "/usr/local/cuda"}
  }]
}
"""
    after = """{
  "configurePresets": [{
    "name": "cuda",
    "cacheVariables": {
      "MUSA_ARCHITECTURES": "22;31",
      "MUSA_MCC_FLAGS": {"type": "STRING", "value": "-gline-tables-only"},
      "CMAKE_BUILD_TYPE": "Release"
    },
    "environment": {"MUSA_HOME": "/usr/local/musa"}
  }]
}
"""
    check({"CMakePresets.json": before}, {"CMakePresets.json": after}, ("B1 warning 6", "B48 info 5", "B61 info 3"))


def test_container_for_development(check: Check) -> None:
    before = '{"image": "nvidia/cuda:12.4-devel", "containerEnv": {"CUDA_VISIBLE_DEVICES": "0"}}'
    after = '{"image": "nvidia/cuda:12.4-devel", "containerEnv": {"MUSA_VISIBLE_DEVICES": "0"}}'
    check({"devcontainer.json": before}, {"devcontainer.json": after}, ("B40 info 1", "B50 error 1"))


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_values_of_any_json(tree: object) -> None:
    def strings(node: object, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
        if isinstance(node, dict):
            return [item for key, value in node.items() for item in strings(value, (*path, key))]
        if isinstance(node, list):
            return [item for value in node for item in strings(value, path)]
        return [(path, node)] if isinstance(node, str) else []

    text = json.dumps(tree)
    found = [
        (tuple(json.loads(f'"{key}"') for key in value.path), json.loads(text[value.start - 1 : value.end + 1]))
        for value in values(text)
    ]
    assert found == strings(tree, ())
