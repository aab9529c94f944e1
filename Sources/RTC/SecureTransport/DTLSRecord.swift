/// Finds the records in a datagram or in a sequence of records (RFC 6347 section 4.1).
///
///      0      1         3         5                     11        13
///     +------+---------+---------+---------------------+---------+-----------
///     | type | version |  epoch  |   sequence number   | length  | fragment …
///     +------+---------+---------+---------------------+---------+-----------
enum DTLSRecord {
    static let headerCount = 13
    /// 2^14 bytes, plus what encryption may add (RFC 6347 section 4.1).
    private static let maxFragment = 16_384 + 2_048

    private static let changeCipherSpec: UInt8 = 20
    static let alert: UInt8 = 21
    static let handshake: UInt8 = 22
    private static let applicationData: UInt8 = 23

    /// Whether a datagram may be DTLS, judged by its first byte (RFC 7983 section 7).
    static func mayStart(with byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return (20...63).contains(byte)
    }

    /// The first record of `bytes`, including its header; nil if there is no complete one.
    static func first(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let header = Array(bytes.prefix(headerCount))
        guard header.count == headerCount else { return nil }
        let count = Int(header[11]) << 8 | Int(header[12])
        guard count <= maxFragment, bytes.count - headerCount >= count else { return nil }
        return bytes.prefix(headerCount + count)
    }

    /// The two bytes of the version in the first record of `records`, which is complete.
    private static func version(of records: ArraySlice<UInt8>) -> [UInt8] { Array(records.dropFirst().prefix(2)) }

    /// The records of `datagram` that may be passed to OpenSSL.
    ///
    /// An invalid record should be silently discarded (RFC 6347 section 4.1.2.7). OpenSSL discards a record that fails
    /// authentication, but it aborts the handshake over a malformed record that is not encrypted yet. Before 3.0.22, it
    /// even ends an established session over a record that is too short to hold an authentication tag. This function
    /// filters out both kinds. Everything after a record with an impossible length is discarded with it.
    static func acceptable(in datagram: ArraySlice<UInt8>) -> [UInt8] {
        guard mayStart(with: datagram.first) else { return [] }
        var result: [UInt8] = []
        var rest = datagram
        while let record = first(of: rest) {
            if isAcceptable(Array(record)) { result.append(contentsOf: record) }
            rest = rest.dropFirst(record.count)
        }
        return result
    }

    private static func isAcceptable(_ record: [UInt8]) -> Bool {
        let type = record[0]
        // The first ClientHello has DTLS 1.0's version number.
        guard (changeCipherSpec...applicationData).contains(type), record[1] == 0xFE,
            record[2] == 0xFD || record[2] == 0xFF
        else { return false }
        let fragment = record.dropFirst(headerCount)
        let isEncrypted = record[3] != 0 || record[4] != 0
        if isEncrypted { return fragment.count > DTLSContext.encryptionOverhead }
        switch type {
        case changeCipherSpec: return fragment.elementsEqual([1])
        case alert: return fragment.count == 2 && (fragment.first == 1 || fragment.first == 2)
        case handshake: return holdsHandshakeMessages(fragment)
        default: return false
        }
    }

    /// Whether `fragment` consists only of handshake messages or fragments of them (RFC 6347 section 4.2.2).
    ///
    ///      0      1          4         6                 9                 12
    ///     +------+----------+---------+-----------------+-----------------+--------
    ///     | type |  length  | number  | fragment offset | fragment length | body …
    ///     +------+----------+---------+-----------------+-----------------+--------
    private static func holdsHandshakeMessages(_ fragment: ArraySlice<UInt8>) -> Bool {
        var rest = fragment
        repeat {
            let header = Array(rest.prefix(12))
            guard header.count == 12, knownMessages.contains(header[0]) else { return false }
            func number(at index: Int) -> Int {
                Int(header[index]) << 16 | Int(header[index + 1]) << 8 | Int(header[index + 2])
            }
            let (length, offset, count) = (number(at: 1), number(at: 6), number(at: 9))
            guard length <= 1 << 16, offset + count <= length, count <= rest.count - 12 else { return false }
            rest = rest.dropFirst(12 + count)
        } while !rest.isEmpty
        return true
    }

    /// The known handshake message types: hello_request, client_hello, server_hello, hello_verify_request,
    /// new_session_ticket, certificate to client_key_exchange, finished, certificate_status.
    private static let knownMessages: Set<UInt8> = [0, 1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 20, 22]

    /// A server's last flight, as one datagram: the ChangeCipherSpec in `datagrams`, and the Finished that follows it.
    ///
    /// The rest is left out: the previous flight, which OpenSSL sends again if its timer has run out, and the last one
    /// again for each Finished that it reads. So a peer's Finished is never answered with much more than it has sent.
    static func lastFlight(in datagrams: [[UInt8]]) -> [[UInt8]] {
        var rest = Array(datagrams.joined())[...]
        while let record = first(of: rest), record.first != changeCipherSpec { rest = rest.dropFirst(record.count) }
        guard let change = first(of: rest), let finished = first(of: rest.dropFirst(change.count)) else { return [] }
        return [Array(rest.prefix(change.count + finished.count))]
    }

    /// Splits a sequence of records into datagrams of at most `limit` bytes, without splitting a record.
    ///
    /// This is needed because a memory BIO does not keep OpenSSL's datagram boundaries. Records of two versions don't
    /// share a datagram either: when a ClientHello (of version 1.0) is sent again just before the next flight,
    /// OpenSSL's server discards the ClientHello's header and reads the rest of the datagram as garbage.
    static func datagrams(of records: [UInt8], limit: Int) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var datagram: [UInt8] = []
        var rest = records[...]
        while let record = first(of: rest) {
            let isFull = datagram.count + record.count > limit
            if !datagram.isEmpty, isFull || version(of: datagram[...]) != version(of: record) {
                result.append(datagram)
                datagram.removeAll()
            }
            datagram.append(contentsOf: record)
            rest = rest.dropFirst(record.count)
        }
        if !datagram.isEmpty { result.append(datagram) }
        return result
    }
}
