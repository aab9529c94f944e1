#pragma once
#include <pulse/context.h>
#include <pulse/def.h>
#include <pulse/error.h>
#include <pulse/introspect.h>
#include <pulse/mainloop.h>
#include <pulse/operation.h>
#include <pulse/proplist.h>
#include <pulse/sample.h>
#include <pulse/simple.h>
#include <pulse/stream.h>
#include <pulse/subscribe.h>

static const pa_sample_format_t shim_PA_SAMPLE_FLOAT32NE = PA_SAMPLE_FLOAT32NE;
static const uint32_t shim_PA_INVALID_INDEX = PA_INVALID_INDEX;

// `entries` is an array of struct pollfd; without its header here, so that the type stays the Glibc module's.
typedef int (*shim_poll_function)(void *entries, unsigned long count, int timeout, void *context);

/// Has `loop` wait by `function` instead of poll(2).
static inline void shim_pa_mainloop_set_poll(pa_mainloop *loop, shim_poll_function function, void *context) {
    pa_mainloop_set_poll_func(loop, (pa_poll_func)function, context);
}
