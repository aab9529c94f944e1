import CaptureLink
import Ingest
import LinkTransport
import MediaTypes
import TestSupport
import Testing
import TrackHub

/// The link's server at an encrypted address.
extension NetworkLinkTests {
    @Test("an encrypted link takes a capture that has the token, and others are refused without being heard")
    func encrypted() throws {
        let host = try Host(at: .tls(host: "127.0.0.1", port: 0), token: Self.token)
        guard case .tls(let name, let port) = host.address else {
            Issue.record("\(host.address)")
            return
        }
        let plain = LinkAddress.tcp(host: name, port: port)
        // One says nothing, one sends a message without encryption, and one has another token.
        let silent = try SocketConnection.connect(to: plain)
        let stranger = try SocketConnection.connect(to: plain)
        try stranger.enqueue(header: MessageEncoder(epoch: 99).encode(.requestKeyFrame))
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        try eventually("the stranger's end", holds: { try stranger.receive(into: &buffer) == .closed })
        try host.waitForLog("127.0.0.1 is refused: it doesn't encrypt its link: it was started with tcp:, not tls:")
        let other = try #require(LinkToken(Array("another token, of some length".utf8)))
        let times = (0..<3).map { _ in
            let begin = now()
            do throws(SocketError) {
                _ = try SocketConnection.connect(to: host.address, token: other)
                Issue.record("a connection with another token")
            } catch {
                #expect(error == .tokenRefused(text: "the host there doesn't have the same --capture-key file"))
            }
            return now() - begin
        }
        // The silent one keeps nobody waiting.
        #expect(try #require(times.min()) < .seconds(1))

        let capture = TestCapture(try SocketConnection.connect(to: host.address, token: Self.token))
        try capture.prove(try #require(Self.token).bytes)
        try capture.greet()
        let picture = try PlainPictures(size: PictureSize(width: 640, height: 480)).next(shade: 50, isIDR: true)
        try capture.send(picture)
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        try capture.wait(for: "a ping") { $0.contains { if case .ping = $0 { true } else { false } } }
        // The one that says nothing costs nobody anything. It may be a capture that waits for the host, so it is told.
        var heard: [UInt8] = []
        try eventually("its end") {
            let received = try silent.receive(into: &buffer)
            if case .bytes(let count) = received { heard += buffer[..<count] }
            return received == .closed
        }
        #expect(heard.first == 0x15)
        try host.waitForLog("if 127.0.0.1 is a capture, it was started with tcp:, and this host with tls:")
        #expect(host.ingest.hub.sourceState == .live)
    }

    @Test("a link that isn't encrypted refuses a capture that encrypts, and both ends say so")
    func unencrypted() throws {
        let host = try Host(token: Self.token)
        let (name, port) = try #require(host.address.network)
        do throws(SocketError) {
            _ = try SocketConnection.connect(to: .tls(host: name, port: port), token: Self.token)
            Issue.record("a connection")
        } catch {
            #expect(error.description.contains("doesn't encrypt its link"), "\(error)")
        }
        try host.waitForLog("127.0.0.1 encrypts its link: it was started with tls:, and this host with tcp:")
    }
}
