// Buffers that processors share, as the NDK declares them; of libnativewindow.so. Those of format BLOB have bytes.
#pragma once

#include <inttypes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AHardwareBuffer AHardwareBuffer;

enum AHardwareBuffer_Format {
    AHARDWAREBUFFER_FORMAT_BLOB = 0x21,
};

// Who reads and writes a buffer: nothing here depends on it but that a lock needs a CPU usage.
enum AHardwareBuffer_UsageFlags {
    AHARDWAREBUFFER_USAGE_CPU_READ_RARELY = 2,
    AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN = 3,
    AHARDWAREBUFFER_USAGE_CPU_READ_MASK = 0xf,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY = 2 << 4,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN = 3 << 4,
    AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK = 0xf << 4,
    AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER = 1 << 24,
};

typedef struct AHardwareBuffer_Desc {
    uint32_t width;   // bytes of a BLOB
    uint32_t height;  // 1 of a BLOB
    uint32_t layers;  // 1 of a BLOB
    uint32_t format;
    uint64_t usage;
    uint32_t stride;
    uint32_t rfu0;
    uint64_t rfu1;
} AHardwareBuffer_Desc;

typedef struct ARect {
    int32_t left, top, right, bottom;
} ARect;

// API level 26. These return 0, or an errno below 0.
int AHardwareBuffer_allocate(const AHardwareBuffer_Desc* desc, AHardwareBuffer** outBuffer);
void AHardwareBuffer_acquire(AHardwareBuffer* buffer);
void AHardwareBuffer_release(AHardwareBuffer* buffer);
void AHardwareBuffer_describe(const AHardwareBuffer* buffer, AHardwareBuffer_Desc* outDesc);
int AHardwareBuffer_lock(AHardwareBuffer* buffer, uint64_t usage, int32_t fence, const ARect* rect, void** outVirtualAddress);
int AHardwareBuffer_unlock(AHardwareBuffer* buffer, int32_t* fence);
int AHardwareBuffer_sendHandleToUnixSocket(const AHardwareBuffer* buffer, int socketFd);
int AHardwareBuffer_recvHandleFromUnixSocket(int socketFd, AHardwareBuffer** outBuffer);

// API level 29. isSupported returns 1 or 0.
int AHardwareBuffer_isSupported(const AHardwareBuffer_Desc* desc);
int AHardwareBuffer_lockAndGetInfo(AHardwareBuffer* buffer, uint64_t usage, int32_t fence, const ARect* rect, void** outVirtualAddress, int32_t* outBytesPerPixel, int32_t* outBytesPerStride);

// API level 31.
int AHardwareBuffer_getId(const AHardwareBuffer* buffer, uint64_t* outId);

#ifdef __cplusplus
}
#endif
