import CLinux
import Clocks
import Glibc
import MediaTypes
import STUN
import SecureTransport
import Signalling
import Threading
import WebRTC

/// Whether the ports can be used, by using them as a share would, and whether datagrams get through to the UDP port.
struct PortCheck {
    let plan: SharePlan

    /// How long a datagram from this machine to itself may take.
    private static let timeout = Interval.seconds(1)

    func findings() -> [Finding] {
        var findings = plan.listen.compactMap { httpProblem($0) }
        let media = plan.mediaAddress
        do throws(WebRTCError) {
            let socket = try UDPSocket(bindingTo: media)
            findings += unreached(socket)
        } catch {
            findings.append(udpProblem(error))
        }
        // Viewers without UDP connect to the TCP port with the UDP port's number.
        if media.port != 0, !plan.listen.contains(where: { $0.port == media.port }),
            case .occupied = listeningProblem(ListenAddress(address: media.host, port: media.port))
        {
            findings.append(
                Finding(
                    "tcp-port",
                    "TCP port \(media.port), for viewers that UDP doesn't reach, is taken"
                        + Self.holder(.tcp, media.port),
                    todo: "choose another --udp-port, or end that program"))
        }
        return findings + serverFindings()
    }

    // MARK: - Taken ports

    /// Problems with the ports of `--rtsp`, `--rtmp` and `--srt`. Conflicts between options come first: such a port
    /// isn't in use yet, but a share would use it twice.
    private func serverFindings() -> [Finding] {
        let servers: [(option: String, kind: PortHolder.Kind, address: ListenAddress?)] = [
            ("rtsp", .tcp, plan.rtsp), ("rtmp", .tcp, plan.rtmp), ("srt", .udp, plan.srt),
        ]
        let media = plan.mediaAddress.port
        var used: [(kind: PortHolder.Kind, port: UInt16, owner: String)] =
            plan.listen.map { (kind: .tcp, port: $0.port, owner: "--listen") }
        used.append((kind: .tcp, port: media, owner: "--udp-port, for viewers that UDP doesn't reach"))
        used.append((kind: .udp, port: media, owner: "--udp-port"))
        var findings: [Finding] = []
        for (option, kind, wanted) in servers {
            guard let address = wanted else { continue }
            let port = address.port
            let place = "--\(option): \(kind.rawValue.uppercased()) port \(port)"
            if port != 0, let other = used.first(where: { $0.kind == kind && $0.port == port }) {
                findings.append(
                    Finding(
                        "\(option)-port", "\(place) is also that of \(other.owner)",
                        todo: "choose another port for one of them"))
            } else if let problem = bindingProblem(kind, address) {
                findings.append(
                    problem.isTaken
                        ? Finding(
                            "\(option)-port", "\(place) of \(address.address) is taken\(Self.holder(kind, port))",
                            todo: "choose another port with --\(option), or end that program")
                        : Finding("\(option)-port", line: "--\(option): \(problem.text)"))
            }
            used.append((kind: kind, port: port, owner: "--\(option)"))
        }
        return findings
    }

    /// Why no socket can be bound to an address, and whether another program has it; nil if one can.
    private func bindingProblem(_ kind: PortHolder.Kind, _ address: ListenAddress) -> (isTaken: Bool, text: String)? {
        switch kind {
        case .tcp:
            guard let error = listeningProblem(address) else { return nil }
            if case .occupied = error { return (isTaken: true, text: "\(error)") }
            return (isTaken: false, text: "\(error)")
        case .udp:
            guard let place = TransportAddress(numeric: address.address, port: address.port) else { return nil }
            do throws(WebRTCError) {
                _ = try UDPSocket(bindingTo: place)
                return nil
            } catch {
                return (isTaken: error.isAddressTaken, text: "\(error)")
            }
        }
    }

    /// Why nothing can listen at an address; nil if it can.
    private func listeningProblem(_ address: ListenAddress) -> SignallingError? {
        do throws(SignallingError) {
            try ListeningSocket(address).close()
            return nil
        } catch {
            return error
        }
    }

    private func httpProblem(_ address: ListenAddress) -> Finding? {
        switch listeningProblem(address) {
        case nil: nil
        case .occupied:
            Finding(
                "http-port",
                "--listen: TCP port \(address.port) of \(address.address) is taken\(Self.holder(.tcp, address.port))",
                todo: "choose another port with --listen, or end that program")
        case let error?: Finding("http-port", line: "--listen: \(error)")
        }
    }

    private func udpProblem(_ error: WebRTCError) -> Finding {
        guard case .cannotBind(let address, let number, let reason) = error else {
            return Finding("udp-port", line: "--udp-port: \(error)")
        }
        switch number {
        case EADDRINUSE:
            return Finding(
                "udp-port", "--udp-port: UDP port \(address.port) is taken\(Self.holder(.udp, address.port))",
                todo: "choose another --udp-port, or end that program")
        case EACCES:
            return Finding(
                "udp-port", "--udp-port: this user may not use UDP port \(address.port)",
                todo: "choose a port from 1024 on")
        default:
            return Finding(
                "udp-port", "--udp-port: UDP port \(address.port) of \(address.host) can't be used: \(reason)",
                todo: "choose another address with --listen, or another --udp-port")
        }
    }

    private static func holder(_ kind: PortHolder.Kind, _ port: UInt16) -> String {
        PortHolder.find(kind, port).map { " by \($0)" } ?? " by another user's program"
    }

    // MARK: - The way to the UDP port

    /// Sends a datagram to each address of this machine at which viewers would reach `socket`, and waits for it.
    private func unreached(_ socket: borrowing UDPSocket) -> [Finding] {
        guard let bound = socket.localAddress else { return [] }
        let isWildcard = !bound.bytes.contains { $0 != 0 }
        let addresses = isWildcard ? LocalAddresses.reachable(port: bound.port) : [bound]
        if addresses.isEmpty {
            return [
                Finding(
                    "network", "this machine is on no network: no other machine can open the invite link",
                    todo: "connect it, or leave --lan out")
            ]
        }
        let question = SecureRandom.bytes(16)
        var missing: [TransportAddress] = []
        for address in addresses {
            // An address that is only being set up (IPv6 does that for a second) can't be sent from.
            guard let sender = try? UDPSocket(bindingTo: address.with(port: 0)) else { continue }
            if sender.send(question, along: NetworkPath(peer: address, local: address.with(port: 0))) {
                missing.append(address)
            }
        }
        let deadline = MonotonicTime.now() + Self.timeout
        var buffer = [UInt8](repeating: 0, count: 2048)
        while !missing.isEmpty, MonotonicTime.now() < deadline {
            waitForEvents(on: socket.descriptor, until: deadline)
            while let received = socket.receive(into: &buffer) {
                guard buffer[..<received.count].elementsEqual(question) else { continue }
                missing.removeAll { $0.bytes == received.path.local.bytes }
            }
        }
        if missing.isEmpty { return [] }
        let places = missing.map(\.description).joined(separator: ", ")
        // A port that was chosen for this check needs no rule.
        let port = plan.mediaAddress.port == 0 ? "PORT" : "\(bound.port)"
        return [
            Finding(
                "udp-blocked",
                "UDP port \(port) is blocked: packets from this machine to \(places) didn't arrive within 1 s",
                todo: "allow it in the firewall: ufw allow \(port)/udp, or firewall-cmd --add-port=\(port)/udp")
        ]
    }
}
