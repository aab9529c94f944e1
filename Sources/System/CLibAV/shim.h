#pragma once
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
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

/// What the pictures of one decoder take together, in bytes of samples.
struct shim_picture_account {
    int64_t used;
    int64_t limit;
    /// Whether a picture was refused.
    int is_exceeded;
};

/// A picture's samples, and the account that they are given back to.
struct shim_accounted_picture {
    AVBufferRef *samples;
    AVBufferRef *account;
    int64_t count;
};

static inline struct shim_picture_account *shim_account(AVBufferRef *account) {
    return (struct shim_picture_account *)account->data;
}

static inline void shim_release_picture(void *opaque, uint8_t *data) {
    (void)data;
    struct shim_accounted_picture *picture = opaque;
    shim_account(picture->account)->used -= picture->count;
    av_buffer_unref(&picture->samples);
    av_buffer_unref(&picture->account);
    av_free(picture);
}

/// libavcodec asks for room for a picture: it gets it as long as the account holds that.
static inline int shim_get_accounted_picture(AVCodecContext *context, AVFrame *frame, int flags) {
    AVBufferRef *account = context->opaque;
    int64_t count = av_image_get_buffer_size(frame->format, frame->width, frame->height, 64);
    if (count < 0) return (int)count;
    if (shim_account(account)->used + count > shim_account(account)->limit) {
        shim_account(account)->is_exceeded = 1;
        return AVERROR(ENOMEM);
    }
    int code = avcodec_default_get_buffer2(context, frame, flags);
    if (code < 0) return code;
    struct shim_accounted_picture *picture = av_mallocz(sizeof *picture);
    AVBufferRef *kept = picture ? av_buffer_ref(account) : NULL;
    AVBufferRef *samples = frame->buf[0];
    AVBufferRef *wrapped =
        kept ? av_buffer_create(samples->data, samples->size, shim_release_picture, picture, 0) : NULL;
    if (!wrapped) {
        av_buffer_unref(&kept);
        av_free(picture);
        av_frame_unref(frame);
        return AVERROR(ENOMEM);
    }
    *picture = (struct shim_accounted_picture){samples, kept, count};
    frame->buf[0] = wrapped;
    shim_account(account)->used += count;
    return 0;
}

/// Has the pictures of `context` take so many bytes at most; the account, which outlives them, or NULL. One thread decodes and lets go of pictures.
static inline AVBufferRef *shim_limit_pictures(AVCodecContext *context, int64_t limit) {
    AVBufferRef *account = av_buffer_allocz(sizeof(struct shim_picture_account));
    if (!account) return NULL;
    shim_account(account)->limit = limit;
    context->opaque = account;
    context->get_buffer2 = shim_get_accounted_picture;
    return account;
}
