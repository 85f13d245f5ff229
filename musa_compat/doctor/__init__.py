"""What is on this machine, what is missing for what, and what is in the way of what.

    report = musa_compat.doctor.examine()
    print(report.to_dict())

Nothing is imported into this process: torch, which may load a broken torch_musa, is asked in a process of its own.
"""

from musa_compat.doctor.examine import examine
from musa_compat.doctor.model import Finding, Installed, ProviderState, Report, Severity

__all__ = ["Finding", "Installed", "ProviderState", "Report", "Severity", "examine"]
