/*
 * NVTX for MUSA: the calls do nothing.
 *
 * No counterpart of NVTX is known for MUSA, and ports delete the calls. With this header they may stay: arguments are
 * evaluated, nothing is recorded, and the results are those that NVTX itself gives when no tool is attached.
 */
#ifndef MUSA_COMPAT_NVTX3_NVTOOLSEXT_H
#define MUSA_COMPAT_NVTX3_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_NO_PUSH_POP_TRACKING (-2)
#define NVTX_SUCCESS 0
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

#define NVTX_COLOR_UNKNOWN 0
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_UNKNOWN 0
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_MESSAGE_TYPE_REGISTERED 3
#define NVTX_PAYLOAD_UNKNOWN 0
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 1
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_PAYLOAD_TYPE_DOUBLE 3
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 4
#define NVTX_PAYLOAD_TYPE_INT32 5
#define NVTX_PAYLOAD_TYPE_FLOAT 6

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef struct nvtxResourceRegistration_st* nvtxResourceHandle_t;

typedef union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_t {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

/* A call that gives nothing, and one that gives a value. */
#define MUSA_COMPAT_NVTX_VOID(name, parameters, ignored) \
    static inline void name parameters { ignored; }
#define MUSA_COMPAT_NVTX_VALUE(type, name, parameters, ignored, value) \
    static inline type name parameters { ignored; return value; }

MUSA_COMPAT_NVTX_VOID(nvtxInitialize, (const void* reserved), (void)reserved)

MUSA_COMPAT_NVTX_VOID(nvtxMarkA, (const char* message), (void)message)
MUSA_COMPAT_NVTX_VOID(nvtxMarkW, (const wchar_t* message), (void)message)
MUSA_COMPAT_NVTX_VOID(nvtxMarkEx, (const nvtxEventAttributes_t* event), (void)event)
MUSA_COMPAT_NVTX_VALUE(nvtxRangeId_t, nvtxRangeStartA, (const char* message), (void)message, 0)
MUSA_COMPAT_NVTX_VALUE(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t* message), (void)message, 0)
MUSA_COMPAT_NVTX_VALUE(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t* event), (void)event, 0)
MUSA_COMPAT_NVTX_VOID(nvtxRangeEnd, (nvtxRangeId_t id), (void)id)
MUSA_COMPAT_NVTX_VALUE(int, nvtxRangePushA, (const char* message), (void)message, NVTX_NO_PUSH_POP_TRACKING)
MUSA_COMPAT_NVTX_VALUE(int, nvtxRangePushW, (const wchar_t* message), (void)message, NVTX_NO_PUSH_POP_TRACKING)
MUSA_COMPAT_NVTX_VALUE(int, nvtxRangePushEx, (const nvtxEventAttributes_t* event), (void)event, NVTX_NO_PUSH_POP_TRACKING)
static inline int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }

MUSA_COMPAT_NVTX_VOID(nvtxNameCategoryA, (uint32_t category, const char* name), (void)category; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameCategoryW, (uint32_t category, const wchar_t* name), (void)category; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameOsThreadA, (uint32_t thread, const char* name), (void)thread; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxNameOsThreadW, (uint32_t thread, const wchar_t* name), (void)thread; (void)name)

MUSA_COMPAT_NVTX_VALUE(nvtxDomainHandle_t, nvtxDomainCreateA, (const char* name), (void)name, NULL)
MUSA_COMPAT_NVTX_VALUE(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t* name), (void)name, NULL)
MUSA_COMPAT_NVTX_VOID(nvtxDomainDestroy, (nvtxDomainHandle_t domain), (void)domain)
MUSA_COMPAT_NVTX_VOID(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event), (void)domain; (void)event)
MUSA_COMPAT_NVTX_VALUE(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event),
                       (void)domain; (void)event, 0)
MUSA_COMPAT_NVTX_VOID(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t id), (void)domain; (void)id)
MUSA_COMPAT_NVTX_VALUE(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event),
                       (void)domain; (void)event, NVTX_NO_PUSH_POP_TRACKING)
MUSA_COMPAT_NVTX_VALUE(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), (void)domain, NVTX_NO_PUSH_POP_TRACKING)
MUSA_COMPAT_NVTX_VALUE(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char* string),
                       (void)domain; (void)string, NULL)
MUSA_COMPAT_NVTX_VALUE(nvtxStringHandle_t, nvtxDomainRegisterStringW, (nvtxDomainHandle_t domain, const wchar_t* string),
                       (void)domain; (void)string, NULL)
MUSA_COMPAT_NVTX_VOID(nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char* name),
                      (void)domain; (void)category; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxDomainNameCategoryW, (nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name),
                      (void)domain; (void)category; (void)name)
MUSA_COMPAT_NVTX_VOID(nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource), (void)resource)

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#ifdef __cplusplus
}
#endif

#endif /* MUSA_COMPAT_NVTX3_NVTOOLSEXT_H */
