// What programs in C rely on beyond the results: null pointers, descriptors of fences, hardware buffers, handles that
// were freed, threads. Each failed expectation is a line; "bench N" times N executions instead.
#define _GNU_SOURCE
#include <android/NeuralNetworks.h>
#include <android/hardware_buffer.h>
#include <android/sharedmem.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failures;

#define EXPECT(code, call)                                                                        \
    do {                                                                                          \
        long have_ = (long)(call), want_ = (long)(code);                                          \
        if (have_ != want_) printf("line %d: %s is %ld, want %ld\n", __LINE__, #call, have_, want_), failures++; \
    } while (0)
#define OK(call) EXPECT(ANEURALNETWORKS_NO_ERROR, call)
#define NULLED(call) EXPECT(ANEURALNETWORKS_UNEXPECTED_NULL, call)
#define BAD(call) EXPECT(ANEURALNETWORKS_BAD_DATA, call)

enum { SIZE = 8 };
static const ANeuralNetworksOperandType vector = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, (uint32_t[]){SIZE}, 0, 0};
static const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};

// adder is a model of a + b.
static ANeuralNetworksModel* adder(void) {
    ANeuralNetworksModel* m = NULL;
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    OK(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < 4; i++) OK(ANeuralNetworksModel_addOperand(m, i == 2 ? &scalar : &vector));
    OK(ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (uint32_t[]){0, 1, 2}, 1, (uint32_t[]){3}));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){0, 1}, 1, (uint32_t[]){3}));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

static float a[SIZE] = {0, 1, 2, 3, 4, 5, 6, 7}, b[SIZE] = {1, 1, 1, 1, 2, 2, 2, 2};

static ANeuralNetworksExecution* execution(ANeuralNetworksCompilation* c, float* out) {
    ANeuralNetworksExecution* e = NULL;
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof a));
    return e;
}

static int sums(const float* out) {
    for (int i = 0; i < SIZE; i++)
        if (out[i] != a[i] + b[i]) return 0;
    return 1;
}

static void nulls(ANeuralNetworksModel* finished) {
    ANeuralNetworksModel* m;
    ANeuralNetworksExecution* e;
    NULLED(ANeuralNetworksModel_create(NULL));
    NULLED(ANeuralNetworksModel_finish(NULL));
    OK(ANeuralNetworksModel_create(&m));
    NULLED(ANeuralNetworksModel_addOperand(m, NULL));
    OK(ANeuralNetworksModel_addOperand(m, &vector));
    NULLED(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 4));
    BAD(ANeuralNetworksModel_setOperandValue(m, 0, &e, 0));  // an empty value is no omitted one
    OK(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 0));
    BAD(ANeuralNetworksModel_setOperandValue(m, -1, NULL, 0));
    NULLED(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 0, NULL, 1, (uint32_t[]){0}));
    NULLED(ANeuralNetworksModel_identifyInputsAndOutputs(m, 0, NULL, 0, NULL));
    EXPECT(ANEURALNETWORKS_BAD_STATE, ANeuralNetworksModel_addOperand(finished, &vector));
    NULLED(ANeuralNetworksCompilation_create(finished, NULL));
    NULLED(ANeuralNetworksExecution_create(NULL, &e));
    NULLED(ANeuralNetworks_getDevice(0, NULL));
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(NULL);
    ANeuralNetworksEvent_free(NULL);
    EXPECT(ANEURALNETWORKS_OP_FAILED, ANeuralNetworksModel_finish(m));  // freed: an error, where Android may crash
}

// one compiles for a device by name, the CPU without one.
static ANeuralNetworksCompilation* one(ANeuralNetworksModel* m, const char* name) {
    uint32_t count = 0;
    ANeuralNetworksCompilation* c = NULL;
    OK(ANeuralNetworks_getDeviceCount(&count));
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice *d, *again;
        const char *have, *version;
        int32_t type;
        int64_t level;
        bool supported[1];
        OK(ANeuralNetworks_getDevice(i, &d));
        OK(ANeuralNetworks_getDevice(i, &again));
        EXPECT(1, d == again);
        OK(ANeuralNetworksDevice_getName(d, &have));
        OK(ANeuralNetworksDevice_getVersion(d, &version));
        OK(ANeuralNetworksDevice_getType(d, &type));
        OK(ANeuralNetworksDevice_getFeatureLevel(d, &level));
        OK(ANeuralNetworksDevice_wait(d));
        OK(ANeuralNetworksModel_getSupportedOperationsForDevices(m, (const ANeuralNetworksDevice* const*)&d, 1, supported));
        if (strcmp(have, name) || !supported[0]) continue;
        OK(ANeuralNetworksCompilation_createForDevices(m, (const ANeuralNetworksDevice* const*)&d, 1, &c));
    }
    BAD(ANeuralNetworks_getDevice(count, (ANeuralNetworksDevice**)&c));
    if (!c) {
        printf("no device %s that adds floats\n", name);
        exit(1);
    }
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

static short polled(int fd, int timeout) {
    struct pollfd p = {fd, POLLIN, 0};
    poll(&p, 1, timeout);
    return p.revents;
}

// fences: an execution waits for a descriptor, and gives one that poll understands.
static void fences(ANeuralNetworksCompilation* c) {
    float out[SIZE] = {0};
    int start = eventfd(0, 0), end = -1;
    ANeuralNetworksEvent *after, *event;
    BAD(ANeuralNetworksEvent_createFromSyncFenceFd(-1, &after));
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(start, &after));
    ANeuralNetworksExecution* e = execution(c, out);
    OK(ANeuralNetworksExecution_startComputeWithDependencies(e, (const ANeuralNetworksEvent* const*)&after, 1, 0, &event));
    OK(ANeuralNetworksEvent_getSyncFenceFd(event, &end));
    EXPECT(0, polled(end, 50));
    EXPECT(8, write(start, &(uint64_t){1}, 8));
    EXPECT(POLLIN, polled(end, 60000));
    OK(ANeuralNetworksEvent_wait(event));
    EXPECT(1, sums(out));
    ANeuralNetworksEvent *imported, *plain;
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(end, &imported));
    OK(ANeuralNetworksEvent_wait(imported));
    ANeuralNetworksEvent_free(imported);
    ANeuralNetworksEvent_free(after);
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksExecution_free(e);

    // A fence that failed fails what waits for it.
    close(start), close(end);
    start = eventfd(2, 0);
    OK(ANeuralNetworksEvent_createFromSyncFenceFd(start, &after));
    EXPECT(ANEURALNETWORKS_OP_FAILED, ANeuralNetworksEvent_wait(after));
    e = execution(c, out);
    if (ANeuralNetworksExecution_startComputeWithDependencies(e, (const ANeuralNetworksEvent* const*)&after, 1, 0, &event) == 0) {
        EXPECT(1, ANeuralNetworksEvent_wait(event) != ANEURALNETWORKS_NO_ERROR);
        ANeuralNetworksEvent_free(event);
    }
    ANeuralNetworksEvent_free(after);
    ANeuralNetworksExecution_free(e);

    e = execution(c, out);
    OK(ANeuralNetworksExecution_startCompute(e, &plain));
    BAD(ANeuralNetworksEvent_getSyncFenceFd(plain, &end));
    EXPECT(-1, end);
    ANeuralNetworksEvent_free(plain);
    ANeuralNetworksExecution_free(e);
    close(start);
}

// buffers: inputs and output in a hardware buffer, which a socket carries.
static void buffers(ANeuralNetworksCompilation* c) {
    const AHardwareBuffer_Desc desc = {.width = 3 * sizeof a, .height = 1, .layers = 1, .format = AHARDWAREBUFFER_FORMAT_BLOB,
        .usage = AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN | AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN};
    AHardwareBuffer *buffer, *same;
    ANeuralNetworksMemory* m;
    ANeuralNetworksExecution* e;
    float* data;
    int pair[2];
    EXPECT(0, AHardwareBuffer_allocate(&desc, &buffer));
    EXPECT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    EXPECT(0, AHardwareBuffer_sendHandleToUnixSocket(buffer, pair[0]));
    EXPECT(0, AHardwareBuffer_recvHandleFromUnixSocket(pair[1], &same));
    OK(ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, &m));
    AHardwareBuffer_release(buffer);  // the memory keeps it
    EXPECT(0, AHardwareBuffer_lock(same, AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN, -1, NULL, (void**)&data));
    memcpy(data, a, sizeof a), memcpy(data + SIZE, b, sizeof b);
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, sizeof a));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, m, sizeof a, sizeof a));
    BAD(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 2 * sizeof a + 1, sizeof a));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 2 * sizeof a, sizeof a));
    OK(ANeuralNetworksExecution_compute(e));
    EXPECT(1, sums(data + 2 * SIZE));
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(m);
    EXPECT(0, AHardwareBuffer_unlock(same, NULL));
    AHardwareBuffer_release(same);
    close(pair[0]), close(pair[1]);

    int fd = ASharedMemory_create("m", 100);
    EXPECT(100, ASharedMemory_getSize(fd));
    EXPECT(0, ASharedMemory_setProt(fd, PROT_READ));
    EXPECT(1, mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    EXPECT(-1, ASharedMemory_setProt(fd, PROT_READ | PROT_WRITE));
    close(fd);
}

static void* loop(void* c) {
    for (int i = 0; i < 100; i++) {
        float out[SIZE] = {0};
        ANeuralNetworksExecution* e = execution(c, out);
        OK(ANeuralNetworksExecution_compute(e));
        EXPECT(1, sums(out));
        ANeuralNetworksExecution_free(e);
    }
    return NULL;
}

static void threads(ANeuralNetworksCompilation* c) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) EXPECT(0, pthread_create(&t[i], NULL, loop, c));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

// forked starts another program, as apps do; the library stays usable in this one.
static void forked(void) {
    pid_t p = fork();
    if (p == 0) {
        execlp("true", "true", (char*)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(p, &status, 0);
    EXPECT(0, status);
}

// resident is the memory of this process, in KB; -1 where it is not known.
static long resident(void) {
    FILE* f = fopen("/proc/self/statm", "r");
    long pages = -1;
    if (f && fscanf(f, "%*d %ld", &pages) != 1) pages = -1;
    if (f) fclose(f);
    return pages < 0 ? -1 : pages * 4;
}

// bench prints the time of an execution of six calls, and by how much the process grows after a fifth of them.
static void bench(ANeuralNetworksCompilation* c, int n) {
    float out[SIZE];
    struct timespec from, to;
    long before = 0;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < n; i++) {
        if (i == n / 5) before = resident();
        ANeuralNetworksExecution* e = execution(c, out);
        OK(ANeuralNetworksExecution_compute(e));
        ANeuralNetworksExecution_free(e);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.3f us per execution, %ld KB more\n", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 1e3 / n, resident() - before);
}

int main(int argc, char** argv) {
    ANeuralNetworksModel* m = adder();
    ANeuralNetworksCompilation* cpu = one(m, "nnapi-reference");
    if (argc == 3 && !strcmp(argv[1], "bench")) {
        bench(cpu, atoi(argv[2]));
        return failures != 0;
    }
    ANeuralNetworksCompilation* gpu = one(m, "gpu");
    nulls(m);
    fences(gpu);
    buffers(gpu);
    forked();
    threads(gpu);
    threads(cpu);
    EXPECT(ANEURALNETWORKS_FEATURE_LEVEL_5, ANeuralNetworks_getRuntimeFeatureLevel());
    EXPECT(2000000000, ANeuralNetworks_getDefaultLoopTimeout());
    ANeuralNetworksCompilation_free(gpu);
    ANeuralNetworksCompilation_free(cpu);
    ANeuralNetworksModel_free(m);
    printf("%d failures\n", failures);
    return failures != 0;
}
