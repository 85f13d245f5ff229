"""TileLang programs: what is one, its kernels and their sizes, and the rules H (host side) and K (kernels)."""
