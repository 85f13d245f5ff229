#pragma once

// Prints the product of two small matrices, computed by cuBLAS.
void print_gemm();
