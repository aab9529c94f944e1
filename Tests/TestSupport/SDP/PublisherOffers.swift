/// Offers of programs that publish by WHIP.
public enum PublisherOffers {
    /// OBS Studio 30: transport at session level, audio first, no candidates.
    public static let obs = crlf(
        """
        v=0
        o=rtc 3146240279 0 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=group:LS 0 1
        a=msid-semantic:WMS *
        a=setup:actpass
        a=ice-ufrag:riAt
        a=ice-pwd:liagNiLAe0isiLRg66/jA5
        a=ice-options:ice2,trickle
        a=fingerprint:sha-256 \(Offers.fingerprint)
        m=audio 9 UDP/TLS/RTP/SAVPF 111
        c=IN IP4 0.0.0.0
        a=mid:0
        a=sendonly
        a=ssrc:3382040868 cname:rQcWaxPvcgYTistQ
        a=ssrc:3382040868 msid:fAB8s1VfJrRwiz2r fAB8s1VfJrRwiz2r-audio
        a=msid:fAB8s1VfJrRwiz2r fAB8s1VfJrRwiz2r-audio
        a=rtcp-mux
        a=rtpmap:111 opus/48000/2
        a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1
        m=video 9 UDP/TLS/RTP/SAVPF 96
        c=IN IP4 0.0.0.0
        a=mid:1
        a=sendonly
        a=ssrc:3382040869 cname:rQcWaxPvcgYTistQ
        a=ssrc:3382040869 msid:fAB8s1VfJrRwiz2r fAB8s1VfJrRwiz2r-video
        a=msid:fAB8s1VfJrRwiz2r fAB8s1VfJrRwiz2r-video
        a=rtcp-mux
        a=rtpmap:96 H264/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb
        a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1

        """)

    /// FFmpeg's whip muxer without sound: a bundle that names a section that it doesn't have, a profile-level-id of
    /// seven digits, and no feedback; it waits for DTLS.
    public static let ffmpeg = crlf(
        """
        v=0
        o=FFmpeg 4489045141692799359 2 IN IP4 127.0.0.1
        s=FFmpegPublishSession
        t=0 0
        a=group:BUNDLE 0 1
        a=extmap-allow-mixed
        a=msid-semantic: WMS
        m=video 9 UDP/TLS/RTP/SAVPF 106
        c=IN IP4 0.0.0.0
        a=ice-ufrag:5d3f2c1b
        a=ice-pwd:0a1b2c3d4e5f60718293a4b5c6d7e8f9
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=setup:passive
        a=mid:1
        a=sendonly
        a=msid:FFmpeg video
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:106 H264/90000
        a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=422001f
        a=ssrc:3195042181 cname:FFmpeg
        a=ssrc:3195042181 msid:FFmpeg video

        """)

    /// GStreamer's webrtcbin, on which whipsink is built: no fmtp for H.264, names in capitals, candidates.
    public static let gstreamer = crlf(
        """
        v=0
        o=- 2461340508447355243 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=ice-options:trickle
        a=group:BUNDLE video0 audio1
        m=video 9 UDP/TLS/RTP/SAVPF 96 97
        c=IN IP4 0.0.0.0
        a=setup:actpass
        a=ice-ufrag:Imt2ypYqN8nzjQx6HzC6smEMvF+OvhaA
        a=ice-pwd:MYE+ApE38JDaDQgwKN7B3LvJ53RA4BcH
        a=rtcp-mux
        a=rtcp-rsize
        a=sendonly
        a=rtpmap:96 H264/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 transport-cc
        a=framerate:30
        a=rtpmap:97 rtx/90000
        a=ssrc-group:FID 3729522813 1429131839
        a=ssrc:3729522813 msid:user3977049223@host-7363340d webrtctransceiver0
        a=ssrc:3729522813 cname:user3977049223@host-7363340d
        a=mid:video0
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=rtcp-mux-only
        a=candidate:1 1 UDP 2015363327 192.0.2.7 44323 typ host
        a=end-of-candidates
        a=fmtp:97 apt=96
        m=audio 0 UDP/TLS/RTP/SAVPF 98
        c=IN IP4 0.0.0.0
        a=bundle-only
        a=setup:actpass
        a=ice-ufrag:Imt2ypYqN8nzjQx6HzC6smEMvF+OvhaA
        a=ice-pwd:MYE+ApE38JDaDQgwKN7B3LvJ53RA4BcH
        a=rtcp-mux
        a=rtcp-rsize
        a=sendonly
        a=rtpmap:98 OPUS/48000/2
        a=mid:audio1
        a=fingerprint:sha-256 \(Offers.fingerprint)

        """)

    /// aiortc: a codec for each of its packetization modes and profiles, each with retransmissions.
    public static let aiortc = crlf(
        """
        v=0
        o=- 3989291234 3989291234 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=msid-semantic:WMS *
        m=video 47117 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102
        c=IN IP4 192.0.2.9
        a=sendonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=mid:0
        a=msid:b4b6c1de-42d8-4a57-8c36-2b4d7dbb1f0e 0f7f2d9f-6b1c-4a0a-93f5-7b0a7a3f6f50
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 1831097322 4165955869
        a=ssrc:1831097322 cname:18a0b7d6-3d6d-4c0e-8d3a-f1b7f7a2c9c4
        a=ssrc:4165955869 cname:18a0b7d6-3d6d-4c0e-8d3a-f1b7f7a2c9c4
        a=rtpmap:97 VP8/90000
        a=rtcp-fb:97 nack
        a=rtcp-fb:97 nack pli
        a=rtpmap:98 rtx/90000
        a=fmtp:98 apt=97
        a=rtpmap:99 H264/90000
        a=rtcp-fb:99 nack
        a=rtcp-fb:99 nack pli
        a=rtcp-fb:99 goog-remb
        a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:100 rtx/90000
        a=fmtp:100 apt=99
        a=rtpmap:101 H264/90000
        a=rtcp-fb:101 nack
        a=rtcp-fb:101 nack pli
        a=rtcp-fb:101 goog-remb
        a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:102 rtx/90000
        a=fmtp:102 apt=101
        a=candidate:1 1 udp 2130706431 192.0.2.9 47117 typ host
        a=end-of-candidates
        a=ice-ufrag:Xc4d
        a=ice-pwd:qwertyuiopasdfghjklzxc
        a=fingerprint:sha-256 \(Offers.fingerprint)
        a=setup:actpass

        """)
}
