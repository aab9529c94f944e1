import SecureTransport

/// A viewer's offer, as Chromium writes it for one video to receive.
enum Offer {
    static func chromium(ufrag: String, fingerprint: CertificateFingerprint) -> String {
        let lines = """
            v=0
            o=- 4611731400430051336 2 IN IP4 127.0.0.1
            s=-
            t=0 0
            a=group:BUNDLE 0
            a=extmap-allow-mixed
            a=msid-semantic: WMS
            m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 106 107
            c=IN IP4 0.0.0.0
            a=rtcp:9 IN IP4 0.0.0.0
            a=ice-ufrag:\(ufrag)
            a=ice-pwd:s8/LZ2Qk0TBzq1yMdP8N6bCr
            a=ice-options:trickle
            a=fingerprint:\(fingerprint.sdpValue)
            a=setup:actpass
            a=mid:0
            a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
            a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid
            a=extmap:12 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time
            a=recvonly
            a=rtcp-mux
            a=rtcp-rsize
            a=rtpmap:96 VP8/90000
            a=rtpmap:97 rtx/90000
            a=fmtp:97 apt=96
            a=rtpmap:102 H264/90000
            a=rtcp-fb:102 goog-remb
            a=rtcp-fb:102 ccm fir
            a=rtcp-fb:102 nack
            a=rtcp-fb:102 nack pli
            a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
            a=rtpmap:103 rtx/90000
            a=fmtp:103 apt=102
            a=rtpmap:106 H264/90000
            a=rtcp-fb:106 ccm fir
            a=rtcp-fb:106 nack
            a=rtcp-fb:106 nack pli
            a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
            a=rtpmap:107 rtx/90000
            a=fmtp:107 apt=106
            """
        return lines.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
    }
}
