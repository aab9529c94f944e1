import CLibAV

/// The messages that FFmpeg's libraries log. The first one of each thread is kept instead of being written to standard
/// error.
///
/// None of this may be inlined elsewhere: the kept message belongs to this file's code.
public enum LibAVMessage {
    /// Redirects the libraries' log messages, once for the process.
    public static let isKept: Bool = {
        shim_av_keep_messages()
        return true
    }()

    /// Clears this thread's message, so that the next one is kept.
    @inline(never)
    public static func clear() {
        shim_av_first_message().pointee = 0
    }

    /// Whether this thread's first message is about a lost picture before the one that is being decoded.
    public static var tellsOfLostPicture: Bool { tells(of: "Frame num gap") }

    /// Whether this thread's first message contains `words`.
    @inline(never)
    public static func tells(of words: String) -> Bool {
        words.withCString { strstr(shim_av_first_message(), $0) != nil }
    }

    /// This thread's first message since `clear()`, or the meaning of `code` if there was none.
    @inline(never)
    public static func first(code: Int32) -> String {
        var text = String(cString: shim_av_first_message())
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text.isEmpty ? meaning(of: code) : text
    }

    /// What the libraries say about their error `code`.
    public static func meaning(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        av_strerror(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
