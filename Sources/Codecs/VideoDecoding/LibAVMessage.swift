import CLibAV

/// What libavcodec complains about: kept a line for each thread instead of written to standard error.
enum LibAVMessage {
    /// Takes the library's messages over, once for the process.
    static let isKept: Bool = {
        shim_av_keep_messages()
        return true
    }()

    /// Forgets this thread's complaint; the next one is kept.
    static func clear() {
        shim_av_first_message().pointee = 0
    }

    /// Whether this thread's first complaint is of a picture that was lost before the one that is decoded now.
    static var tellsOfLostPicture: Bool {
        "Frame num gap".withCString { strstr(shim_av_first_message(), $0) != nil }
    }

    /// This thread's first complaint since `clear`, or what `code` means where there was none.
    static func first(code: Int32) -> String {
        var text = String(cString: shim_av_first_message())
        while let last = text.last, last.isWhitespace { text.removeLast() }
        if !text.isEmpty { return text }
        var buffer = [CChar](repeating: 0, count: 128)
        av_strerror(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
