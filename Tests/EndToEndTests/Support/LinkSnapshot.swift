import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

/// The picture that a room shows: fetched by `screenrelay snapshot`, read by FFmpeg.
struct LinkSnapshot {
    let picture: ScenePicture

    /// Takes a snapshot, which has to succeed, with the changes in `environment`.
    init(of link: String, track: String? = nil, environment: [String: String] = [:]) throws {
        let folder = try TemporaryFolder()
        let choice = track.map { ["--track", $0] } ?? []
        // A host with a capture that rested waits 3 s for its picture, which may be too short on a busy machine.
        let run = try eventually("an answer that isn't: no picture yet", within: .seconds(120)) {
            let run = try CommandLineRun(
                ["screenrelay", "snapshot", link, "-o", folder.file("s.png")] + choice, environment: environment)
            return run.errorOutput.contains("no picture") ? nil : run
        }
        guard run.status == .exited(0) else {
            throw ProgramEnded(status: run.status ?? .signaled(9), log: run.errorOutput)
        }
        let png = try fileBytes(folder.file("s.png"))
        // The width and height are at the beginning of the first chunk, IHDR (PNG, section 11.2.2).
        try #require(png.count > 24)
        func number(_ at: Int) -> Int { png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let decoded = try FFmpeg.decode(folder.file("s.png"))
        #expect(decoded.messages.isEmpty)
        picture = try #require(ScenePicture(bytes: decoded.bytes, width: number(16), height: number(20)))
    }

    /// The scene's counter.
    var counter: Int? { PatchScene.counterValue(in: picture) }

    /// The counter that the screen itself shows now, as grabbed by FFmpeg.
    static func counter(on screen: VirtualScreen) throws -> Int {
        let size = screen.size
        return try eventually("a picture of the screen that isn't torn") {
            let grabbed = try FFmpeg.grab(display: screen.name, width: size.width, height: size.height)
            return PatchScene.counterValue(inRGB: grabbed.bytes, width: size.width, height: size.height)
        }
    }
}

extension SharedDesktop {
    /// Expects the room to show the screen as it is now: no older than what FFmpeg grabs before, no newer than what it
    /// grabs after.
    @discardableResult
    func expectCurrentPicture(_ comment: Comment, link other: String? = nil) throws -> Int {
        var (before, shown, after) = (0, 0, 0)
        // A picture that the capture took earlier and could only send now counts as new, so try again: the next one
        // follows it.
        for _ in 0..<3 {
            before = try LinkSnapshot.counter(on: screen)
            shown = try #require(try LinkSnapshot(of: other ?? link).counter, comment)
            after = try LinkSnapshot.counter(on: screen)
            if before <= shown { break }
        }
        #expect(before <= shown && shown <= after, comment)
        return shown
    }
}
