#pragma once
// How a process gives up system calls (seccomp(2)) and files (landlock(7)) for good. The filter is written by hand:
// libseccomp would need the same list and the same checks of arguments, and be one more library in two small programs.
// Nothing is included that declares a structure of the C library: it would count as this module's, and Swift files that
// use it with Glibc would not compile wherever this module happens to be loaded first.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define SHIM_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SHIM_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the numbers of system calls are known for x86_64 and aarch64 only"
#endif

// Instructions of the filter. A jump names how many instructions it skips where the condition holds, and where not.
#define SHIM_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define SHIM_FAIL(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define SHIM_JUMP(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, yes, no)
#define SHIM_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/// What the next `length` instructions decide is only about the call of this number.
#define SHIM_CALL(number, length) SHIM_JUMP(BPF_JEQ, number, 0, length)
#define SHIM_REFUSE_NUMBER(number) SHIM_CALL(number, 1), SHIM_FAIL(EPERM)
#define SHIM_REFUSE(call) SHIM_REFUSE_NUMBER(__NR_##call)

/// From now on, calls that a program that captures has no use for fail with EPERM: those that start programs, open
/// sockets of a family without its bit (1 << AF_UNIX) in `families`, accept connections, change files by their names,
/// reach other processes, or reach parts of the kernel that often had faults. 0, or an errno.
///
/// The process, whose number is `process`, must have given up gaining privileges (PR_SET_NO_NEW_PRIVS). What isn't for
/// all threads is for the calling thread, and for those that it starts.
static inline int shim_refuse_calls(uint32_t families, int for_all_threads, int process) {
    struct sock_filter filter[] = {
        // Calls in the manner of another architecture have other numbers.
        SHIM_LOAD(arch), SHIM_JUMP(BPF_JEQ, SHIM_ARCHITECTURE, 1, 0), SHIM_FAIL(EPERM),
        SHIM_LOAD(nr),
#if defined(__x86_64__)
        // Those of the x32 ABI.
        SHIM_JUMP(BPF_JGE, 0x40000000, 0, 1), SHIM_FAIL(EPERM),
        SHIM_REFUSE(fork), SHIM_REFUSE(vfork), SHIM_REFUSE(chmod), SHIM_REFUSE(chown), SHIM_REFUSE(lchown),
        SHIM_REFUSE(modify_ldt), SHIM_REFUSE(utime), SHIM_REFUSE(utimes), SHIM_REFUSE(futimesat),
#endif
        // Programs, and processes besides our threads (CLONE_THREAD). clone3(2) has its flags in memory, which a filter
        // can't read: glibc does without it, as on a kernel that doesn't have it.
        SHIM_REFUSE(execve), SHIM_REFUSE(execveat),
        SHIM_CALL(__NR_clone3, 1), SHIM_FAIL(ENOSYS),
        SHIM_CALL(__NR_clone, 4), SHIM_LOAD(args[0]), SHIM_JUMP(BPF_JSET, 0x10000, 0, 1), SHIM_ALLOW, SHIM_FAIL(EPERM),

        // Sockets. One of a pair can send datagrams to other Unix sockets, too. An argument's lower half comes first in
        // memory, and is all that the kernel reads of these.
        SHIM_JUMP(BPF_JEQ, __NR_socket, 1, 0), SHIM_CALL(__NR_socketpair, 8), SHIM_LOAD(args[0]),
        SHIM_JUMP(BPF_JGE, 32, 5, 0), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_IMM, 1),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0), SHIM_JUMP(BPF_JSET, families, 0, 1), SHIM_ALLOW, SHIM_FAIL(EPERM),
        SHIM_REFUSE(listen), SHIM_REFUSE(accept), SHIM_REFUSE(accept4),

        // Files, which are changed here without being opened.
        SHIM_REFUSE(fchmodat), SHIM_REFUSE_NUMBER(452 /* fchmodat2 */), SHIM_REFUSE(fchownat), SHIM_REFUSE(truncate),
        SHIM_REFUSE(setxattr), SHIM_REFUSE(lsetxattr), SHIM_REFUSE_NUMBER(463 /* setxattrat */),
        SHIM_REFUSE(removexattr), SHIM_REFUSE(lremovexattr), SHIM_REFUSE_NUMBER(466 /* removexattrat */),
        SHIM_REFUSE_NUMBER(469 /* file_setattr */), SHIM_REFUSE(utimensat), SHIM_REFUSE(open_by_handle_at),

        // Other processes. Signals may go to our own threads, and none into a terminal as if they were typed. No
        // descriptor may send a signal to another process, and no other process's limits may be set: 0 is this one.
        SHIM_REFUSE(ptrace), SHIM_REFUSE(process_vm_readv), SHIM_REFUSE(process_vm_writev), SHIM_REFUSE(kcmp),
        SHIM_REFUSE(pidfd_open), SHIM_REFUSE(pidfd_getfd), SHIM_REFUSE(pidfd_send_signal), SHIM_REFUSE(kill),
        SHIM_REFUSE(tkill), SHIM_REFUSE(rt_sigqueueinfo), SHIM_REFUSE(rt_tgsigqueueinfo),
        SHIM_CALL(__NR_tgkill, 4), SHIM_LOAD(args[0]), SHIM_JUMP(BPF_JEQ, (uint32_t)process, 0, 1), SHIM_ALLOW,
        SHIM_FAIL(EPERM),
        SHIM_CALL(__NR_fcntl, 5), SHIM_LOAD(args[1]), SHIM_JUMP(BPF_JEQ, 8 /* F_SETOWN */, 1, 0),
        SHIM_JUMP(BPF_JEQ, 15 /* F_SETOWN_EX */, 0, 1), SHIM_FAIL(EPERM), SHIM_ALLOW,
        SHIM_CALL(__NR_ioctl, 7), SHIM_LOAD(args[1]), SHIM_JUMP(BPF_JEQ, 0x5412 /* TIOCSTI */, 3, 0),
        SHIM_JUMP(BPF_JEQ, 0x541C /* TIOCLINUX */, 2, 0), SHIM_JUMP(BPF_JEQ, 0x8901 /* FIOSETOWN */, 1, 0),
        SHIM_JUMP(BPF_JEQ, 0x8902 /* SIOCSPGRP */, 0, 1), SHIM_FAIL(EPERM), SHIM_ALLOW,
        SHIM_CALL(__NR_prlimit64, 4), SHIM_LOAD(args[0]), SHIM_JUMP(BPF_JEQ, 0, 0, 1), SHIM_ALLOW, SHIM_FAIL(EPERM),

        // The kernel.
        SHIM_REFUSE(bpf), SHIM_REFUSE(perf_event_open), SHIM_REFUSE(io_uring_setup), SHIM_REFUSE(userfaultfd),
        SHIM_REFUSE(keyctl), SHIM_REFUSE(add_key), SHIM_REFUSE(request_key), SHIM_REFUSE(personality),
        SHIM_REFUSE(unshare), SHIM_REFUSE(setns), SHIM_REFUSE(mount), SHIM_REFUSE(umount2), SHIM_REFUSE(pivot_root),
        SHIM_REFUSE(chroot), SHIM_REFUSE(move_mount), SHIM_REFUSE(open_tree), SHIM_REFUSE(fsopen), SHIM_REFUSE(fspick),
        SHIM_REFUSE(fsmount), SHIM_REFUSE(mount_setattr), SHIM_REFUSE_NUMBER(467 /* open_tree_attr */),
        SHIM_REFUSE(init_module), SHIM_REFUSE(finit_module), SHIM_REFUSE(delete_module), SHIM_REFUSE(kexec_load),
        SHIM_REFUSE(kexec_file_load), SHIM_REFUSE(reboot), SHIM_REFUSE(swapon), SHIM_REFUSE(swapoff),
        SHIM_ALLOW,
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    extern long syscall(long number, ...);
    long flags = for_all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
    long result = syscall(__NR_seccomp, (long)SECCOMP_SET_MODE_FILTER, flags, &program);
    // A number above 0 is a thread that has another filter.
    return result == 0 ? 0 : result < 0 ? errno : EBUSY;
}

// Landlock's calls have the same numbers everywhere: 444 makes rules, 445 adds one, and 446 applies them. Debian 12's
// linux/landlock.h lacks some of what newer kernels have.

/// The version of Landlock that the kernel has; 0 if it has none, or was told not to use it.
static inline int shim_landlock_version(void) {
    extern long syscall(long number, ...);
    long version = syscall(444, NULL, 0L, 1L /* LANDLOCK_CREATE_RULESET_VERSION */);
    return version > 0 ? (int)version : 0;
}

/// All rights to files that this version of Landlock knows. Version 1 has 13. Later ones add those to link files into
/// other folders (2), to truncate them (3) and to control devices (5).
static inline uint64_t shim_landlock_all(int version) {
    return version >= 5 ? 0xFFFF : version >= 3 ? 0x7FFF : version >= 2 ? 0x3FFF : 0x1FFF;
}

/// New rules that allow no access to any file, nor to abstract Unix sockets and by signals to processes outside, as far
/// as this version of Landlock knows them: a descriptor, or -1 and errno. Descriptors that are open stay usable.
static inline int shim_landlock_rules(int version) {
    extern long syscall(long number, ...);
    struct { uint64_t files, ports, scopes; } refused = {
        .files = shim_landlock_all(version),
        .scopes = version >= 6 ? 3 : 0,
    };
    return (int)syscall(444, &refused, sizeof refused, 0L);
}

// LANDLOCK_ACCESS_FS_READ_FILE, _READ_DIR and _MAKE_DIR.
static const uint64_t shim_landlock_read_file = 1 << 2;
static const uint64_t shim_landlock_list = 1 << 3;
static const uint64_t shim_landlock_make_folder = 1 << 7;

/// O_PATH, which the Glibc module leaves out.
static const int32_t shim_path_only = 010000000;

/// Allows these rights to the file, or to the folder and all below it, that `place` is a descriptor of. To a file, the
/// kernel allows no right that only folders have.
static inline void shim_landlock_allow(int rules, int place, uint64_t rights) {
    extern long syscall(long number, ...);
    struct __attribute__((packed)) { uint64_t rights; int32_t place; } rule = {rights, place};
    syscall(445, (long)rules, 1L /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0L);
}

/// Applies the rules to this thread and those that it starts; 0, or an errno. The process must have given up gaining
/// privileges (PR_SET_NO_NEW_PRIVS).
static inline int shim_landlock_enter(int rules) {
    extern long syscall(long number, ...);
    return syscall(446, (long)rules, 0L) == 0 ? 0 : errno;
}
