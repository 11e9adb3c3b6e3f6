// A framework that loads a driver by its path, through the support library interface: it opens the library named by its
// argument, computes 1 + 2 on each of its devices, and registers for diagnostics.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <android/NeuralNetworksSupportLibraryImpl.h>

static int failures;
#define CHECK(x) do { if (!(x)) { failures++; printf("line %d: %s\n", __LINE__, #x); } } while (0)
#define OK(x) CHECK((x) == ANEURALNETWORKS_NO_ERROR)

static const NnApiSLDriverImplFL5* t;
static int compilations, executions, types;

static void compiled(const void* context, const ANeuralNetworksDiagnosticCompilationInfo* i) {
    CHECK(context == &compilations);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId(i) > 0);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion(i) >= 30);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash(i) != NULL);
    CHECK(strchr(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds(i), '=') != NULL);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode(i) == 0);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass(i) == ANNDIAG_DATA_CLASS_FLOAT32);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass(i) == ANNDIAG_DATA_CLASS_FLOAT32);
    CHECK(t->SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos(i) > 0);
    CHECK(!t->SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled(i));
    CHECK(!t->SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed(i));
    CHECK(!t->SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed(i));
    compilations++;
}

static void executed(const void* context, const ANeuralNetworksDiagnosticExecutionInfo* i) {
    CHECK(context == &compilations);
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId(i) > 0);
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode(i) == ANNDIAG_EXECUTION_MODE_SYNC);
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode(i) == 0);
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass(i) == ANNDIAG_DATA_CLASS_FLOAT32);
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos(i) >= t->SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos(i));
    CHECK(t->SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos(i) > 0);
    executions++;
}

static void type(SL_ANeuralNetworksOperandPerformanceInfo p, void* context) {
    CHECK(context == &types && p.performanceInfo.execTime > 0 && p.performanceInfo.powerUsage > 0);
    types++;
}

static void add(const ANeuralNetworksDevice* d) {
    uint32_t two = 2, in[3] = {0, 1, 2}, out[1] = {3}, rank = 0, dims = 0;
    ANeuralNetworksOperandType tensor = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &two}, scalar = {.type = ANEURALNETWORKS_INT32};
    int32_t none = ANEURALNETWORKS_FUSED_NONE;
    float x[2] = {1, 3}, y[2] = {2, 4}, z[2] = {0, 0};
    bool supported = false;
    ANeuralNetworksModel* m = NULL;
    ANeuralNetworksCompilation* c = NULL;
    ANeuralNetworksExecution* e = NULL;
    OK(t->ANeuralNetworksModel_create(&m));
    OK(t->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(t->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(t->ANeuralNetworksModel_addOperand(m, &scalar));
    OK(t->ANeuralNetworksModel_addOperand(m, &tensor));
    OK(t->ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    OK(t->ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
    OK(t->ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, 1, out));
    OK(t->ANeuralNetworksModel_finish(m));
    OK(t->ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, &supported));
    if (supported) {
        OK(t->ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c));
        OK(t->ANeuralNetworksCompilation_finish(c));
        OK(t->ANeuralNetworksExecution_create(c, &e));
        OK(t->ANeuralNetworksExecution_setInput(e, 0, NULL, x, sizeof x));
        OK(t->ANeuralNetworksExecution_setInput(e, 1, NULL, y, sizeof y));
        OK(t->ANeuralNetworksExecution_setOutput(e, 0, NULL, z, sizeof z));
        OK(t->ANeuralNetworksExecution_compute(e));
        OK(t->ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank));
        OK(t->ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &dims));
        CHECK(rank == 1 && dims == 2 && z[0] == 3 && z[1] == 7);
        t->ANeuralNetworksExecution_free(e);
        t->ANeuralNetworksCompilation_free(c);
    }
    t->ANeuralNetworksModel_free(m);
}

int main(int argc, char** argv) {
    void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) return printf("%s\n", argc > 1 ? dlerror() : "want a library"), 2;
    NnApiSLDriverImpl* (*get)(void) = (NnApiSLDriverImpl* (*)(void))dlsym(library, "ANeuralNetworks_getSLDriverImpl");
    if (!get) return printf("no ANeuralNetworks_getSLDriverImpl\n"), 2;
    NnApiSLDriverImpl* base = get();
    CHECK(base->implFeatureLevel == ANEURALNETWORKS_FEATURE_LEVEL_5);
    t = (const NnApiSLDriverImplFL5*)base;
    for (void* const* p = (void* const*)&t->ANeuralNetworksBurst_create; p < (void* const*)(t + 1); p++) CHECK(*p != NULL);
    t->SL_ANeuralNetworksDiagnostic_registerCallbacks(compiled, executed, &compilations);
    uint32_t devices = 0, models = 1, data = 1, extensions = 0;
    OK(t->ANeuralNetworks_getDeviceCount(&devices));
    for (uint32_t i = 0; i < devices; i++) {
        ANeuralNetworksDevice* d = NULL;
        SL_ANeuralNetworksPerformanceInfo p = {0, 0};
        OK(t->ANeuralNetworks_getDevice(i, &d));
        for (int32_t kind = 0; kind < 4; kind++) OK(t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, kind, &p));
        CHECK(p.execTime > 0 && t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, 4, &p) == ANEURALNETWORKS_BAD_DATA);
        types = 0;
        OK(t->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, &types, type));
        CHECK(types > 0);
        OK(t->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(d, &models, &data));
        CHECK(models == 0 && data == 0);
        OK(t->SL_ANeuralNetworksDevice_getVendorExtensionCount(d, &extensions));
        for (uint32_t k = 0; k < extensions; k++) {
            const char* name = NULL;
            OK(t->SL_ANeuralNetworksDevice_getVendorExtensionName(d, k, &name));
            CHECK(name && *name);
        }
        const char* none = NULL;
        CHECK(t->SL_ANeuralNetworksDevice_getVendorExtensionName(d, extensions, &none) == ANEURALNETWORKS_BAD_DATA);
        add(d);
    }
    CHECK(devices >= 1 && compilations >= 1 && executions == compilations);
    t->SL_ANeuralNetworksDiagnostic_registerCallbacks(NULL, NULL, NULL);
    printf("%u devices, %d failures\n", devices, failures);
    return failures > 0;
}
