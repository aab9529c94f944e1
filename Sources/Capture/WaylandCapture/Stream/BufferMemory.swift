import Glibc

/// The memory of one buffer, for reading. A file that the sender makes shorter afterwards is noticed before its pixels
/// are read.
final class BufferMemory {
    /// The address of the first byte.
    let base: UnsafeRawPointer
    /// The number of bytes.
    let count: Int
    private let mapping: Mapping?

    private struct Mapping {
        var base: UnsafeMutableRawPointer
        var count: Int
        var file: Int32
        /// The number of bytes that the file must have.
        var end: Int
    }

    /// Memory that libpipewire has mapped, and unmaps after this object is gone.
    init(mapped base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
        mapping = nil
    }

    /// Maps `count` bytes of a file from `offset` on. The file stays open as long as the buffer exists.
    init(file: Int32, offset: Int, count: Int) throws(BufferFault) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        // The numbers have 32 bits, so these sums can't overflow.
        let start = offset / page * page
        let end = offset + count
        guard count > 0 else { throw .noMemory }
        try Self.check(file, hasBytes: end)
        guard let mapped = mmap(nil, end - start, PROT_READ, MAP_SHARED, file, off_t(start)), mapped != MAP_FAILED
        else { throw .notMapped(code: errno) }
        mapping = Mapping(base: mapped, count: end - start, file: file, end: end)
        base = UnsafeRawPointer(mapped + (offset - start))
        self.count = count
    }

    deinit {
        if let mapping { munmap(mapping.base, mapping.count) }
    }

    /// Checks that all of the memory is still there: reading behind the end of a file ends the process.
    func check() throws(BufferFault) {
        if let mapping { try Self.check(mapping.file, hasBytes: mapping.end) }
    }

    /// Releases the pages for now: they keep what is in them, and are mapped again when they are read. That takes three
    /// times as long as comparing them, so it is done only while no pictures are needed. The pages are the sender's and
    /// exist anyway, but what is mapped counts as memory of this process as well (RssShmem).
    func release() {
        if let mapping { madvise(mapping.base, mapping.count, MADV_DONTNEED) }
    }

    private static func check(_ file: Int32, hasBytes needed: Int) throws(BufferFault) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .notMapped(code: errno) }
        guard Int(status.st_size) >= needed else { throw .fileTooShort(bytes: Int(status.st_size), needed: needed) }
    }
}
