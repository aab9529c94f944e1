import Glibc
import Synchronization

// libavformat calls srt_startup for each connection over SRT, even if it fails, and srt_cleanup at its end. Up to
// libsrt 1.5.1 (Debian 12) the library counts these calls. In 1.5.4 (Debian 13) the first srt_cleanup closes the
// sockets of all other connections of the process. So the program's own functions stand in front of the library's, and
// count. The last srt_cleanup still counts: only it frees the port of a connection that has listened.

/// The calls of `srt_startup` without one of `srt_cleanup`.
private let users = Mutex(0)

/// Calls libsrt's function of this name. Returns -1 without it.
private func callLibrary(_ name: StaticString) -> Int32 {
    // RTLD_NEXT (dlsym(3)), which isn't imported: the function of that name in a library after the program.
    let next = unsafe UnsafeMutableRawPointer(bitPattern: -1)
    guard let symbol = unsafe dlsym(next, "\(name)") else { return -1 }
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
