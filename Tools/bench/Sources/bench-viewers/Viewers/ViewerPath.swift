import CommandLine
import MediaTypes

/// The network path of a viewer, and what becomes of the viewer.
struct ViewerPath: Sendable {
    /// What happens to the viewer when the measurement begins. The host isn't told.
    enum Fate: String, Sendable {
        /// It reads and sends nothing any more, so that its socket becomes full.
        case stalled
        /// It closes its socket.
        case gone
    }

    /// The description that the user gave.
    var text = ""
    /// The share of datagrams that are lost at random, from 0 to 1.
    var loss = 0.0
    /// The bit rate of the path; nil if it has no limit.
    var rate: BitRate?
    /// Nil for a viewer that stays.
    var fate: Fate?
}

extension ViewerPath {
    /// Reads `loss=5%`, `rate=300k`, `stalled`, `gone`, or several of them with commas.
    init(_ text: String) throws(ValueError) {
        self.init()
        self.text = text
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            if part.hasPrefix("loss=") {
                loss = try Self.loss(part.dropFirst(5))
            } else if part.hasPrefix("rate=") {
                rate = try Self.rate(part.dropFirst(5))
            } else if let fate = Fate(rawValue: String(part)) {
                self.fate = fate
            } else {
                throw ValueError("not a path; write it like loss=5%, rate=300k, loss=1%,rate=2M, 1:stalled or 1:gone")
            }
        }
    }

    private static func loss(_ text: Substring) throws(ValueError) -> Double {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else {
            throw ValueError("not a loss; write it like loss=5% or loss=0.5%")
        }
        return percent / 100
    }

    private static func rate(_ text: Substring) throws(ValueError) -> BitRate {
        do throws(UsageError) {
            return try ValueFormat<BitRate>.bitRate.read(String(text), option: "rate")
        } catch {
            throw ValueError(error.description)
        }
    }
}

/// A value of `--path`.
struct PathArgument: Sendable {
    /// The number of viewers that have this path as their own; nil if all others have it.
    let count: Int?
    let path: ViewerPath
}

extension ValueFormat where Value == PathArgument {
    /// A path, or a number of viewers, a colon, and their path.
    static var viewerPath: ValueFormat<PathArgument> {
        ValueFormat { (text) throws(ValueError) in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                let path = try ViewerPath(text)
                guard path.fate == nil else { throw ValueError("how many viewers? write it like 1:\(text)") }
                return PathArgument(count: nil, path: path)
            }
            guard let count = Int(parts[0]), (1...100).contains(count) else {
                throw ValueError("not a number of viewers from 1 to 100; write it like 1:loss=10%")
            }
            return PathArgument(count: count, path: try ViewerPath(parts[1]))
        }
    }
}
