#pragma once
#include <stdint.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

static const int shim_AVERROR_EOF = AVERROR_EOF;
static const int shim_AVERROR_EAGAIN = AVERROR(EAGAIN);
static const int shim_AVERROR_INVALIDDATA = AVERROR_INVALIDDATA;
static const int shim_AVERROR_EXIT = AVERROR_EXIT;
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

/// What a frame of sound has. CSwResample has AVFrame as well, and Swift may take its fields for that module's: they are
/// read here.
struct shim_sound {
    /// A plane for each channel, or one for all.
    const uint8_t *const *planes;
    /// How the samples are stored: a number of libavutil's.
    int format;
    /// The samples of each channel.
    int count;
    int channels;
    int rate;
    int64_t time;
};

static inline struct shim_sound shim_sound_of(const AVFrame *frame) {
    return (struct shim_sound){(const uint8_t *const *)frame->extended_data, frame->format, frame->nb_samples,
        frame->ch_layout.nb_channels, frame->sample_rate, frame->pts};
}

/// Tells a decoder that isn't open yet how many channels there are.
static inline void shim_set_channels(AVCodecContext *context, int count) {
    av_channel_layout_default(&context->ch_layout, count);
}

// What the encoder of sound needs of libavutil's types stays here, because CSwResample has the same types.

/// An encoder of AAC-LC, what it is given, and what it gives.
struct shim_aac_encoder {
    AVCodecContext *context;
    AVFrame *frame;
    AVPacket *packet;
};

static inline void shim_aac_free(struct shim_aac_encoder *encoder) {
    if (!encoder) return;
    avcodec_free_context(&encoder->context);
    av_frame_free(&encoder->frame);
    av_packet_free(&encoder->packet);
    av_free(encoder);
}

/// Sets an encoder up; returns a negative error if that fails.
static inline int shim_aac_prepare(struct shim_aac_encoder *encoder, int channels, int rate, int64_t bit_rate) {
    const AVCodec *codec = avcodec_find_encoder_by_name("aac");
    if (!codec) return AVERROR_ENCODER_NOT_FOUND;
    encoder->context = avcodec_alloc_context3(codec);
    encoder->frame = av_frame_alloc();
    encoder->packet = av_packet_alloc();
    if (!encoder->context || !encoder->frame || !encoder->packet) return AVERROR(ENOMEM);
    AVCodecContext *context = encoder->context;
    context->sample_fmt = AV_SAMPLE_FMT_FLTP;
    context->sample_rate = rate;
    context->bit_rate = bit_rate;
    context->time_base = (AVRational){1, rate};
    av_channel_layout_default(&context->ch_layout, channels);
    int code = avcodec_open2(context, codec, NULL);
    if (code < 0) return code;
    AVFrame *frame = encoder->frame;
    frame->format = context->sample_fmt;
    frame->sample_rate = rate;
    frame->nb_samples = context->frame_size;
    code = av_channel_layout_copy(&frame->ch_layout, &context->ch_layout);
    return code < 0 ? code : av_frame_get_buffer(frame, 0);
}

/// Opens an encoder; NULL, with a negative error in `code`, if that fails.
static inline struct shim_aac_encoder *shim_aac_open(int channels, int rate, int64_t bit_rate, int *code) {
    struct shim_aac_encoder *encoder = av_mallocz(sizeof *encoder);
    *code = encoder ? shim_aac_prepare(encoder, channels, rate, bit_rate) : AVERROR(ENOMEM);
    if (*code >= 0) return encoder;
    shim_aac_free(encoder);
    return NULL;
}

/// AudioSpecificConfig, and how many bytes it has.
static inline const uint8_t *shim_aac_configuration(const struct shim_aac_encoder *encoder, int *count) {
    *count = encoder->context->extradata_size;
    return encoder->context->extradata;
}

/// Gives the encoder the interleaved samples of one frame, the first of which has this number.
static inline int shim_aac_send(struct shim_aac_encoder *encoder, const float *samples, int64_t number) {
    AVFrame *frame = encoder->frame;
    int code = av_frame_make_writable(frame);
    if (code < 0) return code;
    int channels = frame->ch_layout.nb_channels;
    for (int channel = 0; channel < channels; channel++) {
        float *plane = (float *)frame->extended_data[channel];
        for (int index = 0; index < frame->nb_samples; index++) {
            float sample = samples[index * channels + channel];
            // The encoder fails with what isn't a number, or no sound.
            plane[index] = sample > -16 && sample < 16 ? sample : 0;
        }
    }
    frame->pts = number;
    return avcodec_send_frame(encoder->context, frame);
}

/// Gets a frame that is ready, whose bytes are valid until the next call, and the number of the first sample that it
/// decodes to.
static inline int shim_aac_receive(
    struct shim_aac_encoder *encoder, const uint8_t **bytes, int *count, int64_t *number) {
    int code = avcodec_receive_packet(encoder->context, encoder->packet);
    if (code < 0) return code;
    *bytes = encoder->packet->data;
    *count = encoder->packet->size;
    *number = encoder->packet->pts;
    return 0;
}

// By how many degrees a player has to turn a stream's pictures, counterclockwise; 0 if the file doesn't say, not a
// number if it says nonsense. FFmpeg 7 has moved this to the stream's parameters.
static inline double shim_rotation_of(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    const uint8_t *matrix = data && data->size >= 9 * sizeof(int32_t) ? data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *found = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    const uint8_t *matrix = found && size >= 9 * sizeof(int32_t) ? found : NULL;
#endif
    return matrix ? av_display_rotation_get((const int32_t *)matrix) : 0;
}
