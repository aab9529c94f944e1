import MediaSessions
import MediaTypes
import STUN
import Threading

extension MediaLoop {
    /// Handles a STUN datagram: a check or a response of a peer's, or a STUN server's answer. One that came over UDP
    /// for another loop's session is passed on.
    func handle(stun datagram: [UInt8], along path: NetworkPath, now: MonotonicTime) {
        guard let message = try? STUNMessage(parsing: datagram) else { return }
        if stunQueries.take(message, along: path, now: now) {
            publishAddresses()
        } else if isFirst, path.peer.connection == 0, let loop = group.loop(of: message), loop != index {
            pass(datagram[...], along: path, arrival: now, to: loop)
        } else if let session = sessions.handle(message, along: path, now: now) {
            note(session)
        }
    }

    /// Checks candidates that the peer of a session found later.
    func add(_ candidates: [RemoteCandidate], to id: MediaSessionID, now: MonotonicTime) {
        guard let session = sessions[id] else { return }
        session.add(candidates, now: now)
        note(session)
    }

    /// Takes the addresses of STUN servers that were looked up.
    func resolved(_ addresses: [STUNServerName: [TransportAddress]], now: MonotonicTime) {
        stunQueries.resolved(addresses, now: now)
        publishAddresses()
    }

    /// Asks the STUN servers that are due, and has their names looked up on another thread.
    func askSTUNServers(now: MonotonicTime) {
        for question in stunQueries.takeDue(now: now) {
            let path = NetworkPath(peer: question.server, local: .unspecified(question.server.family))
            _ = send(question.datagram, along: path)
        }
        let names = stunQueries.takeLookup(now: now)
        if !names.isEmpty {
            // The thread may outlive this one: it ends when the system has answered.
            _ = NamedThread("stun lookup") { [inbox] in
                let found = names.map { ($0, $0.resolve()) }
                inbox.post(.stunServers(Dictionary(found) { first, _ in first }))
            }
        }
        publishAddresses()
    }

    private func publishAddresses() {
        let mapped = stunQueries.mapped
        if sharedAddresses.all != mapped { sharedAddresses.all = mapped }
        for event in stunQueries.takeEvents() {
            switch event {
            case .found(let address, let server):
                lines.own.info("viewers outside can reach this host at \(address), says the STUN server \(server)")
            case .silent(let server):
                lines.own.warning(
                    "the STUN server \(server) doesn't answer: viewers outside may not reach this host")
            }
        }
    }
}
