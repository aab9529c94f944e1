#pragma once
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>

// What libswresample needs of libavutil's types stays here, because CLibAV has the same types.

/// A resampler of interleaved floats from `rate` to `rate`, which swr_set_compensation can make slower or faster; NULL
/// without memory.
static inline SwrContext *shim_swr_new(int channels, int rate) {
    AVChannelLayout layout;
    av_channel_layout_default(&layout, channels);
    SwrContext *context = NULL;
    if (swr_alloc_set_opts2(&context, &layout, AV_SAMPLE_FMT_FLT, rate, &layout, AV_SAMPLE_FMT_FLT, rate, 0, NULL) < 0)
        return NULL;
    // Without this, equal rates would be copied, and the first compensation would begin to resample with a click.
    if (av_opt_set_int(context, "flags", SWR_FLAG_RESAMPLE, 0) < 0 || swr_init(context) < 0) swr_free(&context);
    return context;
}

/// A converter of interleaved floats to other channels and another rate; NULL without memory.
static inline SwrContext *shim_swr_open(int in_channels, int in_rate, int out_channels, int out_rate) {
    AVChannelLayout from, to;
    av_channel_layout_default(&from, in_channels);
    av_channel_layout_default(&to, out_channels);
    SwrContext *context = NULL;
    if (swr_alloc_set_opts2(&context, &to, AV_SAMPLE_FMT_FLT, out_rate, &from, AV_SAMPLE_FMT_FLT, in_rate, 0, NULL) < 0)
        return NULL;
    if (swr_init(context) < 0) swr_free(&context);
    return context;
}

/// Takes `count` frames of `in`, writes at most `room` frames to `out`, and returns how many; or a negative error.
static inline int shim_swr_convert(SwrContext *context, float *out, int room, const float *in, int count) {
    uint8_t *out_planes[1] = {(uint8_t *)out};
    const uint8_t *in_planes[1] = {(const uint8_t *)in};
    return swr_convert(context, out_planes, room, in_planes, count);
}

static inline void shim_swr_free(SwrContext *context) { swr_free(&context); }
