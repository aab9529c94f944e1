import CaptureLink
import Foundation
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import STUN
import Signalling
import TestSupport
import Testing

@testable import ScreenRelayKit

@Suite("A host")
struct HostTests {
    @Test("a token has 128 random bits in characters that links take as they are, and no two are alike")
    func tokens() {
        var seen: Set<String> = []
        for _ in 0..<500 {
            let token = HostConfiguration.randomToken()
            #expect(token.utf8.count == 22)
            #expect(token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
            // 22 characters of 6 bits are 132: the last four are none.
            #expect(["A", "Q", "g", "w"].contains(token.last))
            seen.insert(token)
        }
        #expect(seen.count == 500)
        #expect(HostConfiguration().token != HostConfiguration().token)
    }

    @Test("its link names the port that it really has, its room, and the token where there is one")
    func link() throws {
        var configuration = HostConfiguration.anyPorts
        configuration.room = "desk-2"
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let port = try #require(host.addresses.first).port
        let token = try #require(configuration.token)
        #expect(port != 0 && host.mediaPort != 0)
        #expect(host.link == "http://127.0.0.1:\(port)/#desk-2,\(token)")

        configuration.token = nil
        let open = try ScreenRelayHost(configuration)
        defer { open.stop() }
        #expect(open.link.hasSuffix("/#desk-2"))
    }

    @Test("what it can't have is named by its option, with what would be right")
    func errors() throws {
        let first = try ScreenRelayHost(.anyPorts)
        defer { first.stop() }
        func reason(_ change: (inout HostConfiguration) -> Void) -> String {
            var configuration = HostConfiguration.anyPorts
            change(&configuration)
            do throws(HostError) {
                try ScreenRelayHost(configuration).stop()
                return "it began"
            } catch {
                return error.description
            }
        }
        let taken = first.addresses[0]
        #expect(
            reason { $0.listen = [taken] }
                == "--listen: can't listen on \(taken): port \(taken.port) is taken by another program; choose another port"
        )
        #expect(
            reason { $0 = $0.with(mediaPort: first.mediaPort) }
                == "--udp-port \(first.mediaPort): the port is taken by another program; choose another one, or 0 for any"
        )
        #expect(reason { $0.listen = [ListenAddress(address: "here", port: 0)] }.contains("'here'"))
        #expect(
            reason { $0.listen = [ListenAddress(address: "192.0.2.1", port: 0)] }.contains("doesn't have that address"))

        do throws(HostError) {
            try first.firstTrack.openLink(at: .unix(path: "/nowhere/s.sock")).stop()
            Issue.record("the link was opened")
        } catch {
            #expect(error.description == "--link: folder '/nowhere' for the socket does not exist; make it first")
        }
    }

    @Test("a link that can't be opened leaves no recording behind, and one that was never used none either")
    func unusedRecording() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let folder = try TemporaryFolder()
        let file = folder.file("link.srr")
        for _ in 1...2 {
            #expect(throws: HostError.self) {
                try host.firstTrack.openLink(at: .unix(path: "/nowhere/s.sock"), recording: file)
            }
            #expect(access(file, F_OK) != 0)
        }
        #expect(host.firstTrack.readers.count == 0)
        try host.firstTrack.openLink(at: nil, recording: file).stop()
        #expect(host.firstTrack.readers.count == 0)
        host.stop()
        #expect(access(file, F_OK) != 0)
        #expect(host.firstTrack.recording?.failure == nil)
    }

    @Test(
        "who records can't draw the pointer, until the disk is full",
        .enabled(if: SmallDisk.isAvailable, "only root may mount the small disk that this needs"))
    func fullDisk() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        host.firstTrack.setPlainReaders(2)
        let link = try host.firstTrack.openLink(
            at: .unix(path: folder.file("s.sock")), recording: disk.path + "/link.srr")
        defer { link.stop() }
        #expect(host.firstTrack.readers.count == 3)
        let capture = try SocketConnection.connect(to: .unix(path: folder.file("s.sock")))
        let payload = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 1, count: 200_000)
        let message =
            try MessageEncoder(epoch: 9).unitHeader(
                payloadCount: payload.count, captureTime: nil, endsFrame: true) + payload
        try capture.enqueue(header: message)
        try eventually("the host to read", holds: { try capture.flush() })
        try eventually("the disk to be full", holds: { host.firstTrack.recording?.failure != nil })
        try eventually("the others alone", holds: { host.firstTrack.readers.count == 2 })
    }

    @Test("a host that could not begin leaves its ports free")
    func cleanFailure() throws {
        let first = try ScreenRelayHost(.anyPorts)
        defer { first.stop() }
        // A port that was free may be somebody else's by now, but hardly three times in a row.
        let isFree = try (1...3).contains { _ in
            let configuration = HostConfiguration.anyPorts.with(mediaPort: try freePort())
            var wrong = configuration
            wrong.listen = first.addresses
            #expect(throws: HostError.self) { try ScreenRelayHost(wrong) }
            guard let host = try? ScreenRelayHost(configuration) else { return false }
            host.stop()
            return true
        }
        #expect(isFree)
    }

    @Test("HTTP and pictures may have ports of the same number: HTTP has the TCP port")
    func sameNumber() throws {
        // A port that was free may be somebody else's by now, but hardly three times in a row.
        let began = try (1...3).contains { _ in
            let port = try freePort()
            guard let host = try? ScreenRelayHost(HostConfiguration(port: port, mediaPort: port)) else { return false }
            defer { host.stop() }
            return host.addresses[0].port == port && host.mediaPort == port
        }
        #expect(began)
    }

    @Test("one setting opens a host to the network: pages, pictures and the names that a browser may call it by")
    func network() throws {
        let alone = HostConfiguration()
        #expect(alone.listen == [ListenAddress(address: "127.0.0.1", port: 0)] && !alone.isOpenToNetwork)
        #expect(alone.mediaAddress.host == "127.0.0.1" && alone.mediaAddress.port == 0)
        let open = HostConfiguration(.lan, port: 8080, mediaPort: 8189)
        #expect(["::", "0.0.0.0"].contains(open.listen[0].address) && open.listen[0].port == 8080)
        #expect(open.mediaAddress.host == open.listen[0].address && open.mediaAddress.port == 8189)
        #expect(open.isOpenToNetwork)
        let host = try ScreenRelayHost(HostConfiguration(.lan))
        defer { host.stop() }
        #expect(host.addresses[0].port != 0 && host.mediaPort != 0)
    }

    @Test("whoever waits for an answer gets one, also from a host that has stopped")
    func answers() async throws {
        let host = try ScreenRelayHost(.anyPorts)
        #expect(await host.describeRooms().map(\.name) == ["screen"])
        #expect(host.statistics.isEmpty)
        #expect(await host.remove(participant: "nobody") == false)
        host.stop()
        #expect(await host.describeRooms().isEmpty)
        #expect(host.statistics.isEmpty)
        #expect(await host.remove(participant: "nobody") == false)
    }

    @Test("links that end tell when, as long as they are good and after that")
    func expiry() throws {
        var configuration = HostConfiguration.anyPorts
        #expect(try ScreenRelayHost(configuration).expiry == nil)
        configuration.lifetime = .seconds(3600)
        let before = Date()
        let host = try ScreenRelayHost(configuration)
        defer { host.stop() }
        let expiry = try #require(host.expiry)
        // Counted in whole seconds of a clock of its own.
        #expect((3598...3602).contains(expiry.timeIntervalSince(before)))
        // Two clocks are read for each answer.
        let told = try #require(host.linksDocument().expires)
        #expect(abs(told.timeIntervalSince(expiry)) < 1)
    }

    @Test("a pause is what its source's state says, until it goes on")
    func pause() throws {
        let host = try ScreenRelayHost(.anyPorts)
        defer { host.stop() }
        let track = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(track))
        host.pause()
        #expect(host.firstTrack.sourceState == .paused(.sharer))
        host.resume()
        #expect(host.firstTrack.sourceState == .live)
        host.togglePause()
        #expect(host.firstTrack.sourceState == .paused(.sharer))
        host.togglePause()
        #expect(host.firstTrack.sourceState == .live)
        track.end(reason: "it was a test")
    }
}
