import CLinux

/// How a process that receives messages all the time gets the memory for them.
public enum MessageMemory {
    /// Larger pieces of memory than this are got from the system and given back one by one: pictures that are not compressed.
    private static let largest: Int32 = 2 << 20
    /// So much free memory at the end of the heap is kept for the next message.
    private static let kept: Int32 = 8 << 20

    /// Keeps memory for the next message that the last one has freed, in place of giving it back to the system each time.
    ///
    /// For a host's program, at its beginning. Messages of 1 MB, which got fresh pages each time, went over a Unix socket at 0.4 of
    /// the speed of a plain copy before, and at 0.8 since (`Tools/bench/link`).
    public static func keep() {
        mallopt(M_MMAP_THRESHOLD, largest)
        mallopt(M_TRIM_THRESHOLD, kept)
    }
}
