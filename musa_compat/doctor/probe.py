"""Asking torch about itself in a process of its own.

Importing torch loads torch_musa by itself, and one that does not fit ends in an undefined symbol, a message that hides
the cause, or a crash. That is what people run the doctor for, so it must not happen to the doctor.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

#: Seconds; importing torch from a cold disk takes some.
TIMEOUT = 120.0

_PROGRAM = """
import json
facts = {}
try:
    import torch
    facts["version"] = torch.__version__
    facts["cuda"] = torch.version.cuda
    facts["musa"] = getattr(torch.version, "musa", None)
    facts["cuda_devices"] = torch.cuda.device_count()
    musa = getattr(torch, "musa", None)
    if musa is None:
        try:
            import torch_musa as musa
        except ModuleNotFoundError as error:
            if error.name != "torch_musa":
                raise
    facts["musa_devices"] = musa.device_count() if musa is not None else 0
    if facts["musa_devices"]:
        facts["devices"] = [musa.get_device_name(index) for index in range(facts["musa_devices"])]
    elif facts["cuda_devices"]:
        facts["devices"] = [torch.cuda.get_device_name(index) for index in range(facts["cuda_devices"])]
except BaseException as error:
    cause = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__
    facts["error"] = f"{type(error).__name__}: {error}"
    if cause is not error:
        facts["cause"] = f"{type(cause).__name__}: {cause}"
print("\\nmusa-compat:" + json.dumps(facts))
"""


def ask_torch(variables: Mapping[str, str] | None = None, timeout: float = TIMEOUT) -> dict[str, Any]:
    """What torch says: versions, numbers and names of devices; `error`, and `cause`, if it cannot be imported."""
    # The flag -P, which keeps the working directory off the path, came with Python 3.11.
    command = [sys.executable, "-c", "import sys; sys.path[:1] = [one for one in sys.path[:1] if one]\n" + _PROGRAM]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False, env=variables and dict(variables)
        )
    except subprocess.TimeoutExpired:
        return {"error": f"importing torch took more than {timeout:.0f} seconds"}
    for line in reversed(result.stdout.splitlines()):
        if line.startswith("musa-compat:"):
            facts: dict[str, Any] = json.loads(line.removeprefix("musa-compat:"))
            return facts
    end = f"signal {-result.returncode}" if result.returncode < 0 else f"exit status {result.returncode}"
    last = (result.stderr.strip().splitlines() or ["no message"])[-1]
    return {"error": f"Python ended with {end} while it imported torch: {last}"}
