// Functions of a driver's table, which Go cannot call by their pointers.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <android/NeuralNetworksSupportLibraryImpl.h>

typedef const NnApiSLDriverImplFL5* Table;

// driver_open loads a library and returns its table, or NULL with the reason.
static Table driver_open(const char* path, const char** reason) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        *reason = dlerror();
        return NULL;
    }
    NnApiSLDriverImpl* (*get)(void) = (NnApiSLDriverImpl* (*)(void))dlsym(library, "ANeuralNetworks_getSLDriverImpl");
    if (!get) {
        *reason = "it does not export ANeuralNetworks_getSLDriverImpl";
        return NULL;
    }
    NnApiSLDriverImpl* base = get();
    if (!base || base->implFeatureLevel < ANEURALNETWORKS_FEATURE_LEVEL_5) {
        *reason = "its table is of a feature level below 5";
        return NULL;
    }
    return (Table)base;
}

// Functions that every driver must have; driver_missing names the first that is NULL.
#define REQUIRED(X) \
    X(ANeuralNetworks_getDeviceCount) X(ANeuralNetworks_getDevice) X(ANeuralNetworksDevice_getName) X(ANeuralNetworksDevice_getVersion) X(ANeuralNetworksDevice_getType) \
    X(ANeuralNetworksDevice_getFeatureLevel) X(SL_ANeuralNetworksDevice_getPerformanceInfo) X(SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo) \
    X(ANeuralNetworksModel_create) X(ANeuralNetworksModel_addOperand) X(ANeuralNetworksModel_setOperandValue) X(ANeuralNetworksModel_addOperation) \
    X(ANeuralNetworksModel_identifyInputsAndOutputs) X(ANeuralNetworksModel_finish) X(ANeuralNetworksModel_free) X(ANeuralNetworksModel_getSupportedOperationsForDevices) \
    X(ANeuralNetworksCompilation_createForDevices) X(ANeuralNetworksCompilation_finish) X(ANeuralNetworksCompilation_free) \
    X(ANeuralNetworksExecution_create) X(ANeuralNetworksExecution_setInput) X(ANeuralNetworksExecution_setOutput) X(ANeuralNetworksExecution_compute) \
    X(ANeuralNetworksExecution_getOutputOperandRank) X(ANeuralNetworksExecution_getOutputOperandDimensions) X(ANeuralNetworksExecution_free)

static const char* driver_missing(Table t) {
#define X(name) if (!t->name) return #name;
    REQUIRED(X)
#undef X
    return NULL;
}

static int get_device_count(Table t, uint32_t* n) { return t->ANeuralNetworks_getDeviceCount(n); }
static int get_device(Table t, uint32_t i, ANeuralNetworksDevice** d) { return t->ANeuralNetworks_getDevice(i, d); }
static int device_name(Table t, const ANeuralNetworksDevice* d, const char** s) { return t->ANeuralNetworksDevice_getName(d, s); }
static int device_version(Table t, const ANeuralNetworksDevice* d, const char** s) { return t->ANeuralNetworksDevice_getVersion(d, s); }
static int device_type(Table t, const ANeuralNetworksDevice* d, int32_t* n) { return t->ANeuralNetworksDevice_getType(d, n); }
static int device_performance(Table t, const ANeuralNetworksDevice* d, int32_t kind, SL_ANeuralNetworksPerformanceInfo* p) { return t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, kind, p); }

// Performance of operand types, as many as fit.
#define MAX_TYPES 64
struct performances {
    int count;
    SL_ANeuralNetworksOperandPerformanceInfo list[MAX_TYPES];
};
static void keep_performance(SL_ANeuralNetworksOperandPerformanceInfo p, void* context) {
    struct performances* to = context;
    if (to->count < MAX_TYPES) to->list[to->count++] = p;
}
static int device_performances(Table t, const ANeuralNetworksDevice* d, struct performances* to) { return t->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, to, keep_performance); }

static int model_create(Table t, ANeuralNetworksModel** m) { return t->ANeuralNetworksModel_create(m); }
static int model_add_operand(Table t, ANeuralNetworksModel* m, int32_t type, uint32_t rank, const uint32_t* dims, float scale, int32_t zero) {
    ANeuralNetworksOperandType o = {.type = type, .dimensionCount = rank, .dimensions = dims, .scale = scale, .zeroPoint = zero};
    return t->ANeuralNetworksModel_addOperand(m, &o);
}
static int model_set_value(Table t, ANeuralNetworksModel* m, int32_t i, const void* p, size_t n) { return t->ANeuralNetworksModel_setOperandValue(m, i, p, n); }
static int model_set_channels(Table t, ANeuralNetworksModel* m, int32_t i, uint32_t dim, uint32_t n, const float* scales) {
    ANeuralNetworksSymmPerChannelQuantParams q = {.channelDim = dim, .scaleCount = n, .scales = scales};
    return t->ANeuralNetworksModel_setOperandSymmPerChannelQuantParams ? t->ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, i, &q) : ANEURALNETWORKS_BAD_DATA;
}
static int model_set_model(Table t, ANeuralNetworksModel* m, int32_t i, const ANeuralNetworksModel* value) {
    return t->ANeuralNetworksModel_setOperandValueFromModel ? t->ANeuralNetworksModel_setOperandValueFromModel(m, i, value) : ANEURALNETWORKS_BAD_DATA;
}
static int model_add_operation(Table t, ANeuralNetworksModel* m, int32_t type, uint32_t ni, const uint32_t* in, uint32_t no, const uint32_t* out) { return t->ANeuralNetworksModel_addOperation(m, type, ni, in, no, out); }
static int model_identify(Table t, ANeuralNetworksModel* m, uint32_t ni, const uint32_t* in, uint32_t no, const uint32_t* out) { return t->ANeuralNetworksModel_identifyInputsAndOutputs(m, ni, in, no, out); }
static int model_relax(Table t, ANeuralNetworksModel* m) { return t->ANeuralNetworksModel_relaxComputationFloat32toFloat16 ? t->ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true) : ANEURALNETWORKS_NO_ERROR; }
static int model_finish(Table t, ANeuralNetworksModel* m) { return t->ANeuralNetworksModel_finish(m); }
static void model_free(Table t, ANeuralNetworksModel* m) { t->ANeuralNetworksModel_free(m); }
static int model_supported(Table t, const ANeuralNetworksModel* m, const ANeuralNetworksDevice* d, bool* out) { return t->ANeuralNetworksModel_getSupportedOperationsForDevices(m, &d, 1, out); }

static int compilation_create(Table t, ANeuralNetworksModel* m, const ANeuralNetworksDevice* d, ANeuralNetworksCompilation** c) { return t->ANeuralNetworksCompilation_createForDevices(m, &d, 1, c); }
static int compilation_set(Table t, ANeuralNetworksCompilation* c, int32_t preference, int priority) {
    int code = ANEURALNETWORKS_NO_ERROR;
    if (t->ANeuralNetworksCompilation_setPreference) code = t->ANeuralNetworksCompilation_setPreference(c, preference);
    if (code == ANEURALNETWORKS_NO_ERROR && t->ANeuralNetworksCompilation_setPriority) code = t->ANeuralNetworksCompilation_setPriority(c, priority);
    return code;
}
static int compilation_finish(Table t, ANeuralNetworksCompilation* c) { return t->ANeuralNetworksCompilation_finish(c); }
static void compilation_free(Table t, ANeuralNetworksCompilation* c) { t->ANeuralNetworksCompilation_free(c); }

static int execution_create(Table t, ANeuralNetworksCompilation* c, ANeuralNetworksExecution** e) { return t->ANeuralNetworksExecution_create(c, e); }
static int execution_set_input(Table t, ANeuralNetworksExecution* e, int32_t i, const void* p, size_t n) { return t->ANeuralNetworksExecution_setInput(e, i, NULL, p, n); }
static int execution_set_output(Table t, ANeuralNetworksExecution* e, int32_t i, void* p, size_t n) { return t->ANeuralNetworksExecution_setOutput(e, i, NULL, p, n); }
static int execution_measure(Table t, ANeuralNetworksExecution* e) { return t->ANeuralNetworksExecution_setMeasureTiming ? t->ANeuralNetworksExecution_setMeasureTiming(e, true) : ANEURALNETWORKS_BAD_DATA; }
static int execution_loop_timeout(Table t, ANeuralNetworksExecution* e, uint64_t ns) { return t->ANeuralNetworksExecution_setLoopTimeout ? t->ANeuralNetworksExecution_setLoopTimeout(e, ns) : ANEURALNETWORKS_NO_ERROR; }
static int execution_compute(Table t, ANeuralNetworksExecution* e) { return t->ANeuralNetworksExecution_compute(e); }
static int execution_duration(Table t, ANeuralNetworksExecution* e, uint64_t* ns) { return t->ANeuralNetworksExecution_getDuration ? t->ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_ON_HARDWARE, ns) : ANEURALNETWORKS_BAD_DATA; }
static int execution_rank(Table t, ANeuralNetworksExecution* e, int32_t i, uint32_t* rank) { return t->ANeuralNetworksExecution_getOutputOperandRank(e, i, rank); }
static int execution_dimensions(Table t, ANeuralNetworksExecution* e, int32_t i, uint32_t* dims) { return t->ANeuralNetworksExecution_getOutputOperandDimensions(e, i, dims); }
static void execution_free(Table t, ANeuralNetworksExecution* e) { t->ANeuralNetworksExecution_free(e); }
