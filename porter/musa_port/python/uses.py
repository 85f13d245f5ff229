"""What a name node is: a use of a variable, or part of something else."""

from __future__ import annotations

import libcst as cst

from musa_port.python.module import Module


def is_use(module: Module, node: cst.Name | cst.Attribute) -> bool:
    """Whether the node is an expression that reads (or, for an attribute, sets) something, at its full length."""
    parent = module.parent(node)
    if isinstance(parent, cst.Attribute):
        return False
    if isinstance(parent, (cst.Arg, cst.Annotation)):
        return parent.keyword is not node if isinstance(parent, cst.Arg) else True
    if isinstance(parent, (cst.ImportAlias, cst.ImportFrom, cst.AsName, cst.NameItem, cst.TypeParam)):
        return False
    if isinstance(parent, cst.Param):
        return parent.default is node
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef)):
        return parent.name is not node
    if isinstance(parent, (cst.AssignTarget, cst.NamedExpr)):
        return isinstance(node, cst.Attribute) or (isinstance(parent, cst.NamedExpr) and parent.value is node)
    return True
