"""`python -m musa_port.headers`: write the compatibility headers again, or check that they are up to date."""

from __future__ import annotations

from pathlib import Path

import click

from musa_port.headers import generate
from musa_port.headers.render import MARK

_DEFAULT = Path("musa_compat/include")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 when a file would change.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=_DEFAULT,
    show_default=True,
    help="The include directory.",
)
def main(check: bool, output: Path) -> None:
    """Generate the compatibility headers from the mapping tables."""
    if output == _DEFAULT and not output.is_dir():
        raise click.UsageError(f"{output} is not here; run this in the repository's root or pass --output DIR")
    changes = pending(output)
    for path, text in changes.items():
        click.echo(f"{'would change' if check else 'remove' if text is None else 'write'} {path}")
        if not check:
            _apply(output / path, text)
    if check and changes:
        raise SystemExit(1)


def pending(output: Path) -> dict[str, str | None]:
    """What differs below `output`: path -> the text it should have; None where a generated file should go away."""
    wanted = generate()
    changes: dict[str, str | None] = {path: None for path in _generated(output) if path not in wanted}
    changes.update((path, text) for path, text in wanted.items() if _read(output / path) != text)
    return dict(sorted(changes.items()))


def _generated(output: Path) -> list[str]:
    files = (path for path in output.rglob("*") if path.is_file())
    return [path.relative_to(output).as_posix() for path in files if (_read(path) or "").startswith(MARK)]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _apply(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
