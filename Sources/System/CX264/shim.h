#pragma once
#include <stdint.h>
#include <x264.h>

// x264_encoder_open is a macro that carries the build number: keep the number out of Swift.
static inline x264_t *shim_x264_encoder_open(x264_param_t *p) { return x264_encoder_open(p); }
