import CLibAV

/// The messages that libavcodec logs. One line is kept for each thread instead of being written to standard error.
enum LibAVMessage {
    /// Redirects the library's log messages, once for the process.
    static let isKept: Bool = {
        shim_av_keep_messages()
        return true
    }()

    /// Clears this thread's message, so that the next one is kept.
    static func clear() {
        shim_av_first_message().pointee = 0
    }

    /// Whether this thread's first message is about a lost picture before the one that is being decoded.
    static var tellsOfLostPicture: Bool {
        "Frame num gap".withCString { strstr(shim_av_first_message(), $0) != nil }
    }

    /// This thread's first message since `clear()`, or the meaning of `code` if there was none.
    static func first(code: Int32) -> String {
        var text = String(cString: shim_av_first_message())
        while let last = text.last, last.isWhitespace { text.removeLast() }
        if !text.isEmpty { return text }
        var buffer = [CChar](repeating: 0, count: 128)
        av_strerror(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
