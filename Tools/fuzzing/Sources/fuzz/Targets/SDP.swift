import H264
import MediaTypes
import SDP

extension FuzzTarget {
    /// Offers of viewers and publishers, answers to our offer, and trickle fragments.
    static let sdp = FuzzTarget(
        name: "sdp", maxInput: 8192,
        words: [
            "v=0\r\n", "m=video 9 UDP/TLS/RTP/SAVPF ", "m=audio 9 UDP/TLS/RTP/SAVPF ", "a=mid:", "a=group:BUNDLE ",
            "a=ice-ufrag:", "a=ice-pwd:", "a=ice-lite\r\n", "a=fingerprint:sha-256 ", "a=setup:", "actpass", "passive",
            "active", "holdconn", "a=rtcp-mux\r\n", "a=rtcp-rsize\r\n", "a=rtpmap:", " H264/90000", " rtx/90000",
            " opus/48000/2", "a=fmtp:", "packetization-mode=", "profile-level-id=", "apt=", "a=rtcp-fb:", "nack pli",
            "ccm fir", "a=extmap:", "/recvonly ", "urn:ietf:params:rtp-hdrext:sdes:mid", "a=ssrc:", "a=ssrc-group:FID ",
            "a=candidate:", " typ host", "a=sendonly", "a=recvonly", "a=inactive", "a=bundle-only",
            "a=end-of-candidates", "42e01f", "f4001f",
        ]
    ) { input in
        if let fragment = try? TrickleFragment(parsing: input) {
            check(fragment.isTrickle(for: fragment), "a fragment is about its own ICE generation")
            _ = try? fragment.credentials(of: "0")
        }
        guard let session = try? SessionDescription(parsing: input) else { return }
        check(session.media.count <= SessionDescription.maxMediaSections, "sections keep their limit")
        for candidate in session.media.flatMap(\.candidates) {
            check(Candidate(parsing: candidate.text) == candidate, "a candidate that we write reads the same")
        }
        if let answer = try? Answer(to: session, local: local) {
            checkAnswer(answer.text, to: session, ofBytes: input.count)
        }
        if let answer = try? PublisherAnswer(to: session, local: local) {
            checkAnswer(answer.text, to: session, ofBytes: input.count)
        }
        _ = try? offer.negotiated(with: session)
    }
}

private let local = LocalDescription(
    sessionID: .max, iceUfrag: "host", icePassword: "abcdefghijklmnopqrstuv",
    fingerprint: FingerprintAttribute(algorithm: "sha-256", bytes: Array(0..<32)),
    addresses: [HostAddress(address: "192.0.2.1", port: 8189), HostAddress(address: "2001:db8::1", port: 8189)],
    streams: [
        LocalStream(kind: .video, ssrc: 1111, rtxSSRC: 2222, trackID: "screen-video"),
        LocalStream(kind: .audio, ssrc: 3333, rtxSSRC: 4444, trackID: "screen-sound"),
    ], cname: "screenrelay")
private let offer = Offer(local: local, including444: true)

private func checkAnswer(_ text: String, to offer: SessionDescription, ofBytes count: Int) {
    check(text.utf8.count <= 2 * count + 8192, "an answer is not much longer than its offer")
    guard let answer = try? SessionDescription(parsing: text) else { return check(false, "our answers can be read") }
    check(answer.media.map(\.kind) == offer.media.map(\.kind), "an answer has the sections of its offer")
    check(answer.media.map(\.mid) == offer.media.map(\.mid), "sections keep their names")
    let accepted = answer.media.filter { !$0.isRejected }
    check(!accepted.isEmpty, "an answer takes something")
    check(Set(accepted.map(\.kind)).count == accepted.count, "an answer takes one section of each kind")
    for section in accepted {
        check(section.fingerprints == [local.fingerprint], "no line of an offer gets into the transport of an answer")
        check(section.iceUfrag == local.iceUfrag, "an answer has our user name fragment alone")
    }
}
