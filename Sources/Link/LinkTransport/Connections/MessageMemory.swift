import CLinux

/// Configures the memory allocation of a process that receives messages all the time.
public enum MessageMemory {
    /// The size in bytes above which memory is mapped from the system and returned individually, as for uncompressed
    /// pictures.
    private static let mapThreshold: Int32 = 2 << 20
    /// The number of free bytes at the end of the heap that are kept for the next message.
    private static let kept: Int32 = 8 << 20

    /// Keeps freed memory for the next message instead of returning it to the system each time.
    ///
    /// Call it when a host program starts. Messages of 1 MB used to get fresh pages each time and crossed a Unix socket
    /// at 0.4 of the speed of a plain copy; now they reach 0.8 (`Tools/bench/link`).
    public static func keep() {
        mallopt(M_MMAP_THRESHOLD, mapThreshold)
        mallopt(M_TRIM_THRESHOLD, kept)
    }
}
