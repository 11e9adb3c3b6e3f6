// A driver in C, through NNAPI's support library interface: an engine of 16 lanes at 500 MHz that has ADD, MUL and RELU of
// float32 tensors of one shape.
//
//   gcc -shared -fPIC -Icmd/libneuralnetworks/include docs/examples/cdriver/lanes.c -o liblanes.so
//   nnsoc run MODEL --driver-so ./liblanes.so --device lanes
//
// A table of functions at the end is all that others see. A model is what the calls of ANeuralNetworksModel_* leave; a
// compilation refers to it; an execution has the app's buffers and computes operation by operation. Functions that this
// driver does not need are NULL in its table.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <android/NeuralNetworksSupportLibraryImpl.h>

enum { LANES = 16, NS_PER_CYCLE = 2, ISSUE = 20, MAX_RANK = 8 }; // ISSUE: cycles to begin an operation

typedef struct {
    int32_t type;
    uint32_t rank, dims[MAX_RANK];
    const void* value; // of a constant
    void* copy;        // where value was copied to
    bool constant;
} Operand;

typedef struct {
    int32_t type;
    uint32_t inputs, outputs, *in, *out;
} Operation;

struct ANeuralNetworksModel {
    Operand* operands;
    Operation* operations;
    uint32_t numOperands, numOperations, inputs, outputs, *in, *out;
    bool finished;
};

struct ANeuralNetworksCompilation {
    ANeuralNetworksModel* model;
    bool finished;
};

typedef struct {
    void* data;
    size_t length;
    bool set;
} Buffer;

struct ANeuralNetworksExecution {
    ANeuralNetworksModel* model;
    Buffer *in, *out;
    bool done;
    uint64_t cycles;
};

struct ANeuralNetworksDevice {
    int none;
};
static ANeuralNetworksDevice theDevice;

// Devices.
static int getDeviceCount(uint32_t* n) { return *n = 1, ANEURALNETWORKS_NO_ERROR; }

static int getDevice(uint32_t i, ANeuralNetworksDevice** d) {
    *d = &theDevice;
    return i == 0 ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}

static int getName(const ANeuralNetworksDevice* d, const char** s) { return (void)d, *s = "lanes", ANEURALNETWORKS_NO_ERROR; }
static int getVersion(const ANeuralNetworksDevice* d, const char** s) { return (void)d, *s = "1.0", ANEURALNETWORKS_NO_ERROR; }
static int getType(const ANeuralNetworksDevice* d, int32_t* t) { return (void)d, *t = ANEURALNETWORKS_DEVICE_ACCELERATOR, ANEURALNETWORKS_NO_ERROR; }
static int getFeatureLevel(const ANeuralNetworksDevice* d, int64_t* l) { return (void)d, *l = ANEURALNETWORKS_FEATURE_LEVEL_5, ANEURALNETWORKS_NO_ERROR; }

// Half the time of the CPU and a fifth of its energy for float32 tensors, which a runtime divides models by.
static const SL_ANeuralNetworksPerformanceInfo fast = {.execTime = 0.5f, .powerUsage = 0.2f}, slow = {.execTime = 100, .powerUsage = 100};

static int getPerformanceInfo(const ANeuralNetworksDevice* d, int32_t kind, SL_ANeuralNetworksPerformanceInfo* p) {
    (void)d;
    *p = kind == SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR ? fast : slow;
    return ANEURALNETWORKS_NO_ERROR;
}

static int forEachPerformanceInfo(const ANeuralNetworksDevice* d, void* context, void (*visit)(SL_ANeuralNetworksOperandPerformanceInfo, void*)) {
    (void)d;
    visit((SL_ANeuralNetworksOperandPerformanceInfo){.operandType = ANEURALNETWORKS_TENSOR_FLOAT32, .performanceInfo = fast}, context);
    return ANEURALNETWORKS_NO_ERROR;
}

// Models.
static uint32_t* copyList(const uint32_t* list, uint32_t n) {
    uint32_t* copy = calloc(n + 1, sizeof *copy);
    if (copy && n) memcpy(copy, list, n * sizeof *copy);
    return copy;
}

static int createModel(ANeuralNetworksModel** m) {
    *m = calloc(1, sizeof **m);
    return *m ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
}

static void freeModel(ANeuralNetworksModel* m) {
    if (!m) return;
    for (uint32_t i = 0; i < m->numOperands; i++) free(m->operands[i].copy);
    for (uint32_t i = 0; i < m->numOperations; i++) free(m->operations[i].in), free(m->operations[i].out);
    free(m->operands), free(m->operations), free(m->in), free(m->out), free(m);
}

// An operand of more dimensions than the engine has is kept without a shape, which no operation takes.
static int addOperand(ANeuralNetworksModel* m, const ANeuralNetworksOperandType* t) {
    Operand* all = realloc(m->operands, (m->numOperands + 1) * sizeof *all);
    if (!all) return ANEURALNETWORKS_OUT_OF_MEMORY;
    m->operands = all;
    Operand* o = &all[m->numOperands++];
    *o = (Operand){.type = t->type};
    if (t->dimensionCount > MAX_RANK) return ANEURALNETWORKS_NO_ERROR;
    o->rank = t->dimensionCount;
    for (uint32_t i = 0; i < o->rank; i++) o->dims[i] = t->dimensions[i];
    return ANEURALNETWORKS_NO_ERROR;
}

// Values of at most 128 bytes belong to the caller again; larger ones stay.
static int setOperandValue(ANeuralNetworksModel* m, int32_t i, const void* data, size_t n) {
    if (i < 0 || (uint32_t)i >= m->numOperands) return ANEURALNETWORKS_BAD_DATA;
    Operand* o = &m->operands[i];
    o->constant = data != NULL;
    o->value = data;
    if (n <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES && data) {
        free(o->copy);
        if (!(o->copy = malloc(n + 1))) return ANEURALNETWORKS_OUT_OF_MEMORY;
        o->value = memcpy(o->copy, data, n);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

// Constants that belong to types and operations which this engine does not have are accepted: the query says no.
static int setChannels(ANeuralNetworksModel* m, int32_t i, const ANeuralNetworksSymmPerChannelQuantParams* q) { return (void)m, (void)i, (void)q, ANEURALNETWORKS_NO_ERROR; }
static int setModel(ANeuralNetworksModel* m, int32_t i, const ANeuralNetworksModel* inner) { return (void)m, (void)i, (void)inner, ANEURALNETWORKS_NO_ERROR; }

static int addOperation(ANeuralNetworksModel* m, ANeuralNetworksOperationType type, uint32_t ni, const uint32_t* in, uint32_t no, const uint32_t* out) {
    for (uint32_t i = 0; i < ni; i++)
        if (in[i] >= m->numOperands) return ANEURALNETWORKS_BAD_DATA;
    for (uint32_t i = 0; i < no; i++)
        if (out[i] >= m->numOperands) return ANEURALNETWORKS_BAD_DATA;
    Operation* all = realloc(m->operations, (m->numOperations + 1) * sizeof *all);
    if (!all) return ANEURALNETWORKS_OUT_OF_MEMORY;
    m->operations = all;
    all[m->numOperations++] = (Operation){.type = type, .inputs = ni, .outputs = no, .in = copyList(in, ni), .out = copyList(out, no)};
    return ANEURALNETWORKS_NO_ERROR;
}

static int identify(ANeuralNetworksModel* m, uint32_t ni, const uint32_t* in, uint32_t no, const uint32_t* out) {
    m->inputs = ni, m->outputs = no;
    m->in = copyList(in, ni), m->out = copyList(out, no);
    return m->in && m->out ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
}

static int relax(ANeuralNetworksModel* m, bool allow) { return (void)m, (void)allow, ANEURALNETWORKS_NO_ERROR; } // it computes in float32
static int finishModel(ANeuralNetworksModel* m) { return m->finished = true, ANEURALNETWORKS_NO_ERROR; }

// elements is the number of elements of a tensor, 0 where a dimension is not known.
static size_t elements(const Operand* o) {
    size_t n = o->rank ? 1 : 0;
    for (uint32_t i = 0; i < o->rank; i++) {
        if (o->dims[i] && n > SIZE_MAX / 4 / o->dims[i]) return 0;
        n *= o->dims[i];
    }
    return n;
}

static bool sameShape(const Operand* a, const Operand* b) { return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0; }
static bool isTensor(const Operand* o) { return o->type == ANEURALNETWORKS_TENSOR_FLOAT32 && elements(o) > 0; }

// supported says whether the engine has an operation: RELU, or ADD and MUL of one shape with an activation that is a constant.
static bool supported(const ANeuralNetworksModel* m, const Operation* op) {
    const Operand* x = op->inputs ? &m->operands[op->in[0]] : NULL;
    const Operand* y = op->outputs == 1 ? &m->operands[op->out[0]] : NULL;
    if (!x || !y || !isTensor(x) || !isTensor(y) || !sameShape(x, y)) return false;
    if (op->type == ANEURALNETWORKS_RELU) return op->inputs == 1;
    if ((op->type != ANEURALNETWORKS_ADD && op->type != ANEURALNETWORKS_MUL) || op->inputs != 3) return false;
    const Operand *z = &m->operands[op->in[1]], *f = &m->operands[op->in[2]];
    return isTensor(z) && sameShape(x, z) && f->type == ANEURALNETWORKS_INT32 && f->constant;
}

static int getSupported(const ANeuralNetworksModel* m, const ANeuralNetworksDevice* const* devices, uint32_t n, bool* answers) {
    if (!m->finished || n != 1 || devices[0] != &theDevice) return ANEURALNETWORKS_BAD_STATE;
    for (uint32_t i = 0; i < m->numOperations; i++) answers[i] = supported(m, &m->operations[i]);
    return ANEURALNETWORKS_NO_ERROR;
}

// Compilations. There is nothing to compile for this engine: the model is its program.
static int createCompilation(ANeuralNetworksModel* m, const ANeuralNetworksDevice* const* devices, uint32_t n, ANeuralNetworksCompilation** c) {
    *c = NULL;
    if (!m->finished || n != 1 || devices[0] != &theDevice) return ANEURALNETWORKS_BAD_STATE;
    if (!(*c = calloc(1, sizeof **c))) return ANEURALNETWORKS_OUT_OF_MEMORY;
    (*c)->model = m;
    return ANEURALNETWORKS_NO_ERROR;
}

static int finishCompilation(ANeuralNetworksCompilation* c) {
    for (uint32_t i = 0; i < c->model->numOperations; i++)
        if (!supported(c->model, &c->model->operations[i])) return ANEURALNETWORKS_BAD_DATA;
    c->finished = true;
    return ANEURALNETWORKS_NO_ERROR;
}

static void freeCompilation(ANeuralNetworksCompilation* c) { free(c); }

// Executions.
static void freeExecution(ANeuralNetworksExecution* e) {
    if (e) free(e->in), free(e->out);
    free(e);
}

static int createExecution(ANeuralNetworksCompilation* c, ANeuralNetworksExecution** out) {
    *out = NULL;
    if (!c->finished) return ANEURALNETWORKS_BAD_STATE;
    ANeuralNetworksExecution* e = calloc(1, sizeof *e);
    if (!e) return ANEURALNETWORKS_OUT_OF_MEMORY;
    e->model = c->model;
    e->in = calloc(c->model->inputs + 1, sizeof *e->in), e->out = calloc(c->model->outputs + 1, sizeof *e->out);
    if (!e->in || !e->out) return freeExecution(e), ANEURALNETWORKS_OUT_OF_MEMORY;
    *out = e;
    return ANEURALNETWORKS_NO_ERROR;
}

static int setBuffer(Buffer* b, uint32_t n, int32_t i, void* data, size_t length) {
    if (i < 0 || (uint32_t)i >= n) return ANEURALNETWORKS_BAD_DATA;
    b[i] = (Buffer){data, length, true};
    return ANEURALNETWORKS_NO_ERROR;
}

static int setInput(ANeuralNetworksExecution* e, int32_t i, const ANeuralNetworksOperandType* t, const void* data, size_t n) { return (void)t, setBuffer(e->in, e->model->inputs, i, (void*)data, n); }
static int setOutput(ANeuralNetworksExecution* e, int32_t i, const ANeuralNetworksOperandType* t, void* data, size_t n) { return (void)t, setBuffer(e->out, e->model->outputs, i, data, n); }
static int setMeasureTiming(ANeuralNetworksExecution* e, bool measure) { return (void)e, (void)measure, ANEURALNETWORKS_NO_ERROR; }

static float activate(float x, int32_t activation) {
    switch (activation) {
    case ANEURALNETWORKS_FUSED_RELU: return x < 0 ? 0 : x;
    case ANEURALNETWORKS_FUSED_RELU1: return x < -1 ? -1 : x > 1 ? 1 : x;
    case ANEURALNETWORKS_FUSED_RELU6: return x < 0 ? 0 : x > 6 ? 6 : x;
    default: return x;
    }
}

// run computes an operation on values, by operand.
static void run(ANeuralNetworksExecution* e, const Operation* op, void** values) {
    const ANeuralNetworksModel* m = e->model;
    size_t n = elements(&m->operands[op->out[0]]);
    const float *x = values[op->in[0]], *z = op->inputs == 3 ? values[op->in[1]] : NULL;
    const int32_t activation = op->inputs == 3 ? *(const int32_t*)m->operands[op->in[2]].value : ANEURALNETWORKS_FUSED_RELU;
    float* y = values[op->out[0]];
    for (size_t i = 0; i < n; i++) {
        float v = op->type == ANEURALNETWORKS_ADD ? x[i] + z[i] : op->type == ANEURALNETWORKS_MUL ? x[i] * z[i] : x[i];
        y[i] = activate(v, activation);
    }
    e->cycles += ISSUE + (n + LANES - 1) / LANES;
}

// bind lays the buffers of an execution under the operands of a list; small is the code where one is too small.
static int bind(const ANeuralNetworksModel* m, void** values, const Buffer* b, const uint32_t* list, uint32_t n, int small) {
    for (uint32_t i = 0; i < n; i++) {
        if (!b[i].set) return ANEURALNETWORKS_BAD_DATA;
        if (b[i].length < 4 * elements(&m->operands[list[i]])) return small;
        values[list[i]] = b[i].data;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int compute(ANeuralNetworksExecution* e) {
    const ANeuralNetworksModel* m = e->model;
    void **values = calloc(m->numOperands + 1, sizeof *values), **made = calloc(m->numOperands + 1, sizeof *made);
    int code = values && made ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
    if (!code) code = bind(m, values, e->in, m->in, m->inputs, ANEURALNETWORKS_BAD_DATA);
    if (!code) code = bind(m, values, e->out, m->out, m->outputs, ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE);
    for (uint32_t i = 0; !code && i < m->numOperands; i++) { // constants, and memory of what lies between operations
        if (m->operands[i].constant) values[i] = (void*)m->operands[i].value;
        if (!values[i] && isTensor(&m->operands[i]) && !(values[i] = made[i] = malloc(4 * elements(&m->operands[i])))) code = ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; !code && i < m->numOperations; i++) run(e, &m->operations[i], values); // they are in the order of execution
    for (uint32_t i = 0; made && i < m->numOperands; i++) free(made[i]);
    free(values), free(made);
    e->done = !code;
    return code;
}

static int getDuration(const ANeuralNetworksExecution* e, int32_t what, uint64_t* ns) {
    *ns = e->cycles * NS_PER_CYCLE;
    return (void)what, e->done ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_STATE;
}

static int getRank(ANeuralNetworksExecution* e, int32_t i, uint32_t* rank) { return *rank = e->model->operands[e->model->out[i]].rank, ANEURALNETWORKS_NO_ERROR; }

static int getDimensions(ANeuralNetworksExecution* e, int32_t i, uint32_t* dims) {
    const Operand* o = &e->model->operands[e->model->out[i]];
    memcpy(dims, o->dims, o->rank * sizeof *dims);
    return ANEURALNETWORKS_NO_ERROR;
}

static const NnApiSLDriverImplFL5 table = {
    .base = {.implFeatureLevel = ANEURALNETWORKS_FEATURE_LEVEL_5},
    .ANeuralNetworks_getDeviceCount = getDeviceCount,
    .ANeuralNetworks_getDevice = getDevice,
    .ANeuralNetworksDevice_getName = getName,
    .ANeuralNetworksDevice_getVersion = getVersion,
    .ANeuralNetworksDevice_getType = getType,
    .ANeuralNetworksDevice_getFeatureLevel = getFeatureLevel,
    .SL_ANeuralNetworksDevice_getPerformanceInfo = getPerformanceInfo,
    .SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo = forEachPerformanceInfo,
    .ANeuralNetworksModel_create = createModel,
    .ANeuralNetworksModel_free = freeModel,
    .ANeuralNetworksModel_addOperand = addOperand,
    .ANeuralNetworksModel_setOperandValue = setOperandValue,
    .ANeuralNetworksModel_setOperandSymmPerChannelQuantParams = setChannels,
    .ANeuralNetworksModel_setOperandValueFromModel = setModel,
    .ANeuralNetworksModel_addOperation = addOperation,
    .ANeuralNetworksModel_identifyInputsAndOutputs = identify,
    .ANeuralNetworksModel_relaxComputationFloat32toFloat16 = relax,
    .ANeuralNetworksModel_finish = finishModel,
    .ANeuralNetworksModel_getSupportedOperationsForDevices = getSupported,
    .ANeuralNetworksCompilation_createForDevices = createCompilation,
    .ANeuralNetworksCompilation_finish = finishCompilation,
    .ANeuralNetworksCompilation_free = freeCompilation,
    .ANeuralNetworksExecution_create = createExecution,
    .ANeuralNetworksExecution_free = freeExecution,
    .ANeuralNetworksExecution_setInput = setInput,
    .ANeuralNetworksExecution_setOutput = setOutput,
    .ANeuralNetworksExecution_setMeasureTiming = setMeasureTiming,
    .ANeuralNetworksExecution_compute = compute,
    .ANeuralNetworksExecution_getDuration = getDuration,
    .ANeuralNetworksExecution_getOutputOperandRank = getRank,
    .ANeuralNetworksExecution_getOutputOperandDimensions = getDimensions,
};

NnApiSLDriverImpl* ANeuralNetworks_getSLDriverImpl(void) { return (NnApiSLDriverImpl*)&table.base; }
