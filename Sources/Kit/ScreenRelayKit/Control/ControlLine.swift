import Signalling

/// The lines of the control socket: a JSON object each way, ended by a line feed.
enum ControlLine {
    /// The most bytes of a request, for the URL of a push.
    static let requestLimit = 8192
    /// The most bytes of an answer with a text for people, of which each byte may be written as six.
    static let answerLimit = ControlAnswer.textLimit * 6 + 128
    /// The most bytes of an answer with a document.
    static let documentLimit = 4 << 20
    /// How long either end waits for the other, in total.
    static let timeoutMilliseconds: Int64 = 2000

    /// The first line of `bytes`, without its line feed, or nil if it is not complete yet.
    static func first(of bytes: [UInt8]) -> String? {
        bytes.firstIndex(of: 0x0A).map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    /// `control-PID.sock`
    static func socketName(of process: Int32) -> String { "control-\(process).sock" }

    /// The process id in the name of a control socket, or nil if it is not such a name.
    static func process(ofSocketNamed name: String) -> Int32? {
        guard name.hasPrefix("control-"), name.hasSuffix(".sock") else { return nil }
        let digits = name.dropFirst("control-".count).dropLast(".sock".count)
        guard (1...10).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int32(digits).flatMap { $0 > 0 ? $0 : nil }
    }
}

extension ControlCommand {
    /// The maximum length of the answer in bytes, including its line feed.
    var answerLimit: Int {
        row?.asksForDocument == true ? ControlLine.documentLimit : ControlLine.answerLimit
    }
}
