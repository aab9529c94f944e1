/// The names of codecs that can't be published, for people.
enum Codec {
    /// FLV's codec identifiers (FLV section E.4.3.1).
    private static let videoIdentifiers: [UInt8: String] = [
        2: "Sorenson H.263", 3: "Screen Video", 4: "VP6", 5: "VP6", 6: "Screen Video", 12: "H.265", 13: "AV1",
    ]
    /// FLV's sound formats (FLV section E.4.2.1).
    private static let soundFormats: [UInt8: String] = [
        0: "PCM", 1: "ADPCM", 2: "MP3", 3: "PCM", 4: "Nellymoser", 5: "Nellymoser", 6: "Nellymoser", 7: "G.711",
        8: "G.711", 11: "Speex", 13: "Opus", 14: "MP3",
    ]
    /// The four letters of enhanced messages. Others are their own names.
    private static let fourCCs = [
        "hvc1": "H.265", "av01": "AV1", "vp08": "VP8", "vp09": "VP9", "vvc1": "H.266", "fLaC": "FLAC", ".mp3": "MP3",
    ]

    /// The reason for refusing video with one of FLV's codec identifiers.
    static func refusal(ofVideo identifier: UInt8) -> String {
        video(videoIdentifiers[identifier] ?? "a video codec with the number \(identifier)")
    }

    /// The reason for refusing video with the four letters of an enhanced message.
    static func refusal(ofVideo letters: ArraySlice<UInt8>) -> String { video(name(of: letters)) }

    /// The reason for refusing audio with one of FLV's sound formats.
    static func refusal(ofAudio format: UInt8) -> String {
        audio(soundFormats[format] ?? "an audio codec with the number \(format)")
    }

    /// The reason for refusing audio with the four letters of an enhanced message.
    static func refusal(ofAudio letters: ArraySlice<UInt8>) -> String { audio(name(of: letters)) }

    private static func name(of letters: ArraySlice<UInt8>) -> String {
        let text = self.text(letters)
        return fourCCs[text] ?? text
    }

    private static func video(_ name: String) -> String { "the video is \(name); set the encoder to H.264" }
    private static func audio(_ name: String) -> String { "the audio is \(name); set the encoder to AAC" }

    /// The letters, in which anything else is replaced.
    private static func text(_ letters: ArraySlice<UInt8>) -> String {
        String(decoding: letters.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
