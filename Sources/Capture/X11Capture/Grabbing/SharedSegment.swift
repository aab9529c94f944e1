import CLinux
import CXCB
import Glibc

/// Memory that the X server writes pictures into (MIT-SHM).
final class SharedSegment {
    let base: UnsafeMutableRawPointer
    let count: Int
    let identifier: xcb_shm_seg_t
    private let connection: X11Connection
    private let isSystemV: Bool

    /// Creates an anonymous file whose descriptor is passed to the server (MIT-SHM 1.2). Nothing is left behind,
    /// however the process ends.
    ///
    /// Returns nil if the server is older or refuses; throws if our own system refuses.
    static func shmFD(_ connection: X11Connection, count: Int) throws(X11CaptureError) -> SharedSegment? {
        guard connection.isLocal, try version(connection) >= (1, 2) else { return nil }
        let file = memfd_create("screenrelay-picture", shim_MFD_CLOEXEC)
        if file < 0 { throw .system(call: "memfd_create", code: errno) }
        defer { close(file) }
        if ftruncate(file, off_t(count)) != 0 { throw .system(call: "ftruncate", code: errno) }
        guard let base = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED else {
            throw .system(call: "mmap", code: errno)
        }
        // xcb closes the descriptor that it sends.
        let sent = fcntl(file, F_DUPFD_CLOEXEC, 0)
        if sent < 0 {
            let code = errno
            munmap(base, count)
            throw .system(call: "fcntl(F_DUPFD_CLOEXEC)", code: code)
        }
        let identifier = xcb_generate_id(connection.handle)
        guard connection.succeeds(xcb_shm_attach_fd_checked(connection.handle, identifier, sent, 0)) else {
            munmap(base, count)
            return nil
        }
        return SharedSegment(base, count: count, identifier: identifier, connection: connection, isSystemV: false)
    }

    /// Creates a System V segment and marks it for removal before the server is told about it. Linux still lets it be
    /// attached, and the kernel removes it with the last process that uses it.
    static func shmSegment(_ connection: X11Connection, count: Int) throws(X11CaptureError) -> SharedSegment? {
        // On another machine, the identifier could be that of another segment.
        guard connection.isLocal, try version(connection) >= (1, 0) else { return nil }
        let segment = shmget(0 /* IPC_PRIVATE */, count, IPC_CREAT | 0o600)
        if segment < 0 { throw .system(call: "shmget", code: errno) }
        let address = shmat(segment, nil, 0)
        let code = errno
        shmctl(segment, IPC_RMID, nil)
        // shmat(2) reports a failure with an address of -1.
        guard let base = address, Int(bitPattern: base) != -1 else { throw .system(call: "shmat", code: code) }
        let identifier = xcb_generate_id(connection.handle)
        let attached = xcb_shm_attach_checked(connection.handle, identifier, UInt32(bitPattern: segment), 0)
        guard connection.succeeds(attached) else {
            shmdt(base)
            return nil
        }
        return SharedSegment(base, count: count, identifier: identifier, connection: connection, isSystemV: true)
    }

    private init(
        _ base: UnsafeMutableRawPointer, count: Int, identifier: xcb_shm_seg_t, connection: X11Connection,
        isSystemV: Bool
    ) {
        self.base = base
        self.count = count
        self.identifier = identifier
        self.connection = connection
        self.isSystemV = isSystemV
    }

    /// Unmaps the whole pages of a range for now. They keep what is in them, and are mapped again when they are used.
    func release(from start: Int, to end: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let (first, last) = ((start + page - 1) / page * page, min(end, count) / page * page)
        if last > first { madvise(base + first, last - first, MADV_DONTNEED) }
    }

    deinit {
        xcb_shm_detach(connection.handle, identifier)
        xcb_flush(connection.handle)
        if isSystemV { shmdt(base) } else { munmap(base, count) }
    }

    /// The server's version of MIT-SHM; (0, 0) if it has none.
    private static func version(_ connection: X11Connection) throws(X11CaptureError) -> (UInt16, UInt16) {
        guard connection.firstEvent(of: shim_xcb_shm_id()) != nil else { return (0, 0) }
        let cookie = xcb_shm_query_version(connection.handle)
        let version = try connection.reply(to: "ShmQueryVersion") {
            xcb_shm_query_version_reply(connection.handle, cookie, &$0)
        }
        defer { free(version) }
        return (version.pointee.major_version, version.pointee.minor_version)
    }
}
