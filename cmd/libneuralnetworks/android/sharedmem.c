// ASharedMemory over memfd. Rights that setProt takes away are seals.
#define _GNU_SOURCE
#include <android/sharedmem.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // linux/fcntl.h, since Linux 5.1
#endif

int ASharedMemory_create(const char* name, size_t size) {
    if (size == 0) {
        errno = EINVAL;
        return -1;
    }
    int fd = memfd_create(name ? name : "none", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

size_t ASharedMemory_getSize(int fd) {
    struct stat s;
    if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &s) < 0) return 0;
    return (size_t)s.st_size;
}

int ASharedMemory_setProt(int fd, int prot) {
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0) return -1;
    if (prot & PROT_WRITE) {
        if (!(seals & F_SEAL_FUTURE_WRITE)) return 0;
        errno = EINVAL;
        return -1;
    }
    return fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
}
