"""Everything that is the same for all files of a run: names, features, architectures, options."""

from __future__ import annotations

from dataclasses import dataclass

from musa_port import arch, names, rules
from musa_port.arch import ArchTable
from musa_port.cuda.features import Features
from musa_port.cuda.vocabulary import Vocabulary
from musa_port.names import Names
from musa_port.options import Options


@dataclass(frozen=True, slots=True)
class Tables:
    """Built once in each process."""

    options: Options
    names: Names
    features: Features
    arch: ArchTable
    vocabulary: Vocabulary


def load(options: Options) -> Tables:
    """Raises UsageError when a file that an option names is not usable."""
    rules.load_all()  # words are classified by what the rules registered
    table = names.load(
        options.map_files,
        default_map=options.default_map,
        keep=options.keep_names,
        min_confidence=options.min_confidence,
        reverse=options.reverse,
    )
    features = Features(enabled=not options.reverse)
    vocabulary = Vocabulary(table, features, options.rename_project_names)
    return Tables(options, table, features, arch.load(options.arch_map), vocabulary)
