/* The path of NVTX 2. */
#include "nvtx3/nvToolsExtCuda.h"
