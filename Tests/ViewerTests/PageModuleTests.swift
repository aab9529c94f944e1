import Foundation
import Processes
import TestSupport
import Testing

/// The parts of the page that only compute, run by node. The tests of them are modules in `page`.
@Suite("The page's reckoning", .enabled(if: ProgramLookup.path(of: "node") != nil))
struct PageModuleTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "page").path
    private static let files: [String] = {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: folder)
        return (names ?? []).filter { $0.hasSuffix(".test.mjs") }.sorted()
    }()

    private func node(_ arguments: [String]) throws -> (status: ProcessStatus?, output: String) {
        var launch = Launch("node", arguments)
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        let result = try ChildProcess.run(launch, within: .seconds(90))
        return (result.status, result.output + result.errorOutput)
    }

    @Test("holds in node's own tests", .timeLimit(.minutes(5)), arguments: files)
    func modules(file: String) throws {
        // Which reporter is the usual one depends on node's version.
        let (status, output) = try node(["--test-reporter=tap", Self.folder + "/" + file])
        #expect(status == .exited(0), "\(output)")
        // A file without any test would end well too.
        #expect(output.contains("# fail 0") && !output.contains("# pass 0"), "\(output)")
    }

    @Test("there are tests of node's own")
    func isComplete() {
        #expect(Self.files.count >= 8)
    }

    @Test(
        "pictures become an MP4 that FFmpeg decodes to the same ones", .enabled(if: FFmpeg.isAvailable),
        .timeLimit(.minutes(5)),
        arguments: ["small.h264", "slices.h264", "every-idr.h264", "cropped.h264", "desktop.h264"])
    func muxing(name: String) throws {
        let folder = try TemporaryFolder()
        let stream = try #require(TestStreams.all.first { $0.name == name })
        let file = folder.file("made.mp4")
        let (status, output) = try node([Self.folder + "/mux.mjs", stream.path, file])
        #expect(status == .exited(0) && output.isEmpty, "\(output)")
        let decoded = try FFmpeg.decode(file)
        let original = try FFmpeg.decode(stream.path, input: ["-f", "h264"])
        #expect(decoded.status == .exited(0) && decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(!decoded.bytes.isEmpty && decoded.bytes == original.bytes)
    }
}
