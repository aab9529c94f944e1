#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// libavformat uses libsrt for srt://, and passes neither its statistics nor the connection's socket on. libsrt is in
// the process if libavformat can do SRT, under a name that depends on the system, so its functions are found at run
// time. Declarations are those of srt.h 1.5, which extends those of 1.4.2.

/// What libsrt counts of a connection: the part of CBytePerfMon up to the last field that is read.
struct shim_srt_statistics {
    int64_t time;
    int64_t sent_packets, received_packets;
    int32_t lost_packets, missed_packets, retransmitted_packets;
    int32_t acknowledgements[4];
    int64_t sending_time;
    int32_t dropped_packets, dropped_received_packets, undecrypted_packets;
    uint64_t totals[7];
    int64_t packets[2];
    int32_t counts[8];
    double rates[2];
    int64_t busy_time;
    int32_t reordering;
    double belated_time;
    int64_t belated_packets;
    int32_t drops[3];
    uint64_t bytes[7];
    double period;
    int32_t windows[3];
    double round_trip;
    double bandwidth;
    int32_t free_buffers[2];
    double highest_bandwidth;
    int32_t packet_size;
    int32_t waiting_packets, waiting_bytes, waiting_time;
};

_Static_assert(offsetof(struct shim_srt_statistics, dropped_packets) == 64, "CBytePerfMon.pktSndDropTotal");
_Static_assert(offsetof(struct shim_srt_statistics, round_trip) == 328, "CBytePerfMon.msRTT");
_Static_assert(offsetof(struct shim_srt_statistics, waiting_time) == 372, "CBytePerfMon.msSndBuf");

/// The connected socket with this size of UDP send buffer, which no other may have; -1 if there is none, or no libsrt
/// that is known.
static inline int shim_srt_socket(int send_buffer) {
    enum { udp_send_buffer = 8, is_connected = 5, searched = 512 };
    uint32_t (*version)(void) = (uint32_t(*)(void))dlsym(NULL, "srt_getversion");
    int (*create)(void) = (int (*)(void))dlsym(NULL, "srt_create_socket");
    int (*end)(int) = (int (*)(int))dlsym(NULL, "srt_close");
    int (*state)(int) = (int (*)(int))dlsym(NULL, "srt_getsockstate");
    int (*option)(int, int, void *, int *) = (int (*)(int, int, void *, int *))dlsym(NULL, "srt_getsockflag");
    if (!version || !create || !end || !state || !option) return -1;
    if (version() < 0x010402 || version() >= 0x010600) return -1;
    // Each socket's number is one less than that of the socket before.
    int newest = create();
    if (newest < 0 || newest > INT32_MAX - searched) return -1;
    end(newest);
    for (int socket = newest + 1; socket <= newest + searched; socket++) {
        int value = 0, length = sizeof value;
        if (option(socket, udp_send_buffer, &value, &length) == 0 && value == send_buffer &&
            state(socket) == is_connected)
            return socket;
    }
    return -1;
}

/// Reads what libsrt has counted; 0 if that worked. The socket may be closed meanwhile.
static inline int shim_srt_read(int socket, struct shim_srt_statistics *statistics) {
    int (*read)(int, void *, int, int) = (int (*)(int, void *, int, int))dlsym(NULL, "srt_bistats");
    if (!read) return -1;
    // Newer versions write more.
    union {
        struct shim_srt_statistics known;
        uint8_t bytes[4096];
    } all;
    int code = read(socket, &all, 0, 0);
    if (code == 0) *statistics = all.known;
    return code;
}
