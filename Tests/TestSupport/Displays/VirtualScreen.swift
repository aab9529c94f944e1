import CLinux
import Glibc
public import MediaTypes
import Processes

/// An X server without a screen (Xvfb) for one test: on a display number of its own, without TCP, without access
/// control.
public final class VirtualScreen: Sendable {
    /// The display's name, as in DISPLAY: ":7".
    public let name: String
    /// The size of its one screen.
    public let size: PictureSize
    private let server: ChildProcess

    /// Whether Xvfb is installed.
    public static var isAvailable: Bool { ProgramLookup.path(of: "Xvfb") != nil }

    /// Starts a server whose screen has `size` and `depth` bits a pixel. `options` are more options for Xvfb:
    /// `["-extension", "DAMAGE"]` makes a server without that extension.
    public init(_ size: PictureSize, depth: Int = 24, options: [String] = []) throws {
        var launch = Launch(
            "Xvfb",
            [
                "-displayfd", "3", "-screen", "0", "\(size.width)x\(size.height)x\(depth)", "-nolisten", "tcp", "-ac",
                "-noreset",
            ] + options)
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else {
            throw ProcessError.noResources(what: "pipe for the display's number", errno: errno)
        }
        defer { Glibc.close(ends[0]) }
        launch.descriptors = [3: ends[1]]
        launch.standardOutput = .null
        launch.standardError = .text(limit: 64 * 1024)
        let starting: ChildProcess
        do {
            starting = try ChildProcess(launch)
            Glibc.close(ends[1])
        } catch {
            Glibc.close(ends[1])
            throw error
        }
        var number: [UInt8] = []
        try eventually(
            "the X server's display number", within: .seconds(90),
            holds: {
                var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 0) > 0 else { return false }
                var buffer = [UInt8](repeating: 0, count: 32)
                let count = read(ends[0], &buffer, buffer.count)
                guard count > 0 else {
                    _ = starting.wait(within: .seconds(2))
                    throw VirtualScreenError.notStarted(starting.errorOutput?.text ?? "")
                }
                number += buffer[..<count]
                return number.last == UInt8(ascii: "\n")
            })
        name = ":" + String(decoding: number.dropLast(), as: UTF8.self)
        self.size = size
        server = starting
    }

    deinit { close() }

    /// The server's process.
    public var processID: Int32 { server.processID }

    /// What the server has written to its standard error.
    public var log: String { server.errorOutput?.text ?? "" }

    /// Suspends the server: it still takes connections and requests, but answers none.
    public func freeze() { server.terminate(SIGSTOP) }
    /// Lets the server go on.
    public func thaw() { server.terminate(SIGCONT) }

    /// Ends the server, and with it the connections of all its clients. Idempotent.
    public func close() {
        thaw()
        server.stop(within: .seconds(3))
    }
}

/// Why a virtual screen could not be started.
public enum VirtualScreenError: Error, CustomStringConvertible {
    /// The server ended at once; the text is what it wrote to standard error.
    case notStarted(String)

    public var description: String {
        switch self {
        case .notStarted(let text): "Xvfb did not start: \(text)"
        }
    }
}
