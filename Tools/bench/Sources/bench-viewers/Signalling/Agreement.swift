import SDP
import SecureTransport

/// What a viewer's offer and the host's answer agree on.
struct Agreement: Sendable {
    let ufrag: String
    let password: String
    let hostUfrag: String
    let hostPassword: String
    let hostFingerprint: CertificateFingerprint
    /// The host's address, numeric.
    let hostAddress: HostAddress
    let dtlsRole: DTLSTransport.Role
    /// Whether each payload type, from 0 to 127, is one of retransmissions (RTX).
    let isRetransmission: [Bool]
    /// The number of the header extension with the transport-wide sequence number; nil if packets don't carry it.
    let transportNumberID: UInt8?

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - ufrag: the viewer's own user name fragment; `password` belongs to it.
    ///   - nearby: the host of the WHEP address. A candidate with this address is preferred.
    /// - Throws: ``BenchFailure`` that names what is missing.
    init(answer: String, ufrag: String, password: String, nearby: String) throws(BenchFailure) {
        let description: SessionDescription
        do throws(SDPError) {
            description = try SessionDescription(parsing: answer)
        } catch {
            throw BenchFailure("the answer: \(error)")
        }
        guard let media = description.media.first(where: { !$0.isRejected }) else {
            throw BenchFailure("the answer accepts no video")
        }
        guard let hostUfrag = media.iceUfrag, let hostPassword = media.icePassword,
            let fingerprint = media.fingerprints.first
        else { throw BenchFailure("the answer has no ICE credentials or no fingerprint") }
        let candidates = media.candidates.filter { $0.transport == "udp" && !$0.address.hasSuffix(".local") }
        guard let candidate = candidates.first(where: { $0.address == nearby }) ?? candidates.first else {
            throw BenchFailure("the answer has no candidate for UDP")
        }
        do throws(SecureTransportError) {
            hostFingerprint = try CertificateFingerprint(
                algorithmName: fingerprint.algorithm, bytes: fingerprint.bytes)
        } catch {
            throw BenchFailure("the answer: \(error)")
        }
        self.ufrag = ufrag
        self.password = password
        self.hostUfrag = hostUfrag
        self.hostPassword = hostPassword
        hostAddress = HostAddress(address: candidate.address, port: candidate.port)
        dtlsRole = media.setup == .active ? .server : .client
        let retransmissions = media.codecs.filter { $0.name.lowercased() == "rtx" }.map(\.payloadType)
        isRetransmission = (UInt8(0)...127).map { retransmissions.contains($0) }
        transportNumberID = media.extensions.first { $0.uri == ViewerOffer.transportNumberURI }.flatMap {
            UInt8(exactly: $0.id)
        }
    }
}
