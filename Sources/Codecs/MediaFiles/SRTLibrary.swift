import Glibc
import Synchronization

// The program's own functions stand in front of some of libsrt's, which libavformat calls.
//
// libavformat calls srt_startup for each connection over SRT, even if it fails, and srt_cleanup at its end. Up to
// libsrt 1.5.1 (Debian 12) the library counts these calls. In 1.5.4 (Debian 13) the first srt_cleanup closes the
// sockets of all other connections of the process. So they are counted here.
//
// libavformat doesn't tell the socket of a connection, which has libsrt's counters. So srt_connect and srt_accept note
// it.

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

/// The socket of the last connection of each thread that has asked for it; -1 before there is one.
private let noted = Mutex<[pthread_t: Int32]>([:])

/// Returns the socket with which `connect` has made a connection over SRT on this thread; -1 if it made none.
func socketOfSRT(connectedBy connect: () -> Void) -> Int32 {
    let thread = pthread_self()
    noted.withLock { $0[thread] = -1 }
    connect()
    return noted.withLock { $0.removeValue(forKey: thread) } ?? -1
}

private func note(_ socket: Int32) {
    noted.withLock { noted in
        let thread = pthread_self()
        if noted[thread] != nil { noted[thread] = socket }
    }
}

/// Connects `socket` as libsrt does; called by libavformat on any thread.
@c(srt_connect)
public func connectSRT(_ socket: Int32, _ address: UnsafeRawPointer?, _ length: Int32) -> Int32 {
    typealias Connect = @convention(c) (Int32, UnsafeRawPointer?, Int32) -> Int32
    guard let connect = unsafe libraryFunction("srt_connect") else { return -1 }
    note(socket)
    return unsafe unsafeBitCast(connect, to: Connect.self)(socket, address, length)
}

/// Accepts a caller as libsrt does; called by libavformat and the SRT server, on any thread. Returns the caller's
/// socket, or -1.
@c(srt_accept)
public func acceptSRT(
    _ listener: Int32, _ address: UnsafeMutableRawPointer?, _ length: UnsafeMutablePointer<Int32>?
) -> Int32 {
    typealias Accept = @convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> Int32
    guard let accept = unsafe libraryFunction("srt_accept") else { return -1 }
    let caller = unsafe unsafeBitCast(accept, to: Accept.self)(listener, address, length)
    note(caller)
    return caller
}
