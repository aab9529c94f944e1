import ByteCoding
import Foundation
import MediaTypes
import SecureTransport

extension FuzzTarget {
    /// Datagrams before, during and after a handshake.
    ///
    /// The input is a list of steps, each an instruction, a length and bytes. A step delivers the waiting datagrams, or
    /// one of them with some bits changed; or its bytes are a datagram, or the body of a record whose header looks
    /// right.
    static let dtls = FuzzTarget(name: "dtls", maxInput: 1024) { input in
        attack(standing, with: input)
        for side in [standing.server, standing.client] {
            check(side.keys != nil, "nothing that a stranger sends ends a session that stands")
        }
        // A handshake takes time, and most inputs reveal nothing new about it.
        guard input.contains(where: { $0 & 7 < 2 }) else { return }
        let link = Link()
        try? link.client.start(now: start)
        attack(link, with: input)
        if let server = link.server.keys, let client = link.client.keys {
            check(server.local == client.remote, "both sides have the same keys")
        }
    }
}

private let start = MonotonicTime(nanoseconds: 1_000_000_000)
private let certificate = made { try Certificate() }
private let context = made { try DTLSContext(certificate: certificate, firstRetransmission: .seconds(60)) }

/// An established session, which nothing may end. Only the fuzzer's one thread uses it.
nonisolated(unsafe) private let standing: Link = {
    let link = Link()
    try? link.client.start(now: start)
    for _ in 0..<8 { link.deliver() }
    check(link.server.keys != nil && link.client.keys != nil, "two sides that nobody disturbs agree on keys")
    return link
}()

private final class Link {
    let server = made {
        try DTLSTransport(context: context, role: .server, expectedFingerprint: certificate.fingerprint)
    }
    let client = made {
        try DTLSTransport(context: context, role: .client, expectedFingerprint: certificate.fingerprint)
    }

    /// Delivers the waiting datagrams; `change` may change the first one of either side.
    func deliver(_ change: (inout [UInt8]) -> Void = { _ in }) {
        for (from, to) in [(client, server), (server, client)] {
            var datagrams = from.takeOutgoing()
            check(datagrams.count <= 64 && datagrams.allSatisfy { $0.count <= 1200 }, "what is sent keeps its limits")
            if !datagrams.isEmpty { change(&datagrams[0]) }
            for datagram in datagrams { try? to.handle(datagram: datagram[...], now: start) }
        }
    }
}

private func attack(_ link: Link, with input: [UInt8]) {
    var reader = ByteReader(input)
    while let instruction = reader.uint8(), let length = reader.uint8() {
        let bytes = reader.bytes(min(Int(length), reader.count)) ?? []
        let side = instruction & 8 == 0 ? link.server : link.client
        switch instruction & 7 {
        case 0: link.deliver()
        case 1:
            link.deliver { datagram in
                for (index, byte) in bytes.enumerated() where !datagram.isEmpty {
                    datagram[(Int(instruction >> 4) * 16 + index) % datagram.count] ^= byte
                }
            }
        case 2, 3: try? side.handle(datagram: bytes, now: start)
        default:
            let header: [UInt8] = [
                20 + instruction & 3, 0xFE, 0xFD, 0, instruction >> 4 & 1, 0, 0, 0, 0, 1, length, 0, UInt8(bytes.count),
            ]
            try? side.handle(datagram: header + bytes, now: start)
        }
    }
}

private func made<Value>(_ make: () throws -> Value) -> Value {
    do {
        return try make()
    } catch {
        fatalError("\(error)")
    }
}

extension DTLSTransport {
    fileprivate var keys: SRTPKeys? {
        if case .connected(let keys) = state { keys } else { nil }
    }
}
