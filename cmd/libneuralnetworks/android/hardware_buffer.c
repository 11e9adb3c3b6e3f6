// AHardwareBuffer of format BLOB over memfd: a mapped region that is counted by references and travels through
// sockets as its description and its descriptor.
#define _GNU_SOURCE
#include <android/hardware_buffer.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct AHardwareBuffer {
    atomic_int references;
    AHardwareBuffer_Desc desc;
    int fd;
    void* data;
    uint64_t id;
};

static atomic_uint_least32_t made;  // in this process; an id is the process and this count

int AHardwareBuffer_isSupported(const AHardwareBuffer_Desc* desc) {
    return desc && desc->format == AHARDWAREBUFFER_FORMAT_BLOB && desc->width > 0 && desc->height == 1 && desc->layers == 1 &&
           desc->rfu0 == 0 && desc->rfu1 == 0;
}

// wrap makes a buffer of a descriptor, which it takes over.
static int wrap(const AHardwareBuffer_Desc* desc, int fd, AHardwareBuffer** out) {
    void* data = mmap(NULL, desc->width, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    AHardwareBuffer* b = data == MAP_FAILED ? NULL : malloc(sizeof *b);
    if (!b) {
        if (data != MAP_FAILED) munmap(data, desc->width);
        close(fd);
        return -ENOMEM;
    }
    atomic_init(&b->references, 1);
    b->desc = *desc;
    b->desc.stride = desc->width;
    b->fd = fd;
    b->data = data;
    b->id = (uint64_t)getpid() << 32 | atomic_fetch_add(&made, 1);
    *out = b;
    return 0;
}

int AHardwareBuffer_allocate(const AHardwareBuffer_Desc* desc, AHardwareBuffer** out) {
    if (!desc || !out || !AHardwareBuffer_isSupported(desc)) return -EINVAL;
    int fd = memfd_create("AHardwareBuffer", MFD_CLOEXEC);
    if (fd < 0) return -errno;
    if (ftruncate(fd, desc->width) < 0) {
        int why = errno;
        close(fd);
        return -why;
    }
    return wrap(desc, fd, out);
}

void AHardwareBuffer_acquire(AHardwareBuffer* b) { atomic_fetch_add(&b->references, 1); }

void AHardwareBuffer_release(AHardwareBuffer* b) {
    if (!b || atomic_fetch_sub(&b->references, 1) != 1) return;
    munmap(b->data, b->desc.width);
    close(b->fd);
    free(b);
}

void AHardwareBuffer_describe(const AHardwareBuffer* b, AHardwareBuffer_Desc* out) { *out = b->desc; }

int AHardwareBuffer_lock(AHardwareBuffer* b, uint64_t usage, int32_t fence, const ARect* rect, void** out) {
    const uint64_t cpu = AHARDWAREBUFFER_USAGE_CPU_READ_MASK | AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK;
    (void)rect;  // a BLOB is locked whole
    if (!b || !out || !(usage & cpu) || usage & ~cpu) return -EINVAL;
    if (fence >= 0) {
        struct pollfd p = {.fd = fence, .events = POLLIN};
        while (poll(&p, 1, -1) < 0)
            if (errno != EINTR && errno != EAGAIN) return -errno;
        close(fence);
    }
    *out = b->data;
    return 0;
}

int AHardwareBuffer_lockAndGetInfo(AHardwareBuffer* b, uint64_t usage, int32_t fence, const ARect* rect, void** out, int32_t* perPixel, int32_t* perStride) {
    if (!perPixel || !perStride) return -EINVAL;
    *perPixel = *perStride = -1;  // a BLOB has neither
    return AHardwareBuffer_lock(b, usage, fence, rect, out);
}

int AHardwareBuffer_unlock(AHardwareBuffer* b, int32_t* fence) {
    if (!b) return -EINVAL;
    if (fence) *fence = -1;  // what was written is there at once
    return 0;
}

// message is the description of a buffer beside room for its descriptor.
struct message {
    AHardwareBuffer_Desc desc;
    struct iovec part;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr m;
};

static void prepare(struct message* x) {
    memset(x, 0, sizeof *x);
    x->part = (struct iovec){&x->desc, sizeof x->desc};
    x->m = (struct msghdr){.msg_iov = &x->part, .msg_iovlen = 1, .msg_control = x->control.bytes, .msg_controllen = sizeof x->control.bytes};
}

int AHardwareBuffer_sendHandleToUnixSocket(const AHardwareBuffer* b, int socket) {
    if (!b) return -EINVAL;
    struct message x;
    prepare(&x);
    x.desc = b->desc;
    struct cmsghdr* c = CMSG_FIRSTHDR(&x.m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &b->fd, sizeof(int));
    ssize_t n;
    while ((n = sendmsg(socket, &x.m, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n < 0 ? -errno : n == (ssize_t)sizeof x.desc ? 0 : -EIO;
}

int AHardwareBuffer_recvHandleFromUnixSocket(int socket, AHardwareBuffer** out) {
    if (!out) return -EINVAL;
    struct message x;
    prepare(&x);
    ssize_t n;
    while ((n = recvmsg(socket, &x.m, MSG_WAITALL | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (n < 0) return -errno;
    struct cmsghdr* c = CMSG_FIRSTHDR(&x.m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int))) return -EBADMSG;
    int fd;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    struct stat s;
    if (n != (ssize_t)sizeof x.desc || !AHardwareBuffer_isSupported(&x.desc) || fstat(fd, &s) < 0 || s.st_size < (off_t)x.desc.width) {
        close(fd);
        return -EBADMSG;
    }
    return wrap(&x.desc, fd, out);
}

int AHardwareBuffer_getId(const AHardwareBuffer* b, uint64_t* out) {
    if (!b || !out) return -EINVAL;
    *out = b->id;
    return 0;
}
