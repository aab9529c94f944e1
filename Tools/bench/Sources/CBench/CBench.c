// For recvmmsg and sched_setaffinity.
#define _GNU_SOURCE
#include "CBench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Older headers lack these.
#define BENCH_SO_MEMINFO 55
#define BENCH_UDP_SEGMENT 103

/// Closes a descriptor after a failed call; errno stays that call's.
static int fail(int fd) {
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A socket with arrival times and room for a burst.
static int udp(int family, int flags) {
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) return -1;
    int on = 1, room = 2 << 20;
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    // Without privileges, the system's limit remains.
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return fd;
}

int cbench_udp_connected(const char *address, uint16_t port) {
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    memset(&four, 0, sizeof four);
    memset(&six, 0, sizeof six);
    int is_six = 0;
    if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1) {
        is_six = 1;
    } else if (inet_pton(AF_INET, address, &four.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    int fd = udp(is_six ? AF_INET6 : AF_INET, SOCK_NONBLOCK);
    if (fd < 0) return -1;
    int code = is_six ? connect(fd, (struct sockaddr *)&six, sizeof six)
                      : connect(fd, (struct sockaddr *)&four, sizeof four);
    return code < 0 ? fail(fd) : fd;
}

int cbench_udp_loopback(void) {
    int fd = udp(AF_INET, 0);
    if (fd < 0) return -1;
    struct sockaddr_in address = loopback(0);
    return bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ? fail(fd) : fd;
}

int cbench_connect_loopback(int fd, uint16_t port) {
    struct sockaddr_in address = loopback(port);
    return connect(fd, (struct sockaddr *)&address, sizeof address);
}

uint16_t cbench_port(int fd) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0 || address.sin_family != AF_INET) return 0;
    return ntohs(address.sin_port);
}

uint32_t cbench_drops(int fd) {
    uint32_t memory[9] = { 0 };
    socklen_t length = sizeof memory;
    // The last number, SK_MEMINFO_DROPS.
    return getsockopt(fd, SOL_SOCKET, BENCH_SO_MEMINFO, memory, &length) < 0 ? 0 : memory[8];
}

int cbench_receive(int fd, void *buffer, struct cbench_datagram *datagrams) {
    enum { BATCH = 32, ROOM = 2048 };
    union control { char bytes[64]; struct cmsghdr align; };
    static _Thread_local struct mmsghdr messages[BATCH];
    static _Thread_local struct iovec pieces[BATCH];
    static _Thread_local union control controls[BATCH];
    // Prepared once for a buffer: the kernel changes only the length of the control data and the flags.
    static _Thread_local void *prepared;
    if (prepared != buffer) {
        memset(messages, 0, sizeof messages);
        for (int k = 0; k < BATCH; k++) {
            pieces[k].iov_base = (char *)buffer + k * ROOM;
            pieces[k].iov_len = ROOM;
            messages[k].msg_hdr.msg_iov = &pieces[k];
            messages[k].msg_hdr.msg_iovlen = 1;
            messages[k].msg_hdr.msg_control = controls[k].bytes;
            messages[k].msg_hdr.msg_controllen = sizeof controls[k].bytes;
        }
        prepared = buffer;
    }
    int count = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count < 0) {
        // An ICMP error says nothing about the next datagram.
        return errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED ? 0 : -1;
    }
    for (int k = 0; k < count; k++) {
        struct msghdr *header = &messages[k].msg_hdr;
        datagrams[k].count = header->msg_flags & MSG_TRUNC ? 0 : messages[k].msg_len;
        datagrams[k].arrival = 0;
        for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
            if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPNS) continue;
            struct timespec time;
            memcpy(&time, CMSG_DATA(part), sizeof time);
            datagrams[k].arrival = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
        }
        header->msg_controllen = sizeof controls[k].bytes;
        header->msg_flags = 0;
    }
    return count;
}

int cbench_send_to(int fd, uint16_t port, const void *bytes, size_t count) {
    struct sockaddr_in address = loopback(port);
    return sendto(fd, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : 0;
}

int cbench_send_segments(int fd, uint16_t port, const void *bytes, size_t count, uint16_t segment) {
    struct sockaddr_in address = loopback(port);
    union { char bytes[64]; struct cmsghdr align; } control;
    struct iovec piece = { (void *)bytes, count };
    struct msghdr message;
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    message.msg_name = &address;
    message.msg_namelen = sizeof address;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof segment);
    control.align.cmsg_level = IPPROTO_UDP;
    control.align.cmsg_type = BENCH_UDP_SEGMENT;
    control.align.cmsg_len = CMSG_LEN(sizeof segment);
    memcpy(CMSG_DATA(&control.align), &segment, sizeof segment);
    return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int cbench_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int cbench_epoll_add(int epoll, int fd, uint64_t number) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    event.data.u64 = number;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int cbench_epoll_remove(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

int cbench_epoll_wait(int epoll, uint64_t *numbers, int room, int milliseconds) {
    struct epoll_event events[256];
    int count = epoll_wait(epoll, events, room < 256 ? room : 256, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int k = 0; k < count; k++) numbers[k] = events[k].data.u64;
    return count;
}

int cbench_tcp(const char *host, const char *port, int seconds) {
    struct addrinfo wanted, *found = NULL;
    memset(&wanted, 0, sizeof wanted);
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &wanted, &found) != 0 || !found) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *one = found; one; one = one->ai_next) {
        fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) continue;
        int on = 1;
        struct timeval limit = { seconds, 0 };
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(fd, one->ai_addr, one->ai_addrlen) == 0) break;
        fd = fail(fd);
    }
    freeaddrinfo(found);
    return fd;
}

int cbench_pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor < 0 || processor >= CPU_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

int64_t cbench_raise_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
    // Beyond the hard limit only with privileges.
    struct rlimit high = { 1 << 16, 1 << 16 };
    if (limit.rlim_max < high.rlim_max && setrlimit(RLIMIT_NOFILE, &high) == 0) return (int64_t)high.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}

int64_t cbench_cpu_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void cbench_sleep(int64_t nanoseconds) {
    if (nanoseconds <= 0) return;
    struct timespec time = { nanoseconds / 1000000000, nanoseconds % 1000000000 };
    nanosleep(&time, NULL);
}
