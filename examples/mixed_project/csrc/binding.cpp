#include <torch/extension.h>

#include "ops.h"

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "CUDA kernels of fastops";
    m.def("rms_norm", &fastops::rms_norm, pybind11::arg("x"), pybind11::arg("weight"), pybind11::arg("eps"));
    m.def("silu_and_mul", &fastops::silu_and_mul, pybind11::arg("x"));
}
