"""The registry of rules: what each rule id means.

A rule registers itself where it is implemented. Reports, SARIF, `musa-port explain` and the documentation read the
same entries.
"""

from __future__ import annotations

from dataclasses import dataclass

from musa_port.model import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's identity and documentation.

    id        stable code, `C..` C-family sources, `P..` Python, `H..` and `K..` TileLang programs and
              kernels, `B..` build files, `F..` files and trees
    name      kebab-case name, also accepted wherever an id is
    severity  the usual severity of its findings (a finding may differ, for instance by confidence of a name)
    summary   one sentence: what the rule does or reports
    why       why it does so
    example   (before, after); equal when the rule only reports
    advice    what the user should do about a finding
    evidence  where the rule comes from
    file      name of the file that the example is part of, where the kind of rule does not tell it
    """

    id: str
    name: str
    severity: Severity
    summary: str
    why: str = ""
    example: tuple[str, str] | None = None
    advice: str = ""
    evidence: str = ""
    file: str = ""


_RULES: dict[str, Rule] = {}


def register(rule: Rule) -> Rule:
    """Add `rule`; its id and name must be new."""
    taken = [key for key in (rule.id, rule.name) if key in _RULES]
    if taken:
        raise ValueError(f"rule {taken[0]!r} is registered twice")
    _RULES[rule.id] = _RULES[rule.name] = rule
    return rule


def get(key: str) -> Rule:
    """The rule with this id or name. Raises KeyError."""
    load_all()
    return _RULES[key]


def all_rules() -> list[Rule]:
    """Every rule, ordered by id."""
    load_all()
    unique = {rule.id: rule for rule in _RULES.values()}
    return sorted(unique.values(), key=lambda rule: (rule.id[0], int(rule.id[1:])))


def load_all() -> None:
    """Import every module that registers rules."""
    import musa_port.build_files
    import musa_port.cuda.rules
    import musa_port.walk
    import musa_port.work  # noqa: F401
    from musa_port import languages

    languages.load_all()


def describe(rule: Rule) -> str:
    """What `musa-port explain` prints."""
    parts = [f"{rule.id} {rule.name} ({rule.severity.value})", "", rule.summary]
    if rule.why:
        parts += ["", f"Why: {rule.why}"]
    if rule.example:
        before, after = rule.example
        parts += ["", "Before:", *_indented(before), "After:" if after != before else "After: unchanged"]
        parts += _indented(after) if after != before else []
    if rule.advice:
        parts += ["", f"Advice: {rule.advice}"]
    if rule.evidence:
        parts += ["", f"Evidence: {rule.evidence}"]
    return "\n".join(parts)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
