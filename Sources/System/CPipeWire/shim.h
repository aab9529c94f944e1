#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <pipewire/context.h>
#include <pipewire/core.h>
#include <pipewire/loop.h>
#include <pipewire/properties.h>
#include <pipewire/stream.h>
#include <spa/buffer/buffer.h>
#include <spa/debug/types.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <spa/param/video/type-info.h>
#include <spa/pod/builder.h>
#include <spa/support/loop.h>
#include <spa/utils/result.h>

// What Swift can't import of libpipewire: macros, functions with variable arguments, and objects that they build. The
// memory of buffers and metadata is read by Swift.

// Declared here, because pipewire.h includes headers of the whole library.
void pw_init(int *argc, char **argv[]);
void pw_deinit(void);

static inline int shim_pw_loop_descriptor(struct pw_loop *loop) { return pw_loop_get_fd(loop); }

/// Makes the calling thread the one that runs `loop`.
static inline void shim_pw_loop_enter(struct pw_loop *loop) { pw_loop_enter(loop); }
static inline void shim_pw_loop_leave(struct pw_loop *loop) { pw_loop_leave(loop); }

/// Handles what has arrived, without waiting; the number of sources that had something, or a negative errno.
static inline int shim_pw_loop_iterate(struct pw_loop *loop) { return pw_loop_iterate(loop, 0); }

static inline void shim_set_true(void *flag, int descriptor, uint32_t mask) {
    (void)descriptor;
    (void)mask;
    *(bool *)flag = true;
}

/// Makes the loop's descriptor readable while another one is, which the caller reads from, and has each iteration in which
/// it is set `flag`. Ends with the loop.
static inline void shim_pw_loop_watch(struct pw_loop *loop, int descriptor, bool *flag) {
    pw_loop_add_io(loop, descriptor, SPA_IO_IN | SPA_IO_ERR | SPA_IO_HUP, false, shim_set_true, flag);
}

/// The list of what PipeWire has and the connection may see; NULL and errno if there is no memory.
static inline struct pw_registry *shim_pw_registry(struct pw_core *core) {
    return pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
}

static inline void shim_pw_registry_listen(
    struct pw_registry *registry, struct spa_hook *hook, const struct pw_registry_events *events, void *data) {
    pw_registry_add_listener(registry, hook, events, data);
}

/// Whether an object with these properties is the metadata that each session manager keeps.
static inline bool shim_is_default_metadata(const struct spa_dict *properties) {
    const char *name = properties == NULL ? NULL : spa_dict_lookup(properties, "metadata.name");
    return name != NULL && strcmp(name, "default") == 0;
}

/// The text of a negative errno.
static inline const char *shim_spa_error(int code) { return spa_strerror(code); }

static const uint32_t shim_header_corrupted = SPA_META_HEADER_FLAG_CORRUPTED;
static const uint32_t shim_chunk_corrupted = SPA_CHUNK_FLAG_CORRUPTED;

/// The longest sides of pictures and of the pointer, in pixels, that are accepted. mutter sends no pointer to a reader
/// that accepts less than 384.
static const uint32_t shim_max_side = 16384;
static const uint32_t shim_max_pointer_side = 384;
/// The most rectangles of damage that are accepted.
static const uint32_t shim_max_damage = 16;

/// The bytes of metadata for a pointer of so many pixels a side.
static inline int32_t shim_pointer_bytes(uint32_t side) {
    return (int32_t)(sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + side * side * 4);
}

/// Formats of raw video with four bytes a pixel, in sizes from `least` to `most`, whose highest number of pictures a second
/// is from `slowest` to `fastest`; NULL if the builder's memory is too small.
static inline const struct spa_pod *shim_formats(
    struct spa_pod_builder *builder, struct spa_rectangle usual, struct spa_rectangle least, struct spa_rectangle most,
    uint32_t slowest, uint32_t fastest) {
    struct spa_fraction variable = {0, 1}, low = {slowest, 1}, high = {fastest, 1};
    // Without modifiers, these are formats of plain memory.
    return (const struct spa_pod *)spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat,
        SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
        // The first one is the default.
        SPA_FORMAT_VIDEO_format, SPA_POD_CHOICE_ENUM_Id(5,
            SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRA, SPA_VIDEO_FORMAT_RGBx,
            SPA_VIDEO_FORMAT_RGBA),
        SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&usual, &least, &most),
        // Pictures come when something has changed.
        SPA_FORMAT_VIDEO_framerate, SPA_POD_CHOICE_RANGE_Fraction(&variable, &variable, &high),
        SPA_FORMAT_VIDEO_maxFramerate, SPA_POD_CHOICE_RANGE_Fraction(&high, &low, &high));
}

/// Any format of raw video, of plain memory or of a graphics card's; NULL if the builder's memory is too small.
static inline const struct spa_pod *shim_any_format(struct spa_pod_builder *builder, bool is_of_card) {
    struct spa_pod_frame format, modifiers;
    spa_pod_builder_push_object(builder, &format, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    if (is_of_card) {
        // Both sides must have it. Of its values, the first is the default: DRM_FORMAT_MOD_LINEAR; and the last one is
        // DRM_FORMAT_MOD_INVALID. PipeWire 0.3.65 compares only the lower halves of such numbers.
        spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
        spa_pod_builder_push_choice(builder, &modifiers, SPA_CHOICE_Enum, 0);
        spa_pod_builder_long(builder, 0);
        spa_pod_builder_long(builder, 0);
        spa_pod_builder_long(builder, 0xFFFFFFFFFFFFFF);
        spa_pod_builder_pop(builder, &modifiers);
    }
    return (const struct spa_pod *)spa_pod_builder_pop(builder, &format);
}

/// Connects a new stream to a node, as the reader of raw video with four bytes a pixel; 0, or a negative errno. With
/// `any`, every other format is accepted as well if the node has none of these, so that it can be named.
///
/// `frames` is the highest number of pictures a second. `width` and `height` are the size that is preferred; 0 for none. It
/// is asked for as formats of their own before all others, because where both sides accept several sizes, PipeWire takes the
/// default of the sender. If the node is removed, the session manager must not choose another one, such as a camera.
static inline int shim_pw_stream_connect(
    struct pw_stream *stream, uint32_t node, uint32_t frames, uint32_t width, uint32_t height, bool any) {
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_rectangle usual = {1920, 1080}, least = {1, 1}, most = {shim_max_side, shim_max_side};
    const struct spa_pod *params[4];
    uint32_t count = 0;
    if (width > 0 && height > 0) {
        usual.width = width;
        usual.height = height;
        params[count++] = shim_formats(&builder, usual, usual, usual, frames, frames);
    }
    params[count++] = shim_formats(&builder, usual, least, most, 1, frames);
    if (any) {
        params[count++] = shim_any_format(&builder, false);
        params[count++] = shim_any_format(&builder, true);
    }
    for (uint32_t k = 0; k < count; k++) if (params[k] == NULL) return -ENOSPC;
    return pw_stream_connect(
        stream, PW_DIRECTION_INPUT, node,
        (enum pw_stream_flags)(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT), params, count);
}

static inline const struct spa_pod *shim_meta(struct spa_pod_builder *builder, uint32_t type, size_t size) {
    return (const struct spa_pod *)spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
        SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size, SPA_POD_Int((int32_t)size));
}

static inline const struct spa_pod *shim_meta_up_to(
    struct spa_pod_builder *builder, uint32_t type, int32_t least, int32_t most) {
    return (const struct spa_pod *)spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
        SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size, SPA_POD_CHOICE_RANGE_Int(most, least, most));
}

/// Accepts the format: asks for buffers of plain memory, and for the metadata that is read; 0, or a negative errno.
///
/// One buffer may be kept until the next one arrives, or until its picture has been sent. Senders use the buffers in
/// turn: if the next one isn't free, the picture is lost without a sign (mutter, KWin). PipeWire 0.3.65 also loses
/// pictures while buffers that were given back wait for its next cycle. With five buffers, neither happens before three
/// pictures are sent while one is being handled. The buffers are the sender's memory, and only mapped in ours.
static inline int shim_pw_stream_accept(struct pw_stream *stream) {
    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    int32_t region = sizeof(struct spa_meta_region);
    const struct spa_pod *params[6];
    params[0] = (const struct spa_pod *)spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers,
        SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(5, 2, 8),
        SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemFd) | (1 << SPA_DATA_MemPtr)));
    params[1] = shim_meta(&builder, SPA_META_Header, sizeof(struct spa_meta_header));
    params[2] = shim_meta(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region));
    params[3] = shim_meta(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    params[4] = shim_meta_up_to(&builder, SPA_META_VideoDamage, region, region * (int32_t)shim_max_damage);
    params[5] = shim_meta_up_to(
        &builder, SPA_META_Cursor, shim_pointer_bytes(1), shim_pointer_bytes(shim_max_pointer_side));
    for (int k = 0; k < 6; k++) if (params[k] == NULL) return -ENOSPC;
    return pw_stream_update_params(stream, params, 6);
}

struct shim_video_format { uint32_t format; uint32_t width; uint32_t height; bool is_of_card; };

/// Reads a format that was negotiated; 0, or a negative errno if it isn't one of raw video.
static inline int shim_read_format(const struct spa_pod *param, struct shim_video_format *out) {
    uint32_t type, subtype;
    struct spa_video_info_raw raw;
    memset(&raw, 0, sizeof raw);
    int code = spa_format_parse(param, &type, &subtype);
    if (code < 0) return code;
    if (type != SPA_MEDIA_TYPE_video || subtype != SPA_MEDIA_SUBTYPE_raw) return -ENOTSUP;
    code = spa_format_video_raw_parse(param, &raw);
    if (code < 0) return code;
    out->format = raw.format;
    out->width = raw.size.width;
    out->height = raw.size.height;
    // A modifier that only the sender knows doesn't matter.
    const struct spa_pod_prop *modifier = spa_pod_find_prop(param, NULL, SPA_FORMAT_VIDEO_modifier);
    out->is_of_card = modifier != NULL && (modifier->flags & SPA_POD_PROP_FLAG_MANDATORY) != 0;
    return 0;
}

/// The name of a video format, for example BGRx; NULL if it has none.
static inline const char *shim_format_name(uint32_t format) {
    return spa_debug_type_find_short_name(spa_type_video_format, format);
}
