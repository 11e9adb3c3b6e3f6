// What support.c and support.go share.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// What a compilation and an execution report.
struct nnsoc_diagnostic {
    int32_t session;
    int64_t level;
    const uint8_t* model;
    const char* devices;
    int32_t error, mode, input, output;
    bool caching, control_flow, dynamic;
    uint64_t compilation_ns, runtime_ns, driver_ns, hardware_ns;
};

// nnsoc_keep holds text that stays as long as the process, so that tools which look for lost memory find it held.
void nnsoc_keep(char* text);

// Callbacks of the app, which Go cannot call: with a diagnostic, a type's performance, a type of an extension.
void nnsoc_report(void* callback, void* context, struct nnsoc_diagnostic* d);
void nnsoc_visit_performance(void* callback, void* context, int32_t type, float time, float power);
void nnsoc_visit_extension(void* callback, void* context, uint16_t type, bool tensor, uint32_t bytes);
