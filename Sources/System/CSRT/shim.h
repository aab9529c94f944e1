#pragma once
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <srt/srt.h>
#include <srt/access_control.h>

// The types of addresses stay here, and so do the enumerations that Swift would import with types of their own.

static const int shim_SRT_ETIMEOUT = SRT_ETIMEOUT;

/// Has the library write no lines to standard error that other machines can cause.
static inline void shim_srt_be_quiet(void) { srt_setloglevel(LOG_CRIT); }

/// Finds a numeric address, or that of localhost.
static inline int shim_srt_find(const char *host, uint16_t port, struct sockaddr_storage *address, int *length) {
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, service, &hints, &found) != 0 || !found) return -1;
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *length = (int)found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

/// Binds a socket; at an IPv6 address, for IPv4 too. Returns -1 if that fails.
static inline int shim_srt_bind(SRTSOCKET socket, const char *host, uint16_t port) {
    struct sockaddr_storage address;
    int length = 0, no = 0;
    if (shim_srt_find(host, port, &address, &length) != 0) return -1;
    if (address.ss_family == AF_INET6) srt_setsockflag(socket, SRTO_IPV6ONLY, &no, sizeof no);
    return srt_bind(socket, (const struct sockaddr *)&address, length);
}

/// Connects a socket, and waits for that. Returns -1 if that fails.
static inline int shim_srt_connect(SRTSOCKET socket, const char *host, uint16_t port) {
    struct sockaddr_storage address;
    int length = 0;
    if (shim_srt_find(host, port, &address, &length) != 0) return -1;
    return srt_connect(socket, (const struct sockaddr *)&address, length);
}

/// The port that a socket is bound to; 0 if there is none.
static inline uint16_t shim_srt_port(SRTSOCKET socket) {
    struct sockaddr_storage address;
    int length = sizeof address;
    if (srt_getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/// Writes an address as text, without its port; that of IPv4 in its own form. INET6_ADDRSTRLEN and an interface fit in
/// 64 bytes.
static inline void shim_srt_text(const struct sockaddr *address, char text[64]) {
    struct sockaddr_in plain = {.sin_family = AF_INET};
    text[0] = 0;
    if (!address) return;
    socklen_t length = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *number = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(number)) {
            memcpy(&plain.sin_addr, &number->s6_addr[12], 4);
            address = (const struct sockaddr *)&plain;
            length = sizeof plain;
        }
    }
    if (getnameinfo(address, length, text, 64, NULL, 0, NI_NUMERICHOST) != 0) text[0] = 0;
}

/// Accepts the next caller; a negative number if none waits.
static inline SRTSOCKET shim_srt_accept(SRTSOCKET listener, char text[64]) {
    struct sockaddr_storage address;
    int length = sizeof address;
    SRTSOCKET caller = srt_accept(listener, (struct sockaddr *)&address, &length);
    if (caller >= 0) shim_srt_text((const struct sockaddr *)&address, text);
    return caller;
}

/// Adds a listener, and a descriptor that wakes the waiting thread. Returns -1 if that fails.
static inline int shim_srt_watch(int events, SRTSOCKET listener, int descriptor) {
    int wanted = SRT_EPOLL_IN | SRT_EPOLL_ERR;
    int read = SRT_EPOLL_IN;
    if (srt_epoll_add_usock(events, listener, &wanted) != 0) return -1;
    return srt_epoll_add_ssock(events, descriptor, &read);
}

/// Waits until a caller can be accepted, or the descriptor can be read, or for so long.
static inline void shim_srt_wait(int events, int64_t milliseconds) {
    SRTSOCKET callers[2];
    SYSSOCKET descriptors[2];
    int caller_count = 2, descriptor_count = 2;
    srt_epoll_wait(events, callers, &caller_count, NULL, NULL, milliseconds, descriptors, &descriptor_count, NULL, NULL);
}
