/* NVTX names for runtime objects on MUSA: the calls do nothing. */
#ifndef MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDART_H
#define MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDART_H

#include "../cuda_runtime_api.h"
#include "nvToolsExt.h"

MUSA_COMPAT_NVTX_VOID(nvtxNameCudaDeviceA, (int device, const char* name), (void)device; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCudaDeviceW, (int device, const wchar_t* name), (void)device; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCudaStreamA, (musaStream_t stream, const char* name), (void)stream; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCudaStreamW, (musaStream_t stream, const wchar_t* name), (void)stream; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCudaEventA, (musaEvent_t event, const char* name), (void)event; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCudaEventW, (musaEvent_t event, const wchar_t* name), (void)event; (void)name)

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif /* MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDART_H */
