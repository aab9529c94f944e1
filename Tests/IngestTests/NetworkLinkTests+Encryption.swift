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
        let silent = try LinkConnection.connect(to: plain)
        let stranger = try LinkConnection.connect(to: plain)
        try stranger.enqueue(header: MessageEncoder(epoch: 99).encode(.requestKeyFrame))
        var buffer = [UInt8](repeating: 0, count: LinkConnection.leastBuffer)
        try eventually("the stranger's end", holds: { try stranger.receive(into: &buffer) == .closed })
        try host.waitForLog("127.0.0.1 is refused: it has not proved that it has the token")
        let other = try #require(LinkToken(Array("another token, of some length".utf8)))
        let begin = now()
        do throws(LinkTransportError) {
            _ = try LinkConnection.connect(to: host.address, token: other)
            Issue.record("a connection with another token")
        } catch {
            #expect(error == .tokenRefused(text: "the host there doesn't have the same --link-token file"))
        }
        #expect(now() - begin < .seconds(1))

        let capture = TestCapture(try LinkConnection.connect(to: host.address, token: Self.token))
        try capture.prove(try #require(Self.token).bytes)
        try capture.greet()
        let picture = try PlainPictures(size: PictureSize(width: 640, height: 480)).next(shade: 50, isIDR: true)
        try capture.send(picture)
        try eventually("the picture", holds: { host.hub.publishedFrames == 1 })
        try capture.wait(for: "a ping") { $0.contains { if case .ping = $0 { true } else { false } } }
        // The one that says nothing costs nobody anything, and is closed like any other.
        try eventually("its end", within: .seconds(15)) { try silent.receive(into: &buffer) == .closed }
        #expect(host.ingest.hub.sourceState == .live)
    }
}
