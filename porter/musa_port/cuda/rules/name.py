"""Names of the CUDA API: the order of decisions for one identifier."""

from __future__ import annotations

import re

from musa_port.cuda.facts import Word
from musa_port.cuda.features import Feature
from musa_port.cuda.index import LIBRARY_HEADERS
from musa_port.cuda.port import Port
from musa_port.cuda.registry import check
from musa_port.cuda.syntax import Role
from musa_port.cuda.text import back, forward, is_member, path_at
from musa_port.mappings import Row
from musa_port.model import Severity
from musa_port.names import Family, rename_inner_words
from musa_port.rules import Rule, register

NAME = register(
    Rule(
        "C1",
        "api-name",
        Severity.INFO,
        "Renames a name of the CUDA API that the tables hold with good evidence.",
        why="Two or more code bases, or one that builds, use the MUSA name.",
        example=("cudaMalloc(&p, n);", "musaMalloc(&p, n);"),
        evidence="mapping tables, confidence high and medium",
    )
)
UNPROVEN = register(
    Rule(
        "C2",
        "unproven-name",
        Severity.INFO,
        "Renames a name that only a mechanical table holds, or leaves one below --min-confidence.",
        why="The table proves what the vendor's tool writes, not that the MUSA symbol exists.",
        example=("float x = CUDART_INF_F;", "float x = MUSART_INF_F;"),
        advice="Check that the header of your MUSA SDK declares the name.",
        evidence="mapping tables, confidence medium-low and low",
    )
)
DERIVED = register(
    Rule(
        "C3",
        "derived-name",
        Severity.WARNING,
        "Renames a name that is in no table by the rename rule of its family.",
        why="Families of names are renamed by prefix, so newer names usually follow.",
        example=(
            "#include <cuda_runtime.h>\ncudaNewFunction(p);",
            "#include <musa_runtime.h>\nmusaNewFunction(p);",
        ),
        advice="Check that the header of your MUSA SDK declares the name.",
        evidence="mappings/families.csv",
    )
)
UNSUPPORTED = register(
    Rule(
        "C4",
        "unsupported-name",
        Severity.ERROR,
        "Reports a name that has no MUSA counterpart; it stays as it is.",
        why="There is nothing to write in its place.",
        example=("cusolverDnCreateSyevjInfo(&i);", "cusolverDnCreateSyevjInfo(&i);"),
        advice="Remove the use, or write a MUSA path by hand and put it under #ifdef __MUSA__.",
        evidence="mapping tables, confidence none",
    )
)
DIFFERENT = register(
    Rule(
        "C5",
        "different-meaning",
        Severity.WARNING,
        "Renames a name whose MUSA counterpart differs in meaning, values or arguments, or is not in every SDK.",
        example=("__pipeline_commit();", "__musa_memcpy_g2s_commit_group();"),
        advice="Compare the two declarations before you rely on it.",
        evidence="mapping tables, flags semantic, partial and stub",
    )
)
SAME_NAME = register(
    Rule(
        "C6",
        "unseen-intrinsic",
        Severity.WARNING,
        "Reports a device function that probably exists under the same name but was never seen in MUSA code.",
        example=("__vadd4(a, b);", "__vadd4(a, b);"),
        advice="Compile it with your MUSA SDK, or write it in plain C++.",
        evidence="mapping tables, confidence unknown",
    )
)
LOOK = register(
    Rule(
        "C7",
        "look-at-name",
        Severity.INFO,
        "Lists a name that holds a CUDA word but is neither an API name nor declared in the tree.",
        why="It may come from a library that has to be ported too, or it may be harmless.",
        example=("other_lib_cuda_init();", "other_lib_cuda_init();"),
        advice="Nothing to do when the name belongs to your own code or build.",
    )
)
FEATURE = register(
    Rule(
        "C8",
        "hardware-feature",
        Severity.ERROR,
        "Reports cooperative launches, clusters, tensor copies, warp-group matrix multiply and other features by name.",
        why="The name alone can be renamed, the feature behind it is missing or works differently.",
        example=("cg::this_cluster().sync();", "cg::this_cluster().sync();"),
        evidence="mappings/features.csv",
    )
)
PROJECT = register(
    Rule(
        "C9",
        "project-name",
        Severity.INFO,
        "Renames the project's own names that hold a CUDA word, with all their uses (--rename-project-names only).",
        example=("#define CUDA_CHECK(x) check(x)", "#define MUSA_CHECK(x) check(x)"),
    )
)

KEPT = register(
    Rule(
        "C17",
        "project-api-name",
        Severity.INFO,
        "Lists API names that are left because the project has the same name in a namespace that the file opens.",
        why="What the tree declares is the project's own.",
        advice="Check that the use means the project's declaration; write ::name where the API is meant.",
    )
)

_CODE = frozenset({Role.CODE, Role.MACRO, Role.DIRECTIVE})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Tables without a library behind them: a renamed call still has to be written by hand.
_BY_HAND = frozenset({"cudnn"})


@check(order=90)
def decide(port: Port) -> None:
    """Decide every candidate word that no other rule has claimed."""
    for word in port.facts.words:
        if not port.is_claimed(word.start):
            _decide(port, word)


def _decide(port: Port, word: Word) -> None:
    role = word.role
    if role == Role.COMMENT:
        if port.options.comments:
            _rename_in_text(port, word)
        return
    if role == Role.STRING:
        return
    name = port.data[word.start : word.end].decode()
    if role in (Role.FIELD, Role.DEFINES, Role.NAMESPACE, Role.DECLARES, Role.PROTOTYPE):
        _decide_declaration(port, word, name)
    elif role != Role.TYPE and is_member(port.data, word.start):
        _decide_member(port, word, name)
    elif not _decide_path(port, word, name):
        decide_identifier(port, word.start, word.end, name)


def _rename_in_text(port: Port, word: Word) -> None:
    """In prose, a name that means something else on MUSA stays: what is said about it would become wrong."""
    row = port.names.identifiers.get(port.text(word.start, word.end))
    if is_in_address(port.data, word.start):
        return
    if (
        row is not None
        and row.supported
        and row.flag != "semantic"
        and _IDENTIFIER.fullmatch(row.musa)
        and port.names.allowed(row)
    ):
        port.edit(word.start, word.end, row.musa, "api-name", row.confidence)


def is_in_address(data: bytes, start: int) -> bool:
    """Whether the word is a part of a URL or a path in prose."""
    begin = max(data.rfind(char, 0, start) for char in (b" ", b"\n", b"\t", b'"', b"(", b"<"))
    return b"://" in data[begin + 1 : start] or (data[start - 1 : start] == b"/" and data[start - 2 : start] != b"//")


# ---- names where they are declared, and members -----------------------------------------------------------------


def _decide_declaration(port: Port, word: Word, name: str) -> None:
    if word.role == Role.NAMESPACE:
        _decide_namespace(port, word, name)
    elif word.role in (Role.FIELD, Role.DECLARES) or is_project_name(port, name, word.start):
        keep_project_name(port, word.start, word.end, name)
    elif not _decide_path(port, word, name):
        decide_identifier(port, word.start, word.end, name)


def _decide_namespace(port: Port, word: Word, name: str) -> None:
    """Reopened namespaces of libraries move with the library; the project's own stay."""
    spans, _ = path_at(port.data, word.start, word.end)
    library = port.text(*spans[0])
    top_level = any(path.split("::")[0] == library for path in port.facts.namespaces)
    if library in LIBRARY_HEADERS and library not in port.index.owned and top_level:
        _decide_path(port, word, name)
    elif _extends_torch(port, word, name):
        port.edit(word.start, word.end, "cuda" if port.names.reverse else "musa", "api-name", "medium")
    else:
        keep_project_name(port, word.start, word.end, name)


def _extends_torch(port: Port, word: Word, name: str) -> bool:
    """`namespace at { namespace cuda {` reopens `at::cuda`."""
    if name != ("musa" if port.names.reverse else "cuda"):
        return False
    opening = back(port.data, port.data.rfind(b"namespace", 0, word.start))
    before = port.data[max(0, opening - 40) : opening + 1]
    return re.search(rb"namespace\s+(at|c10|torch)\s*\{$", before) is not None


def _decide_member(port: Port, word: Word, name: str) -> None:
    row = port.names.methods.get(name)
    is_call = port.data[forward(port.data, word.end)] == 0x28
    if row is None or not is_call or name in port.index.fields or not _uses_torch(port):
        if row is not None and is_call:
            _say_member_kept(port, word, name)
        keep_project_name(port, word.start, word.end, name)
        return
    target = re.sub(r"^\w+::", "", row.musa)
    end = word.end
    if target.endswith("()"):
        target = target[:-2]
    elif "(" in target:  # x.cuda() becomes x.to(at::kPrivateUse1)
        close = forward(port.data, forward(port.data, end) + 1)
        if port.data[close : close + 1] != b")":
            return
        end = close + 1
    apply_row(port, word.start, end, row._replace(cuda=name, musa=target))


def _say_member_kept(port: Port, word: Word, name: str) -> None:
    """A member that tensors have too: what it belongs to may come from a header that is not known here."""
    if name not in port.index.fields:
        _look(port, word.start, word.end, name)
    elif _uses_torch(port):
        message = f"{name}() is left: the project has a member of that name"
        port.report("project-api-name", word.start, word.end, message, name=name, once=name)


def _uses_torch(port: Port) -> bool:
    """Whether the file includes torch, or names something of it that a header of the project brought in."""
    if _TORCH_NAME.search(port.data):
        return True
    return any(path.startswith(("torch/", "ATen/", "c10/", "torch_musa/")) for path in includes(port))


def includes(port: Port) -> list[str]:
    """The include paths of the file."""
    if "includes" not in port.facts.notes:
        port.facts.notes["includes"] = [
            match.group(1).decode("utf-8", "replace")
            for directive in port.facts.directives
            if directive.keyword in ("include", "include_next", "import")
            and (match := _TARGET.search(port.data, directive.argument, directive.end))
        ]
    return port.facts.notes["includes"]


_TORCH_NAME = re.compile(rb"^(?![ \t]*(?://|\*)).*?(?<![\w:])(?:::)?(?:at|c10|torch)::\w", re.M)
_TARGET = re.compile(rb'[<"]([^>"\n]+)[>"]')


# ---- qualified names --------------------------------------------------------------------------------------------


def _decide_path(port: Port, word: Word, name: str) -> bool:
    """Decide the whole qualified name around the word. False when it is no qualified name to speak of."""
    spans, known = path_at(port.data, word.start, word.end)
    if len(spans) == 1 and known:
        if name in port.names.paths and word.role != Role.DECLARES and name not in port.index.owned:
            return _decide_bare_namespace(port, word, name)
        return False
    segments = [port.text(*span) for span in spans]
    row, length = _longest_row(port, segments) if known else (None, 0)
    if row is None:
        return _decide_unlisted_path(port, spans, segments, known)
    if segments[0] in port.index.owned or _is_project_path(port, segments):
        _keep_path(port, spans, segments)
    else:
        _apply_path_row(port, spans, segments, row, length)
    return True


def _longest_row(port: Port, segments: list[str]) -> tuple[Row | None, int]:
    for length in range(min(len(segments), _LONGEST_PATH), 0, -1):
        row = port.names.paths.get("::".join(segments[:length]))
        if row is not None and (length > 1 or len(segments) > 1):
            return row, length
    return None, 0


#: No qualified name of the tables has more segments.
_LONGEST_PATH = 8


def _is_project_path(port: Port, segments: list[str]) -> bool:
    """Whether the name is inside a namespace that the project itself opens (`acme::cuda`, seen from acme as `cuda`)."""
    if segments[0] in LIBRARY_HEADERS:
        return False
    tail = "::" + segments[0]
    opened = any(path == segments[0] or path.endswith(tail) for path in port.index.namespaces)
    return opened and segments[1] != "std"


def _decide_unlisted_path(port: Port, spans: list[tuple[int, int]], segments: list[str], known: bool) -> bool:
    """A qualified name without a row. Its type may qualify an API enumerator; a leading `::` changes nothing."""
    if known and (len(spans) == 1 or segments[0] in port.names.identifiers):
        for span, segment in zip(spans, segments, strict=True):
            if port.names.find(segment) is not None:
                decide_identifier(port, *span, segment)
            else:
                port.claim(*span)
        return True
    if (
        known
        and segments[0] == "cuda"
        and not port.names.reverse
        and any(p.startswith("cuda/") for p in includes(port))
    ):
        return _rename_libcudacxx(port, spans, segments)
    _keep_path(port, spans, segments)
    return True


def _rename_libcudacxx(port: Port, spans: list[tuple[int, int]], segments: list[str]) -> bool:
    path = "::".join(segments)
    if _is_project_path(port, segments):
        _keep_path(port, spans, segments)
        return True
    port.edit(*spans[0], "musa", "derived-name", "derived")
    for span in spans[1:]:
        port.claim(*span)
    port.use(path, "derived")
    port.report(
        "derived-name", *spans[0], f"{path} is in no table; renamed to musa{path[4:]}", new="musa", name=path, once=path
    )
    return True


def _keep_path(port: Port, spans: list[tuple[int, int]], segments: list[str]) -> None:
    for span, segment in zip(spans, segments, strict=True):
        if port.is_claimed(span[0]):
            continue
        row = port.names.identifiers.get(segment)
        feature = port.features.find(segment)
        if feature is not None and segments[0] not in port.index.owned and not _is_own_feature(port, segment):
            _report_feature(port, *span, segment, feature)
        elif row is not None and row.musa != row.cuda and not port.index.declares(segment):
            _look(port, *span, "::".join(segments))
        port.claim(*span)


def _apply_path_row(port: Port, spans: list[tuple[int, int]], segments: list[str], row: Row, length: int) -> None:
    old = "::".join(segments[:length])
    start, end = spans[0][0], spans[length - 1][1]
    if not _report_row(port, start, end, row._replace(cuda=old)):
        for span in spans:
            port.claim(*span)
        return
    target = row.musa.split("::")
    if len(target) == length:
        for span, segment in zip(spans[:length], target, strict=True):
            port.edit(*span, segment, "api-name", row.confidence)
    else:
        port.edit(start, end, row.musa, "api-name", row.confidence)
    for span, segment in zip(spans[length:], segments[length:], strict=True):
        _decide_rest(port, span, segment, row)


def _decide_rest(port: Port, span: tuple[int, int], segment: str, row: Row) -> None:
    """What follows a namespace that moved: a row of its own, or the rename of inner words."""
    own = port.names.find(segment)
    feature = port.features.find(segment)
    if feature is not None:
        _report_feature(port, *span, segment, feature)
    elif own is not None:
        decide_identifier(port, *span, segment)
    elif row.area == "c10_aten" and (renamed := rename_inner_words(segment, port.names.reverse)) != segment:
        _apply_derived(port, *span, segment, renamed)
    port.claim(*span)


def _decide_bare_namespace(port: Port, word: Word, name: str) -> bool:
    """`using namespace cutlass;` or an alias of a library's namespace."""
    before = port.data[max(0, word.start - 60) : word.start]
    if name in port.index.namespaces or not re.search(rb"(using\s+namespace|namespace(\s+\w+\s*=)?)\s*$", before):
        return False
    apply_row(port, word.start, word.end, port.names.paths[name])
    return True


# ---- single identifiers -----------------------------------------------------------------------------------------


def decide_identifier(port: Port, start: int, end: int, name: str) -> None:
    """Decide an identifier that stands alone, and act on it."""
    if name in port.names.forced:
        apply_row(port, start, end, port.names.identifiers[name])
        return
    if name in port.names.keep:
        port.claim(start, end)
        port.use(name, "kept")
        return
    if is_project_name(port, name, start):
        keep_project_name(port, start, end, name)
        _say_kept(port, start, end, name)
        return
    row, feature = port.names.find(name), port.features.find(name)
    if feature is not None and not _is_own_feature(port, name):
        _apply_feature(port, start, end, name, feature, row)
    elif row is not None and not (row.area == "cutlass" and _library_of(name) in port.index.owned):
        apply_row(port, start, end, row)
    elif row is None:
        _decide_unlisted(port, start, end, name)


def _is_own_feature(port: Port, name: str) -> bool:
    """Whether the name of a feature is one that the tree itself declares."""
    return port.index.declares(name) or name in port.index.namespace_names


def _say_kept(port: Port, start: int, end: int, name: str) -> None:
    """A name that the project defines in a namespace is taken for the project's here: that may be wrong."""
    row = port.names.identifiers.get(name)
    certain = name in port.index.defined or name in port.index.namespace_names or _is_local(port, name, start)
    certain = certain or any(path.endswith("::" + name) for path in port.facts.scoped)
    if row is not None and row.musa != row.cuda and not certain:
        port.report("project-api-name", start, end, f"{name} is left: the project declares it", name=name, once=name)


def _library_of(name: str) -> str:
    return "cute" if "cute" in name.lower() else "cutlass"


def is_project_name(port: Port, name: str, start: int = -1) -> bool:
    """Whether the name at `start` is one that the tree declares, and so stays.

    A name of the tables counts as the project's only where the project defines it and the definition can be seen: a
    prototype of an API function, or a data member that shares its name, takes nothing away from the API. `::name` is
    the API's unless the project defines the name at global scope.
    """
    if name in port.names.forced:
        return False
    if name not in port.names.identifiers:
        return port.index.declares(name) or name in port.index.namespace_names
    if name in port.index.defined or name in port.index.namespace_names:
        return True
    if start >= 0 and port.data[: back(port.data, start) + 1].endswith(b"::"):
        return False
    return _is_local(port, name, start) or any(_sees(port, scope) for scope in port.index.scoped.get(name, ()))


def _is_local(port: Port, name: str, start: int) -> bool:
    return any(local.name == name and local.start <= start < local.end for local in port.facts.locals)


def _sees(port: Port, scope: str) -> bool:
    """Whether the file can name what is in the namespace `scope` without qualifying it."""
    last = re.escape(scope.rsplit("::", 1)[-1].encode())
    opens = rb"(?:using\s+(?:namespace\s+)?(?:::)?|namespace\s+)(?:\w+::)*" + last + rb"\b"
    return re.search(opens, port.data) is not None


def keep_project_name(port: Port, start: int, end: int, name: str) -> None:
    """Leave a name of the project, or move it when the user asked for that."""
    if port.options.rename_project_names and port.index.declares(name):
        renamed = rename_project_name(name, port.names.reverse)
        if renamed != name and port.index.declares(renamed):
            port.report("project-name", start, end, f"{name} is left: {renamed} is taken", name=name, once=name)
        elif renamed != name:
            port.edit(start, end, renamed, "project-name")
    port.claim(start, end)
    if name in port.names.identifiers:
        port.use(name, "project")


def rename_project_name(name: str, reverse: bool = False) -> str:
    """The project's own name with its CUDA words changed, in any of their spellings."""
    pairs = (("cuda", "musa"), ("CUDA", "MUSA"), ("Cuda", "Musa"))
    for cuda, musa in pairs:
        name = name.replace(musa, cuda) if reverse else name.replace(cuda, musa)
    return name


def _decide_unlisted(port: Port, start: int, end: int, name: str) -> None:
    family = port.names.family(name)
    if family is not None and _family_applies(port, end, family):
        if port.names.min_confidence in ("derived", "unknown", "none"):
            _apply_derived(port, start, end, name, family.rename(name))
        else:
            _look(port, start, end, name)
    elif port.names.suspect(name) or family is not None:
        _look(port, start, end, name)
    port.claim(start, end)


def _family_applies(port: Port, end: int, family: Family) -> bool:
    """A family rule needs a header of the family, or a call in a file that uses other names of the family."""
    area = "cuda" if family.area in ("runtime", "driver", "types", "macros") else family.area
    if any(_header_area(path, area, port.names.reverse) for path in includes(port)):
        return True
    called = port.data[forward(port.data, end) : forward(port.data, end) + 1] == b"("
    return called and family.area in _areas(port)


def _header_area(path: str, area: str, reverse: bool) -> bool:
    if reverse:
        area = {"cuda": "musa", "nccl": "mccl", "nvrtc": "mtrtc", "npp": "mtpp"}.get(area, area.replace("cu", "mu", 1))
    return path.rsplit("/", 1)[-1].startswith((area, "cudart" if area == "cuda" else area))


def _areas(port: Port) -> set[str]:
    if "areas" not in port.facts.notes:
        rows = (port.names.identifiers.get(port.text(word.start, word.end)) for word in port.facts.words)
        port.facts.notes["areas"] = list({row.area for row in rows if row is not None})
    return set(port.facts.notes["areas"])


def _apply_derived(port: Port, start: int, end: int, name: str, renamed: str) -> None:
    port.edit(start, end, renamed, "derived-name", "derived")
    port.use(name, "derived")
    port.report(
        "derived-name", start, end, f"{name} is in no table; renamed to {renamed}", new=renamed, name=name, once=name
    )


def _look(port: Port, start: int, end: int, name: str) -> None:
    port.use(name, "look")
    port.report("look-at-name", start, end, f"{name} is left as it is", name=name, once=name)


def _apply_feature(port: Port, start: int, end: int, name: str, feature: Feature, row: Row | None) -> None:
    if feature.kind == "namespace" and port.data[forward(port.data, end) :][:2] != b"::":
        port.claim(start, end)
        return
    new = ""
    if row is not None and row.supported and port.names.allowed(row) and _IDENTIFIER.fullmatch(row.musa):
        new = row.musa
        port.edit(start, end, new, "api-name", row.confidence)
        port.use(name, row.confidence)
    else:
        port.use(name, "unsupported")
    _report_feature(port, start, end, name, feature, new)


def _report_feature(port: Port, start: int, end: int, name: str, feature: Feature, new: str = "") -> None:
    once = "" if feature.severity is Severity.ERROR else name
    port.claim(start, end)
    port.report(
        "hardware-feature",
        start,
        end,
        f"{name}: {feature.title}",
        severity=feature.severity,
        advice=feature.note,
        new=new if new != name else "",
        name=name,
        once=once,
    )


# ---- rows -------------------------------------------------------------------------------------------------------


def apply_row(port: Port, start: int, end: int, row: Row) -> None:
    """Write what the row says, and report what it flags."""
    if _report_row(port, start, end, row):
        port.edit(start, end, row.musa, "api-name", row.confidence)
    port.claim(start, end)


def _report_row(port: Port, start: int, end: int, row: Row) -> bool:
    """Report what a row flags; whether its new name is to be written."""
    name, new = row.cuda, row.musa
    note = f": {row.note}" if row.note else ""
    if not row.supported:
        port.use(name, "unsupported")
        port.report("unsupported-name", start, end, f"{name} has no MUSA counterpart{note}", name=name)
        return False
    port.use(name, row.confidence)
    if not re.fullmatch(r"[A-Za-z_]\w*(::[A-Za-z_]\w*|\(at::kPrivateUse1\))*", new):
        port.report("unsupported-name", start, end, f"{name} cannot be renamed", advice=f"Write {new}{note}", name=name)
        return False
    if row.confidence == "unknown":
        port.report("unseen-intrinsic", start, end, f"{name} was never seen in MUSA code{note}", name=name, once=name)
        return False
    if not port.names.allowed(row):
        message = f"{name} is left: confidence {row.confidence} is below --min-confidence"
        port.report("unproven-name", start, end, message, severity=Severity.WARNING, name=name, once=name)
        return False
    changed = new if new != name else ""
    arrow = f"{name} became {new}" if changed else name
    if row.flag in ("semantic", "stub") or row.area in _BY_HAND:
        severity = Severity.ERROR if row.area in _BY_HAND else None
        port.report("different-meaning", start, end, arrow + note, severity=severity, new=changed, name=name, once=name)
    elif row.flag == "partial":
        message = f"{arrow}, which not every SDK has{note}"
        port.report("different-meaning", start, end, message, severity=Severity.INFO, new=changed, name=name, once=name)
    elif row.confidence == "derived":
        port.report(
            "derived-name", start, end, f"{arrow}, by the rule of its family{note}", new=changed, name=name, once=name
        )
    elif row.confidence in ("low", "medium-low"):
        message = f"{arrow} on weak evidence (confidence {row.confidence}){note}"
        port.report("unproven-name", start, end, message, new=changed, name=name, once=name)
    return True
