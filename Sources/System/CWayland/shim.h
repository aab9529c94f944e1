#pragma once
#include <stdint.h>
#include <wayland-client.h>
#include <wayland-cursor.h>
#include <xkbcommon/xkbcommon.h>

// Swift can't take the address of a C variable that stays the same: hand out the interfaces' addresses.
static inline const struct wl_interface *shim_wl_compositor_interface(void) { return &wl_compositor_interface; }
static inline const struct wl_interface *shim_wl_shm_interface(void) { return &wl_shm_interface; }
static inline const struct wl_interface *shim_wl_seat_interface(void) { return &wl_seat_interface; }

// xdg-shell (stable, version 4) and xdg-decoration (unstable, version 1) of wayland-protocols, as far as a window without
// menus needs them. Written by hand, because these are the names and signatures of five interfaces: what wayland-scanner
// makes of the two protocols has 2,500 lines, and a build step for it would need another two packages. A request's number
// is its index. The arguments' types stay empty: libwayland takes a new object's interface from the call that creates it,
// and no event here carries an object.
static const struct wl_interface *const shim_no_types[4] = {0};
#define SHIM_MESSAGE(name, signature) { name, signature, (const struct wl_interface **)shim_no_types }

static const struct wl_message shim_xdg_wm_base_requests[] = {
    SHIM_MESSAGE("destroy", ""), SHIM_MESSAGE("create_positioner", "n"), SHIM_MESSAGE("get_xdg_surface", "no"),
    SHIM_MESSAGE("pong", "u"),
};
static const struct wl_message shim_xdg_wm_base_events[] = { SHIM_MESSAGE("ping", "u") };
static const struct wl_interface shim_xdg_wm_base = {
    "xdg_wm_base", 4, 4, shim_xdg_wm_base_requests, 1, shim_xdg_wm_base_events,
};

static const struct wl_message shim_xdg_surface_requests[] = {
    SHIM_MESSAGE("destroy", ""), SHIM_MESSAGE("get_toplevel", "n"), SHIM_MESSAGE("get_popup", "n?oo"),
    SHIM_MESSAGE("set_window_geometry", "iiii"), SHIM_MESSAGE("ack_configure", "u"),
};
static const struct wl_message shim_xdg_surface_events[] = { SHIM_MESSAGE("configure", "u") };
static const struct wl_interface shim_xdg_surface = {
    "xdg_surface", 4, 5, shim_xdg_surface_requests, 1, shim_xdg_surface_events,
};

static const struct wl_message shim_xdg_toplevel_requests[] = {
    SHIM_MESSAGE("destroy", ""), SHIM_MESSAGE("set_parent", "?o"), SHIM_MESSAGE("set_title", "s"),
    SHIM_MESSAGE("set_app_id", "s"), SHIM_MESSAGE("show_window_menu", "ouii"), SHIM_MESSAGE("move", "ou"),
    SHIM_MESSAGE("resize", "ouu"), SHIM_MESSAGE("set_max_size", "ii"), SHIM_MESSAGE("set_min_size", "ii"),
    SHIM_MESSAGE("set_maximized", ""), SHIM_MESSAGE("unset_maximized", ""), SHIM_MESSAGE("set_fullscreen", "?o"),
    SHIM_MESSAGE("unset_fullscreen", ""), SHIM_MESSAGE("set_minimized", ""),
};
static const struct wl_message shim_xdg_toplevel_events[] = {
    SHIM_MESSAGE("configure", "iia"), SHIM_MESSAGE("close", ""), SHIM_MESSAGE("configure_bounds", "4ii"),
};
static const struct wl_interface shim_xdg_toplevel = {
    "xdg_toplevel", 4, 14, shim_xdg_toplevel_requests, 3, shim_xdg_toplevel_events,
};

static const struct wl_message shim_xdg_decoration_manager_requests[] = {
    SHIM_MESSAGE("destroy", ""), SHIM_MESSAGE("get_toplevel_decoration", "no"),
};
static const struct wl_interface shim_xdg_decoration_manager = {
    "zxdg_decoration_manager_v1", 1, 2, shim_xdg_decoration_manager_requests, 0, 0,
};

static const struct wl_message shim_xdg_decoration_requests[] = {
    SHIM_MESSAGE("destroy", ""), SHIM_MESSAGE("set_mode", "u"), SHIM_MESSAGE("unset_mode", ""),
};
static const struct wl_message shim_xdg_decoration_events[] = { SHIM_MESSAGE("configure", "u") };
static const struct wl_interface shim_xdg_decoration = {
    "zxdg_toplevel_decoration_v1", 1, 3, shim_xdg_decoration_requests, 1, shim_xdg_decoration_events,
};
#undef SHIM_MESSAGE

static inline const struct wl_interface *shim_xdg_wm_base_interface(void) { return &shim_xdg_wm_base; }
static inline const struct wl_interface *shim_xdg_decoration_manager_interface(void) {
    return &shim_xdg_decoration_manager;
}

// Requests, because Swift can't call functions with variable arguments. One that creates an object returns it, or NULL if
// there is no memory.

/// Sends a request without arguments, after which the object is gone.
static inline void shim_wl_destroy(struct wl_proxy *object, uint32_t request) {
    wl_proxy_marshal_flags(object, request, NULL, wl_proxy_get_version(object), WL_MARSHAL_FLAG_DESTROY);
}

static inline struct wl_proxy *shim_xdg_get_surface(struct wl_proxy *base, struct wl_surface *surface) {
    return wl_proxy_marshal_flags(base, 2, &shim_xdg_surface, wl_proxy_get_version(base), 0, NULL, surface);
}
static inline void shim_xdg_pong(struct wl_proxy *base, uint32_t serial) {
    wl_proxy_marshal_flags(base, 3, NULL, wl_proxy_get_version(base), 0, serial);
}

static inline struct wl_proxy *shim_xdg_get_toplevel(struct wl_proxy *surface) {
    return wl_proxy_marshal_flags(surface, 1, &shim_xdg_toplevel, wl_proxy_get_version(surface), 0, NULL);
}
static inline void shim_xdg_acknowledge(struct wl_proxy *surface, uint32_t serial) {
    wl_proxy_marshal_flags(surface, 4, NULL, wl_proxy_get_version(surface), 0, serial);
}

static inline void shim_xdg_set_names(struct wl_proxy *toplevel, const char *title, const char *application) {
    wl_proxy_marshal_flags(toplevel, 2, NULL, wl_proxy_get_version(toplevel), 0, title);
    wl_proxy_marshal_flags(toplevel, 3, NULL, wl_proxy_get_version(toplevel), 0, application);
}
/// Asks for full screen on the output that the compositor chooses, or for its end.
static inline void shim_xdg_set_full_screen(struct wl_proxy *toplevel, int is_full_screen) {
    if (is_full_screen) {
        wl_proxy_marshal_flags(toplevel, 11, NULL, wl_proxy_get_version(toplevel), 0, NULL);
    } else {
        wl_proxy_marshal_flags(toplevel, 12, NULL, wl_proxy_get_version(toplevel), 0);
    }
}

/// Asks for a title bar that the compositor draws.
static inline struct wl_proxy *shim_xdg_decorate(struct wl_proxy *manager, struct wl_proxy *toplevel) {
    struct wl_proxy *decoration = wl_proxy_marshal_flags(
        manager, 1, &shim_xdg_decoration, wl_proxy_get_version(manager), 0, NULL, toplevel);
    if (decoration) wl_proxy_marshal_flags(decoration, 1, NULL, wl_proxy_get_version(decoration), 0, (uint32_t)2);
    return decoration;
}
