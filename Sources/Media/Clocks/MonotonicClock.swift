import Glibc
public import MediaTypes

extension MonotonicTime {
    /// The current time of CLOCK_MONOTONIC.
    public static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension Interval {
    /// The time since 1970 by CLOCK_REALTIME, which may be set at any moment.
    public static func sinceUnixEpoch() -> Interval {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC now. The host reads this once, when it starts, so that a
    /// later step of the wall clock does not look like a jump in the media.
    public static func unixOffsetOfMonotonicClock() -> Interval {
        sinceUnixEpoch() - (MonotonicTime.now() - .zero)
    }

    /// The CPU time that the calling thread has taken since it began. A system call.
    public static func cpuTimeOfThisThread() -> Interval {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Interval(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
