import Glibc

/// A file that is written sequentially, and in which earlier bytes may be overwritten. Closes itself when it is
/// released.
final class OutputFile {
    /// The offset of the next byte.
    private(set) var offset: UInt64 = 0
    private var descriptor: Int32

    /// Creates the file, or truncates an existing one.
    init(path: String) throws(MediaFileError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw MediaFileError(errno: errno) }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Appends `first` and then `second`.
    func write(_ first: [UInt8], _ second: [UInt8] = []) throws(MediaFileError) {
        let total = first.count + second.count
        var done = 0
        while done < total {
            let count = first.withUnsafeBytes { first in
                second.withUnsafeBytes { second in
                    let skipped = min(done, first.count)
                    let rest = first[skipped...]
                    let more = second[(done - skipped)...]
                    var pieces = [
                        iovec(
                            iov_base: UnsafeMutableRawPointer(
                                mutating: UnsafeRawBufferPointer(rebasing: rest).baseAddress),
                            iov_len: rest.count),
                        iovec(
                            iov_base: UnsafeMutableRawPointer(
                                mutating: UnsafeRawBufferPointer(rebasing: more).baseAddress),
                            iov_len: more.count),
                    ]
                    return writev(descriptor, &pieces, 2)
                }
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw MediaFileError(errno: count < 0 ? errno : ENOSPC) }
            done += count
        }
        offset += UInt64(total)
    }

    /// Overwrites existing bytes.
    func write(_ bytes: [UInt8], at place: UInt64) throws(MediaFileError) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(clamping: place) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw MediaFileError(errno: count < 0 ? errno : ENOSPC) }
            done += count
        }
    }

    /// Closes the file. Throws if the system reports only now that data could not be written.
    func close() throws(MediaFileError) {
        let open = descriptor
        descriptor = -1
        if open >= 0, Glibc.close(open) != 0 { throw MediaFileError(errno: errno) }
    }
}
