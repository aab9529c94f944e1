// What ThreadSanitizer has to be told of, since its runtime doesn't see it. Tools/sanitize links this into its programs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// `Mutex` of Swift's Synchronization. The compiler puts the first attempt to lock and to unlock, an atomic exchange, into the
// caller, where ThreadSanitizer sees it. A thread that has to wait calls into libswiftSynchronization.so, which is not
// instrumented: the kernel hands the lock over (FUTEX_LOCK_PI), and whatever the mutex protects looks like a race. The
// functions below take the place of the library's, call them, and say that the lock was taken or released. They are methods of
// Synchronization._MutexHandle, whose `self` is the address of the lock's word.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void annotated_lock(uint32_t thread, SELF void *self) __asm__(LOCK);
SWIFT bool annotated_try_lock(SELF void *self) __asm__(TRY_LOCK);
SWIFT void annotated_unlock(SELF void *self) __asm__(UNLOCK);

SWIFT void annotated_lock(uint32_t thread, SELF void *self) {
    typedef SWIFT void Method(uint32_t thread, SELF void *self);
    ((Method *)dlsym(RTLD_NEXT, LOCK))(thread, self);
    __tsan_acquire(self);
}

SWIFT bool annotated_try_lock(SELF void *self) {
    typedef SWIFT bool Method(SELF void *self);
    bool is_locked = ((Method *)dlsym(RTLD_NEXT, TRY_LOCK))(self);
    if (is_locked) __tsan_acquire(self);
    return is_locked;
}

SWIFT void annotated_unlock(SELF void *self) {
    typedef SWIFT void Method(SELF void *self);
    __tsan_release(self);
    ((Method *)dlsym(RTLD_NEXT, UNLOCK))(self);
}

// The runtime doesn't know this way to join a thread: it would take the next thread with the same handle for the old one, and
// give up. It knows pthread_tryjoin_np.
int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until) {
    for (;;) {
        int code = pthread_tryjoin_np(thread, value);
        if (code != EBUSY) return code;
        struct timespec now;
        clock_gettime(clock, &now);
        if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec)) return ETIMEDOUT;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
