/* NVTX names for driver objects on MUSA: the calls do nothing. */
#ifndef MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDA_H
#define MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDA_H

#include "../cuda.h"
#include "nvToolsExt.h"

MUSA_COMPAT_NVTX_VOID(nvtxNameCuDeviceA, (MUdevice device, const char* name), (void)device; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuDeviceW, (MUdevice device, const wchar_t* name), (void)device; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuContextA, (MUcontext context, const char* name), (void)context; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuContextW, (MUcontext context, const wchar_t* name), (void)context; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuStreamA, (MUstream stream, const char* name), (void)stream; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuStreamW, (MUstream stream, const wchar_t* name), (void)stream; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuEventA, (MUevent event, const char* name), (void)event; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCuEventW, (MUevent event, const wchar_t* name), (void)event; (void)name)

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif /* MUSA_COMPAT_NVTX3_NVTOOLSEXTCUDA_H */
