// Anonymous memory that processes share by descriptor, as the NDK declares it; of libandroid.so.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns a descriptor of size bytes of memory that can be mapped, or -1 with errno.
int ASharedMemory_create(const char* name, size_t size);
// Returns the size of a memory, or 0 for a descriptor of another kind.
size_t ASharedMemory_getSize(int fd);
// Restricts what later maps of a memory may do to prot, PROT_READ or both with PROT_WRITE; a right that was
// taken away does not come back. Returns 0, or -1 with errno.
int ASharedMemory_setProt(int fd, int prot);

#ifdef __cplusplus
}
#endif
