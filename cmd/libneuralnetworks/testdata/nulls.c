// Every pointer that must not be null, passed as null: a line of docs/Contract.md for each call with what it returns.
#define _GNU_SOURCE
#include <android/NeuralNetworks.h>

#include <stdio.h>
#include <stdlib.h>

static const char* const codes[] = {"NO_ERROR", "OUT_OF_MEMORY", "INCOMPLETE", "UNEXPECTED_NULL", "BAD_DATA", "OP_FAILED", "BAD_STATE"};

#define ROW(name, pointer, ...)                                                        \
    do {                                                                               \
        int code_ = ANeuralNetworks##name(__VA_ARGS__);                                \
        printf("| `%s` | %s | %s |\n", #name[0] == '_' ? &#name[1] : #name, pointer, code_ < 7 ? codes[code_] : "another"); \
    } while (0)
#define OK(call)                                                              \
    do {                                                                      \
        if ((call) != ANEURALNETWORKS_NO_ERROR) puts(#call " failed"), exit(1); \
    } while (0)

static uint32_t two[] = {2}, zero[] = {0}, one[] = {1};
static const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, two, 0, 0};
static const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, two, 0, 0};
static const ANeuralNetworksOperandType channels = {ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 1, two, 0, 0};

static ANeuralNetworksModel* relu(void) {
    ANeuralNetworksModel* m;
    OK(ANeuralNetworksModel_create(&m));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, zero, 1, one));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, zero, 1, one));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

static void models(ANeuralNetworksModel* finished) {
    ANeuralNetworksModel* m;
    ANeuralNetworksDevice* d;
    const ANeuralNetworksDevice* none = NULL;
    const ANeuralNetworksSymmPerChannelQuantParams params = {0, 2, NULL};
    const char* text;
    int32_t number;
    int64_t level;
    bool yes;
    float data[2] = {0};
    OK(ANeuralNetworksModel_create(&m));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperand(m, &channels));
    OK(ANeuralNetworks_getDevice(0, &d));
    ROW(_getDeviceCount, "count", NULL);
    ROW(_getDevice, "device", 0, NULL);
    ROW(Device_getName, "device", NULL, &text);
    ROW(Device_getName, "name", d, NULL);
    ROW(Device_getVersion, "device", NULL, &text);
    ROW(Device_getVersion, "version", d, NULL);
    ROW(Device_getType, "device", NULL, &number);
    ROW(Device_getType, "type", d, NULL);
    ROW(Device_getFeatureLevel, "device", NULL, &level);
    ROW(Device_getFeatureLevel, "level", d, NULL);
    ROW(Device_wait, "device", NULL);
    ROW(Device_getExtensionSupport, "device", NULL, "a.b", &yes);
    ROW(Device_getExtensionSupport, "name", d, NULL, &yes);
    ROW(Device_getExtensionSupport, "supported", d, "a.b", NULL);
    ROW(Model_create, "model", NULL);
    ROW(Model_finish, "model", NULL);
    ROW(Model_addOperand, "model", NULL, &tensor);
    ROW(Model_addOperand, "type", m, NULL);
    ROW(Model_addOperand, "none, but dimensions of a scalar", m, &scalar);
    ROW(Model_setOperandValue, "model", NULL, 0, data, sizeof data);
    ROW(Model_setOperandValue, "buffer, with a length", m, 0, NULL, sizeof data);
    ROW(Model_setOperandValueFromMemory, "model or memory", m, 0, NULL, 0, 8);
    ROW(Model_setOperandValueFromModel, "model", NULL, 0, finished);
    ROW(Model_setOperandValueFromModel, "value", m, 0, NULL);
    ROW(Model_setOperandSymmPerChannelQuantParams, "model", NULL, 1, &params);
    ROW(Model_setOperandSymmPerChannelQuantParams, "params", m, 1, NULL);
    ROW(Model_setOperandSymmPerChannelQuantParams, "scales of params", m, 1, &params);
    ROW(Model_setOperandExtensionData, "model", NULL, 0, data, 1);
    ROW(Model_setOperandExtensionData, "data, with a length", m, 0, NULL, 1);
    ROW(Model_addOperation, "model", NULL, ANEURALNETWORKS_RELU, 1, zero, 1, one);
    ROW(Model_addOperation, "inputs", m, ANEURALNETWORKS_RELU, 1, NULL, 1, one);
    ROW(Model_addOperation, "outputs", m, ANEURALNETWORKS_RELU, 1, zero, 1, NULL);
    ROW(Model_identifyInputsAndOutputs, "model", NULL, 1, zero, 1, one);
    ROW(Model_identifyInputsAndOutputs, "inputs", m, 1, NULL, 1, one);
    ROW(Model_identifyInputsAndOutputs, "outputs", m, 1, zero, 1, NULL);
    ROW(Model_relaxComputationFloat32toFloat16, "model", NULL, true);
    ROW(Model_getExtensionOperandType, "model", NULL, "a.b", 0, &number);
    ROW(Model_getExtensionOperandType, "name", m, NULL, 0, &number);
    ROW(Model_getExtensionOperandType, "type", m, "a.b", 0, NULL);
    ROW(Model_getExtensionOperationType, "model", NULL, "a.b", 0, &number);
    ROW(Model_getExtensionOperationType, "name", m, NULL, 0, &number);
    ROW(Model_getExtensionOperationType, "type", m, "a.b", 0, NULL);
    ROW(Model_getSupportedOperationsForDevices, "model", NULL, (const ANeuralNetworksDevice* const*)&d, 1, &yes);
    ROW(Model_getSupportedOperationsForDevices, "devices", finished, NULL, 1, &yes);
    ROW(Model_getSupportedOperationsForDevices, "a device", finished, &none, 1, &yes);
    ROW(Model_getSupportedOperationsForDevices, "supported", finished, (const ANeuralNetworksDevice* const*)&d, 1, NULL);
    ANeuralNetworksModel_free(m);
}

static void compilations(ANeuralNetworksModel* m) {
    ANeuralNetworksCompilation *c, *done;
    ANeuralNetworksDevice* d;
    ANeuralNetworksBurst* burst;
    ANeuralNetworksMemory* memory;
    ANeuralNetworksMemoryDesc* desc;
    const ANeuralNetworksDevice* none = NULL;
    uint32_t bytes;
    uint8_t token[32] = {0};
    OK(ANeuralNetworks_getDevice(0, &d));
    OK(ANeuralNetworksCompilation_create(m, &c));
    OK(ANeuralNetworksCompilation_create(m, &done));
    OK(ANeuralNetworksCompilation_finish(done));
    ROW(Compilation_create, "model", NULL, &c);
    ROW(Compilation_create, "compilation", m, NULL);
    ROW(Compilation_createForDevices, "model", NULL, (const ANeuralNetworksDevice* const*)&d, 1, &c);
    ROW(Compilation_createForDevices, "devices", m, NULL, 1, &c);
    ROW(Compilation_createForDevices, "a device", m, &none, 1, &c);
    ROW(Compilation_createForDevices, "compilation", m, (const ANeuralNetworksDevice* const*)&d, 1, NULL);
    ROW(Compilation_setPreference, "compilation", NULL, 0);
    ROW(Compilation_setPriority, "compilation", NULL, 100);
    ROW(Compilation_setTimeout, "compilation", NULL, 1);
    ROW(Compilation_setCaching, "compilation", NULL, "/tmp", token);
    ROW(Compilation_setCaching, "directory", done, NULL, token);
    ROW(Compilation_setCaching, "token", done, "/tmp", NULL);
    ROW(Compilation_finish, "compilation", NULL);
    ROW(Compilation_getPreferredMemoryAlignmentForInput, "compilation", NULL, 0, &bytes);
    ROW(Compilation_getPreferredMemoryAlignmentForInput, "alignment", done, 0, NULL);
    ROW(Compilation_getPreferredMemoryPaddingForInput, "compilation", NULL, 0, &bytes);
    ROW(Compilation_getPreferredMemoryPaddingForInput, "padding", done, 0, NULL);
    ROW(Compilation_getPreferredMemoryAlignmentForOutput, "compilation", NULL, 0, &bytes);
    ROW(Compilation_getPreferredMemoryAlignmentForOutput, "alignment", done, 0, NULL);
    ROW(Compilation_getPreferredMemoryPaddingForOutput, "compilation", NULL, 0, &bytes);
    ROW(Compilation_getPreferredMemoryPaddingForOutput, "padding", done, 0, NULL);
    ROW(Burst_create, "compilation", NULL, &burst);
    ROW(Burst_create, "burst", done, NULL);
    ROW(MemoryDesc_create, "description", NULL);
    OK(ANeuralNetworksMemoryDesc_create(&desc));
    ROW(MemoryDesc_addInputRole, "description", NULL, done, 0, 1);
    ROW(MemoryDesc_addInputRole, "compilation", desc, NULL, 0, 1);
    ROW(MemoryDesc_addOutputRole, "description", NULL, done, 0, 1);
    ROW(MemoryDesc_addOutputRole, "compilation", desc, NULL, 0, 1);
    ROW(MemoryDesc_setDimensions, "description", NULL, 1, two);
    ROW(MemoryDesc_setDimensions, "dimensions, with a rank", desc, 1, NULL);
    ROW(MemoryDesc_finish, "description", NULL);
    ROW(Memory_createFromDesc, "description", NULL, &memory);
    ROW(Memory_createFromDesc, "memory", desc, NULL);
    ROW(Memory_createFromFd, "memory", 8, 1, 0, 0, NULL);
    ROW(Memory_createFromFd, "none, but descriptor -1", 8, 1, -1, 0, &memory);
    ROW(Memory_createFromAHardwareBuffer, "buffer", NULL, &memory);
    ROW(Memory_copy, "source", NULL, NULL);
    ANeuralNetworksMemoryDesc_free(desc);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(done);
}

static void executions(ANeuralNetworksModel* m) {
    ANeuralNetworksCompilation* c;
    ANeuralNetworksExecution* e;
    ANeuralNetworksEvent* event;
    const ANeuralNetworksEvent* none = NULL;
    ANeuralNetworksBurst* burst;
    uint64_t time;
    uint32_t size;
    int fd;
    float data[2] = {0};
    OK(ANeuralNetworksCompilation_create(m, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksBurst_create(c, &burst));
    ROW(Execution_create, "compilation", NULL, &e);
    ROW(Execution_create, "execution", c, NULL);
    OK(ANeuralNetworksExecution_create(c, &e));
    ROW(Execution_setInput, "execution", NULL, 0, NULL, data, sizeof data);
    ROW(Execution_setInput, "buffer, with a length", e, 0, NULL, NULL, sizeof data);
    ROW(Execution_setInputFromMemory, "execution", NULL, 0, NULL, NULL, 0, 8);
    ROW(Execution_setInputFromMemory, "memory", e, 0, NULL, NULL, 0, 8);
    ROW(Execution_setOutput, "execution", NULL, 0, NULL, data, sizeof data);
    ROW(Execution_setOutput, "buffer, with a length", e, 0, NULL, NULL, sizeof data);
    ROW(Execution_setOutputFromMemory, "execution", NULL, 0, NULL, NULL, 0, 8);
    ROW(Execution_setOutputFromMemory, "memory", e, 0, NULL, NULL, 0, 8);
    ROW(Execution_compute, "execution", NULL);
    ROW(Execution_startCompute, "execution", NULL, &event);
    ROW(Execution_startCompute, "event", e, NULL);
    ROW(Execution_startComputeWithDependencies, "execution", NULL, NULL, 0, 0, &event);
    ROW(Execution_startComputeWithDependencies, "dependencies, with a number", e, NULL, 1, 0, &event);
    ROW(Execution_startComputeWithDependencies, "a dependency", e, &none, 1, 0, &event);
    ROW(Execution_startComputeWithDependencies, "event", e, NULL, 0, 0, NULL);
    ROW(Execution_burstCompute, "execution", NULL, burst);
    ROW(Execution_burstCompute, "burst", e, NULL);
    ROW(Execution_setMeasureTiming, "execution", NULL, true);
    ROW(Execution_getDuration, "execution", NULL, 0, &time);
    ROW(Execution_getDuration, "duration", e, 0, NULL);
    ROW(Execution_setTimeout, "execution", NULL, 1);
    ROW(Execution_setLoopTimeout, "execution", NULL, 1);
    ROW(Execution_enableInputAndOutputPadding, "execution", NULL, true);
    ROW(Execution_setReusable, "execution", NULL, true);
    ROW(Execution_getOutputOperandRank, "execution", NULL, 0, &size);
    ROW(Execution_getOutputOperandRank, "rank", e, 0, NULL);
    ROW(Execution_getOutputOperandDimensions, "execution", NULL, 0, &size);
    ROW(Execution_getOutputOperandDimensions, "dimensions", e, 0, NULL);
    ROW(Event_wait, "event", NULL);
    ROW(Event_createFromSyncFenceFd, "event", 0, NULL);
    ROW(Event_createFromSyncFenceFd, "none, but descriptor 0", 0, &event);
    ROW(Event_getSyncFenceFd, "event", NULL, &fd);
    ROW(Event_getSyncFenceFd, "descriptor", NULL, NULL);
    ANeuralNetworksModel_free(NULL), ANeuralNetworksCompilation_free(NULL), ANeuralNetworksExecution_free(NULL), ANeuralNetworksEvent_free(NULL);
    ANeuralNetworksBurst_free(NULL), ANeuralNetworksMemory_free(NULL), ANeuralNetworksMemoryDesc_free(NULL);
}

int main(void) {
    ANeuralNetworksModel* m = relu();
    models(m);
    compilations(m);
    executions(m);
    return 0;
}
