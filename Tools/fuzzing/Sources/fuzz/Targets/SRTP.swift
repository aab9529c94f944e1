import SecureTransport

extension FuzzTarget {
    /// SRTP and SRTCP packets: forged ones, and ours with a bit changed on the way.
    static let srtp = FuzzTarget(name: "srtp", maxInput: 1500) { input in
        for profile in SRTPProfile.allCases {
            let (sender, receiver) = sessions(profile)
            checkPath(
                input, room: SRTPSession.rtpRoom,
                protect: { packet throws(SecureTransportError) in try sender.protect(&packet) },
                unprotect: { packet throws(SecureTransportError) in try receiver.unprotect(&packet) })
            checkPath(
                input, room: SRTPSession.rtcpRoom,
                protect: { packet throws(SecureTransportError) in try sender.protectRTCP(&packet) },
                unprotect: { packet throws(SecureTransportError) in try receiver.unprotectRTCP(&packet) })
        }
    }
}

private typealias Operation = (inout [UInt8]) throws(SecureTransportError) -> Void

/// The result of `operation` on a packet; nil if it refuses the packet.
private func result(of operation: Operation, on packet: [UInt8]) -> [UInt8]? {
    var packet = packet
    do throws(SecureTransportError) {
        try operation(&packet)
        return packet
    } catch {
        return nil
    }
}

private func checkPath(_ input: [UInt8], room: Int, protect: Operation, unprotect: Operation) {
    check(result(of: unprotect, on: input) == nil, "no packet passes that was made without the key")
    guard let sent = result(of: protect, on: input) else { return }
    check((input.count...input.count + room).contains(sent.count), "protection keeps its room")
    var changed = sent
    changed[input.reduce(0) { $0 &+ Int($1) } % sent.count] ^= 1
    check(result(of: unprotect, on: changed) == nil, "no changed packet passes")
    check(result(of: unprotect, on: sent) == input, "a packet comes out as it went in")
    check(result(of: unprotect, on: sent) == nil, "no packet passes twice")
}

private func sessions(_ profile: SRTPProfile) -> (sender: SRTPSession, receiver: SRTPSession) {
    func key(_ byte: UInt8) -> SRTPMasterKey {
        SRTPMasterKey(
            key: [UInt8](repeating: byte, count: profile.keyCount),
            salt: [UInt8](repeating: byte, count: profile.saltCount))
    }
    func session(local: UInt8, remote: UInt8) -> SRTPSession {
        do throws(SecureTransportError) {
            return try SRTPSession(keys: SRTPKeys(profile: profile, local: key(local), remote: key(remote)))
        } catch {
            fatalError("\(error)")
        }
    }
    return (session(local: 1, remote: 2), session(local: 2, remote: 1))
}
