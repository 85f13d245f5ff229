"""Ports a published CUDA package, builds original and port with nvcc, and compares their results on an NVIDIA GPU.

The port is compiled through the headers that give MUSA names to the CUDA toolkit, so what is compared is the rewriting.
Needs PyTorch with CUDA, nvcc and ninja.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.utils.cpp_extension import load

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from examples.demo import OUTPUT, ROOT, fetch, port

REVERSE = ROOT / "musa_compat" / "include" / "musa_compat" / "musa_on_cuda"


def main() -> None:
    """Build and run both, compare, and fail when any result differs."""
    if sys.argv[1:]:
        name, folder, file, *options = sys.argv[1:]
        run_cases(name, Path(folder), Path(file), options)
        return
    OUTPUT.mkdir(exist_ok=True)
    source = fetch("nerfacc", "0.5.3") / "nerfacc"
    report = port(source, OUTPUT / "nerfacc-on-cuda", "--keep-ext")
    print(f"nerfacc 0.5.3: {report['summary']['verdict']}", flush=True)
    expected = results_of("original", source / "cuda" / "csrc")
    flags = (f"-I{REVERSE}", "-DMUSA_COMPAT_PRIVATEUSE1_IS_CUDA")
    got = results_of("ported", OUTPUT / "nerfacc-on-cuda" / "cuda" / "csrc", *flags)
    failures = [name for name in CASES if not same(name, expected[name], got[name])]
    if failures:
        sys.exit(f"error: results differ in {', '.join(failures)}")
    print(f"{len(CASES)} operations give the same results")


def results_of(name: str, folder: Path, *flags: str) -> dict[str, list[torch.Tensor]]:
    """Run all cases in a process of its own: two builds of one extension cannot share a process."""
    file = OUTPUT / f"nerfacc-{name}.pt"
    subprocess.run([sys.executable, __file__, name, str(folder), str(file), *flags], check=True)
    results: dict[str, list[torch.Tensor]] = torch.load(file)
    return results


def run_cases(name: str, folder: Path, file: Path, flags: Iterable[str]) -> None:
    """Compile the extension in `folder` as the package itself does, and save the result of each case."""
    sources = sorted(map(str, [*folder.glob("*.cu"), *folder.glob("*.cpp")]))
    options = ["-O3", *flags]
    extension = load(f"nerfacc_{name}", sources, extra_cflags=options, extra_cuda_cflags=options)
    torch.save({case: [tensor.cpu() for tensor in tensors(call(extension))] for case, call in CASES.items()}, file)


def same(name: str, expected: list[torch.Tensor], got: list[torch.Tensor]) -> bool:
    """Whether both extensions returned bit-identical tensors for the same input."""
    equal = len(expected) == len(got) > 0 and all(map(identical, expected, got))
    shapes = ", ".join(str(tuple(tensor.shape)) for tensor in expected)
    print(f"  {name:24} {'same' if equal else 'DIFFERENT'}  {shapes}")
    return equal


def identical(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal in shape and in every value, NaN included."""
    return bool(one.shape == other.shape and torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)))


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in a result: nested tuples, and records with tensor members."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    names = ("vals", "is_left", "is_right", "is_valid", "chunk_starts", "chunk_cnts", "ray_indices")
    members = (getattr(value, name, None) for name in names)
    return [member for member in members if isinstance(member, torch.Tensor) and member.numel()]


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Uniform numbers that depend on the seed only."""
    return torch.rand(*shape, generator=torch.Generator("cuda").manual_seed(seed), device="cuda")


def chunks() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Starts and lengths of 1,000 rows of uneven length, and their values."""
    counts = (random(1000, seed=1) * 90).long()
    return torch.cumsum(counts, 0) - counts, counts, random(int(counts.sum()), seed=2) + 0.5


def rays(count: int = 4096) -> tuple[torch.Tensor, torch.Tensor]:
    """Origins and unit directions."""
    directions = random(count, 3, seed=4) - 0.5
    return random(count, 3, seed=3) * 4 - 2, directions / directions.norm(dim=-1, keepdim=True)


BOXES = [[-1.0, -1.0, -1.0, 1.0, 1.0, 1.0], [-2.0, -2.0, -2.0, 2.0, 2.0, 2.0]]


def intersect(extension: Any) -> Any:
    """Cut the rays with two boxes."""
    return extension.ray_aabb_intersect(*rays(), torch.tensor(BOXES, device="cuda"), 0.0, 1e10, 1e10)


def traverse(extension: Any) -> Any:
    """March rays through two occupancy grids."""
    origins, directions = rays()
    near, far, hits = intersect(extension)
    sorted_t, indices = torch.sort(torch.cat([near, far], -1), -1)
    grids = random(2, 32, 32, 32, seed=5) > 0.5
    count = origins.shape[0]
    return extension.traverse_grids(
        origins,
        directions,
        torch.ones(count, dtype=torch.bool, device="cuda"),
        grids,
        torch.tensor(BOXES, device="cuda"),
        sorted_t.contiguous(),
        indices.contiguous(),
        hits.contiguous(),
        torch.zeros(count, device="cuda"),
        torch.full((count,), 1e10, device="cuda"),
        1e-2,
        0.0,
        True,
        True,
        True,
        0,
        False,
    )


CASES: dict[str, Callable[[Any], Any]] = {
    "inclusive_sum": lambda extension: extension.inclusive_sum(*chunks(), False, False),
    "exclusive_sum_backward": lambda extension: extension.exclusive_sum(*chunks(), False, True),
    "inclusive_sum_normalized": lambda extension: extension.inclusive_sum(*chunks(), True, False),
    "inclusive_prod_forward": lambda extension: extension.inclusive_prod_forward(*chunks()),
    "exclusive_prod_forward": lambda extension: extension.exclusive_prod_forward(*chunks()),
    "ray_aabb_intersect": intersect,
    "traverse_grids": traverse,
    "opencv_lens_undistortion": lambda extension: extension.opencv_lens_undistortion(
        random(5000, 2, seed=6), random(5000, 8, seed=7) * 0.01, 1e-6, 10
    ),
}


if __name__ == "__main__":
    main()
