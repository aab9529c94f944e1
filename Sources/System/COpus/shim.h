#pragma once
#include <opus/opus.h>

// opus_encoder_ctl is variadic: each setting becomes a function. All return OPUS_OK or an error.

static inline int shim_opus_set_bit_rate(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_BITRATE(v));
}

static inline int shim_opus_set_complexity(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(v));
}

static inline int shim_opus_set_vbr_constraint(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_VBR_CONSTRAINT(v));
}

static inline int shim_opus_set_in_band_fec(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(v));
}

static inline int shim_opus_set_expected_loss(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(v));
}

static inline int shim_opus_set_dtx(OpusEncoder *e, opus_int32 v) {
    return opus_encoder_ctl(e, OPUS_SET_DTX(v));
}

static inline int shim_opus_get_lookahead(OpusEncoder *e, opus_int32 *v) {
    return opus_encoder_ctl(e, OPUS_GET_LOOKAHEAD(v));
}

static inline int shim_opus_reset(OpusEncoder *e) {
    return opus_encoder_ctl(e, OPUS_RESET_STATE);
}
