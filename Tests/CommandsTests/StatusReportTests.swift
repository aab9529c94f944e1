import Glibc
import Ingest
import OutputLife
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@testable import Commands

@Suite("A host's status")
struct StatusReportTests {
    @Test("has the protocol of each published track, and whether it is re-encoded")
    func published() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        func report() -> StatusReport {
            StatusReport(of: host, process: 1, Control.Facts(activity: "hosting a link"), [])
        }
        #expect(!report().json.contains("publishedOver") && !report().json.contains("reencoded"))
        host.firstTrack.describe(TrackPublication(transport: .rtsp, text: "H.264 of 64x48", isReencoded: false))
        #expect(report().json.contains("\"publishedOver\":\"RTSP\""))
        #expect(report().json.contains("\"reencoded\":false"))
        #expect(report().line.contains("; track screen published over RTSP: H.264 of 64x48"))
    }

    @Test("has the recording of each track")
    func recordings() throws {
        let folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.recording = HostRecording(path: folder.file("talk.srr"))
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        _ = try host.addTrack("cam", to: host.room)
        let report = StatusReport(of: host, process: 1, Control.Facts(activity: "hosting a link"), [])
        let paths = host.recordings.map(\.path)
        #expect(paths.count == 2)
        #expect(report.line.contains("; recording to '") && report.line.contains("; track cam recording to '"))
        #expect(report.json.contains("\"recording\":{\"path\":\"\(paths[0])\""))
        #expect(report.json.contains("\"listeners\":0,\"recording\":{\"path\":\"\(paths[1])\""), "\(report.json)")
    }

    @Test("is a whole JSON object however long paths, names and reasons are, and its lists are bounded")
    func longest() throws {
        let folder = try TemporaryFolder()
        // Six bytes each in a JSON object.
        let name = String(repeating: "\u{1}", count: 220)
        try #require(mkdir(folder.file(name), 0o700) == 0)
        var configuration = HostConfiguration()
        configuration.room = String(repeating: "r", count: 64)
        configuration.recording = HostRecording(path: folder.file(name) + "/talk.srr")
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        for number in 10..<25 { _ = try host.addTrack(String(repeating: "t", count: 62) + "\(number)", to: host.room) }
        let label = PushLabel(name: nil, track: nil, target: try PushTarget("file:a.mp4"))
        let pushes = (1...8).map { PushReport(number: $0, label: label, state: .error, reason: name) }
        let json = StatusReport(of: host, process: 1, Control.Facts(activity: "hosting a link"), pushes).json
        // More than an answer for people may have, and far less than one for programs.
        #expect(json.utf8.count > 32 << 10 && json.utf8.count < 100_000, "\(json.utf8.count)")
        #expect(json.hasSuffix("}") && json.ranges(of: "\"recording\":").count == 17)
    }

    @Test("has the locked rooms")
    func locked() throws {
        var configuration = HostConfiguration()
        configuration.furtherRooms = [HostRoom(name: "attic", token: nil)]
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        func report() -> StatusReport {
            StatusReport(of: host, process: 1, Control.Facts(activity: "hosting a link"), [])
        }
        #expect(report().json.contains("\"locked\":[],\"waiting\":0") && !report().line.contains("locked: "))
        #expect(host.lock(true))
        #expect(report().json.contains("\"locked\":[\"screen\",\"attic\"]"))
        #expect(report().line.contains("; locked: screen, attic; link: "))
    }
}
