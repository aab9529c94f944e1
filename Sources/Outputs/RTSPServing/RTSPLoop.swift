import Clocks
import Glibc
import LinkTransport
import MediaTypes
import RTSP
import STUN
import ScreenRelayKit
import Synchronization
import Threading
import WebRTC

/// The server's thread: waits for connections, requests and frames.
final class RTSPLoop {
    private let host: ScreenRelayHost
    private let access: ViewerAccess
    private let listener: LinkListener
    private let ports: RTSPPorts
    private let wake: EventFD
    private let isStopped: Flag
    private let limits: RTSPServerLimits
    private let counts: RTSPServer.Counts
    private let log: EventLog
    private let lines: LogRateLimiter
    private var clients: [RTSPClient] = []
    private var frames = PacketizedFrames()
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// Accepting failed; it is tried again then.
    private var acceptsFrom = MonotonicTime.zero

    init(
        _ host: ScreenRelayHost, listener: LinkListener, ports: RTSPPorts, wake: EventFD, isStopped: Flag,
        limits: RTSPServerLimits, counts: RTSPServer.Counts, log: EventLog
    ) {
        (self.host, self.listener, self.ports, self.wake) = (host, listener, ports, wake)
        (self.isStopped, self.limits, self.counts, self.log) = (isStopped, limits, counts, log)
        lines = LogRateLimiter(log)
        access = ViewerAccess(of: host)
    }

    func run() {
        var entries: [pollfd] = []
        while !isStopped.isSet {
            let now = MonotonicTime.now()
            let accepts = now >= acceptsFrom
            entries.removeAll(keepingCapacity: true)
            entries.append(pollfd(wake.descriptor))
            entries.append(pollfd(accepts ? listener.descriptor : -1))
            entries.append(pollfd(ports.rtp.descriptor))
            entries.append(pollfd(ports.rtcp.descriptor))
            var deadline = accepts ? MonotonicTime.distantFuture : acceptsFrom
            for client in clients {
                entries.append(pollfd(client.connection.descriptor, client.events))
                deadline = min(deadline, client.deadline)
            }
            waitForEvents(&entries, until: deadline)
            if entries[0].isReady { wake.consume() }
            if entries[2].isReady || entries[3].isReady { takeReports() }
            for (index, client) in clients.enumerated() {
                client.advance(Int32(entries[4 + index].revents), &frames, &buffer, now: .now())
            }
            if entries[1].isReady { accept() }
            if clients.contains(where: \.isOver) {
                clients.removeAll { $0.isOver }
                frames.keep(only: clients.compactMap(\.session.track))
            }
            counts.sessions.store(clients.count { $0.session.isSetUp }, ordering: .relaxed)
        }
        listener.close()
        clients.removeAll()
        counts.sessions.store(0, ordering: .relaxed)
    }

    private func takeReports() {
        let now = MonotonicTime.now()
        ports.receive(&buffer) { bytes, peer in
            for client in clients { client.session.takeReport(bytes, from: peer, now: now) }
        }
    }

    private func accept() {
        while true {
            do throws(LinkTransportError) {
                guard let connection = try listener.accept() else { return }
                let session = RTSPSession(
                    connection, host: host, access: access, ports: ports, wake: wake, limits: limits, lines: lines)
                guard makeRoom(for: session.address) else {
                    lines(of: session.address).warning("rtsp: too many players are connected; one is turned away")
                    continue
                }
                clients.append(RTSPClient(connection, session))
            } catch {
                // Without a free descriptor, the connection stays in the queue.
                acceptsFrom = .now() + .milliseconds(200)
                return log.warning("rtsp: \(error)")
            }
        }
    }

    /// Makes room for one more connection from `address` by ending the oldest of a client that has found no track yet,
    /// of the address that has the most, so that those who only connect keep no player out.
    private func makeRoom(for address: String) -> Bool {
        let key = ClientAddress.key(address)
        let isOfAddress = { (client: RTSPClient) in ClientAddress.key(client.session.address) == key }
        let open = clients.filter { !$0.isOver }
        let mayGo: RTSPClient?
        if !Loopback.contains(address), open.count(where: isOfAddress) >= limits.connectionsOfAddress {
            mayGo = open.first { !$0.session.isAdmitted && isOfAddress($0) }
        } else if open.count >= limits.connections {
            mayGo = Crowd.firstToGo(of: open.filter { !$0.session.isAdmitted }) {
                Loopback.contains($0.session.address) ? nil : $0.session.address
            }
        } else {
            return true
        }
        mayGo?.end(because: nil)
        return mayGo != nil
    }
}
