import Glibc
import Ingest
import MediaTypes
import OutputLife
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@testable import Commands

@Suite("A host's status")
struct HostStatusTests {
    private func status(of host: ScreenRelayHost, _ pushes: [PushesDocument.Push] = []) -> StatusDocument {
        Control.Facts(activity: "hosting a link").status(of: host, pushes)
    }

    @Test("has the protocol of each published track, and whether it is re-encoded")
    func published() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let before = status(of: host).tracks.first
        #expect(before?.publishedOver == nil && before?.reencoded == nil && before?.publication == nil)
        host.firstTrack.describe(TrackPublication(transport: .rtsp, text: "H.264 of 64x48", isReencoded: false))
        let after = status(of: host)
        #expect(after.tracks.first?.publishedOver == "RTSP" && after.tracks.first?.reencoded == false)
        #expect(StatusText(after).text.contains("; track screen published over RTSP: H.264 of 64x48"))
    }

    @Test("has the recording of each track")
    func recordings() throws {
        let folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.recording = HostRecording(path: folder.file("talk.srr"))
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        _ = try host.addTrack("cam", to: host.room)
        let status = status(of: host)
        #expect(status.tracks.map { $0.recording?.path } == host.recordings.map(\.path) && status.tracks.count == 2)
        #expect(status.recording == status.tracks[0].recording && status.trackCount == 2)
        let text = StatusText(status).text
        #expect(text.contains("; recording to '") && text.contains("; track cam recording to '"))
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
        let target = try PushTarget("file:a.mp4")
        let label = PushLabel(name: nil, track: nil, target: target)
        let pushes = (1...8).map { PushesDocument.Push($0, label, .error, name).shortened }
        let status = status(of: host, pushes)
        #expect(status.json.utf8.count < 100_000, "\(status.json.utf8.count)")
        #expect(StatusDocument(json: status.json) == status)
        #expect(status.tracks.count == 16 && status.tracks.allSatisfy { $0.recording != nil })
    }

    @Test("has the locked rooms")
    func locked() throws {
        var configuration = HostConfiguration()
        configuration.furtherRooms = [HostRoom(name: "attic", token: nil)]
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        #expect(status(of: host).locked.isEmpty && status(of: host).waiting == 0)
        #expect(host.lock(true))
        #expect(status(of: host).locked == ["screen", "attic"])
        #expect(StatusText(status(of: host)).text.contains("; locked: screen, attic\n  link: "))
    }

    @Test("a push's reason is cut off, whatever its characters consist of, and its track is named")
    func pushes() throws {
        let label = PushLabel(name: "desk", track: nil, target: try PushTarget("whip:http://127.0.0.1:9/whip"))
        let accents = "x" + String(repeating: "\u{301}", count: 5000)
        let long = PushesDocument.Push(1, label, .error, accents)
        #expect(long.reason == accents && long.shortened.reason?.unicodeScalars.count == 128)
        for (text, name) in [("file:a.mp4,track=film", "film"), ("file:a.mp4,track=x,track=hall/film", "hall/film")] {
            let (url, track) = TrackPlace.split(text)
            let place = try #require(TrackPlace((track ?? "")[...]))
            #expect(url.hasPrefix("file:a.mp4") && place.description == name)
            let label = PushLabel(name: nil, track: place, target: try PushTarget("file:a.mp4"))
            #expect(PushesDocument.Push(3, label, .waiting, nil).track == name)
        }
        let plain = TrackPlace.split("rtmp://a/b?track=c")
        #expect(plain.url == "rtmp://a/b?track=c" && plain.track == nil)
        for mistake in ["", "/", "a/", "/a", "a/b/c", ".a", "a b"] { #expect(TrackPlace(mistake[...]) == nil) }
    }
}
