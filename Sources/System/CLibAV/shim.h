#pragma once
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

static const int shim_AVERROR_EOF = AVERROR_EOF;
static const int shim_AVERROR_EAGAIN = AVERROR(EAGAIN);
static const int shim_AVERROR_INVALIDDATA = AVERROR_INVALIDDATA;
static const int shim_AVERROR_ENOMEM = AVERROR(ENOMEM);
static const int shim_AVERROR_ENOSPC = AVERROR(ENOSPC);
static const int shim_AVERROR_EDQUOT = AVERROR(EDQUOT);
static const int shim_AVERROR_EACCES = AVERROR(EACCES);
static const int64_t shim_AV_NOPTS_VALUE = AV_NOPTS_VALUE;

/// The library's first complaint on this thread, at level error or above, since its first byte was set to zero. Each object file that calls it has a
/// copy of its own: only one Swift file may.
static inline char *shim_av_first_message(void) {
    static _Thread_local char text[256];
    return text;
}

static inline void shim_av_keep_message(void *context, int level, const char *format, va_list arguments) {
    // The first says what is wrong; those that follow say only what that leads to.
    // A gap in frame_num is a lost picture, which the H.264 decoder conceals and mentions to developers alone.
    if (level > AV_LOG_ERROR && strncmp(format, "Frame num gap", 13) != 0) return;
    if (shim_av_first_message()[0]) return;
    int prefix = 0;
    av_log_format_line2(context, level, format, arguments, shim_av_first_message(), 256, &prefix);
}

/// From now on the library keeps its messages for shim_av_first_message instead of writing to standard error.
static inline void shim_av_keep_messages(void) { av_log_set_callback(shim_av_keep_message); }
