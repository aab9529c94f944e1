/// The names of codecs that can't be published, for people.
enum Codec {
    /// The reason for refusing video with one of FLV's codec identifiers (FLV section E.4.3.1).
    static func refusal(ofVideo identifier: UInt8) -> String {
        let name =
            switch identifier {
            case 2: "Sorenson H.263"
            case 3, 6: "Screen Video"
            case 4, 5: "VP6"
            case 12: "H.265"
            case 13: "AV1"
            default: "a video codec with the number \(identifier)"
            }
        return video(name)
    }

    /// The reason for refusing video with the four letters of an enhanced message.
    static func refusal(ofVideo letters: ArraySlice<UInt8>) -> String {
        let text = self.text(letters)
        let name =
            switch text {
            case "hvc1": "H.265"
            case "av01": "AV1"
            case "vp08": "VP8"
            case "vp09": "VP9"
            case "vvc1": "H.266"
            default: text
            }
        return video(name)
    }

    /// The reason for refusing audio with one of FLV's sound formats (FLV section E.4.2.1).
    static func refusal(ofAudio format: UInt8) -> String {
        let name =
            switch format {
            case 0, 3: "PCM"
            case 1: "ADPCM"
            case 2, 14: "MP3"
            case 4, 5, 6: "Nellymoser"
            case 7, 8: "G.711"
            case 11: "Speex"
            case 13: "Opus"
            default: "an audio codec with the number \(format)"
            }
        return audio(name)
    }

    /// The reason for refusing audio with the four letters of an enhanced message.
    static func refusal(ofAudio letters: ArraySlice<UInt8>) -> String {
        let text = self.text(letters)
        return audio(text == "fLaC" ? "FLAC" : text == ".mp3" ? "MP3" : text)
    }

    private static func video(_ name: String) -> String { "the video is \(name); set the encoder to H.264" }
    private static func audio(_ name: String) -> String { "the audio is \(name); set the encoder to AAC" }

    /// The letters, in which anything else is replaced.
    private static func text(_ letters: ArraySlice<UInt8>) -> String {
        String(decoding: letters.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
