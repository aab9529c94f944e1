/// Offers as different peers make them.
public enum Offers {
    /// The SHA-256 fingerprint of the peers' certificate.
    public static let fingerprint =
        "5D:9C:81:5E:7A:9F:EE:47:51:2F:0A:AC:9C:31:3B:11:B0:DE:6A:70:49:4B:3B:94:C1:5B:E5:5E:D8:96:B4:50"

    private static let chromiumSession = """
        v=0
        o=- 4611731400430051336 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=extmap-allow-mixed
        a=msid-semantic: WMS

        """

    /// Chromium's user name fragment.
    public static let chromiumUfrag = "Qm3+"

    private static let chromiumTransport = """
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=candidate:2896278100 1 udp 2113937151 6f2c7f4e-9f4a-4d9c-bbf6-0d6a5d2f0d11.local 53211 typ host generation 0 network-cost 999
        a=ice-ufrag:\(chromiumUfrag)
        a=ice-pwd:s8/LZ2Qk0TBzq1yMdP8N6bCr
        a=ice-options:trickle
        a=fingerprint:sha-256 \(fingerprint)
        a=setup:actpass

        """

    /// Chromium's video section: `mid`, `port` 0 and `a=bundle-only` under the max-bundle policy.
    public static func chromiumVideo(mid: String, port: Int = 9, direction: String = "recvonly") -> String {
        """
        m=video \(port) UDP/TLS/RTP/SAVPF 96 97 102 103 104 105 106 107 108 109 127 125 39 40 45 46 98 99 100 101 112 113 116 117 118
        \(chromiumTransport)a=mid:\(mid)
        a=extmap:1 urn:ietf:params:rtp-hdrext:toffset
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 urn:3gpp:video-orientation
        a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type
        a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
        a=extmap:12 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time
        a=\(direction)
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 goog-remb
        a=rtcp-fb:96 nack
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:102 H264/90000
        a=rtcp-fb:102 goog-remb
        a=rtcp-fb:102 transport-cc
        a=rtcp-fb:102 ccm fir
        a=rtcp-fb:102 nack
        a=rtcp-fb:102 nack pli
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:103 rtx/90000
        a=fmtp:103 apt=102
        a=rtpmap:104 H264/90000
        a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42001f
        a=rtpmap:105 rtx/90000
        a=fmtp:105 apt=104
        a=rtpmap:106 H264/90000
        a=rtcp-fb:106 goog-remb
        a=rtcp-fb:106 transport-cc
        a=rtcp-fb:106 ccm fir
        a=rtcp-fb:106 nack
        a=rtcp-fb:106 nack pli
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:107 rtx/90000
        a=fmtp:107 apt=106
        a=rtpmap:108 H264/90000
        a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
        a=rtpmap:109 rtx/90000
        a=fmtp:109 apt=108
        a=rtpmap:127 H264/90000
        a=rtcp-fb:127 nack
        a=fmtp:127 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f
        a=rtpmap:125 rtx/90000
        a=fmtp:125 apt=127
        a=rtpmap:39 H264/90000
        a=fmtp:39 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=4d001f
        a=rtpmap:40 rtx/90000
        a=fmtp:40 apt=39
        a=rtpmap:45 AV1/90000
        a=fmtp:45 level-idx=5;profile=0;tier=0
        a=rtpmap:46 rtx/90000
        a=fmtp:46 apt=45
        a=rtpmap:98 VP9/90000
        a=fmtp:98 profile-id=0
        a=rtpmap:99 rtx/90000
        a=fmtp:99 apt=98
        a=rtpmap:100 VP9/90000
        a=fmtp:100 profile-id=2
        a=rtpmap:101 rtx/90000
        a=fmtp:101 apt=100
        a=rtpmap:112 H264/90000
        a=rtcp-fb:112 nack
        a=fmtp:112 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f
        a=rtpmap:113 rtx/90000
        a=fmtp:113 apt=112
        a=rtpmap:116 red/90000
        a=rtpmap:117 rtx/90000
        a=fmtp:117 apt=116
        a=rtpmap:118 ulpfec/90000

        """
    }

    /// Chromium: a video to receive.
    public static let chromium = crlf(chromiumSession + chromiumVideo(mid: "0"))

    /// Chromium if its decoder is FFmpeg's: High 4:4:4 Predictive, too, in both packetization modes.
    public static let chromiumWith444 =
        chromium.replacing(" 112 113 116", with: " 112 113 41 42 43 44 116")
        + crlf(
            """
            a=rtpmap:41 H264/90000
            a=rtcp-fb:41 goog-remb
            a=rtcp-fb:41 transport-cc
            a=rtcp-fb:41 ccm fir
            a=rtcp-fb:41 nack
            a=rtcp-fb:41 nack pli
            a=fmtp:41 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=f4001f
            a=rtpmap:42 rtx/90000
            a=fmtp:42 apt=41
            a=rtpmap:43 H264/90000
            a=rtcp-fb:43 goog-remb
            a=rtcp-fb:43 transport-cc
            a=rtcp-fb:43 ccm fir
            a=rtcp-fb:43 nack
            a=rtcp-fb:43 nack pli
            a=fmtp:43 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=f4001f
            a=rtpmap:44 rtx/90000
            a=fmtp:44 apt=43

            """)

    /// Audio first, a data channel last, all in one bundle.
    public static let chromiumWithAudioAndData = crlf(
        chromiumSession.replacing("BUNDLE 0", with: "BUNDLE 0 1 2") + """
            m=audio 9 UDP/TLS/RTP/SAVPF 111 63 0
            \(chromiumTransport)a=mid:0
            a=sendrecv
            a=rtcp-mux
            a=rtpmap:111 opus/48000/2
            a=rtpmap:63 red/48000/2
            a=fmtp:63 111/111

            """ + chromiumVideo(mid: "1", port: 0, direction: "bundle-only\na=sendrecv") + """
                m=application 9 UDP/DTLS/SCTP webrtc-datachannel
                \(chromiumTransport)a=mid:2
                a=sctp-port:5000
                a=max-message-size:262144

                """)

    /// Firefox: transport at session level, constrained baseline at 126 and 97, no abs-capture-time.
    public static let firefox = crlf(
        """
        v=0
        o=mozilla...THIS_IS_SDPARTA-99.0 5286164932316817396 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=sendrecv
        a=fingerprint:sha-256 \(fingerprint)
        a=group:BUNDLE 0
        a=ice-options:trickle
        a=msid-semantic:WMS *
        m=video 9 UDP/TLS/RTP/SAVPF 120 124 126 127 97 98
        c=IN IP4 0.0.0.0
        a=recvonly
        a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:4 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:7/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=fmtp:126 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1
        a=fmtp:97 profile-level-id=42e01f;level-asymmetry-allowed=1
        a=fmtp:120 max-fs=12288;max-fr=60
        a=fmtp:124 apt=120
        a=fmtp:127 apt=126
        a=fmtp:98 apt=97
        a=ice-pwd:0a1b2c3d4e5f60718293a4b5c6d7e8f9
        a=ice-ufrag:1f2e3d4c
        a=mid:0
        a=rtcp-fb:120 nack
        a=rtcp-fb:126 nack
        a=rtcp-fb:126 nack pli
        a=rtcp-fb:126 ccm fir
        a=rtcp-fb:126 goog-remb
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:120 VP8/90000
        a=rtpmap:124 rtx/90000
        a=rtpmap:126 H264/90000
        a=rtpmap:127 rtx/90000
        a=rtpmap:97 H264/90000
        a=rtpmap:98 rtx/90000
        a=setup:actpass
        a=ssrc:3055137634 cname:{a7bd5a3c-1d9c-4f8e-a0b3-8e2b6e6d3f11}

        """)

    /// A small WHEP player: LF alone, no mid, no group, no RTX, it waits for DTLS.
    public static let player = """
        v=0
        o=- 1 1 IN IP4 0.0.0.0
        s=-
        t=0 0
        m=video 9 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 0.0.0.0
        a=recvonly
        a=rtcp-mux
        a=rtpmap:96 h264/90000
        a=fmtp:96 packetization-mode=1; profile-level-id=42C01F
        a=rtcp-fb:* nack pli
        a=ice-ufrag:abcd
        a=ice-pwd:0123456789012345678901
        a=fingerprint:SHA-256 \(fingerprint.lowercased())
        a=setup:passive
        """
}

/// A description with the lines' ends that the specification wants.
func crlf(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
}
