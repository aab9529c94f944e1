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

/// Sets how loud channels are in what is mixed of them; returns a negative error if that fails.
static inline int shim_swr_set_levels(SwrContext *context, int in_channels, int out_channels) {
    // Floats aren't kept from exceeding 1 otherwise: the two channels of stereo would be 3 dB louder in mono, and the six
    // of 5.1 8 dB in stereo.
    int code = av_opt_set_double(context, "rematrix_maxval", 1, 0);
    if (code < 0 || in_channels != 1 || out_channels != 2) return code;
    // Mono is put into each channel 3 dB quieter otherwise. This is the square root of 2.
    return av_opt_set_double(context, "rematrix_volume", 1.4142135623730951, 0);
}

/// A converter of samples that are stored as `in_format`, a number of libavutil's, to interleaved floats of other channels
/// and another rate; NULL without memory, or where libswresample doesn't take them.
static inline SwrContext *shim_swr_open_stored(
    int in_format, int in_channels, int in_rate, int out_channels, int out_rate) {
    AVChannelLayout from, to;
    av_channel_layout_default(&from, in_channels);
    av_channel_layout_default(&to, out_channels);
    SwrContext *context = NULL;
    if (swr_alloc_set_opts2(
            &context, &to, AV_SAMPLE_FMT_FLT, out_rate, &from, (enum AVSampleFormat)in_format, in_rate, 0, NULL) < 0)
        return NULL;
    if (shim_swr_set_levels(context, in_channels, out_channels) < 0 || swr_init(context) < 0) swr_free(&context);
    return context;
}

/// A converter of interleaved floats to other channels and another rate; NULL without memory.
static inline SwrContext *shim_swr_open(int in_channels, int in_rate, int out_channels, int out_rate) {
    return shim_swr_open_stored(AV_SAMPLE_FMT_FLT, in_channels, in_rate, out_channels, out_rate);
}

/// Takes `count` frames of `in`, writes at most `room` frames to `out`, and returns how many; or a negative error.
static inline int shim_swr_convert(SwrContext *context, float *out, int room, const float *in, int count) {
    uint8_t *out_planes[1] = {(uint8_t *)out};
    const uint8_t *in_planes[1] = {(const uint8_t *)in};
    return swr_convert(context, out_planes, room, in_planes, count);
}

/// The same for samples as a decoder stores them: a plane for each channel, or one for all.
static inline int shim_swr_convert_stored(
    SwrContext *context, float *out, int room, const uint8_t *const *in, int count) {
    uint8_t *out_planes[1] = {(uint8_t *)out};
    return swr_convert(context, out_planes, room, (const uint8_t **)in, count);
}

static inline void shim_swr_free(SwrContext *context) { swr_free(&context); }
