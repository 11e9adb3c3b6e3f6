// The example of NNAPI's programming guide: (a + b) * c of 3x4 floats, with b and c of a file that holds the trained
// values, on whatever device NNAPI chooses. A second execution takes its input and leaves its output in shared memory.
//
//   gcc two_operations.c -lneuralnetworks -landroid
#define _GNU_SOURCE
#include <android/NeuralNetworks.h>
#include <android/sharedmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 3, COLUMNS = 4, SIZE = ROWS * COLUMNS };

// check ends the program where a call fails.
static void check(int code, const char* call) {
    if (code == ANEURALNETWORKS_NO_ERROR) return;
    fprintf(stderr, "%s: result code %d\n", call, code);
    exit(1);
}
#define CHECK(call) check(call, #call)

// shared is a descriptor of shared memory that holds values.
static int shared(const float* values, size_t bytes) {
    int fd = ASharedMemory_create("values", bytes);
    float* p = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        perror("shared memory");
        exit(1);
    }
    memcpy(p, values, bytes);
    munmap(p, bytes);
    return fd;
}

// build is the model, whose operands are a, b, the activation, a + b, c and the result.
static ANeuralNetworksModel* build(const ANeuralNetworksMemory* trained) {
    const uint32_t dims[] = {ROWS, COLUMNS};
    const ANeuralNetworksOperandType matrix = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 2, .dimensions = dims};
    const ANeuralNetworksOperandType activation = {.type = ANEURALNETWORKS_INT32};
    enum { A, B, ACTIVATION, SUM, C, RESULT, COUNT };
    ANeuralNetworksModel* model;
    CHECK(ANeuralNetworksModel_create(&model));
    for (int i = 0; i < COUNT; i++) CHECK(ANeuralNetworksModel_addOperand(model, i == ACTIVATION ? &activation : &matrix));
    const size_t bytes = SIZE * sizeof(float);
    CHECK(ANeuralNetworksModel_setOperandValueFromMemory(model, B, trained, 0, bytes));
    CHECK(ANeuralNetworksModel_setOperandValueFromMemory(model, C, trained, bytes, bytes));
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    CHECK(ANeuralNetworksModel_setOperandValue(model, ACTIVATION, &none, sizeof none));
    CHECK(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, (uint32_t[]){A, B, ACTIVATION}, 1, (uint32_t[]){SUM}));
    CHECK(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_MUL, 3, (uint32_t[]){SUM, C, ACTIVATION}, 1, (uint32_t[]){RESULT}));
    CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(model, 1, (uint32_t[]){A}, 1, (uint32_t[]){RESULT}));
    CHECK(ANeuralNetworksModel_finish(model));
    return model;
}

// run starts an execution and waits for it.
static void run(ANeuralNetworksExecution* execution) {
    ANeuralNetworksEvent* end;
    CHECK(ANeuralNetworksExecution_startCompute(execution, &end));
    CHECK(ANeuralNetworksEvent_wait(end));
    ANeuralNetworksEvent_free(end);
    ANeuralNetworksExecution_free(execution);
}

int main(void) {
    float trained[2 * SIZE], a[SIZE], result[SIZE];
    for (int i = 0; i < SIZE; i++) a[i] = (float)i, trained[i] = 0.5f * (float)i, trained[SIZE + i] = i % 2 ? 2.0f : -1.0f;
    int trainedFd = shared(trained, sizeof trained);
    ANeuralNetworksMemory* trainedMemory;
    CHECK(ANeuralNetworksMemory_createFromFd(sizeof trained, PROT_READ, trainedFd, 0, &trainedMemory));
    ANeuralNetworksModel* model = build(trainedMemory);
    ANeuralNetworksCompilation* compilation;
    CHECK(ANeuralNetworksCompilation_create(model, &compilation));
    CHECK(ANeuralNetworksCompilation_setPreference(compilation, ANEURALNETWORKS_PREFER_LOW_POWER));
    CHECK(ANeuralNetworksCompilation_finish(compilation));

    ANeuralNetworksExecution* execution;
    CHECK(ANeuralNetworksExecution_create(compilation, &execution));
    CHECK(ANeuralNetworksExecution_setInput(execution, 0, NULL, a, sizeof a));
    CHECK(ANeuralNetworksExecution_setOutput(execution, 0, NULL, result, sizeof result));
    run(execution);
    int wrong = 0;
    for (int i = 0; i < SIZE; i++) wrong += result[i] != (a[i] + trained[i]) * trained[SIZE + i];

    // The input comes first, the output behind it, both in one memory. What is written after the memory was made counts.
    int argumentsFd = shared(trained, sizeof trained);
    float* arguments = mmap(NULL, sizeof trained, PROT_READ | PROT_WRITE, MAP_SHARED, argumentsFd, 0);
    ANeuralNetworksMemory* memory;
    CHECK(ANeuralNetworksMemory_createFromFd(sizeof trained, PROT_READ | PROT_WRITE, argumentsFd, 0, &memory));
    for (int i = 0; i < SIZE; i++) arguments[i] = 100.0f - (float)i;
    CHECK(ANeuralNetworksExecution_create(compilation, &execution));
    CHECK(ANeuralNetworksExecution_setInputFromMemory(execution, 0, NULL, memory, 0, sizeof a));
    CHECK(ANeuralNetworksExecution_setOutputFromMemory(execution, 0, NULL, memory, sizeof a, sizeof a));
    run(execution);
    for (int i = 0; i < SIZE; i++) wrong += arguments[SIZE + i] != (arguments[i] + trained[i]) * trained[SIZE + i];

    ANeuralNetworksCompilation_free(compilation);
    ANeuralNetworksModel_free(model);
    ANeuralNetworksMemory_free(memory);
    ANeuralNetworksMemory_free(trainedMemory);
    munmap(arguments, sizeof trained);
    close(argumentsFd);
    close(trainedFd);
    printf("%d of %d results are wrong\n", wrong, 2 * SIZE);
    return wrong != 0;
}
