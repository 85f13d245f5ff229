"""Which scope each node is in, and what is assigned there."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import ScopeProvider
from libcst.metadata.scope_provider import ScopeVisitor


class Scopes(ScopeProvider):
    """The scopes of libcst without the places that read each assignment.

    Rules ask scopes only for assignments. The places that read them take time by the square of how often one name is
    assigned, which generated files do thousands of times.
    """

    def visit_Module(self, node: cst.Module) -> None:
        node.visit(_Assignments(self))


class _Assignments(ScopeVisitor):
    """Looks at what assigns, and not into type hints, which libcst looks up names at every call and subscript for."""

    def visit_Call(self, node: cst.Call) -> bool:
        return True

    def leave_Call(self, original_node: cst.Call) -> None:
        pass

    def visit_Subscript(self, node: cst.Subscript) -> bool:
        return True

    def leave_Subscript(self, original_node: cst.Subscript) -> None:
        pass

    def visit_SimpleString(self, node: cst.SimpleString) -> bool:
        return False

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> bool:
        return True
