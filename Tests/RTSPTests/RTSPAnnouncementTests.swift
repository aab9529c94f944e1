import MediaTypes
import RTP
import Testing

@testable import RTSP

@Suite("What a client announces over RTSP")
struct RTSPAnnouncementTests {
    private func announcement(_ sections: String...) throws -> RTSPAnnouncement {
        let lines = ["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=-", "t=0 0"] + sections
        return try RTSPAnnouncement(parsing: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
    }

    private func refusal(_ sections: String...) -> String? {
        let lines = ["v=0", "s=-"] + sections
        do throws(RTSPRefusal) {
            _ = try RTSPAnnouncement(parsing: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
            return nil
        } catch {
            return String(decoding: error.answer.bytes(to: nil).prefix { $0 != 13 }, as: UTF8.self)
        }
    }

    private let video = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000"

    @Test("is H.264 and AAC, as FFmpeg describes them")
    func ffmpeg() throws {
        let announcement = try announcement(
            video, "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LAC9o=,aM4PyA==; profile-level-id=42C00B",
            "a=control:streamid=0", "m=audio 0 RTP/AVP 97", "b=AS:69", "a=rtpmap:97 MPEG4-GENERIC/44100/1",
            "a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3; "
                + "config=120856E500",
            "a=control:streamid=1")
        try #require(announcement.streams.count == 2)
        let (pictures, sound) = (announcement.streams[0], announcement.streams[1])
        #expect(pictures.coding == .h264(parameterSets: [[0x67, 0x42, 0xC0, 0x0B, 0xDA], [0x68, 0xCE, 0x0F, 0xC8]]))
        #expect(pictures.payloadType == PayloadType(96) && pictures.clockRate == .video && pictures.isVideo)
        var description = AudioDescription(codec: "aac", rate: 0, channelCount: 1)
        description.headers = [0x12, 0x08, 0x56, 0xE5, 0x00]
        #expect(
            sound.coding
                == .aac(
                    description, .generic(sizeLength: 13, indexLength: 3, indexDeltaLength: 3), frameTicks: 1024))
        #expect(sound.clockRate == ClockRate(hertz: 44_100) && !sound.isVideo)
        #expect(announcement.index(of: "rtsp://h/screen/streamid=1") == 1)
        #expect(announcement.index(of: "rtsp://h/screen?a=b/streamid=0") == 0)
        #expect(announcement.index(of: "rtsp://h/screen") == nil)
    }

    @Test("is AAC in MP4A-LATM, as GStreamer describes it")
    func gstreamer() throws {
        let announcement = try announcement(
            "m=audio 0 RTP/AVP 96", "c=IN IP4 0.0.0.0", "a=rtpmap:96 MP4A-LATM/44100",
            "a=fmtp:96 cpresent=0;config=40002410adca00", "a=control:stream=1", "a=ts-refclk:local",
            "a=mediaclk:sender", "a=ssrc:687615997 cname:user@host")
        guard case .aac(let description, .latm, 1024)? = announcement.streams.first?.coding else {
            Issue.record("\(announcement)")
            return
        }
        #expect(description.headers == [0x12, 0x08])
        // A single stream needs no name.
        #expect(announcement.index(of: "rtsp://h/screen") == 0)
    }

    @Test("is Opus, PCMU or PCMA, of which the latter need no rtpmap")
    func simpleSound() throws {
        func coding(_ sections: String...) throws -> RTSPAnnouncement.Coding? {
            try announcement(sections.joined(separator: "\r\n")).streams.first?.coding
        }
        #expect(
            try coding("m=audio 0 RTP/AVP 97", "a=rtpmap:97 opus/48000/2")
                == .audio(AudioDescription(codec: "opus", rate: 48_000, channelCount: 2)))
        #expect(
            try coding("m=audio 0 RTP/AVP 0")
                == .audio(AudioDescription(codec: "pcm_mulaw", rate: 8_000, channelCount: 1)))
        #expect(
            try coding("m=audio 0 RTP/AVP 8")
                == .audio(AudioDescription(codec: "pcm_alaw", rate: 8_000, channelCount: 1)))
        #expect(
            try coding("m=audio 0 RTP/AVP 98", "a=rtpmap:98 PCMU/16000/2")
                == .audio(AudioDescription(codec: "pcm_mulaw", rate: 16_000, channelCount: 2)))
    }

    @Test("is refused with a reason that names what can't be used")
    func refusals() {
        #expect(
            refusal("m=video 0 RTP/AVP 96", "a=rtpmap:96 H265/90000")
                == "RTSP/1.0 415 the video is H265; set the encoder to H.264")
        #expect(
            refusal(video, "m=audio 0 RTP/AVP 14", "a=rtpmap:14 MPA/90000")
                == "RTSP/1.0 415 the audio is MPA; set the encoder to Opus, AAC, PCMU or PCMA")
        #expect(refusal(video, video) == "RTSP/1.0 415 more than one video stream and one audio stream")
        #expect(refusal(video, "m=application 0 RTP/AVP 98")?.hasSuffix("neither video nor audio") == true)
        #expect(refusal("m=audio 0 RTP/AVP 14")?.hasSuffix("audio in a format that isn't described") == true)
        #expect(
            refusal("m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/44100", "a=fmtp:97 mode=AAC-hbr;sizelength=13")?
                .hasSuffix("AAC without its configuration") == true)
        #expect(refusal("m=audio 0 RTP/AVP 97", "a=rtpmap:97 MP4A-LATM/44100")?.hasPrefix("RTSP/1.0 415 AAC") == true)
        #expect(refusal("a=tool:x") == "RTSP/1.0 415 no video and no audio")
        #expect(refusal("x")?.hasPrefix("RTSP/1.0 400 ") == true)
    }
}
