#pragma once
// What the Glibc module leaves out: GNU extensions and macros.
// _GNU_SOURCE stays undefined: with it, fd_set would differ from the Glibc module's.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Declared here because the headers hide them without _GNU_SOURCE.
int memfd_create(const char *name, unsigned int flags);
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int pipe2(int descriptors[2], int flags);
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags);

// `entries` is an array of struct pollfd; without its header here, so that the type stays the Glibc module's.

static inline int shim_name_this_thread(const char *name) {
    extern int pthread_setname_np(unsigned long thread, const char *name);
    extern unsigned long pthread_self(void);
    return pthread_setname_np(pthread_self(), name);
}

/// Waits until a thread has ended, at most until `nanoseconds` of CLOCK_MONOTONIC (glibc 2.31); 0 where it has, else an errno.
static inline int shim_join_thread_until(unsigned long thread, int64_t nanoseconds) {
    extern int pthread_clockjoin_np(unsigned long thread, void **value, int clock, const struct timespec *until);
    struct timespec until = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}

/// How many processors this process may use.
static inline int shim_processor_count(void) {
    cpu_set_t set;
    // Fails on a machine with more processors than the set has room for.
    if (sched_getaffinity(0, sizeof set, &set) < 0) return (int)sysconf(_SC_NPROCESSORS_ONLN);
    int count = 0;
    for (size_t k = 0; k < sizeof set.__bits / sizeof set.__bits[0]; k++) count += __builtin_popcountl(set.__bits[k]);
    return count;
}

/// A descriptor that becomes readable when the process ends (pidfd_open, Linux 5.3); or -1 and errno.
static inline int shim_pidfd_open(int pid) {
    extern long syscall(long number, ...);
    return (int)syscall(434, (long)pid, 0L);
}

static inline int shim_ppoll(void *entries, unsigned long count, const struct timespec *timeout) {
    extern int ppoll(void *entries, unsigned long count, const struct timespec *timeout, const void *mask);
    return ppoll(entries, count, timeout, NULL);
}

/// How many columns the terminal has; 0 if it doesn't say, or is none. Here, because which module `winsize` belongs to
/// depends on glibc's version.
static inline int shim_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

struct shim_ucred { int32_t pid; uint32_t uid; uint32_t gid; };

/// The peer's process, user and group of a connected Unix socket; 0, or -1 and errno.
static inline int shim_peer_credentials(int fd, struct shim_ucred *out) {
    socklen_t length = sizeof *out;
    return getsockopt(fd, SOL_SOCKET, 17 /* SO_PEERCRED */, out, &length);
}

static const unsigned int shim_MFD_CLOEXEC = 1u;
static const unsigned int shim_MFD_ALLOW_SEALING = 2u;

static inline int shim_wait_exited(int status) { return WIFEXITED(status); }
static inline int shim_wait_exit_status(int status) { return WEXITSTATUS(status); }
static inline int shim_wait_signaled(int status) { return WIFSIGNALED(status); }
static inline int shim_wait_signal(int status) { return WTERMSIG(status); }

static inline int shim_set_parent_death_signal(int signal_number) {
    return prctl(PR_SET_PDEATHSIG, signal_number);
}

/// One end of a socket. An IPv4 address stands in the first four bytes, whatever family the socket has.
struct shim_endpoint {
    uint8_t is_ipv6;
    uint8_t address[16];
    uint16_t port;
    uint32_t scope;
};

/// Fills `to` with `from`; 0, or -1 where that is no IP address.
static inline int shim_endpoint_from(const struct sockaddr *from, struct shim_endpoint *to) {
    memset(to, 0, sizeof *to);
    if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
        to->port = ntohs(six->sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
            memcpy(to->address, six->sin6_addr.s6_addr + 12, 4);
        } else {
            to->is_ipv6 = 1;
            to->scope = six->sin6_scope_id;
            memcpy(to->address, six->sin6_addr.s6_addr, 16);
        }
        return 0;
    }
    if (from->sa_family != AF_INET) return -1;
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    to->port = ntohs(four->sin_port);
    memcpy(to->address, &four->sin_addr, 4);
    return 0;
}

/// Fills `to` with `from` in the form that a socket of `family` takes; returns its length, 0 where it can't.
static inline socklen_t shim_endpoint_to(const struct shim_endpoint *from, int family, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    if (family == AF_INET6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(from->port);
        if (from->is_ipv6) {
            six->sin6_scope_id = from->scope;
            memcpy(six->sin6_addr.s6_addr, from->address, 16);
        } else {
            six->sin6_addr.s6_addr[10] = 0xff;
            six->sin6_addr.s6_addr[11] = 0xff;
            memcpy(six->sin6_addr.s6_addr + 12, from->address, 4);
        }
        return sizeof *six;
    }
    if (from->is_ipv6) return 0;
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    four->sin_family = AF_INET;
    four->sin_port = htons(from->port);
    memcpy(&four->sin_addr, from->address, 4);
    return sizeof *four;
}

/// A bound, non-blocking UDP socket of `family`; or -1 and errno. It reports the local address of each datagram, and
/// when it arrived.
static inline int shim_udp_socket(int family, const struct shim_endpoint *local) {
    int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int on = 1, off = 0, room = 4 << 20;
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        setsockopt(fd, IPPROTO_IPV6, 49 /* IPV6_RECVPKTINFO */, &on, sizeof on);
    }
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, 35 /* SO_TIMESTAMPNS */, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    struct sockaddr_storage address;
    socklen_t length = shim_endpoint_to(local, family, &address);
    if (length == 0 || bind(fd, (struct sockaddr *)&address, length) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/// The local end of a socket, or its peer's; 0, or -1 where it has none or is no IP socket.
static inline int shim_socket_end(int fd, int is_peer, struct shim_endpoint *out) {
    struct sockaddr_storage storage;
    struct sockaddr *address = (struct sockaddr *)&storage;
    socklen_t length = sizeof storage;
    if ((is_peer ? getpeername(fd, address, &length) : getsockname(fd, address, &length)) < 0) return -1;
    return shim_endpoint_from(address, out);
}

struct shim_pktinfo4 { int index; uint8_t specified[4]; uint8_t address[4]; };
struct shim_pktinfo6 { uint8_t address[16]; unsigned int index; };

/// Receives one datagram with both of its ends; its length, or -1 and errno. A cut-off datagram counts as empty.
/// `arrival` is when the kernel received it, in nanoseconds of CLOCK_REALTIME; INT64_MAX if that is unknown.
static inline ssize_t shim_udp_receive(
    int fd, void *bytes, size_t room, struct shim_endpoint *peer, struct shim_endpoint *local, int64_t *arrival) {
    struct sockaddr_storage from;
    memset(&from, 0, sizeof from);
    union { char bytes[128]; struct cmsghdr align; } control;
    struct iovec piece = { bytes, room };
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    ssize_t count = recvmsg(fd, &message, 0);
    if (count < 0) return count;
    shim_endpoint_from((struct sockaddr *)&from, peer);
    memset(local, 0, sizeof *local);
    *arrival = INT64_MAX;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct shim_pktinfo4 info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            memcpy(local->address, info.address, 4);
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == 50 /* IPV6_PKTINFO */) {
            struct shim_pktinfo6 info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
            if (memcmp(info.address, mapped, 12) == 0) {
                memcpy(local->address, info.address + 12, 4);
            } else {
                local->is_ipv6 = 1;
                local->scope = peer->scope;
                memcpy(local->address, info.address, 16);
            }
        } else if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == 35 /* SCM_TIMESTAMPNS */) {
            struct timespec time;
            memcpy(&time, CMSG_DATA(part), sizeof time);
            *arrival = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
        }
    }
    return (message.msg_flags & MSG_TRUNC) ? 0 : count;
}

#define SHIM_UDP_SEGMENT 103

/// Whether the kernel divides what is sent into datagrams of a given size (UDP_SEGMENT, Linux 4.18).
static inline int shim_udp_can_segment(int fd) {
    int size = 0;
    socklen_t length = sizeof size;
    return getsockopt(fd, IPPROTO_UDP, SHIM_UDP_SEGMENT, &size, &length) == 0;
}

/// Sends one datagram, or datagrams of `segment` bytes each if that isn't 0, from the local address that the peer knows us
/// by, or from the one that the socket and the route suggest if `local` is all zeros; the length, or -1 and errno.
static inline ssize_t shim_udp_send(
    int fd, int family, const void *bytes, size_t count, uint16_t segment, const struct shim_endpoint *peer,
    const struct shim_endpoint *local) {
    struct sockaddr_storage to;
    union { char bytes[CMSG_SPACE(sizeof(struct shim_pktinfo6)) + CMSG_SPACE(sizeof(uint16_t))]; struct cmsghdr align; } control;
    struct iovec piece = { (void *)bytes, count };
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_namelen = shim_endpoint_to(peer, family, &to);
    if (message.msg_namelen == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    message.msg_name = &to;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    static const uint8_t unspecified[16];
    memset(&control, 0, sizeof control);
    struct cmsghdr *part = &control.align;
    if (segment) {
        part->cmsg_level = IPPROTO_UDP;
        part->cmsg_type = SHIM_UDP_SEGMENT;
        part->cmsg_len = CMSG_LEN(sizeof segment);
        memcpy(CMSG_DATA(part), &segment, sizeof segment);
        message.msg_controllen = CMSG_SPACE(sizeof segment);
        part = (struct cmsghdr *)(control.bytes + message.msg_controllen);
    }
    if (memcmp(local->address, unspecified, sizeof unspecified) == 0) {
        // Nothing to add.
    } else if (local->is_ipv6) {
        struct shim_pktinfo6 info;
        memset(&info, 0, sizeof info);
        memcpy(info.address, local->address, 16);
        info.index = local->scope;
        part->cmsg_level = IPPROTO_IPV6;
        part->cmsg_type = 50 /* IPV6_PKTINFO */;
        part->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(part), &info, sizeof info);
        message.msg_controllen += CMSG_SPACE(sizeof info);
    } else {
        // Also on a dual-stack socket: Linux takes IP_PKTINFO for IPv4-mapped peers.
        struct shim_pktinfo4 info;
        memset(&info, 0, sizeof info);
        memcpy(info.specified, local->address, 4);
        part->cmsg_level = IPPROTO_IP;
        part->cmsg_type = IP_PKTINFO;
        part->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(part), &info, sizeof info);
        message.msg_controllen += CMSG_SPACE(sizeof info);
    }
    if (message.msg_controllen) message.msg_control = control.bytes;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

/// A listening, non-blocking TCP socket of `family`; or -1 and errno. The IPv6 wildcard also takes IPv4.
static inline int shim_tcp_listener(int family, const struct shim_endpoint *local) {
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int on = 1, off = 0;
    if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    // Connections of a host that has ended don't keep the port.
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_storage address;
    socklen_t length = shim_endpoint_to(local, family, &address);
    if (length == 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 128) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/// Accepts a connection, which doesn't block, and sends small writes at once; or -1 and errno. The kernel keeps at most
/// about `unsent` bytes that it hasn't sent yet.
static inline int shim_tcp_accept(int listener, int unsent) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return -1;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, 25 /* TCP_NOTSENT_LOWAT */, &unsent, sizeof unsent);
    return fd;
}

/// Sends a datagram of at most 65535 bytes behind its length (RFC 4571); how many bytes of both were taken, or -1 and
/// errno.
static inline ssize_t shim_tcp_send_framed(int fd, const void *bytes, size_t count) {
    uint8_t length[2] = { (uint8_t)(count >> 8), (uint8_t)count };
    struct iovec pieces[2] = { { length, sizeof length }, { (void *)bytes, count } };
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

/// Adds a descriptor under a number to an epoll instance, or changes what is waited for; 0, or -1 and errno.
static inline int shim_epoll_set(int epoll, int is_new, int fd, uint64_t number, int reads, int writes) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);
    event.data.u64 = number;
    return epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

/// Takes a descriptor out of an epoll instance; it stays open.
static inline int shim_epoll_remove(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

struct shim_ready { uint64_t number; int reads; int writes; };

/// The descriptors of an epoll instance that are ready now, at most 64 of them; how many, or -1 and errno. One that has
/// failed or was closed by its peer can be read.
static inline int shim_epoll_take(int epoll, struct shim_ready *ready, int room) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, room < 64 ? room : 64, 0);
    for (int k = 0; k < count; k++) {
        ready[k].number = events[k].data.u64;
        ready[k].reads = (events[k].events & ~(uint32_t)EPOLLOUT) != 0;
        ready[k].writes = (events[k].events & EPOLLOUT) != 0;
    }
    return count;
}

/// A socket for questions about links and routes (rtnetlink(7)), or one that the kernel tells of their changes; or -1 and errno.
static inline int shim_route_socket(int hears_changes) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    if (hears_changes) address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

// Declared here because the headers hide them without _GNU_SOURCE.
extern char **environ;
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int lowest);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *folder);

/// Our environment: a list of NAME=VALUE that ends with a null pointer.
static inline char **shim_environment(void) { return environ; }

/// From now on no memory of this process is in huge pages (prctl(2), PR_SET_THP_DISABLE).
static inline void shim_disable_huge_pages(void) { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

int prlimit(int process, int resource, const struct rlimit *limit, struct rlimit *old);

/// Bounds the address space of a process of ours; 0, or -1 and errno.
static inline int shim_limit_address_space(int process, uint64_t bytes) {
    struct rlimit limit = { bytes, bytes };
    return prlimit(process, RLIMIT_AS, &limit, NULL);
}

/// From now on neither this process nor what it executes can gain privileges (prctl(2), PR_SET_NO_NEW_PRIVS); 0, or -1 and errno.
static inline int shim_refuse_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/// Becomes this user for good, in no group but `group`; 0, or -1 and errno. For root, before there is a second thread.
static inline int shim_become_user(uint32_t user, uint32_t group) {
    if (setgroups(0, NULL) != 0 || setgid(group) != 0) return -1;
    return setuid(user);
}
// Options of TCP sockets (tcp(7)); netinet/tcp.h brings more than their numbers.
static const int32_t shim_TCP_NODELAY = 1;
static const int32_t shim_TCP_KEEPIDLE = 4;
static const int32_t shim_TCP_KEEPINTVL = 5;
static const int32_t shim_TCP_USER_TIMEOUT = 18;
static const int32_t shim_TCP_NOTSENT_LOWAT = 25;

/// Whether something, such as NTP, keeps the wall clock right (adjtimex(2)).
static inline int shim_clock_is_synchronized(void) {
    struct timex clock;
    memset(&clock, 0, sizeof clock);
    return adjtimex(&clock) != TIME_ERROR;
}
