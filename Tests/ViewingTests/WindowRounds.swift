import FoundationEssentials
import Glibc
import MediaTypes
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Viewing

/// Opens and closes a viewer's window again and again in this process, which must do nothing else meanwhile.
enum WindowRounds {
    /// What is viewed, and with what.
    struct Setting {
        /// The path of a recording with pictures and sound, longer than a round.
        let recording: String
        /// The path of screenrelay-sound, and the address of the server to which it plays; nil for no sound.
        let sound: (program: String, server: String)?
        let count: Int
    }

    /// The most memory that all rounds after the first tenth may add, in KiB.
    private static let maxGrowth = 8 * 1024

    /// On an X display of `size`, whose server has this process id. The user closes the window once it shows a picture.
    static func onX11(_ display: String, _ server: Int32, size: PictureSize, _ setting: Setting) throws {
        prepare(setting)
        let client = try DisplayClient(display)
        try run(setting, server: server) {
            let viewer = try WindowedViewer(setting.recording, display: display, sound: setting.sound?.program)
            let window = try eventually("a picture in the window") {
                try viewer.requireRunning()
                let window = client.topWindow(at: (x: size.width / 2, y: size.height / 2))
                return window != 0 && showsPicture(client, size) ? window : nil
            }
            try viewer.waitForSound(isExpected: setting.sound != nil)
            client.close(window)
            try viewer.waitForEnd()
        }
    }

    /// On a Wayland compositor of its own. The user closes the window with Alt+F4, which a compositor only does to a
    /// window that it shows: so one that has a picture.
    static func onWayland(_ setting: Setting) throws {
        prepare(setting)
        let desktop = try WaylandDesktop([.screen], size: PictureSize(width: 640, height: 480))
        for (name, value) in desktop.environment {
            if let value { setenv(name, value, 1) } else { unsetenv(name) }
        }
        try run(setting) {
            let viewer = try WindowedViewer(setting.recording, display: nil, sound: setting.sound?.program)
            try eventually(
                "a drawn picture",
                holds: {
                    try viewer.requireRunning()
                    return try Holdings.images(of: getpid()) > 0
                })
            try viewer.waitForSound(isExpected: setting.sound != nil)
            try eventually(
                "the window is closed",
                holds: {
                    // 56 is the left Alt key, and 62 is F4. The window may not have the keyboard yet.
                    try desktop.tell("press 56 62")
                    return viewer.hasEnded(within: .seconds(2))
                })
            try viewer.waitForEnd()
        }
    }

    private static func prepare(_ setting: Setting) {
        // As the program does: the player of the sound may end first.
        signal(SIGPIPE, SIG_IGN)
        if let sound = setting.sound { setenv("PULSE_SERVER", sound.server, 1) }
    }

    /// Does all rounds, and compares what the process holds after the last one with what it held after the first tenth.
    private static func run(_ setting: Setting, server: Int32? = nil, round: () throws -> Void) throws {
        // The first ones fill what is kept for good: caches, and the memory that the allocator holds.
        let early = max(2, setting.count / 10)
        for _ in 0..<early { try round() }
        let before = try eventually("windows without images") { () -> Holdings? in
            // The server learns later than this process that a window is gone.
            let held = try Holdings(server: server)
            return held.images == 0 && held.serverImages == 0 ? held : nil
        }
        for _ in early..<setting.count { try round() }
        // A thread, or the server, may be about to let go of something.
        var after = before
        let settled: Void? = try? eventually(
            "no more than before", within: .seconds(10),
            holds: {
                after = try Holdings(server: server)
                return after.isAtMost(before)
            })
        #expect(settled != nil, "\(before) after \(early) rounds, \(after) after \(setting.count)")
        // A sanitizer has an allocator of its own, which keeps what was freed.
        let isSanitized = getenv("ASAN_OPTIONS") != nil
        #expect(
            isSanitized || after.resident - before.resident < maxGrowth,
            "\(before) after \(early) rounds, \(after) after \(setting.count)")
        print("windows: \(setting.count); after \(early): \(before); at the end: \(after)")
    }

    /// Whether the screen shows more than the black ground of a window.
    private static func showsPicture(_ client: DisplayClient, _ size: PictureSize) -> Bool {
        guard let bytes = client.pixels(of: size) else { return false }
        let bright = stride(from: 0, to: bytes.count - 3, by: 4).count { bytes[$0] > 32 && bytes[$0 + 1] > 32 }
        return bright > size.width * size.height / 4
    }
}

/// One run of the viewer with a window, on a thread of its own.
private final class WindowedViewer: Sendable {
    private let end = Mutex<ViewEnd?>(nil)
    private let lines = Mutex<[String]>([])
    private let thread = Mutex<NamedThread?>(nil)

    /// The size of the pipe to the player of the sound in bytes, which no other pipe of this process has.
    private static let soundPipe: Int32 = 16 << 10
    /// F_GETPIPE_SZ (fcntl(2)), which Glibc does not name.
    private static let getPipeSize: Int32 = 1032

    /// Begins to view `recording`.
    init(_ recording: String, display: String?, sound: String?) throws {
        let place = try ViewPlace(recording)
        let started = NamedThread("view") { [self] in
            var settings = ViewRun.Settings()
            settings.showsWindow = true
            (settings.display, settings.soundProgram) = (display, sound)
            let log = EventLog { [self] _, line in lines.withLock { $0.append(line) } }
            // Releases the run, and with it the window, the decoder and the sound, before it says that it has ended.
            let result = ViewRun(place, settings, signals: -1, log: log) { _ in true }.run()
            end.withLock { $0 = result }
        }
        let running = try #require(started)
        thread.withLock { $0 = running }
    }

    /// Throws if it has ended.
    func requireRunning() throws {
        if let end = end.withLock({ $0 }) { throw Ended(reason: end.reason, lines: lines.withLock { $0 }) }
    }

    /// Waits until it plays sound; with no sound expected, does nothing.
    func waitForSound(isExpected: Bool) throws {
        guard isExpected else { return }
        try eventually(
            "sound",
            holds: {
                try requireRunning()
                return Holdings.descriptors().contains { fcntl($0, Self.getPipeSize) == Self.soundPipe }
            })
    }

    /// Whether it ends within this time.
    func hasEnded(within limit: Interval) -> Bool {
        let ended: Void? = try? eventually("the viewer's end", within: limit, holds: { end.withLock { $0 != nil } })
        return ended != nil
    }

    /// Waits until it has ended because its window was closed.
    func waitForEnd() throws {
        try eventually("the viewer's end", holds: { end.withLock { $0 != nil } })
        thread.withLock { $0.take() }?.join()
        let reason = end.withLock { $0?.reason }
        let lines = lines.withLock { $0 }
        #expect(reason == nil && lines.isEmpty, "\(reason ?? "") \(lines)")
    }

    private struct Ended: Error {
        let reason: String?
        let lines: [String]
    }
}

/// What this process holds.
private struct Holdings: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    /// Mappings of memory that may be shared: files without a name, POSIX's and System V's segments.
    let segments: Int
    /// Those of them that are images of windows.
    let images: Int
    /// The images that the X server has mapped; 0 without one.
    let serverImages: Int
    /// Memory of its own that is resident, in KiB.
    let resident: Int

    init(server: Int32?) throws {
        descriptors = Self.descriptors().count
        threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        segments = try Self.mappings(of: getpid()) { name in
            ["/memfd:", "/dev/shm/", "/SYSV"].contains { name.hasPrefix($0) }
        }
        images = try Self.images(of: getpid())
        serverImages = try server.map { try Self.images(of: $0) } ?? 0
        let status = String(decoding: try fileBytes("/proc/self/status"), as: UTF8.self).split(separator: "\n")
        resident = try ["RssAnon", "RssShmem"].reduce(0) { sum, name in
            let words = status.first { $0.hasPrefix(name + ":") }?.split { $0 == " " || $0 == "\t" } ?? []
            return sum + (try #require(words.count > 1 ? Int(words[1]) : nil, "\(name)"))
        }
    }

    /// Whether nothing is more, apart from memory.
    func isAtMost(_ other: Holdings) -> Bool {
        descriptors <= other.descriptors && threads <= other.threads && segments <= other.segments
            && images <= other.images && serverImages <= other.serverImages
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(segments) shared segments, \(images) images, "
            + "\(serverImages) at the server, \(resident) KiB"
    }

    /// The open descriptors. One of them was open for reading the list.
    static func descriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }
    }

    /// How many images of viewers' windows a process has mapped.
    static func images(of process: Int32) throws -> Int {
        try mappings(of: process) { $0.hasPrefix("/memfd:screenrelay-view") }
    }

    /// How many mappings a process has whose names fit.
    private static func mappings(of process: Int32, fits: (Substring) -> Bool) throws -> Int {
        let lines = String(decoding: try fileBytes("/proc/\(process)/maps"), as: UTF8.self).split(separator: "\n")
        return lines.count { line in
            // address permissions offset device inode name
            let fields = line.split(separator: " ", maxSplits: 5)
            return fields.count > 5 && fits(fields[5].drop { $0 == " " })
        }
    }
}
