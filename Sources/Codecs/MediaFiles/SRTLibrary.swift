import Glibc
import Synchronization

// The program's own functions stand in front of those of libsrt that libavformat misuses.
//
// libavformat calls srt_startup for each connection over SRT, even if it fails, and srt_cleanup at its end. Up to
// libsrt 1.5.1 (Debian 12) the library counts these calls. In 1.5.4 (Debian 13) the first srt_cleanup closes the
// sockets of all other connections of the process. So they are counted here.
//
// After srt_accept, libavformat forgets the socket that listened, so that the port stayed taken as long as anybody used
// libsrt. So it is closed here.

/// The calls of `srt_startup` without one of `srt_cleanup`.
private let users = Mutex(0)

/// libsrt's function of this name; nil without it.
private func libraryFunction(_ name: StaticString) -> UnsafeMutableRawPointer? {
    // RTLD_NEXT (dlsym(3)), which isn't imported: the function of that name in a library after the program.
    unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), "\(name)")
}

/// Calls libsrt's function of this name. Returns -1 without it.
private func callLibrary(_ name: StaticString) -> Int32 {
    guard let symbol = unsafe libraryFunction(name) else { return -1 }
    return unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
}

/// Starts libsrt for its first user; called by libavformat on any thread. Returns a negative number if that fails.
@c(srt_startup)
public func startSRT() -> Int32 {
    users.withLock { users in
        let result = users == 0 ? callLibrary("srt_startup") : 1
        // libavformat ends only what has started.
        if result >= 0 { users += 1 }
        return result
    }
}

/// Ends libsrt after its last user; called by libavformat on any thread. Returns 0.
@c(srt_cleanup)
public func endSRT() -> Int32 {
    users.withLock { users in
        guard users > 0 else { return 0 }
        users -= 1
        return users == 0 ? callLibrary("srt_cleanup") : 0
    }
}

/// Accepts a caller of the socket `listener`. Without a place for the caller's address, as libavformat calls it on any
/// thread, `listener` takes no further caller and is closed. Returns the caller's socket, or -1.
@c(srt_accept)
public func acceptSRT(
    _ listener: Int32, _ address: UnsafeMutableRawPointer?, _ length: UnsafeMutablePointer<Int32>?
) -> Int32 {
    typealias Accept =
        @convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> Int32
    guard let accept = unsafe libraryFunction("srt_accept"), let close = unsafe libraryFunction("srt_close") else {
        return -1
    }
    let caller = unsafe unsafeBitCast(accept, to: Accept.self)(listener, address, length)
    if caller >= 0, unsafe address == nil {
        _ = unsafe unsafeBitCast(close, to: (@convention(c) (Int32) -> Int32).self)(listener)
    }
    return caller
}
