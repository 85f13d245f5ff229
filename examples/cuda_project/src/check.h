#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Ends the program when a runtime call fails.
#define CUDA_CHECK(call)                                                                             \
    do {                                                                                             \
        cudaError_t status_ = (call);                                                                \
        if (status_ != cudaSuccess) {                                                                \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
            std::exit(EXIT_FAILURE);                                                                 \
        }                                                                                            \
    } while (0)
