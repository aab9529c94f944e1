import Ingest
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
