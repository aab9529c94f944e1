import MediaSessions
import MediaTypes
import STUN
import Testing

@testable import WebRTC

@Suite("A ClientHello that comes before the answer to our check")
struct EarlyHelloTests {
    private let rig: Rig
    /// A full ICE agent that begins DTLS once its check is answered; the host chooses the path.
    private let peer: RigPeer

    init() throws {
        rig = try Rig()
        peer = try rig.addPeer(iceRole: .controlling(tieBreaker: .max))
        peer.checksOn = false
        peer.viewer.isControlled = true
    }

    @Test("is handled once that has come")
    func proved() throws {
        var kinds: [DatagramKind] = []
        peer.losesToHost = { datagram in
            kinds.append(DatagramKind(of: datagram))
            return false
        }
        peer.viewer.check(nominates: false)
        rig.run(for: .milliseconds(200))
        #expect(kinds.prefix(3) == [.stun, .dtls, .stun], "the check, the ClientHello, the answer")
        #expect(peer.session.isConnected && peer.viewer.isConnected)
    }

    @Test("gets no answer where the peer never answers, even if it answers at another address")
    func unproved() throws {
        peer.viewer.answersRequests = false
        peer.viewer.check(nominates: false)
        rig.run(for: .milliseconds(100))
        peer.path.peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        peer.viewer.answersRequests = true
        peer.viewer.check(nominates: false)
        rig.run(for: .milliseconds(200))
        #expect(peer.session.ice.selectedPair.consented(now: rig.now)?.peer == peer.path.peer)
        #expect(!peer.link.sent.contains { $0.kind == .dtls })
    }
}
