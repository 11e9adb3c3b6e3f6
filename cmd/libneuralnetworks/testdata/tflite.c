// A client of TensorFlow Lite's interface in C: one or more interpreters of a network whose delegate NNAPI is, or not.
//
//   tflite LIBRARY MODEL DIR nnapi|cpu [INVOCATIONS [INTERPRETERS]]
//
// reads inputs from DIR/inK.bin and writes outputs to DIR/outK.bin and after the n-th invocation, from the second on,
// to DIR/stepN.outK.bin. It prints a line per tensor: in or out, its index, its type's number in TensorFlow Lite and its bytes.
// Inputs whose file has another size are resized in their first dimension.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Model Model;
typedef struct Options Options;
typedef struct Interpreter Interpreter;
typedef struct Tensor Tensor;

// The functions of the library that are used here.
#define FUNCTIONS(F)                                                            \
    F(Model*, ModelCreateFromFile, (const char*))                               \
    F(void, ModelDelete, (Model*))                                              \
    F(Options*, InterpreterOptionsCreate, (void))                               \
    F(void, InterpreterOptionsDelete, (Options*))                               \
    F(void, InterpreterOptionsSetNumThreads, (Options*, int32_t))               \
    F(void, InterpreterOptionsSetUseNNAPI, (Options*, bool))                    \
    F(Interpreter*, InterpreterCreate, (const Model*, const Options*))          \
    F(void, InterpreterDelete, (Interpreter*))                                  \
    F(int, InterpreterAllocateTensors, (Interpreter*))                          \
    F(int, InterpreterResizeInputTensor, (Interpreter*, int32_t, const int*, int32_t)) \
    F(int, InterpreterInvoke, (Interpreter*))                                   \
    F(int32_t, InterpreterGetInputTensorCount, (const Interpreter*))            \
    F(int32_t, InterpreterGetOutputTensorCount, (const Interpreter*))           \
    F(Tensor*, InterpreterGetInputTensor, (const Interpreter*, int32_t))        \
    F(const Tensor*, InterpreterGetOutputTensor, (const Interpreter*, int32_t)) \
    F(int, TensorType, (const Tensor*))                                         \
    F(int32_t, TensorNumDims, (const Tensor*))                                  \
    F(int32_t, TensorDim, (const Tensor*, int32_t))                             \
    F(size_t, TensorByteSize, (const Tensor*))                                  \
    F(void*, TensorData, (const Tensor*))

#define DECLARE(type, name, arguments) static type(*name) arguments;
FUNCTIONS(DECLARE)

static void die(const char* what, const char* name) {
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

static void load(const char* file) {
    void* lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!lib) die(dlerror(), file);
#define LOOKUP(type, name, arguments) \
    if (!(name = (type(*) arguments)dlsym(lib, "TfLite" #name))) die("not there", "TfLite" #name);
    FUNCTIONS(LOOKUP)
}

// contents reads a file of any size.
static char* contents(const char* name, size_t* n) {
    FILE* f = fopen(name, "rb");
    if (!f) die("cannot be opened", name);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char* data = malloc(*n ? *n : 1);
    if (!data || fread(data, 1, *n, f) != *n) die("cannot be read", name);
    fclose(f);
    return data;
}

// resize gives an input the first dimension that its bytes need.
static void resize(Interpreter* it, int32_t k, size_t bytes) {
    Tensor* t = InterpreterGetInputTensor(it, k);
    if (!TensorByteSize(t) || TensorByteSize(t) == bytes) return;
    int dims[8], rank = TensorNumDims(t);
    for (int i = 0; i < rank && i < 8; i++) dims[i] = TensorDim(t, i);
    dims[0] = (int)(bytes * (size_t)dims[0] / TensorByteSize(t));
    if (InterpreterResizeInputTensor(it, k, dims, rank)) die("cannot be resized", "input");
}

static void inputs(Interpreter* it, const char* dir, bool print) {
    char name[4096];
    size_t n;
    for (int32_t k = 0; k < InterpreterGetInputTensorCount(it); k++) {
        snprintf(name, sizeof name, "%s/in%d.bin", dir, k);
        char* data = contents(name, &n);
        Tensor* t = InterpreterGetInputTensor(it, k);
        if (n != TensorByteSize(t)) die("another size than the tensor", name);
        memcpy(TensorData(t), data, n);
        free(data);
        if (print) printf("in %d %d %zu\n", k, TensorType(t), n);
    }
}

static void outputs(Interpreter* it, const char* dir, int step, bool print) {
    char name[4096];
    for (int32_t k = 0; k < InterpreterGetOutputTensorCount(it); k++) {
        const Tensor* t = InterpreterGetOutputTensor(it, k);
        if (step < 2)
            snprintf(name, sizeof name, "%s/out%d.bin", dir, k);
        else
            snprintf(name, sizeof name, "%s/step%d.out%d.bin", dir, step, k);
        FILE* f = fopen(name, "wb");
        if (!f || fwrite(TensorData(t), 1, TensorByteSize(t), f) != TensorByteSize(t) || fclose(f)) die("cannot be written", name);
        if (print) printf("out %d %d %zu\n", k, TensorType(t), TensorByteSize(t));
    }
}

int main(int argc, char** argv) {
    if (argc < 5) die("tflite LIBRARY MODEL DIR nnapi|cpu [INVOCATIONS [INTERPRETERS]]", "usage");
    const char* dir = argv[3];
    int invocations = argc > 5 ? atoi(argv[5]) : 1, count = argc > 6 ? atoi(argv[6]) : 1;
    load(argv[1]);
    Model* model = ModelCreateFromFile(argv[2]);
    if (!model) die("no model", argv[2]);
    Interpreter** its = calloc((size_t)count, sizeof *its);
    for (int i = 0; i < count; i++) {
        Options* o = InterpreterOptionsCreate();
        InterpreterOptionsSetNumThreads(o, 1);
        InterpreterOptionsSetUseNNAPI(o, !strcmp(argv[4], "nnapi"));
        if (!(its[i] = InterpreterCreate(model, o))) die("no interpreter", argv[2]);
        InterpreterOptionsDelete(o);
        for (int32_t k = 0; k < InterpreterGetInputTensorCount(its[i]); k++) {
            char name[4096];
            size_t n;
            snprintf(name, sizeof name, "%s/in%d.bin", dir, k);
            free(contents(name, &n));
            resize(its[i], k, n);
        }
        if (InterpreterAllocateTensors(its[i])) die("tensors cannot be allocated", argv[2]);
    }
    for (int step = 1; step <= invocations; step++)
        for (int i = 0; i < count; i++) {
            inputs(its[i], dir, step == 1 && i == 0);
            if (InterpreterInvoke(its[i])) die("the invocation failed", argv[2]);
            outputs(its[i], dir, step, step == 1 && i == 0);
        }
    for (int i = 0; i < count; i++) InterpreterDelete(its[i]);
    free(its);
    ModelDelete(model);
    return 0;
}
