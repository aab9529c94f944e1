#pragma once
// System calls that Swift can't make by itself, or not cheaply enough: batches of datagrams with the times at which the
// kernel received them, epoll, and segmentation offload. A function that fails returns -1 and sets errno.
#include <stddef.h>
#include <stdint.h>

/// The most datagrams of one call of cbench_receive.
static const int32_t cbench_batch = 32;
/// The room for each of them in bytes.
static const int32_t cbench_room = 2048;

/// A datagram that was received; one that was longer than the room counts as empty.
struct cbench_datagram {
    uint32_t count;
    /// Nanoseconds of CLOCK_REALTIME.
    int64_t arrival;
};

/// A non-blocking UDP socket, with arrival times, that is connected to a numeric address.
int cbench_udp_connected(const char *address, uint16_t port);

/// A UDP socket, with arrival times, on a free port of 127.0.0.1.
int cbench_udp_loopback(void);

/// Connects a socket to a port of 127.0.0.1.
int cbench_connect_loopback(int fd, uint16_t port);

/// The port that a socket is bound to; 0 if there is none.
uint16_t cbench_port(int fd);

/// The number of datagrams for which a socket had no room.
uint32_t cbench_drops(int fd);

/// Receives what waits, at most cbench_batch datagrams: the first one to `buffer`, each further one cbench_room bytes
/// after the one before. Doesn't block. Returns their number; 0 if none waits, even after an ICMP error. For one thread.
int cbench_receive(int fd, void *buffer, struct cbench_datagram *datagrams);

/// Sends one datagram from an unconnected socket to a port of 127.0.0.1.
int cbench_send_to(int fd, uint16_t port, const void *bytes, size_t count);

/// Sends `count` bytes in one call as datagrams of `segment` bytes each (UDP_SEGMENT).
int cbench_send_segments(int fd, uint16_t port, const void *bytes, size_t count, uint16_t segment);

int cbench_epoll(void);

/// Adds a descriptor that is read, under a number.
int cbench_epoll_add(int epoll, int fd, uint64_t number);

int cbench_epoll_remove(int epoll, int fd);

/// Waits for descriptors that can be read, and writes at most `room` of their numbers; returns how many, 0 after a
/// signal.
int cbench_epoll_wait(int epoll, uint64_t *numbers, int room, int milliseconds);

/// A connection over TCP; each read and write fails after so many seconds. `host` may be a name.
int cbench_tcp(const char *host, const char *port, int seconds);

/// Binds the calling thread, and those that it starts later, to one processor.
int cbench_pin(int processor);

/// Raises the limit of open files as far as allowed; returns the limit.
int64_t cbench_raise_files(void);

/// The CPU time of the calling thread in nanoseconds.
int64_t cbench_cpu_time(void);

/// Sleeps, less if a signal arrives.
void cbench_sleep(int64_t nanoseconds);
