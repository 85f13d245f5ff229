"""The packages of the field: what each is for, how to recognise it, and where it comes from.

They are recognised by their distribution, never by importing them. A folder named `mate` on sys.path looks like a
package to `import`, some of them initialise a device, and an index may hold another project under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from musa_compat.device import Kind

if TYPE_CHECKING:  # importing it takes 20 ms, and most processes never ask
    from importlib.metadata import Distribution

_VENDOR = "from Moore Threads (package index, release page or image), not from PyPI"


@dataclass(frozen=True)
class Package:
    """One package that code for MUSA imports."""

    name: str
    """Its import name, or the name it is known by where several share an import name."""
    purpose: str
    source: str
    """How to get it: what completes "get it …"."""
    distributions: tuple[str, ...]
    """Names that it is distributed under."""
    marks: tuple[str, ...] = ()
    """Files, one of which the right package has, where others share its name. Empty: the name is enough."""
    imports: str = ""
    """Its import name, if that is not `name`."""
    tested: str = ""
    """The version that current MUSA stacks pin."""

    @property
    def import_name(self) -> str:
        """What `import` is given."""
        return self.imports or self.name


_TABLE = (
    Package("torch", "tensors; every shim needs it", "with torch_musa, or for CPU by `pip install torch`", ("torch",)),
    Package("torch_musa", "PyTorch on MUSA devices", _VENDOR, ("torch_musa",), tested="2.11.0.post2+musa5.2.0"),
    Package(
        "torchada", "the vendor's redirect of torch.cuda", "by `pip install torchada`", ("torchada",), tested="0.1.95"
    ),
    Package(
        "mate",
        "Moore Threads' kernels for MUSA (GEMM, attention)",
        _VENDOR + ", whose `mate` is another project",
        ("mate",),
        marks=("mate/deep_gemm.py", "mate/gemm.py", "mate/gemm/__init__.py", "mate/flashmla.py"),
        tested="0.2.7",
    ),
    Package("mate_mubin", "binary kernels of MATE", _VENDOR, ("mate-mubin",), tested="0.2.7"),
    Package(
        "tilelang_musa", "TileLang for MUSA", _VENDOR, ("tilelang_musa",), imports="tilelang", tested="0.1.12+musa.2"
    ),
    Package("tilelang", "TileLang for CUDA and CPU", "by `pip install tilelang`", ("tilelang",)),
    Package("tvm_ffi", "run time of TileLang", "with TileLang", ("apache-tvm-ffi",), tested="0.1.11.post1+musa.1"),
    Package("triton", "Triton", _VENDOR + ", whose `triton` is for CUDA", ("triton",), tested="3.2.0"),
    Package(
        "flash_attn_interface",
        "attention of SGLang and vLLM",
        _VENDOR,
        ("flash_attn_3",),
        tested="0.2.7",
    ),
    Package("flashinfer", "sampling and linear attention", _VENDOR, ("flashinfer-python",), tested="0.2.7"),
    Package("sgl_kernel", "kernels of SGLang", "from SGLang, built with its setup_musa.py", ("sgl-kernel",)),
    Package(
        "pymtml",
        "management library of the cards, used by vLLM-MUSA",
        "by `pip install mthreads-ml-py`; the `pymtml` of PyPI is another project",
        ("mthreads-ml-py",),
    ),
    Package("deep_gemm", "DeepGEMM's interface", "from musa-compat, its distribution deep-gemm", ("deep-gemm",)),
    Package("flash_mla", "FlashMLA's interface", "from musa-compat, its distribution flash-mla", ("flash-mla",)),
    Package("deep_ep", "DeepEP's interface", "from musa-compat, its distribution deep-ep", ("deep-ep",)),
)

PACKAGES: dict[str, Package] = {package.name: package for package in _TABLE}


@cache
def installed(name: str) -> Distribution | None:
    """The distribution of the package of this name in `PACKAGES`, or None if it, or the right one, is not installed.

    Cached until `forget`.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    package = PACKAGES[name]
    for candidate in package.distributions:
        try:
            found = distribution(candidate)
        except PackageNotFoundError:
            continue
        if is_the_one(package, found):
            return found
    return None


def is_the_one(package: Package, found: Distribution) -> bool:
    """Whether a distribution with the right name is the right project."""
    files = found.files
    if not package.marks or files is None:  # installed without a list of files, as system packages are
        return True
    return any(file.as_posix() in package.marks for file in files)


def forget() -> None:
    """Look again at the next question; for programs that install packages while they run."""
    installed.cache_clear()


def missing(name: str) -> str | None:
    """Why the package of this name cannot be used, with how to get it; None if it is installed."""
    from importlib.metadata import distributions

    if installed(name):
        return None
    package = PACKAGES[name]
    for candidate in package.distributions:
        if next(iter(distributions(name=candidate)), None):
            return f"the installed {candidate} is another project; get {name} {package.source}"
    return f"{name} is not installed; get it {package.source}"


def provider_package(provider: str, kind: Kind) -> str | None:
    """The name in `PACKAGES` of what a provider of kernels needs on a kind of accelerator; None for an unknown one."""
    if provider == "tilelang":
        return "tilelang_musa" if kind == "musa" else "tilelang"
    return provider if provider in {"mate", "torch"} else None
