"""Operators and what can run them: registration, selection, pinning, explanation.

An operator is a name, such as `deep_gemm.fp8_gemm_nt`. Its providers are functions that compute it, each with a test
that says whether it can serve a call. A call is described by a *signature*, a named tuple of everything that such a
test may look at:

    class Signature(NamedTuple):
        m: int
        n: int
        dtype: str = "bfloat16"

    SCALE = operator("example.scale", signature=Signature)

    @SCALE.provider("torch")
    def scale(x, factor):
        return x * factor

    def public_scale(x, factor):
        m, n = x.shape
        return SCALE.select(target(x.device), Signature(m, n)).run(x, factor)

Because a test sees the signature and nothing else, the answer can be kept: the second call of the same signature costs
a dictionary look-up.
"""

from musa_compat.registry.discovery import GROUP
from musa_compat.registry.explanation import Explanation, Row
from musa_compat.registry.operators import NoProviderError, Operator, Selection
from musa_compat.registry.pins import VARIABLE, pin
from musa_compat.registry.providers import FAMILIES, Family, Provider
from musa_compat.registry.table import (
    Registry,
    UnknownOperatorError,
    get,
    load_installed,
    names,
    operator,
    refresh,
)

__all__ = [
    "FAMILIES",
    "GROUP",
    "VARIABLE",
    "Explanation",
    "Family",
    "NoProviderError",
    "Operator",
    "Provider",
    "Registry",
    "Row",
    "Selection",
    "UnknownOperatorError",
    "get",
    "load_installed",
    "names",
    "operator",
    "pin",
    "refresh",
]
