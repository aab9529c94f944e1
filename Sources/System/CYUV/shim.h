#pragma once
#include <libyuv/convert.h>
#include <libyuv/convert_argb.h>
#include <libyuv/convert_from_argb.h>
#include <libyuv/convert_from.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>

// Swift can't name a variable of an incomplete type: hand out the matrices' addresses. The yvu ones are mirrored:
// with the chroma planes swapped, the functions that write blue first then write red first.
static inline const struct YuvConstants *shim_yvu_601(void) { return &kYvuI601Constants; }
static inline const struct YuvConstants *shim_yvu_601_full(void) { return &kYvuJPEGConstants; }
static inline const struct YuvConstants *shim_yvu_709_full(void) { return &kYvuF709Constants; }
static inline const struct YuvConstants *shim_yuv_601(void) { return &kYuvI601Constants; }
static inline const struct YuvConstants *shim_yuv_601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *shim_yuv_709_full(void) { return &kYuvF709Constants; }
