"""The command line: `musa-port SRC -o OUT` and `musa-port explain RULE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from musa_port import __version__, rules
from musa_port.errors import UsageError
from musa_port.listing import name_table
from musa_port.mappings import CONFIDENCE
from musa_port.model import FileResult, FileStatus, Report, Severity
from musa_port.options import ARCHITECTURES, C_FAMILY_SUFFIXES, NATIVE, Options
from musa_port.report import ReportError, check_target, format_names, print_summary, render, write
from musa_port.report.safe import printable
from musa_port.report.wording import count, headline, place
from musa_port.run import Run, execute

_LANGUAGES = ("cpp", "python", "cmake", "shell")
_FILE = click.Path(path_type=Path)
_EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)


class _Words(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A comma-separated list of words out of a fixed set."""

    name = "list"

    def __init__(self, choices: Sequence[str]) -> None:
        self._choices = choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words = tuple(value) if not isinstance(value, str) else tuple(filter(None, value.split(",")))
        for word in words:
            if word not in self._choices:
                self.fail(f"{word!r} is not one of {', '.join(self._choices)}", param, ctx)
        return words

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "[" + ",".join(self._choices) + "]"


def main() -> None:
    """Entry point: `explain` is a command of its own, everything else ports."""
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["explain"]:
            explain.main(arguments[1:], prog_name="musa-port explain", standalone_mode=True)
        port.main(arguments, prog_name="musa-port")
    except BrokenPipeError:
        _abandon_output()
        sys.exit(0)
    except OSError as error:
        _abandon_output()
        sys.stderr.write(f"musa-port: the output cannot be written: {error.strerror}\n")
        sys.exit(2)
    except SystemExit as end:
        _flush(end)
        raise


def _flush(end: SystemExit) -> None:
    """Output that cannot be written is an error of its own, not a traceback at the end of the interpreter."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()
    except OSError as error:
        _abandon_output()
        sys.stderr.write(f"musa-port: the output cannot be written: {error.strerror}\n")
        end.code = 2


def _abandon_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("source", metavar="SRC", type=_FILE)
@click.option("-o", "--output", metavar="OUT", type=_FILE, help="Folder for the ported tree; it mirrors SRC.")
@click.option("--in-place", is_flag=True, help="Change SRC itself. Needs a clean git state, or --force.")
@click.option("--diff", "show_diff", is_flag=True, help="Print a unified diff; write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; list what would change, exit status 1 if anything.")
@click.option("--list-names", is_flag=True, help="Write nothing; list the API names in use, with counts and status.")
@click.option("--report", "reports", metavar="FILE", type=_FILE, multiple=True, help="Write a report (repeatable).")
@click.option(
    "--format",
    "report_format",
    type=click.Choice(format_names()),
    help="Format of the report: of --report files (default: by extension), or of what is printed.",
)
@click.option(
    "--map", "map_files", metavar="FILE", type=_FILE, multiple=True, help="Own names, JSON or CSV (repeatable)."
)
@click.option("--no-default-map", is_flag=True, help="Use only the --map files.")
@click.option(
    "--keep-names", metavar="NAMES", multiple=True, help="Names to leave alone, comma-separated (repeatable)."
)
@click.option(
    "--min-confidence",
    type=click.Choice(CONFIDENCE[:5]),
    default="derived",
    show_default=True,
    help="Leave and report names whose mapping is less certain.",
)
@click.option(
    "--include", metavar="GLOB", multiple=True, help="Port only these; also ports vendored and generated files."
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Copy these without porting them (repeatable).")
@click.option("--only", type=_Words(_LANGUAGES), default=",".join(_LANGUAGES), help="Kinds of sources to port.")
@click.option("--rename-ext/--keep-ext", default=True, show_default=True, help="Rename .cu to .mu and .cuh to .muh.")
@click.option("--rename-project-names", is_flag=True, help="Rename the project's own names with CUDA words too.")
@click.option("--comments", is_flag=True, help="Rename API names in comments.")
@click.option("--strings", is_flag=True, help="Rename API names in string literals.")
@click.option(
    "--arch",
    type=_Words(ARCHITECTURES),
    default="mp_22,mp_31",
    show_default=True,
    help="Architectures to port for; findings follow.",
)
@click.option("--arch-map", metavar="FILE", type=_FILE, help="Own __CUDA_ARCH__ thresholds: CSV lines such as 900,310.")
@click.option(
    "--guards",
    type=click.Choice(["rewrite", "report"]),
    default="rewrite",
    show_default=True,
    help="What to do with architecture and version tests.",
)
@click.option(
    "--cuda-version",
    metavar="N",
    type=click.IntRange(min=1000),
    help="CUDA version that version tests are to assume, such as 12080.",
)
@click.option(
    "--ptx",
    type=click.Choice(["report", "stub"]),
    default="report",
    show_default=True,
    help="Report inline PTX, or replace it by a trap.",
)
@click.option("--strip-nvtx", is_flag=True, help="Remove calls of torch.cuda.nvtx that stand alone (Python).")
@click.option("--reverse", is_flag=True, help="Port from MUSA to CUDA.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=0), default=0, help="Processes; 0 (default) chooses.")
@click.option(
    "--state", metavar="FILE", type=_FILE, help="Remember the run here; the next one ports only what changed."
)
@click.option(
    "--force", is_flag=True, help="With --in-place or --state: overwrite what is not committed or was edited."
)
@click.option(
    "--max-file-size",
    metavar="BYTES",
    type=click.IntRange(min=1),
    default=8_000_000,
    show_default=True,
    help="Larger sources are copied without porting.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but a line on what went wrong.")
@click.version_option(__version__, prog_name="musa-port")
def port(source: Path, output: Path | None, **flags: Any) -> None:
    """Port the CUDA sources in SRC (a folder or a file) to MUSA.

    Exit status: 0 when nothing is left to do by hand, 1 when there are error-level findings (or --check would change
    something), 2 for usage and input/output errors.

    `musa-port explain RULE` says what a rule does and why.
    """
    try:
        mode = _mode(output, flags)
        options = _options(flags)
        for path in flags["reports"]:
            _check_report(path)
            check_target(path, flags["report_format"])
        run = Run(source, _target(mode, source, output), options, mode)
        with _progress(run, hidden=flags["quiet"]):
            report = execute(run)
        _show(report, run, flags)
        for path in flags["reports"]:
            write(report, path, flags["report_format"])
    except (UsageError, ReportError) as error:
        click.echo(f"musa-port: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("musa-port: interrupted", err=True)
        sys.exit(130)
    _warn_of_failures(report, flags)
    sys.exit(_status(report, flags["check"]))


def _check_report(path: Path) -> None:
    if path.suffix.lower() in C_FAMILY_SUFFIXES | NATIVE:
        raise UsageError(f"--report {path}: has the name of a source, which it would overwrite; choose another name")


def _mode(output: Path | None, flags: dict[str, Any]) -> str:
    chosen = [name for name in ("in_place", "show_diff", "check", "list_names") if flags[name]]
    shown = [f"--{name.replace('show_', '').replace('_', '-')}" for name in chosen]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(shown)} cannot be used together")
    if chosen and output is not None:
        raise UsageError(f"{shown[0]} and -o cannot be used together")
    if not chosen and output is None:
        raise UsageError("say where to write: -o OUT; or --in-place, --diff, --check or --list-names")
    if flags["list_names"] and flags["report_format"] and not flags["reports"]:
        raise UsageError("--list-names prints a table of its own; leave --format out, or give --report FILE")
    if flags["state"] is not None and output is None:
        raise UsageError("--state needs -o OUT: it remembers what was written there")
    return {"in_place": "in-place", "show_diff": "diff"}.get(chosen[0], "check") if chosen else "port"


def _target(mode: str, source: Path, output: Path | None) -> Path | None:
    if mode == "in-place":
        return source if source.is_dir() else source.parent
    return output


def _options(flags: dict[str, Any]) -> Options:
    return Options(
        include=flags["include"],
        exclude=flags["exclude"],
        map_files=flags["map_files"],
        default_map=not flags["no_default_map"],
        keep_names=tuple(name.strip() for text in flags["keep_names"] for name in text.split(",") if name.strip()),
        min_confidence=flags["min_confidence"],
        rename_ext=flags["rename_ext"],
        rename_project_names=flags["rename_project_names"],
        comments=flags["comments"],
        strings=flags["strings"],
        arch=flags["arch"],
        arch_map=flags["arch_map"],
        guards=flags["guards"],
        cuda_version=flags["cuda_version"],
        ptx=flags["ptx"],
        strip_nvtx=flags["strip_nvtx"],
        only=frozenset(flags["only"]),
        reverse=flags["reverse"],
        jobs=flags["jobs"],
        state=flags["state"],
        force=flags["force"],
        max_file_size=flags["max_file_size"],
        keep_edits=bool(flags["reports"]) or flags["report_format"] is not None,
    )


@contextmanager
def _progress(run: Run, hidden: bool) -> Iterator[None]:
    """A bar on a terminal; nothing when the output is piped."""
    console = Console(stderr=True)
    if hidden or not console.is_terminal:
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    bar = Progress(*columns, console=console, transient=True)

    def show(phase: str, done: int, total: int) -> None:
        if phase not in tasks:
            bar.start()  # not before: its thread would keep the run from forking
            tasks[phase] = bar.add_task(phase, total=total)
        bar.update(tasks[phase], completed=done)

    run.progress = show
    try:
        yield
    finally:
        bar.stop()


def _show(report: Report, run: Run, flags: dict[str, Any]) -> None:
    if flags["show_diff"]:
        for path in sorted(run.diffs):
            sys.stdout.buffer.write(run.diffs[path])
    elif flags["list_names"]:
        click.echo(name_table(report), nl=False)
    elif flags["report_format"] and not flags["reports"]:
        click.echo(render(report, flags["report_format"]), nl=False)
    elif not flags["quiet"]:
        if flags["check"]:
            _list_changes(report)
        print_summary(report)


def _list_changes(report: Report) -> None:
    """One line for each file that a run would change."""
    for file in filter(_changes, report.files):
        renamed = f" as {printable(file.output_path)}" if file.output_path not in (None, file.path) else ""
        click.echo(f"would port {printable(file.path)}{renamed}")


def _changes(file: FileResult) -> bool:
    return file.status is FileStatus.PORTED or file.output_path not in (None, file.path)


def _warn_of_failures(report: Report, flags: dict[str, Any]) -> None:
    """Where no summary is printed, files that failed must not go unseen."""
    printed = not (flags["show_diff"] or flags["list_names"] or flags["quiet"] or flags["report_format"])
    for file in [] if printed else report.files:
        if file.status is FileStatus.FAILED:
            click.echo(f"musa-port: {file.path}: {file.reason}", err=True)
    if flags["quiet"] and not printed:
        _say_why(report, flags["check"])


def _say_why(report: Report, check: bool) -> None:
    """A line for each reason why a quiet run ends with status 1."""
    errors = [finding for finding in report.findings() if finding.severity is Severity.ERROR]
    if errors:
        first = errors[0]
        what = f"{count(len(errors), 'error')} to mend by hand, first {place(first)}: {headline(first)}"
        click.echo(f"musa-port: {what} [{first.rule}]", err=True)
    changed = sum(map(_changes, report.files)) if check else 0
    if changed:
        click.echo(f"musa-port: {count(changed, 'file')} would change", err=True)


def _status(report: Report, check: bool) -> int:
    if any(file.status is FileStatus.FAILED for file in report.files):
        return 2
    return int(report.has_errors or (check and any(map(_changes, report.files))))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("rule", metavar="RULE", required=False)
def explain(rule: str | None) -> None:
    """Say what RULE (an id such as C20, or a name such as arch-guard) does and why; without RULE, list all rules."""
    if rule is None:
        for entry in rules.all_rules():
            click.echo(f"{entry.id:5} {entry.name:22} {entry.severity.value:8} {entry.summary}")
        return
    try:
        entry = rules.get(rule)
    except KeyError:
        click.echo(f"musa-port explain: there is no rule {rule!r}; `musa-port explain` lists them", err=True)
        sys.exit(2)
    click.echo(rules.describe(entry))


if __name__ == "__main__":
    main()
