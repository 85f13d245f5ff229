"""What `musa-compat run` does: it starts a program in an environment in which `import torch` prepares the device.

The environment is inherited, so the workers of torchrun and spawned children are prepared in the same way.
"""

from musa_compat.launch.environment import ADAPTERS, DEVICES, LaunchError, Options, environment
from musa_compat.launch.program import command

__all__ = ["ADAPTERS", "DEVICES", "LaunchError", "Options", "command", "environment"]
