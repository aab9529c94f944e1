import Glibc
import MediaTypes
import Processes
import ScreenRelayKit
import TestSupport
import Testing

@Suite("The example that mirrors a room", .enabled(if: builtProgram("mirror") != nil))
struct MirrorTests {
    private let size = PictureSize(width: 128, height: 96)

    private func start(_ arguments: [String]) throws -> ChildProcess {
        var launch = Launch(try #require(builtProgram("mirror")), arguments)
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        return try ChildProcess(launch)
    }

    /// A picture with the columns of `picture` in the other order.
    private func mirrored(_ picture: I420Picture) -> I420Picture {
        var result = picture
        for plane in [I420Picture.Plane.luma, .blueDifference, .redDifference] {
            let isLuma = if case .luma = plane { true } else { false }
            let (width, height) =
                isLuma ? (picture.size.width, picture.size.height) : (picture.chromaWidth, picture.chromaHeight)
            for row in 0..<height {
                for column in 0..<width { result[plane, column, row] = picture[plane, width - 1 - column, row] }
            }
        }
        return result
    }

    @Test("counts the frames of the first track, and publishes its pictures left to right", .timeLimit(.minutes(10)))
    func mirror() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        let source = try room.publishPictures()
        let written = I420Picture.slanted(size, shade: 60)
        let expected = mirrored(written)
        #expect(expected.likeness(to: written) < 28)
        source.write(picture: written)
        let program = try start([room.presentersLink])
        func said(_ words: String) -> Bool { program.output?.text.contains(words) == true }
        try await awaited("the frames") { said("frame 1 of screen, ") }
        try await awaited("the publication") { said("published mirror\n") }
        let track = try #require(room.host.track("mirror", in: "screen"))
        for try await picture in track.pictures where picture.likeness(to: expected) > 30 { break }
        // Not only the first picture.
        let next = I420Picture.slanted(size, shade: 140)
        source.write(picture: next)
        for try await picture in track.pictures where picture.likeness(to: mirrored(next)) > 30 { break }
        program.terminate(SIGTERM)
        #expect(program.wait(within: .seconds(30)) != nil)
        #expect(!said(ClientRoom.presentingToken))
        source.end(reason: "it was a test")
    }

    @Test("a link that can't be used, and a room that isn't entered, are said in one line", .timeLimit(.minutes(10)))
    func mistakes() async throws {
        let room = try ClientRoom()
        defer { room.stop() }
        for (arguments, status, words) in [
            ([], 64, "usage: mirror LINK\n"), (["nothing"], 65, "mirror: the address can't be read"),
            ([room.link + "x"], 69, "mirror: the host refuses the room or its token\n"),
        ] as [([String], Int32, String)] {
            let program = try start(arguments)
            try await awaited("its end") { program.poll() != nil }
            #expect(program.poll() == .exited(status))
            program.output?.waitForEnd(within: .seconds(2))
            #expect(program.output?.text.contains(words) == true, "\(program.output?.text ?? "")")
        }
    }
}
