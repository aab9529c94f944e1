import Testing

@testable import SecureTransport

/// Records that Python's `cryptography` has sealed, with an AES key of the bytes 0, 1, 2 and so on.
@Suite("What a DTLS session reads after its handshake")
struct EstablishedDTLSTests {
    /// The records of one key: a Finished, a fatal handshake_failure and a close_notify, with the sequence numbers 1 to
    /// 3.
    struct Peer: Sendable, CustomTestStringConvertible {
        let keyCount: UInt8
        let finished: [UInt8]
        let failure: [UInt8]
        let closeNotify: [UInt8]

        var testDescription: String { "a key of \(keyCount) bytes" }

        var session: EstablishedDTLS {
            EstablishedDTLS(key: [UInt8](0..<keyCount), salt: bytes("A0A1A2A3"))
        }

        static let all = [
            Peer(
                keyCount: 16,
                finished: bytes(
                    """
                    16FEFD00010000000000010030 8000000000000001 ABB86DBF1699E7BDC2615FB978114737
                    B2E1EFE1614845EF B7E98EE592B026395BCE3D5C70D24379
                    """),
                failure: bytes("15FEFD0001000000000002001A 8000000000000002 5534 50439C4DEFE68497765E2D5560E59B10"),
                closeNotify: bytes("15FEFD0001000000000003001A 8000000000000003 1787 D12AC9E5C64864903F8EE4E42D33C5C1")
            ),
            Peer(
                keyCount: 32,
                finished: bytes(
                    """
                    16FEFD00010000000000010030 8000000000000001 58AF9CA0FA0AE5550FF47A949DC2DFDD
                    1A1890067626BAB4 BB70B8A52CF2F58A48878125DFE10B3D
                    """),
                failure: bytes("15FEFD0001000000000002001A 8000000000000002 F277 59E816C7224A332FDA35B0F21EAE01E4"),
                closeNotify: bytes("15FEFD0001000000000003001A 8000000000000003 3D12 57244DF605DFC48CD57BA5AC8267DCB3")
            ),
        ]
    }

    @Test("is that the peer repeats its last flight, gives up or closes", arguments: Peer.all)
    func events(peer: Peer) {
        #expect(peer.session.read(peer.finished) == .repeatedFlight)
        #expect(peer.session.read(peer.failure) == .failed(alert: 40))
        #expect(peer.session.read(peer.closeNotify) == .closed)
        #expect(peer.session.read(peer.finished + peer.closeNotify) == .closed)
    }

    @Test("is never a record that was changed or cut off", arguments: Peer.all)
    func changed(peer: Peer) {
        let session = peer.session
        for record in [peer.finished, peer.failure, peer.closeNotify] {
            for index in record.indices {
                var changed = record
                changed[index] ^= 1
                #expect(session.read(changed) == .nothing, "byte \(index)")
                #expect(session.read(Array(record.prefix(index))) == .nothing, "\(index) bytes")
            }
        }
        #expect(session.read(peer.closeNotify) == .closed)
    }

    @Test("is nothing that follows a forged record in its datagram", arguments: Peer.all)
    func behindForgery(peer: Peer) {
        let session = peer.session
        var forged = peer.failure
        forged[forged.count - 1] ^= 1
        #expect(session.read(forged + peer.closeNotify) == .nothing)
        #expect(session.read(peer.finished + forged + peer.closeNotify) == .repeatedFlight)
        #expect(session.read(peer.closeNotify) == .closed)
    }

    @Test("is each record only once, and none from before it", arguments: Peer.all)
    func copies(peer: Peer) {
        let session = peer.session
        #expect(session.read(peer.failure) == .failed(alert: 40))
        #expect(session.read(peer.failure) == .nothing)
        #expect(session.read(peer.finished) == .nothing)
        #expect(session.read(peer.closeNotify) == .closed)
    }
}
