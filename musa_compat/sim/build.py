"""Builds the library of the simulated device with the host C++ compiler, once for each torch and source text."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

SOURCES = Path(__file__).with_name("csrc")


class BuildError(RuntimeError):
    """The library of the simulated device could not be built."""


def cache_dir() -> Path:
    """Where built libraries are kept: `MUSA_COMPAT_CACHE`, else `musa-compat` in the user's cache folder."""
    chosen = os.environ.get("MUSA_COMPAT_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "musa-compat"


def library_path() -> Path:
    """The file that `ensure` returns; it need not be there yet. Raises BuildError without torch."""
    digest = hashlib.sha256()
    for file in sorted(SOURCES.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    torch_version = _torch_version()
    digest.update(f"{torch_version}\0{_torch_dir()}\0{os.environ.get('MUSA_COMPAT_SIM_CXXFLAGS', '')}".encode())
    return cache_dir() / f"libmusa_sim-{torch_version}-{digest.hexdigest()[:16]}.so"


def ensure() -> Path:
    """The path of the built library; builds it when it is not in the cache.

    Several processes may call this at once: one builds, the others wait for it. Raises BuildError.
    """
    library = library_path()
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with open(library.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            _compile(library)
    return library


def command(output: Path) -> list[str]:
    """The compiler's command line. Raises BuildError when there is no compiler."""
    torch = _torch_dir()
    flags = shlex.split(os.environ.get("MUSA_COMPAT_SIM_CXXFLAGS", "-O1"))
    return [
        *_compiler(),
        *flags,
        *("-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-w"),
        f"-D_GLIBCXX_USE_CXX11_ABI={_cxx11_abi()}",
        *(f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include"),
        *(str(SOURCES / "sim.cpp"), "-o", str(output)),
        *(f"-L{torch}/lib", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch}/lib"),
    ]


def _compile(library: Path) -> None:
    unfinished = library.with_name(f".{library.name}.{os.getpid()}")
    line = command(unfinished)
    result = subprocess.run(line, capture_output=True, text=True, check=False)
    if result.returncode:
        unfinished.unlink(missing_ok=True)
        raise BuildError(
            f"the compiler failed on the simulated MUSA device with torch {_torch_version()} "
            f"(tested with the versions in docs/simulated_device.md):\n{shlex.join(line)}\n{result.stderr[-4000:]}"
        )
    os.replace(unfinished, library)


def _compiler() -> list[str]:
    chosen = os.environ.get("CXX")
    found = shlex.split(chosen) if chosen else [c for c in map(shutil.which, ("g++", "clang++", "c++")) if c][:1]
    if not found or not shutil.which(found[0]):
        raise BuildError(
            "the simulated MUSA device needs a C++20 compiler once, to build its library against the installed torch; "
            f"expected g++ or clang++ on PATH, or CXX; got {chosen or 'none'}. Install one (`apt install g++`), "
            f"or copy {library_path().name} from another machine into {cache_dir()}"
        )
    return found


def _torch_dir() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise BuildError("the simulated MUSA device needs torch; install it (`pip install torch`)")
    return Path(spec.origin).parent


def _torch_version() -> str:
    _torch_dir()
    return version("torch")


def _cxx11_abi() -> int:
    import torch

    return int(torch.compiled_with_cxx11_abi())
