/// Answers of different peers to our offer of one video in 4:2:0 and 4:4:4.
public enum Answers {
    /// The user name fragment that all of them have.
    public static let ufrag = "Qm3+"

    /// Chromium if its decoder is FFmpeg's: both profiles, each with retransmissions.
    public static let chromium = crlf(
        """
        v=0
        o=- 5513389174214583113 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=msid-semantic: WMS
        m=video 9 UDP/TLS/RTP/SAVPF 106 107 108 109
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:\(ufrag)
        a=ice-pwd:s8/LZ2Qk0TBzq1yMdP8N6bCr
        a=ice-options:trickle
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=setup:active
        a=mid:0
        a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time
        a=recvonly
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:106 H264/90000
        a=rtcp-fb:106 ccm fir
        a=rtcp-fb:106 nack
        a=rtcp-fb:106 nack pli
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:107 rtx/90000
        a=fmtp:107 apt=106
        a=rtpmap:108 H264/90000
        a=rtcp-fb:108 ccm fir
        a=rtcp-fb:108 nack
        a=rtcp-fb:108 nack pli
        a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=f4001f
        a=rtpmap:109 rtx/90000
        a=fmtp:109 apt=108

        """)

    /// aiortc 1.16: fingerprints by three hashes after the candidates, no rtcp-rsize, one extension.
    public static let aiortc = crlf(
        """
        v=0
        o=- 4004181860 4004181860 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=msid-semantic:WMS *
        m=video 35869 UDP/TLS/RTP/SAVPF 106 107
        c=IN IP4 192.0.2.2
        a=recvonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=mid:0
        a=msid:12d07542-8367-46e6-96db-8946229a5f36 b481f736-3ff0-43aa-93fa-8fb8409ac788
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 3190305036 2219705839
        a=ssrc:3190305036 cname:f353f6ee-bc9c-4ae6-96aa-261dab069948
        a=ssrc:2219705839 cname:f353f6ee-bc9c-4ae6-96aa-261dab069948
        a=rtpmap:106 H264/90000
        a=rtcp-fb:106 nack
        a=rtcp-fb:106 nack pli
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:107 rtx/90000
        a=fmtp:107 apt=106
        a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 35869 typ host
        a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 2001:db8::2 45052 typ host
        a=end-of-candidates
        a=ice-ufrag:\(ufrag)
        a=ice-pwd:F75ufyDNtIJnUuKbWSI3Dg
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=fingerprint:sha-384 \(pairs(48))
        a=fingerprint:sha-512 \(pairs(64))
        a=setup:active

        """)

    /// Firefox: the fingerprint at session level, the first profile alone, no abs-capture-time.
    public static let firefox = crlf(
        """
        v=0
        o=mozilla...THIS_IS_SDPARTA-99.0 6231427164932817396 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=group:BUNDLE 0
        a=ice-options:trickle
        a=msid-semantic:WMS *
        m=video 9 UDP/TLS/RTP/SAVPF 106 107
        c=IN IP4 0.0.0.0
        a=recvonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:3/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=fmtp:106 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1
        a=fmtp:107 apt=106
        a=ice-pwd:0a1b2c3d4e5f60718293a4b5c6d7e8f9
        a=ice-ufrag:\(ufrag)
        a=mid:0
        a=rtcp-fb:106 nack
        a=rtcp-fb:106 nack pli
        a=rtcp-fb:106 ccm fir
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:106 H264/90000
        a=rtpmap:107 rtx/90000
        a=setup:active
        a=ssrc:2055137634 cname:{a7bd5a3c-1d9c-4f8e-a0b3-8e2b6e6d3f11}

        """)

    private static func pairs(_ count: Int) -> String {
        Array(repeating: "A9", count: count).joined(separator: ":")
    }
}
