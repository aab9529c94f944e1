/// The libavcodec decoders, by name, that may decode a source's streams. The others are for games, old discs and
/// editors: no source needs them, and they are less tested.
public enum UsedDecoders {
    /// libavcodec's names of the video decoders.
    public static let video = [
        "h264", "hevc", "av1", "libdav1d", "libaom-av1", "vp8", "libvpx", "vp9", "libvpx-vp9", "mpeg1video",
        "mpeg2video", "mpeg4", "msmpeg4", "h263", "flv", "mjpeg", "theora", "vc1", "wmv3", "prores", "dnxhd",
        "dvvideo", "ffv1", "rawvideo",
    ]
    /// libavcodec's names of the audio decoders.
    public static let audio = [
        "aac", "aac_latm", "mp1float", "mp2float", "mp3float", "mp1", "mp2", "mp3", "ac3", "eac3", "dca", "opus",
        "libopus", "vorbis", "flac", "alac", "speex", "libspeex", "gsm", "libgsm", "g722", "g723_1", "g726", "g726le",
        "g729", "ilbc", "amrnb", "amrwb", "nellymoser", "wmav2", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms",
        "adpcm_swf", "pcm_alaw", "pcm_mulaw", "pcm_s8", "pcm_u8", "pcm_s16be", "pcm_s16le", "pcm_s24be", "pcm_s24le",
        "pcm_s32be", "pcm_s32le", "pcm_f32be", "pcm_f32le", "pcm_f64be", "pcm_f64le", "pcm_bluray", "pcm_dvd", "s302m",
    ]

    /// All of them, as libavformat's option `codec_whitelist` has them.
    public static var list: String { (video + audio).joined(separator: ",") }
}
