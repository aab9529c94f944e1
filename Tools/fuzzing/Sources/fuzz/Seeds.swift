import Foundation

/// The inputs that a target begins with: the files in `Tools/fuzzing/Seeds/TARGET` and its examples in
/// `Protocol/vectors`.
///
/// A `.hex` file has pairs of hexadecimal digits, and comments after `#`; every other file is used as it is.
enum Seeds {
    static func write(of target: FuzzTarget, to folder: String) throws {
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let vectors = target.vectors.map { "Protocol/vectors/\($0)" }
        let sources = ["Tools/fuzzing/Seeds/\(target.name)", vectors].compactMap { $0 }
        for source in sources {
            for file in try FileManager.default.contentsOfDirectory(atPath: source) {
                let contents = try Data(contentsOf: URL(fileURLWithPath: "\(source)/\(file)"))
                let bytes = file.hasSuffix(".hex") ? Data(bytes(ofHexadecimal: contents)) : contents
                try bytes.write(to: folder.appendingPathComponent(file))
            }
        }
        let words = target.words.map { "\"\(escaped($0))\"\n" }.joined()
        try Data(words.utf8).write(to: folder.appendingPathExtension("words"))
    }

    private static func bytes(ofHexadecimal text: Data) -> [UInt8] {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let digits = lines.flatMap { $0.prefix { $0 != "#" }.compactMap(\.hexDigitValue) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Escapes a word as in the entries of a libFuzzer dictionary.
    private static func escaped(_ word: String) -> String {
        word.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }
}
