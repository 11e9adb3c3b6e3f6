// Runs networks on TensorFlow Lite's interface in C.
//
//   judge LIBRARY
//
// reads a folder a line: model.tflite and the inputs in0.bin, in1.bin, ... of a network lie there, in the types of its
// tensors. Each network runs in a process of its own, since the library ends the process where it finds a fault. The
// outputs go to out0.bin, out1.bin, ..., their dimensions to dims0.bin, ... as 32-bit numbers, what the library says to
// said.txt, and a line with 0, or the number of the failure, to stdout.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Model Model;
typedef struct Options Options;
typedef struct Interpreter Interpreter;
typedef struct Tensor Tensor;

// The functions of the library that are used here.
#define FUNCTIONS(F)                                                            \
    F(Model*, ModelCreateFromFile, (const char*))                               \
    F(Options*, InterpreterOptionsCreate, (void))                               \
    F(void, InterpreterOptionsSetNumThreads, (Options*, int32_t))               \
    F(Interpreter*, InterpreterCreate, (const Model*, const Options*))          \
    F(int, InterpreterAllocateTensors, (Interpreter*))                          \
    F(int, InterpreterInvoke, (Interpreter*))                                   \
    F(int32_t, InterpreterGetInputTensorCount, (const Interpreter*))            \
    F(int32_t, InterpreterGetOutputTensorCount, (const Interpreter*))           \
    F(Tensor*, InterpreterGetInputTensor, (const Interpreter*, int32_t))        \
    F(const Tensor*, InterpreterGetOutputTensor, (const Interpreter*, int32_t)) \
    F(size_t, TensorByteSize, (const Tensor*))                                  \
    F(void*, TensorData, (const Tensor*))                                       \
    F(int32_t, TensorNumDims, (const Tensor*))                                  \
    F(int32_t, TensorDim, (const Tensor*, int32_t))

#define DECLARE(type, name, arguments) static type(*name) arguments;
FUNCTIONS(DECLARE)

static void die(const char* what, const char* name) {
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

static FILE* in_folder(const char* dir, const char* kind, int k, const char* mode) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s%d.bin", dir, kind, k);
    FILE* f = fopen(name, mode);
    if (!f) die("cannot be opened", name);
    return f;
}

// invoke runs the network of a folder.
static void invoke(const char* dir) {
    char name[4096];
    snprintf(name, sizeof name, "%s/said.txt", dir);
    int said = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (said < 0 || dup2(said, 2) < 0) die("cannot be written", name);
    snprintf(name, sizeof name, "%s/model.tflite", dir);
    Model* model = ModelCreateFromFile(name);
    if (!model) die("no model", dir);
    Options* o = InterpreterOptionsCreate();
    InterpreterOptionsSetNumThreads(o, 1);
    Interpreter* it = InterpreterCreate(model, o);
    if (!it) die("no interpreter", dir);
    if (InterpreterAllocateTensors(it)) die("tensors cannot be allocated", dir);
    for (int32_t k = 0; k < InterpreterGetInputTensorCount(it); k++) {
        Tensor* t = InterpreterGetInputTensor(it, k);
        FILE* f = in_folder(dir, "in", k, "rb");
        size_t n = TensorByteSize(t);
        if (n && fread(TensorData(t), 1, n, f) != n) die("input of too few bytes", dir);
        if (fgetc(f) != EOF) die("input of too many bytes", dir);
        fclose(f);
    }
    if (InterpreterInvoke(it)) die("the invocation failed", dir);
    for (int32_t k = 0; k < InterpreterGetOutputTensorCount(it); k++) {
        const Tensor* t = InterpreterGetOutputTensor(it, k);
        FILE* f = in_folder(dir, "out", k, "wb");
        size_t n = TensorByteSize(t);
        if ((n && fwrite(TensorData(t), 1, n, f) != n) || fclose(f)) die("output cannot be written", dir);
        f = in_folder(dir, "dims", k, "wb");
        for (int32_t i = 0; i < TensorNumDims(t); i++) {
            int32_t d = TensorDim(t, i);
            if (fwrite(&d, sizeof d, 1, f) != 1) die("dimensions cannot be written", dir);
        }
        if (fclose(f)) die("dimensions cannot be written", dir);
    }
}

int main(int argc, char** argv) {
    if (argc != 2) die("judge LIBRARY", "usage");
    void* lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!lib) die(dlerror(), argv[1]);
#define LOOKUP(type, name, arguments) \
    if (!(name = (type(*) arguments)dlsym(lib, "TfLite" #name))) die("not there", "TfLite" #name);
    FUNCTIONS(LOOKUP)
    char dir[4000];
    while (fgets(dir, sizeof dir, stdin)) {
        dir[strcspn(dir, "\n")] = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) die("no process", "fork");
        if (!child) {
            alarm(600);
            invoke(dir);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) < 0) die("no status", "waitpid");
        printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    return 0;
}
