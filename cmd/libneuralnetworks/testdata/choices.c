// What an application chooses when it compiles: choices ACCELERATOR FOLDER RELAXED COUNT OPEN.
//
// It compiles relu(x * x + 2^-12) of COUNT floats for the accelerator of that name, with its compiled form kept in FOLDER, in
// precision of FLOAT16 where RELAXED is 1, and prints the sum for x = 1. Where OPEN is 1 the model
// leaves the size of x open until it executes.
#include <android/NeuralNetworks.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code, const char* call) {
    if (code == ANEURALNETWORKS_NO_ERROR) return;
    fprintf(stderr, "%s: result code %d\n", call, code);
    exit(1);
}
#define CHECK(call) check(call, #call)

static ANeuralNetworksDevice* named(const char* name) {
    uint32_t count;
    CHECK(ANeuralNetworks_getDeviceCount(&count));
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDevice* d;
        const char* n;
        CHECK(ANeuralNetworks_getDevice(i, &d));
        CHECK(ANeuralNetworksDevice_getName(d, &n));
        if (strcmp(n, name) == 0) return d;
    }
    fprintf(stderr, "no accelerator %s\n", name);
    exit(2);
}

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    enum { X, EPSILON, NONE, SQUARE, RELU, RESULT, OPERANDS };
    const uint32_t count = atoi(argv[4]), size[] = {atoi(argv[5]) == 1 ? 0 : count}, one[] = {1};
    const ANeuralNetworksOperandType vector = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = size};
    const ANeuralNetworksOperandType single = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = one};
    const ANeuralNetworksOperandType activation = {.type = ANEURALNETWORKS_INT32};
    const ANeuralNetworksOperandType* types[OPERANDS] = {&vector, &single, &activation, &vector, &activation, &vector};
    const int32_t none = ANEURALNETWORKS_FUSED_NONE, relu = ANEURALNETWORKS_FUSED_RELU;
    const float epsilon = 0.000244140625f;

    ANeuralNetworksModel* m;
    CHECK(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < OPERANDS; i++) CHECK(ANeuralNetworksModel_addOperand(m, types[i]));
    CHECK(ANeuralNetworksModel_setOperandValue(m, EPSILON, &epsilon, sizeof epsilon));
    CHECK(ANeuralNetworksModel_setOperandValue(m, NONE, &none, sizeof none));
    CHECK(ANeuralNetworksModel_setOperandValue(m, RELU, &relu, sizeof relu));
    CHECK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, (uint32_t[]){X, X, NONE}, 1, (uint32_t[]){SQUARE}));
    CHECK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (uint32_t[]){SQUARE, EPSILON, RELU}, 1, (uint32_t[]){RESULT}));
    CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, (uint32_t[]){X}, 1, (uint32_t[]){RESULT}));
    CHECK(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, atoi(argv[3]) == 1));
    CHECK(ANeuralNetworksModel_finish(m));

    const ANeuralNetworksDevice* device = named(argv[1]);
    const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {1, atoi(argv[3]), count, size[0]};
    ANeuralNetworksCompilation* c;
    CHECK(ANeuralNetworksCompilation_createForDevices(m, &device, 1, &c));
    CHECK(ANeuralNetworksCompilation_setCaching(c, argv[2], token));
    CHECK(ANeuralNetworksCompilation_finish(c));

    float x[64], result[64] = {0}, sum = 0;
    if (count == 0 || count > 64) return 2;
    for (uint32_t i = 0; i < count; i++) x[i] = 1;
    ANeuralNetworksExecution* e;
    const ANeuralNetworksOperandType sized = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &count};
    CHECK(ANeuralNetworksExecution_create(c, &e));
    CHECK(ANeuralNetworksExecution_setInput(e, 0, &sized, x, count * sizeof *x));
    CHECK(ANeuralNetworksExecution_setOutput(e, 0, NULL, result, size[0] == 0 ? sizeof result : count * sizeof *result));
    CHECK(ANeuralNetworksExecution_compute(e));
    uint32_t rank, length;
    CHECK(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
    CHECK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &length));
    for (uint32_t i = 0; i < length; i++) sum += result[i];
    printf("%u dimension, %u elements, sum %.9g\n", rank, length, sum);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
