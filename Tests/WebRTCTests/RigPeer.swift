import MediaSessions
import MediaTypes
import RTP
import STUN
import Testing

@testable import WebRTC

/// A session, the viewer at its other end, and what is between them.
final class RigPeer {
    let session: PeerSession
    let viewer: TestViewer
    let link: TestLink
    var path: NetworkPath
    /// A viewer that still receives, but sends nothing any more.
    var isSilent = false
    /// Whether it checks every 2.5 s, as browsers do.
    var checksOn = true
    /// The time that its datagrams take.
    var delayToHost = Rig.delay
    /// Decides which of the viewer's datagrams are lost.
    var losesToHost: (_ datagram: [UInt8]) -> Bool = { _ in false }

    private var toHost: [(time: MonotonicTime, datagram: [UInt8])] = []
    private var nextPoll = MonotonicTime.distantFuture
    private var nextCheck: MonotonicTime?

    init(session: PeerSession, viewer: TestViewer, link: TestLink, path: NetworkPath) {
        self.session = session
        self.viewer = viewer
        self.link = link
        self.path = path
    }

    /// The pictures that came whole, as lists of NAL units.
    var wholePictures: [[[UInt8]]] { viewer.pictures.filter { $0.unit.isComplete }.map { $0.unit.nalUnits } }

    /// Media packets that came, without retransmissions.
    var mediaPackets: [TestViewer.Packet] { viewer.packets.filter { !$0.isRetransmission } }

    func nextEvent(now: MonotonicTime) -> MonotonicTime {
        pickUp(now: now)
        let due = session.end == nil ? session.deadline : .distantFuture
        return min(
            due, link.inFlight.first?.time ?? .distantFuture, toHost.first?.time ?? .distantFuture, nextPoll,
            checksOn ? nextCheck ?? .distantFuture : .distantFuture)
    }

    func step(now: MonotonicTime) {
        link.now = now
        while let first = toHost.first, first.time <= now {
            toHost.removeFirst()
            deliver(first.datagram, now: now)
        }
        while let first = link.inFlight.first, first.time <= now {
            link.inFlight.removeFirst()
            viewer.receive(first.datagram, now: now)
            nextPoll = min(nextPoll, now + .milliseconds(10))
        }
        if nextPoll <= now {
            nextPoll = .distantFuture
            let before = viewer.sentNacks
            viewer.poll(now: now)
            if viewer.sentNacks > before { nextPoll = now + .milliseconds(10) }
        }
        if session.isConnected, checksOn, nextCheck.map({ $0 <= now }) ?? true {
            if nextCheck != nil { viewer.check() }
            nextCheck = now + .milliseconds(2500)
        }
        if session.end == nil, session.deadline <= now { advance(now: now) }
    }

    /// What the media thread does when the session's deadline has come.
    private func advance(now: MonotonicTime) {
        link.now = now
        session.advance(now: now)
        checkDeadline(now: now)
    }

    /// What the media thread does with a new frame.
    func advanceMedia(now: MonotonicTime) {
        link.now = now
        session.advanceMedia(now: now)
        checkDeadline(now: now)
    }

    private func checkDeadline(now: MonotonicTime) {
        #expect(session.end != nil || session.deadline > now, "a deadline that has passed would spin")
    }

    /// What the media thread does with a datagram, which has `waited` for it.
    func deliver(_ datagram: [UInt8], waited: Interval = .zero, now: MonotonicTime) {
        switch DatagramKind(of: datagram) {
        case .stun:
            guard let message = try? STUNMessage(parsing: datagram) else { return }
            switch message.messageClass {
            case .request: _ = session.handle(message, along: path, now: now)
            case .error: session.handle(error: message, along: path, now: now)
            case .success, .indication: _ = session.handle(response: message, along: path, now: now)
            }
        case let kind:
            session.handle(datagram[...], kind: kind, from: path.peer, arrival: now - waited, now: now)
        }
    }

    private func pickUp(now: MonotonicTime) {
        for datagram in viewer.takeOutgoing() where !isSilent && !losesToHost(datagram) {
            toHost.append((now + delayToHost, datagram))
        }
    }
}
