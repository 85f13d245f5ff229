"""The collectives library: gloo stands for it."""


def version() -> tuple[int, int, int]:
    """(0, 0, 0): no version of MCCL."""
    return 0, 0, 0
