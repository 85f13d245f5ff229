"""Each conflict is seen on an installation that has it, and none on one that has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from musa_compat.doctor.conflicts import check
from musa_compat.doctor.environment import Environment
from musa_compat.doctor.model import Finding

from .conftest import Site

#: A compiler, so that its absence is no finding.
VARIABLES = {"PATH": "/usr/bin:/bin", "CXX": "sh"}


def findings(site: Site, path: tuple[Path, ...] = (), **parts: Any) -> dict[str, Finding]:
    variables = {**VARIABLES, **parts.pop("variables", {})}
    found = check(Environment(path=[*map(str, path), str(site.folder)], variables=variables, **parts))
    assert len({one.id for one in found}) == len(found)
    return {one.id: one for one in found}


def good_musa_stack(site: Site) -> None:
    """The pins of a MUSA image, with our shims in place of the wrappers."""
    site.install("torch", "2.11.0.post2+musa5.2.0")
    site.install("torch_musa", "2.11.0.post2+musa5.2.0")
    site.install("mate", "0.2.7", {"mate/__init__.py": "", "mate/deep_gemm.py": ""})
    site.install("mate-mubin", "0.2.7")
    site.install("tilelang_musa", "0.1.12+musa.2", {"tilelang/__init__.py": ""})
    site.install("apache-tvm-ffi", "0.1.11.post1+musa.1", {"tvm_ffi/__init__.py": ""})
    site.install("numpy", "1.26.4")
    site.ours("deep_gemm")
    site.ours("flash_mla")


def test_nothing_installed_nothing_found(site: Site) -> None:
    assert findings(site) == {}


def test_good_stack_has_no_findings(site: Site) -> None:
    good_musa_stack(site)
    said = {"version": "2.11.0", "musa": "50200", "musa_devices": 8}
    visible = {"MUSA_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "0"}
    assert findings(site, cards={"musa": 8}, torch=said, variables=visible) == {}


# ---- the shims -------------------------------------------------------------------------------------------------------


def test_cuda_package_over_ours(site: Site) -> None:
    site.ours()
    site.install(
        "sgl-deep-gemm",
        "0.2.5",
        {"deep_gemm/__init__.py": "# CUDA\n", "deep_gemm/_C.cpython-311-x86_64-linux-gnu.so": ""},
    )
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("shim-overwritten", "error")
    assert "deep-gemm 2.6.1 of this project and to the CUDA package sgl-deep-gemm 0.2.5" in found.text
    assert "deep_gemm/__init__.py is no longer ours" in found.text
    assert found.advice.startswith("`pip uninstall sgl-deep-gemm`, then")


def test_ours_over_the_cuda_package_is_still_a_mixture(site: Site) -> None:
    site.install("sgl-deep-gemm", "0.2.5", {"deep_gemm/__init__.py": "# CUDA\n", "deep_gemm/_C.so": ""})
    site.ours()
    assert "depends on the order of installation" in findings(site)["shim-overwritten"].text


@pytest.mark.parametrize(("version", "requires"), [("0.2.7+musa", []), ("0.2.7", ["mate>=0.2.7"])])
def test_mate_wrapper_in_place_of_ours(site: Site, version: str, requires: list[str]) -> None:
    site.install("deep-gemm", version, {"deep_gemm/__init__.py": ""}, requires)
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("other-shim", "info")
    assert f"the MATE wrapper deep-gemm {version}, not this project's deep-gemm" in found.text


def test_mate_wrapper_over_ours(site: Site) -> None:
    site.ours("flash_mla")
    site.install("mate-flash-mla", "0.2.7+musa", {"flash_mla/__init__.py": "# MATE\n"})
    assert (
        "to the MATE wrapper mate-flash-mla 0.2.7+musa; flash_mla/__init__.py"
        in findings(site)["shim-overwritten"].text
    )


def test_real_cuda_package_alone(site: Site) -> None:
    site.install("deep_ep", "1.2.1", {"deep_ep/__init__.py": "", "deep_ep_cpp.cpython-311-x86_64-linux-gnu.so": ""})
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("other-shim", "warning")
    assert "gives the CUDA package deep_ep 1.2.1" in found.text


def test_folder_before_ours(site: Site, tmp_path: Path) -> None:
    site.ours()
    (tmp_path / "checkout" / "deep_gemm").mkdir(parents=True)
    (tmp_path / "checkout" / "deep_gemm" / "__init__.py").touch()
    (found,) = findings(site, path=(tmp_path / "checkout",)).values()
    assert (found.id, found.severity) == ("shadowed-shim", "error")
    assert f"finds {tmp_path}/checkout/deep_gemm/__init__.py, which hides deep-gemm 2.6.1" in found.text


def test_folder_alone_is_no_error(site: Site) -> None:
    site.write("deep_gemm/__init__.py")
    assert findings(site)["shadowed-shim"].severity == "warning"


def test_editable_installation_is_no_shadow(site: Site, tmp_path: Path) -> None:
    site.install("deep-gemm", "2.6.1", {"_deep_gemm.pth": ""}, ["musa-compat"])
    site.write("deep_gemm-2.6.1.dist-info/direct_url.json", '{"dir_info": {"editable": true}, "url": "file:///x"}')
    (tmp_path / "src" / "deep_gemm").mkdir(parents=True)
    (tmp_path / "src" / "deep_gemm" / "__init__.py").touch()
    assert findings(site, path=(tmp_path / "src",)) == {}


# ---- TileLang and MATE -----------------------------------------------------------------------------------------------


def test_both_tilelang_distributions(site: Site) -> None:
    site.install("tilelang", "0.1.15")
    site.install("tilelang-musa", "0.1.12+musa.2", {"tilelang/__init__.py": ""})
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("two-tilelangs", "error")
    assert "tilelang 0.1.15 and tilelang_musa 0.1.12+musa.2" in found.text


def test_tilelang_for_cuda_on_a_musa_machine(site: Site) -> None:
    good_musa_stack(site)
    (site.folder / "tilelang_musa-0.1.12+musa.2.dist-info" / "METADATA").unlink()
    site.install("tilelang", "0.1.15")
    assert set(findings(site, cards={"musa": 1})) == {"tilelang-without-musa"}
    assert findings(site) == {}, "without a card it is right"


def test_companions_of_tilelang_musa(site: Site) -> None:
    site.install("tilelang_musa", "0.1.12+musa.2", {"tilelang/__init__.py": ""})
    site.install("numpy", "2.4.6")
    site.install("apache-tvm-ffi", "0.1.15.post2")
    assert set(findings(site)) == {"numpy-2", "tvm-ffi-without-musa"}


def test_two_toolkits(site: Site, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("mcc", "nvcc"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    assert findings(site, variables={"PATH": f"{tools}:/usr/bin:/bin"}) == {}
    site.install("tilelang", "0.1.15")
    assert set(findings(site, variables={"PATH": f"{tools}:/usr/bin:/bin"})) == {"two-toolkits"}


def test_no_compiler(site: Site, tmp_path: Path) -> None:
    assert set(findings(site, variables={"PATH": str(tmp_path), "CXX": ""})) == {"no-compiler"}


def test_mate_of_pypi(site: Site) -> None:
    site.install("mate", "0.2.0", {"mate/__init__.py": "", "mate/matchers.py": ""})
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("wrong-mate", "error")


def test_folder_named_mate(site: Site) -> None:
    site.write("mate/musa_kernels/gemm.py")
    (found,) = findings(site).values()
    assert (found.id, found.severity) == ("mate-is-a-folder", "info")


def test_parts_of_mate(site: Site) -> None:
    site.install("mate", "0.2.7", {"mate/gemm.py": ""})
    site.install("mate-mubin", "0.2.7.post1")
    assert findings(site) == {}
    site.install("deep-gemm", "0.2.4+musa", {"deep_gemm/__init__.py": ""})
    assert "mate 0.2.7 and deep-gemm 0.2.4+musa" in findings(site)["mate-versions"].text


# ---- torch and variables ---------------------------------------------------------------------------------------------


def test_card_without_torch_musa(site: Site) -> None:
    site.install("torch", "2.13.0")
    assert set(findings(site, cards={"musa": 1})) == {"no-torch-musa"}


def test_torch_and_torch_musa_of_different_releases(site: Site) -> None:
    site.install("torch", "2.13.0+cu130")
    site.install("torch_musa", "2.11.0")
    assert set(findings(site)) == {"torch-versions", "torch-for-cuda"}


def test_torch_that_cannot_be_imported(site: Site) -> None:
    said = {"error": "RuntimeError: Failed to load the backend extension", "cause": "OSError: undefined symbol: x"}
    (found,) = findings(site, torch=said).values()
    assert found.id == "torch-import"
    assert found.text.endswith("backend extension (OSError: undefined symbol: x)")


def test_card_that_torch_does_not_see(site: Site) -> None:
    good_musa_stack(site)
    assert set(findings(site, cards={"musa": 1}, torch={"version": "2.11.0", "musa": "50200", "musa_devices": 0})) == {
        "no-device"
    }


def test_torch_of_pypi_under_torch_musa(site: Site) -> None:
    good_musa_stack(site)
    said = {"version": "2.11.0", "musa": None, "musa_devices": 1}
    assert set(findings(site, cards={"musa": 1}, torch=said)) == {"torch-unpatched"}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MUSA_VISIBLE_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "2"}, {"visible-devices"}),
        ({"CUDA_VISIBLE_DEVICES": "2"}, {"visible-devices"}),
        ({"MUSA_VISIBLE_DEVICES": "2"}, set()),
        ({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, {"no-autoload"}),
        ({"MUSA_COMPAT_DEVICE": "rocm"}, {"unknown-device"}),
        ({"MUSA_COMPAT_DEVICE": "auto"}, set()),
        ({"MUSA_COMPAT_SIM": "1"}, {"simulated-beside-a-card"}),
    ],
)
def test_variables(site: Site, variables: dict[str, str], expected: set[str]) -> None:
    good_musa_stack(site)
    assert set(findings(site, variables=variables, cards={"musa": 1})) == expected


def test_cuda_variable_without_torch_musa_is_right(site: Site) -> None:
    site.install("torch", "2.13.0+cu130")
    assert findings(site, variables={"CUDA_VISIBLE_DEVICES": "2"}, cards={"cuda": 1}) == {}


def test_torchada_is_mentioned(site: Site) -> None:
    site.install("torchada", "0.1.103")
    assert {one.id: one.severity for one in findings(site).values()} == {"torchada": "info"}


def test_sgl_kernel_without_flash_mla(site: Site) -> None:
    good_musa_stack(site)
    site.install("sgl-kernel", "0.3.21", {"sgl_kernel/__init__.py": ""})
    assert set(findings(site)) == {"sgl-kernel-without-flash-mla"}
    site.write("sgl_kernel/flash_mla.py")
    assert findings(site) == {}


def test_errors_come_first(site: Site) -> None:
    site.install("torchada", "0.1.103")
    site.install("tilelang", "0.1.15")
    site.install("tilelang_musa", "0.1.12", {"tilelang/__init__.py": ""})
    site.install("numpy", "2.0.0")
    found = list(findings(site).values())
    assert [one.severity for one in found] == ["error", "warning", "info"]
