"""One file for each part of PyTorch. Each registers its patches when it is imported; adding one is adding a file."""
