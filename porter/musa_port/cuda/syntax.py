"""What a place in a source file is, by the CUDA grammar of tree-sitter.

Only leaves and their near parents are used, and both stay meaningful in files with syntax errors.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree


class Role(IntEnum):
    """What a word is where it stands."""

    CODE = 0
    COMMENT = 1
    STRING = 2
    MACRO = 3  # code in the body of a #define
    DIRECTIVE = 4  # in a preprocessor line other than a macro body
    DEFINES = 5  # the name in a definition: function body, type, alias, enumerator
    DECLARES = 6  # the name of a local variable or parameter
    FIELD = 7  # the name of a data member or method in its class
    NAMESPACE = 8  # the name in `namespace x {`
    PROTOTYPE = 9  # the name in a function declaration without a body
    TYPE = 10  # a type after the arrow of a trailing return type


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def parse(data: bytes) -> Tree:
    """Parse a whole file. Never fails: what is no CUDA becomes error nodes."""
    return _parser().parse(data)


_COMMENTS = frozenset({"comment"})
_STRINGS = frozenset(
    "string_literal string_content raw_string_literal raw_string_content raw_string_delimiter char_literal character "
    "escape_sequence system_lib_string".split()
)
_SPECIFIERS = {
    "struct_specifier": "body",
    "class_specifier": "body",
    "union_specifier": "body",
    "enum_specifier": "body",
}
_DECLARATORS = frozenset(
    "pointer_declarator reference_declarator array_declarator init_declarator parenthesized_declarator "
    "attributed_declarator".split()
)


def role_of(leaf: Node) -> Role:
    """The role of an identifier-like leaf outside preprocessor lines."""
    kind = leaf.type
    if kind in _COMMENTS:
        return Role.COMMENT
    if kind in _STRINGS:
        return Role.STRING
    if kind == "preproc_arg":
        return Role.MACRO
    parent = leaf.parent
    if parent is None:
        return Role.CODE
    if parent.type in _STRINGS:
        return Role.STRING
    return _role_by_parent(leaf, parent)


def _role_by_parent(leaf: Node, parent: Node) -> Role:
    kind = parent.type
    if kind in _SPECIFIERS:
        return _specifier_role(leaf, parent)
    if leaf.type == "type_identifier" and kind == "type_descriptor" and parent.parent is not None:
        return Role.TYPE if parent.parent.type == "trailing_return_type" else Role.CODE
    if kind in ("namespace_definition", "nested_namespace_specifier"):
        holder = leaf if kind == "namespace_definition" else parent
        definition = ancestor(holder, "namespace_definition", "namespace_alias_definition")
        opens = definition is not None and definition.type == "namespace_definition"
        return Role.NAMESPACE if opens else Role.CODE
    if kind == "enumerator":
        return Role.DEFINES if parent.child_by_field_name("name") == leaf else Role.CODE
    if kind == "alias_declaration":
        return Role.DEFINES if parent.child_by_field_name("name") == leaf else Role.CODE
    if kind in ("type_parameter_declaration", "optional_type_parameter_declaration", "optional_parameter_declaration"):
        return Role.DECLARES if leaf.type == "type_identifier" and kind[0] == "t" else _declarator_role(leaf, parent)
    if kind in ("concept_definition",):
        return Role.DEFINES
    if kind in ("field_initializer", "field_designator"):
        return Role.FIELD if leaf.type == "field_identifier" else Role.CODE
    if kind == "function_declarator" or kind in _DECLARATORS or kind in _HOLDERS:
        return _declarator_role(leaf, parent)
    return Role.CODE


_HOLDERS = frozenset(
    "declaration field_declaration parameter_declaration type_definition function_definition for_range_loop".split()
)


def _specifier_role(leaf: Node, parent: Node) -> Role:
    if parent.child_by_field_name("name") != leaf or parent.child_by_field_name("body") is None:
        return Role.CODE
    return Role.DEFINES


def _declarator_role(leaf: Node, parent: Node) -> Role:
    """Climb from the declared name to the declaration that holds it."""
    node: Node = leaf
    is_function = False
    while True:
        kind = parent.type
        if kind == "function_declarator" or kind in _DECLARATORS:
            if parent.child_by_field_name("declarator") != node and kind not in (
                "reference_declarator",
                "parenthesized_declarator",
                "attributed_declarator",
            ):
                return Role.CODE
            is_function = is_function or kind == "function_declarator"
        elif kind == "type_definition":
            return Role.DEFINES if node in parent.children_by_field_name("declarator") else Role.CODE
        elif kind == "field_declaration":
            return Role.FIELD if node in parent.children_by_field_name("declarator") else Role.CODE
        elif kind == "function_definition":
            return _function_role(node, parent)
        elif kind == "declaration":
            if node not in parent.children_by_field_name("declarator"):
                return Role.CODE
            if parent.has_error:
                return Role.CODE
            if is_function:
                return Role.PROTOTYPE
            return Role.DECLARES if ancestor(parent, "compound_statement") is not None else Role.DEFINES
        elif kind in ("parameter_declaration", "optional_parameter_declaration", "for_range_loop"):
            return Role.DECLARES if parent.child_by_field_name("declarator") == node else Role.CODE
        else:
            return Role.CODE
        grand = parent.parent
        if grand is None:
            return Role.CODE
        node, parent = parent, grand


def _function_role(node: Node, function: Node) -> Role:
    """A definition needs a return type and a body; `SOME_MACRO(x) { }` is a use of the macro."""
    if function.child_by_field_name("declarator") != node or function.child_by_field_name("body") is None:
        return Role.CODE
    if function.child_by_field_name("type") is None:
        return Role.CODE
    holder = function.parent
    if holder is not None and holder.type == "template_declaration":
        holder = holder.parent
    return Role.FIELD if holder is not None and holder.type == "field_declaration_list" else Role.DEFINES


def ancestor(node: Node, *kinds: str) -> Node | None:
    """The nearest ancestor of one of these types."""
    found = node.parent
    while found is not None and found.type not in kinds:
        found = found.parent
    return found


def function_name(node: Node) -> str:
    """Name of the function definition around `node`, or "" outside functions."""
    function = ancestor(node, "function_definition")
    declarator = function.child_by_field_name("declarator") if function is not None else None
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    return name.text.decode("utf-8", "replace") if name is not None and name.text else ""


def aliased_type(leaf: Node) -> str:
    """For the name in `typedef T name` or `using name = T`: the text of T, else ""."""
    node = ancestor(leaf, "type_definition", "alias_declaration", "compound_statement")
    target = node.child_by_field_name("type") if node is not None else None
    return target.text.decode("utf-8", "replace") if target is not None and target.text else ""
