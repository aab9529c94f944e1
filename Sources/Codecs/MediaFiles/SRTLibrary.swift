import Glibc

// libavformat calls srt_startup for each connection over SRT, even if it fails, and srt_cleanup at its end. Up to
// libsrt 1.5.1 (Debian 12) the library counts these calls. In 1.5.4 (Debian 13) the first srt_cleanup closes the
// sockets of all other connections of the process. So the program's own functions replace the library's: libsrt is
// started once, and ends with the process, as its destructor does for a user that has never called srt_cleanup.

/// What libsrt's `srt_startup` has returned; -1 without it.
private let started: Int32 = {
    // RTLD_NEXT (dlsym(3)), which isn't imported: the function of that name in a library after the program.
    let next = unsafe UnsafeMutableRawPointer(bitPattern: -1)
    guard let symbol = unsafe dlsym(next, "srt_startup") else { return -1 }
    return unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
}()

/// Starts libsrt at the first call; called by libavformat on any thread. Returns a negative number if that fails.
@c(srt_startup)
public func startSRT() -> Int32 { started }

/// Does nothing; called by libavformat on any thread. Returns 0.
@c(srt_cleanup)
public func keepSRT() -> Int32 { 0 }
