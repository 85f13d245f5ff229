"""Where `import torch_musa` goes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from musa_port.model import Severity
from musa_port.python.literals import plain
from musa_port.python.module import Module
from musa_port.python.registry import visit
from musa_port.python.statements import after_line, indentation, line_of, newline
from musa_port.python.tree import dotted
from musa_port.rules import Rule, register

IMPORT = register(
    Rule(
        "P32",
        "import-torch-musa",
        Severity.WARNING,
        "Imports torch_musa directly after torch, in files that use it after porting.",
        why="The devices, `torch.musa` and the mccl backend exist once torch_musa is imported. It reads "
        "MUSA_VISIBLE_DEVICES when it is imported: where a module sets that, the import comes after it.",
        example=("import torch\nx = torch.ones(1).cuda()", "import torch\nimport torch_musa\nx = torch.ones(1).musa()"),
        advice="Check that nothing between `import torch` and the place of the new import needs torch_musa.",
    )
)
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES")


@visit(cst.Module, order=90)
def add_import(module: Module, node: cst.Module) -> None:
    """Add the imports that the port of this file needs."""
    wanted = sorted(module.required_modules)
    if module.musa_uses and not wanted and not _has_torch_musa(module):
        wanted = ["torch_musa"]
    if not wanted:
        return
    places = _places(module)
    if module.musa_uses and not any(_imports_of(module, "torch")):
        _report_unimported(module)
    for statement in places:
        for name in wanted:
            _insert(module, statement, name)


def _report_unimported(module: Module) -> None:
    """A file that gets its torch, or hands its devices, from elsewhere: an import could break it."""
    message = "this file uses MUSA now and does not import torch, so that it gets no import of torch_musa"
    advice = "Import torch_musa where the program imports torch first; newer torch imports it by itself."
    module.draft.report("import-torch-musa", *min(module.musa_uses), message, advice=advice)


def _has_torch_musa(module: Module) -> bool:
    """Whether the file imports torch_musa where it counts: at the top, not only for type checkers."""
    top = [statement for statement in _imports_of(module, "torch_musa") if _is_top_level(module, statement)]
    return bool(top) or any(
        _is_top_level(module, statement)
        for statement in module.new_imports
        if not _for_type_checkers(module, statement)
    )


def _imports_of(module: Module, package: str) -> Iterator[cst.Import | cst.ImportFrom]:
    """Statements that import a package or something of it, without those for type checkers, as the source has them."""
    found: list[cst.Import | cst.ImportFrom] = []
    for node in module.nodes(cst.Import):
        if any(dotted(alias.name)[0] == package for alias in node.names):
            found.append(node)
    for statement in module.nodes(cst.ImportFrom):
        if statement.module is not None and not statement.relative and dotted(statement.module)[0] == package:
            found.append(statement)
    found = [node for node in found if not _for_type_checkers(module, node)]
    return iter(sorted(found, key=lambda node: module.span(node)[0]))


def _for_type_checkers(module: Module, node: cst.CSTNode) -> bool:
    """Whether the statement is below `if TYPE_CHECKING:`."""
    for parent in module.ancestors(node):
        if isinstance(parent, cst.If) and dotted(parent.test)[-1:] == ["TYPE_CHECKING"]:
            return _is_inside(module, node, parent.body)
    return False


def _is_inside(module: Module, node: cst.CSTNode, block: cst.CSTNode) -> bool:
    return any(parent is block for parent in module.ancestors(node))


def _is_top_level(module: Module, node: cst.CSTNode) -> bool:
    line = line_of(module, node)
    return line is not None and isinstance(module.parent(line), cst.Module)


def _places(module: Module) -> list[cst.CSTNode]:
    """The imports of torch that get one of torch_musa: the first at the top, else the first of each block."""
    imports = list(_imports_of(module, "torch"))
    top = [node for node in imports if _is_top_level(module, node)]
    if top:
        return [top[0]]
    have = [*_imports_of(module, "torch_musa"), *module.new_imports]
    done = {block for node in have if (block := _block(module, node)) is not None}
    places: list[cst.CSTNode] = []
    for node in imports:
        block = _block(module, node)
        if block is not None and done.isdisjoint([block, *module.ancestors(block)]):
            places.append(node)
            done.add(block)
    return places


def _block(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    """The block of statements that a statement belongs to."""
    line = line_of(module, node)
    return line if line is None or isinstance(line, cst.SimpleStatementSuite) else module.parent(line)


def _insert(module: Module, statement: cst.CSTNode, name: str) -> None:
    """Add one import after a statement, or after a later one that sets the visible devices."""
    text = f"import {name}"
    setter = _sets_devices(module, statement) if _is_top_level(module, statement) else None
    if setter is None:
        _insert_after(module, statement, text)
        return
    message = f"{text} comes after this statement, which sets the visible devices"
    module.report(setter, "import-torch-musa", message)
    top = _top_statement(module, setter)
    if top is not setter:  # in a block: what runs there, and in the other branches, needs the import too
        _insert_after(module, setter, text)
        for block in _other_branches(module, setter):
            _insert_at_start(module, block, text)
    _insert_after(module, top, text)


def _insert_after(module: Module, statement: cst.CSTNode, text: str) -> None:
    line = line_of(module, statement)
    if line is not None and not (isinstance(line, cst.SimpleStatementLine) and line.body[-1] is statement):
        _, end = module.span(statement)
        module.draft.edit(end, end, f"; {text}", "import-torch-musa")
        return
    anchor = line if line is not None else statement
    position = after_line(module, anchor)
    indent = indentation(module, anchor)
    ending = newline(module)
    if position == len(module.draft.data) and not module.draft.data.endswith(b"\n"):
        module.draft.edit(position, position, f"{ending}{indent}{text}", "import-torch-musa")
    else:
        module.draft.edit(position, position, f"{indent}{text}{ending}", "import-torch-musa")


def _insert_at_start(module: Module, block: cst.BaseSuite, text: str) -> None:
    first = block.body[0]
    start, _ = module.span(first)
    between = "; " if isinstance(block, cst.SimpleStatementSuite) else newline(module) + indentation(module, first)
    module.draft.edit(start, start, text + between, "import-torch-musa")


def _other_branches(module: Module, statement: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The blocks that run in place of the one that holds the statement."""
    inner = statement
    for parent in module.ancestors(statement):
        if isinstance(parent, cst.If):
            if inner is not parent.body:
                yield parent.body
            branch = parent.orelse if inner is not parent.orelse else None
            while branch is not None:
                yield branch.body
                branch = branch.orelse if isinstance(branch, cst.If) else None
        inner = parent


def _sets_devices(module: Module, statement: cst.CSTNode) -> cst.CSTNode | None:
    """The last statement of top-level code after this one that sets the visible devices."""
    if not module.draft.mentions(*(name.encode() for name in _VISIBLE)):
        return None
    begin = module.span(statement)[1]
    setters = [
        _statement(module, node)
        for node in _visible_names(module)
        if _is_setting(module, node) and module.enclosing(node, cst.FunctionDef, cst.Lambda) is None
    ]
    later = [node for node in setters if module.span(node)[0] >= begin]
    return max(later, key=lambda node: module.span(node)[0], default=None)


def _statement(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """The small statement that an expression is in; the compound one when it is in its head."""
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return parent
    return node


def _top_statement(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """The statement of the module that a node is in; of several on one line, the one."""
    inner = node
    for parent in module.ancestors(node):
        is_line = isinstance(parent, cst.SimpleStatementLine) and isinstance(module.parent(parent), cst.Module)
        if is_line or isinstance(parent, cst.Module):
            return inner
        inner = parent
    return inner


def _visible_names(module: Module) -> Iterator[cst.CSTNode]:
    """The strings and the keywords that name the variable of the visible devices."""
    yield from (node for node in module.nodes(cst.SimpleString) if node.evaluated_value in _VISIBLE)
    for arg in module.nodes(cst.Arg):
        if arg.keyword is not None and arg.keyword.value in _VISIBLE:
            yield arg.keyword


def _is_setting(module: Module, node: cst.CSTNode) -> bool:
    """Whether the name is a key that is set in the environment of the process, by an assignment or a call."""
    for parent in module.ancestors(node):
        if isinstance(parent, cst.Subscript):
            return isinstance(module.parent(parent), cst.AssignTarget)
        if isinstance(parent, cst.AugAssign):
            return isinstance(parent.operator, cst.BitOrAssign) and _is_process(module, parent.target)
        if isinstance(parent, cst.Call):
            return _is_setting_call(module, parent)
        if isinstance(parent, cst.BaseStatement):
            return False
    return False


def _is_setting_call(module: Module, call: cst.Call) -> bool:
    """`os.environ.update(...)`, `os.putenv(...)`, `mock.patch.dict(os.environ, ...)`; not `dict(os.environ, ...)`."""
    if not isinstance(call.func, cst.Attribute):
        return dotted(call.func) == ["putenv"]
    name = call.func.attr.value
    if name == "update":
        return _is_process(module, call.func.value)
    if name == "dict":
        return bool(call.args) and _is_process(module, call.args[0].value)
    return name in ("setdefault", "putenv", "setenv", "__setitem__")


def _is_process(module: Module, node: cst.CSTNode) -> bool:
    return bool(module.one_of(node, ("os.environ",))) or plain(node) == "os.environ"
