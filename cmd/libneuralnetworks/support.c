//go:build linux && cgo && libneuralnetworks

// The table of the support library interface: the functions of this library, and getters of what support.go reports.
#include <android/NeuralNetworksSupportLibraryImpl.h>

#include "support.h"

#include <stdlib.h>

// Functions of the table that are not NNAPI's; support.go has them.
int SL_ANeuralNetworksCompilation_setCachingFromFds(ANeuralNetworksCompilation*, const int*, uint32_t, const int*, uint32_t, const uint8_t*);
int SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(const ANeuralNetworksDevice*, uint32_t*, uint32_t*);
int SL_ANeuralNetworksDevice_getPerformanceInfo(const ANeuralNetworksDevice*, int32_t, SL_ANeuralNetworksPerformanceInfo*);
int SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(const ANeuralNetworksDevice*, void*, void (*)(SL_ANeuralNetworksOperandPerformanceInfo, void*));
int SL_ANeuralNetworksDevice_getVendorExtensionCount(const ANeuralNetworksDevice*, uint32_t*);
int SL_ANeuralNetworksDevice_getVendorExtensionName(const ANeuralNetworksDevice*, uint32_t, const char**);
int SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(const ANeuralNetworksDevice*, uint32_t, void*, void (*)(SL_ANeuralNetworksExtensionOperandTypeInformation, void*));
void SL_ANeuralNetworksDiagnostic_registerCallbacks(ANeuralNetworksDiagnosticCompilationFinishedCallback, ANeuralNetworksDiagnosticExecutionFinishedCallback, void*);

struct ANeuralNetworksDiagnosticCompilationInfo { struct nnsoc_diagnostic d; };
struct ANeuralNetworksDiagnosticExecutionInfo { struct nnsoc_diagnostic d; };

#define GETTER(kind, type, name, field) \
    static type SL_ANeuralNetworksDiagnostic##kind##Info_##name(const ANeuralNetworksDiagnostic##kind##Info* info) { return (type)info->d.field; }

GETTER(Compilation, int32_t, getSessionId, session)
GETTER(Compilation, int64_t, getNnApiVersion, level)
GETTER(Compilation, const uint8_t*, getModelArchHash, model)
GETTER(Compilation, const char*, getDeviceIds, devices)
GETTER(Compilation, ANeuralNetworksDiagnosticDataClass, getInputDataClass, input)
GETTER(Compilation, ANeuralNetworksDiagnosticDataClass, getOutputDataClass, output)
GETTER(Compilation, bool, isCachingEnabled, caching)
GETTER(Compilation, bool, isControlFlowUsed, control_flow)
GETTER(Compilation, bool, areDynamicTensorsUsed, dynamic)
GETTER(Compilation, int32_t, getErrorCode, error)
GETTER(Compilation, uint64_t, getCompilationTimeNanos, compilation_ns)
GETTER(Execution, int32_t, getSessionId, session)
GETTER(Execution, int64_t, getNnApiVersion, level)
GETTER(Execution, const uint8_t*, getModelArchHash, model)
GETTER(Execution, const char*, getDeviceIds, devices)
GETTER(Execution, ANeuralNetworksDiagnosticDataClass, getInputDataClass, input)
GETTER(Execution, ANeuralNetworksDiagnosticDataClass, getOutputDataClass, output)
GETTER(Execution, bool, isCachingEnabled, caching)
GETTER(Execution, bool, isControlFlowUsed, control_flow)
GETTER(Execution, bool, areDynamicTensorsUsed, dynamic)
GETTER(Execution, ANeuralNetworksDiagnosticExecutionMode, getExecutionMode, mode)
GETTER(Execution, uint32_t, getErrorCode, error)
GETTER(Execution, uint64_t, getRuntimeExecutionTimeNanos, runtime_ns)
GETTER(Execution, uint64_t, getDriverExecutionTimeNanos, driver_ns)
GETTER(Execution, uint64_t, getHardwareExecutionTimeNanos, hardware_ns)

static const NnApiSLDriverImplFL5 table = {
    .base = {.implFeatureLevel = ANEURALNETWORKS_FEATURE_LEVEL_5},
    .ANeuralNetworksBurst_create = ANeuralNetworksBurst_create,
    .ANeuralNetworksBurst_free = ANeuralNetworksBurst_free,
    .ANeuralNetworksCompilation_createForDevices = ANeuralNetworksCompilation_createForDevices,
    .ANeuralNetworksCompilation_finish = ANeuralNetworksCompilation_finish,
    .ANeuralNetworksCompilation_free = ANeuralNetworksCompilation_free,
    .ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput = ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput,
    .ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput = ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput,
    .ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput = ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput,
    .ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput = ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput,
    .ANeuralNetworksCompilation_setCaching = ANeuralNetworksCompilation_setCaching,
    .ANeuralNetworksCompilation_setPreference = ANeuralNetworksCompilation_setPreference,
    .ANeuralNetworksCompilation_setPriority = ANeuralNetworksCompilation_setPriority,
    .ANeuralNetworksCompilation_setTimeout = ANeuralNetworksCompilation_setTimeout,
    .ANeuralNetworksDevice_getExtensionSupport = ANeuralNetworksDevice_getExtensionSupport,
    .ANeuralNetworksDevice_getFeatureLevel = ANeuralNetworksDevice_getFeatureLevel,
    .ANeuralNetworksDevice_getName = ANeuralNetworksDevice_getName,
    .ANeuralNetworksDevice_getType = ANeuralNetworksDevice_getType,
    .ANeuralNetworksDevice_getVersion = ANeuralNetworksDevice_getVersion,
    .ANeuralNetworksDevice_wait = ANeuralNetworksDevice_wait,
    .ANeuralNetworksEvent_createFromSyncFenceFd = ANeuralNetworksEvent_createFromSyncFenceFd,
    .ANeuralNetworksEvent_free = ANeuralNetworksEvent_free,
    .ANeuralNetworksEvent_getSyncFenceFd = ANeuralNetworksEvent_getSyncFenceFd,
    .ANeuralNetworksEvent_wait = ANeuralNetworksEvent_wait,
    .ANeuralNetworksExecution_burstCompute = ANeuralNetworksExecution_burstCompute,
    .ANeuralNetworksExecution_compute = ANeuralNetworksExecution_compute,
    .ANeuralNetworksExecution_create = ANeuralNetworksExecution_create,
    .ANeuralNetworksExecution_enableInputAndOutputPadding = ANeuralNetworksExecution_enableInputAndOutputPadding,
    .ANeuralNetworksExecution_free = ANeuralNetworksExecution_free,
    .ANeuralNetworksExecution_getDuration = ANeuralNetworksExecution_getDuration,
    .ANeuralNetworksExecution_getOutputOperandDimensions = ANeuralNetworksExecution_getOutputOperandDimensions,
    .ANeuralNetworksExecution_getOutputOperandRank = ANeuralNetworksExecution_getOutputOperandRank,
    .ANeuralNetworksExecution_setInput = ANeuralNetworksExecution_setInput,
    .ANeuralNetworksExecution_setInputFromMemory = ANeuralNetworksExecution_setInputFromMemory,
    .ANeuralNetworksExecution_setLoopTimeout = ANeuralNetworksExecution_setLoopTimeout,
    .ANeuralNetworksExecution_setMeasureTiming = ANeuralNetworksExecution_setMeasureTiming,
    .ANeuralNetworksExecution_setOutput = ANeuralNetworksExecution_setOutput,
    .ANeuralNetworksExecution_setOutputFromMemory = ANeuralNetworksExecution_setOutputFromMemory,
    .ANeuralNetworksExecution_setReusable = ANeuralNetworksExecution_setReusable,
    .ANeuralNetworksExecution_setTimeout = ANeuralNetworksExecution_setTimeout,
    .ANeuralNetworksExecution_startComputeWithDependencies = ANeuralNetworksExecution_startComputeWithDependencies,
    .ANeuralNetworksMemoryDesc_addInputRole = ANeuralNetworksMemoryDesc_addInputRole,
    .ANeuralNetworksMemoryDesc_addOutputRole = ANeuralNetworksMemoryDesc_addOutputRole,
    .ANeuralNetworksMemoryDesc_create = ANeuralNetworksMemoryDesc_create,
    .ANeuralNetworksMemoryDesc_finish = ANeuralNetworksMemoryDesc_finish,
    .ANeuralNetworksMemoryDesc_free = ANeuralNetworksMemoryDesc_free,
    .ANeuralNetworksMemoryDesc_setDimensions = ANeuralNetworksMemoryDesc_setDimensions,
    .ANeuralNetworksMemory_copy = ANeuralNetworksMemory_copy,
    .ANeuralNetworksMemory_createFromAHardwareBuffer = ANeuralNetworksMemory_createFromAHardwareBuffer,
    .ANeuralNetworksMemory_createFromDesc = ANeuralNetworksMemory_createFromDesc,
    .ANeuralNetworksMemory_createFromFd = ANeuralNetworksMemory_createFromFd,
    .ANeuralNetworksMemory_free = ANeuralNetworksMemory_free,
    .ANeuralNetworksModel_addOperand = ANeuralNetworksModel_addOperand,
    .ANeuralNetworksModel_addOperation = ANeuralNetworksModel_addOperation,
    .ANeuralNetworksModel_create = ANeuralNetworksModel_create,
    .ANeuralNetworksModel_finish = ANeuralNetworksModel_finish,
    .ANeuralNetworksModel_free = ANeuralNetworksModel_free,
    .ANeuralNetworksModel_getExtensionOperandType = ANeuralNetworksModel_getExtensionOperandType,
    .ANeuralNetworksModel_getExtensionOperationType = ANeuralNetworksModel_getExtensionOperationType,
    .ANeuralNetworksModel_getSupportedOperationsForDevices = ANeuralNetworksModel_getSupportedOperationsForDevices,
    .ANeuralNetworksModel_identifyInputsAndOutputs = ANeuralNetworksModel_identifyInputsAndOutputs,
    .ANeuralNetworksModel_relaxComputationFloat32toFloat16 = ANeuralNetworksModel_relaxComputationFloat32toFloat16,
    .ANeuralNetworksModel_setOperandExtensionData = ANeuralNetworksModel_setOperandExtensionData,
    .ANeuralNetworksModel_setOperandSymmPerChannelQuantParams = ANeuralNetworksModel_setOperandSymmPerChannelQuantParams,
    .ANeuralNetworksModel_setOperandValue = ANeuralNetworksModel_setOperandValue,
    .ANeuralNetworksModel_setOperandValueFromMemory = ANeuralNetworksModel_setOperandValueFromMemory,
    .ANeuralNetworksModel_setOperandValueFromModel = ANeuralNetworksModel_setOperandValueFromModel,
    .ANeuralNetworks_getDefaultLoopTimeout = ANeuralNetworks_getDefaultLoopTimeout,
    .ANeuralNetworks_getDevice = ANeuralNetworks_getDevice,
    .ANeuralNetworks_getDeviceCount = ANeuralNetworks_getDeviceCount,
    .ANeuralNetworks_getMaximumLoopTimeout = ANeuralNetworks_getMaximumLoopTimeout,
    .ANeuralNetworks_getRuntimeFeatureLevel = ANeuralNetworks_getRuntimeFeatureLevel,
    .SL_ANeuralNetworksCompilation_setCachingFromFds = SL_ANeuralNetworksCompilation_setCachingFromFds,
    .SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded = SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded,
    .SL_ANeuralNetworksDevice_getPerformanceInfo = SL_ANeuralNetworksDevice_getPerformanceInfo,
    .SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo = SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo,
    .SL_ANeuralNetworksDevice_getVendorExtensionCount = SL_ANeuralNetworksDevice_getVendorExtensionCount,
    .SL_ANeuralNetworksDevice_getVendorExtensionName = SL_ANeuralNetworksDevice_getVendorExtensionName,
    .SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation = SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId = SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion = SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash = SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds = SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode = SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass = SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass = SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos = SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled = SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed = SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed,
    .SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed = SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId = SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion = SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash = SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds = SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode = SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass = SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass = SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode = SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos = SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos = SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos = SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled = SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed = SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed,
    .SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed = SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed,
    .SL_ANeuralNetworksDiagnostic_registerCallbacks = SL_ANeuralNetworksDiagnostic_registerCallbacks,
};

NnApiSLDriverImpl* ANeuralNetworks_getSLDriverImpl(void) { return (NnApiSLDriverImpl*)&table.base; }

void nnsoc_report(void* callback, void* context, struct nnsoc_diagnostic* d) { ((void (*)(const void*, const void*))callback)(context, d); }

void nnsoc_visit_performance(void* callback, void* context, int32_t type, float time, float power) {
    void (*visit)(SL_ANeuralNetworksOperandPerformanceInfo, void*) = (void (*)(SL_ANeuralNetworksOperandPerformanceInfo, void*))callback;
    visit((SL_ANeuralNetworksOperandPerformanceInfo){.operandType = type, .performanceInfo = {.execTime = time, .powerUsage = power}}, context);
}

void nnsoc_visit_extension(void* callback, void* context, uint16_t type, bool tensor, uint32_t bytes) {
    void (*visit)(SL_ANeuralNetworksExtensionOperandTypeInformation, void*) = (void (*)(SL_ANeuralNetworksExtensionOperandTypeInformation, void*))callback;
    visit((SL_ANeuralNetworksExtensionOperandTypeInformation){.byteSize = bytes, .type = type, .isTensor = tensor}, context);
}

// kept are the texts of nnsoc_keep, the newest first.
static struct kept {
    struct kept* next;
    char* text;
}* kept;

void nnsoc_keep(char* text) {
    struct kept* k = malloc(sizeof *k);
    if (!k) return;
    k->text = text;
    k->next = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&kept, &k->next, k, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}
