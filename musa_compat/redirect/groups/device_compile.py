"""torch.compile: what Dynamo answers itself instead of asking the mode."""

from __future__ import annotations

from typing import Any

from musa_compat.redirect.devices import switch
from musa_compat.redirect.registry import patch


@patch("device", "torch._dynamo.variables.tensor:TensorVariable.method_attr_is_cuda", reason="x.is_cuda in a graph")
def _is_cuda(original: Any) -> Any:
    def method_attr_is_cuda(self: Any, tx: Any) -> Any:
        from torch._dynamo.variables import ConstantVariable

        if switch.on and self.device is not None and self.device.type == "musa":
            return ConstantVariable.create(True)
        return original(self, tx)

    return method_attr_is_cuda
