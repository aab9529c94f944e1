#pragma once
#include <stdlib.h>
#include <xcb/xcb.h>
#include <xcb/shm.h>
#include <xcb/damage.h>
#include <xcb/xfixes.h>
#include <xcb/randr.h>
#include <xcb/xinput.h>
#include <xcb/composite.h>
#include <xcb/screensaver.h>
#include <xcb/xtest.h>

// Swift can't name a variable of an incomplete type: hand out the extension ids' addresses.
static inline xcb_extension_t *shim_xcb_shm_id(void) { return &xcb_shm_id; }
static inline xcb_extension_t *shim_xcb_damage_id(void) { return &xcb_damage_id; }
static inline xcb_extension_t *shim_xcb_xfixes_id(void) { return &xcb_xfixes_id; }
static inline xcb_extension_t *shim_xcb_randr_id(void) { return &xcb_randr_id; }
static inline xcb_extension_t *shim_xcb_input_id(void) { return &xcb_input_id; }
static inline xcb_extension_t *shim_xcb_composite_id(void) { return &xcb_composite_id; }
static inline xcb_extension_t *shim_xcb_screensaver_id(void) { return &xcb_screensaver_id; }
static inline xcb_extension_t *shim_xcb_test_id(void) { return &xcb_test_id; }
