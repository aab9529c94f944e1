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
        if let rtsp = plan.rtsp, let problem = rtspProblem(rtsp) { findings.append(problem) }
        return findings
    }

    // MARK: - Taken ports

    /// Conflicts between the options first: the port isn't in use yet, but a share would use it twice.
    private func rtspProblem(_ address: ListenAddress) -> Finding? {
        let port = address.port
        if port != 0, plan.listen.contains(where: { $0.port == port }) {
            return Finding(
                "rtsp-port", "--rtsp: TCP port \(port) is also that of --listen",
                todo: "choose another port for one of them")
        }
        if port != 0, plan.mediaAddress.port == port {
            return Finding(
                "rtsp-port", "--rtsp: TCP port \(port) is also that of --udp-port, for viewers that UDP doesn't reach",
                todo: "choose another port for one of them")
        }
        switch listeningProblem(address) {
        case nil: return nil
        case .occupied:
            return Finding(
                "rtsp-port", "--rtsp: TCP port \(port) of \(address.address) is taken\(Self.holder(.tcp, port))",
                todo: "choose another port with --rtsp, or end that program")
        case let error?: return Finding("rtsp-port", line: "--rtsp: \(error)")
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
