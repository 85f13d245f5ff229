"""The sub-commands of `musa-compat` that are more than a line."""
