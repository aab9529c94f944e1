#pragma once
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <xcb/xcb.h>
#include <xcb/shm.h>
#include <xcb/damage.h>
#include <xcb/xfixes.h>
#include <xcb/randr.h>
#include <xcb/render.h>
#include <xcb/shape.h>
#include <xcb/xinput.h>
#include <xcb/composite.h>
#include <xcb/screensaver.h>
#include <xcb/xtest.h>
#include <xcb/sync.h>

// Swift can't name a variable of an incomplete type: hand out the extension ids' addresses.
static inline xcb_extension_t *shim_xcb_shm_id(void) { return &xcb_shm_id; }
static inline xcb_extension_t *shim_xcb_damage_id(void) { return &xcb_damage_id; }
static inline xcb_extension_t *shim_xcb_xfixes_id(void) { return &xcb_xfixes_id; }
static inline xcb_extension_t *shim_xcb_randr_id(void) { return &xcb_randr_id; }
static inline xcb_extension_t *shim_xcb_render_id(void) { return &xcb_render_id; }
static inline xcb_extension_t *shim_xcb_shape_id(void) { return &xcb_shape_id; }
static inline xcb_extension_t *shim_xcb_input_id(void) { return &xcb_input_id; }
static inline xcb_extension_t *shim_xcb_composite_id(void) { return &xcb_composite_id; }
static inline xcb_extension_t *shim_xcb_screensaver_id(void) { return &xcb_screensaver_id; }
static inline xcb_extension_t *shim_xcb_test_id(void) { return &xcb_test_id; }
static inline xcb_extension_t *shim_xcb_sync_id(void) { return &xcb_sync_id; }

// Takes the answer to a request where it has been read already: 0 where it hasn't. Part of <xcb/xcbext.h>, for which see
// below.
int xcb_poll_for_reply(xcb_connection_t *, unsigned int request, void **reply, xcb_generic_error_t **error);

// Sends a request that xcb has no function for, or one that doesn't work (X-Resource, RRSetMonitor of 1.15): its first word
// comes with an empty opcode. Gives its number. Declared here because <xcb/xcbext.h> would complete the type above, and so
// rename it in Swift.
static inline unsigned int shim_xcb_send(
    xcb_connection_t *connection, uint8_t opcode, uint32_t *request, size_t words, uint8_t is_void) {
    typedef struct { size_t count; xcb_extension_t *ext; uint8_t opcode; uint8_t isvoid; } protocol_request;
    extern unsigned int xcb_send_request(xcb_connection_t *, int, struct iovec *, const void *);
    protocol_request what = { 1, NULL, opcode, is_void };
    struct iovec parts[3];  // xcb wants room for two more before the first.
    memset(parts, 0, sizeof parts);
    parts[2].iov_base = request;
    parts[2].iov_len = words * 4;
    return xcb_send_request(connection, 0, parts + 2, &what);
}
// The same, and waits for the reply, which the caller frees.
static inline void *shim_xcb_ask(xcb_connection_t *connection, uint8_t opcode, uint32_t *request, size_t words) {
    extern void *xcb_wait_for_reply(xcb_connection_t *, unsigned int, xcb_generic_error_t **);
    return xcb_wait_for_reply(connection, shim_xcb_send(connection, opcode, request, words, 0), NULL);
}
