"""`python -m musa_compat` is `musa-compat`."""

from musa_compat.cli import main

if __name__ == "__main__":
    main(prog_name="musa-compat")
