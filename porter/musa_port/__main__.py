"""`python -m musa_port`."""

from musa_port.cli import main

if __name__ == "__main__":
    main()
