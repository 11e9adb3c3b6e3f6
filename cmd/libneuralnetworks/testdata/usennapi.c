// Preloaded, it turns NNAPI on in programs that use TensorFlow Lite's interface in C without a way to ask for it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void* TfLiteInterpreterCreate(const void* model, void* options) {
    void* lib = dlopen("libtensorflowlite_c.so", RTLD_NOW | RTLD_NOLOAD);
    void (*use)(void*, bool) = lib ? (void (*)(void*, bool))dlsym(lib, "TfLiteInterpreterOptionsSetUseNNAPI") : NULL;
    void* (*create)(const void*, void*) = lib ? (void* (*)(const void*, void*))dlsym(lib, "TfLiteInterpreterCreate") : NULL;
    if (!use || !create) {
        fprintf(stderr, "TensorFlow Lite is not there: %s\n", dlerror());
        exit(1);
    }
    use(options, true);
    return create(model, options);
}
