import ByteCoding
import MediaTypes

/// The playlist of a live HLS stream (RFC 8216): its last segments, and unlisted segments that stay on disk.
///
/// A segment's number is its media sequence number and part of its file's name, so that no name is used twice. A pure
/// value: its owner writes and removes the files.
struct HLSPlaylist: Equatable, Sendable {
    struct Segment: Equatable, Sendable {
        var number: Int
        var duration: Interval
        /// The number of its initialization segment, which is the number of the first segment that needs it.
        var initialization: Int
        /// Whether earlier segments may have had another format, or other times.
        var isDiscontinuous: Bool
    }

    /// How many segments are listed.
    static let listed = 6
    /// How many stay on disk after that: a player may still read a segment for as long as the longest list that had it
    /// lasts (RFC 8216, section 6.2.2).
    static let kept = 7

    /// The prefix of names: the name of the playlist's file without its end.
    let base: String
    private(set) var segments: [Segment] = []
    private(set) var retired: [Segment] = []
    /// When the last segment ends, in the time of the stream.
    private(set) var end = Interval.zero
    private var discontinuitySequence = 0
    private var targetSeconds = 3

    /// A list without segments.
    init(base: String) {
        self.base = base
    }

    /// The number of the segment after the last listed one; nil without any.
    var next: Int? { segments.last.map { $0.number + 1 } }

    /// Adds a segment that ends at `end`. Returns the names of the files that players no longer read.
    mutating func append(_ segment: Segment, end: Interval) -> [String] {
        segments.append(segment)
        self.end = end
        targetSeconds = max(targetSeconds, Int((segment.duration.seconds).rounded()))
        while segments.count > Self.listed {
            let first = segments.removeFirst()
            if first.isDiscontinuous { discontinuitySequence += 1 }
            retired.append(first)
        }
        var unused: [String] = []
        while retired.count > Self.kept {
            let first = retired.removeFirst()
            unused.append(name(first.number))
            if !(retired + segments).contains(where: { $0.initialization == first.initialization }) {
                unused.append(initializationName(first.initialization))
            }
        }
        return unused
    }

    func name(_ number: Int) -> String { "\(base)-\(number).m4s" }
    func initializationName(_ number: Int) -> String { "\(base)-\(number)-init.mp4" }

    /// The number in a name that one of these lists gives; nil for any other name.
    func number(in name: some StringProtocol) -> Int? {
        for end in [".m4s", "-init.mp4"] where name.hasPrefix(base + "-") && name.hasSuffix(end) {
            let digits = name.dropFirst(base.utf8.count + 1).dropLast(end.count)
            if digits.allSatisfy({ ("0"..."9").contains($0) }) { return Int(digits) }
        }
        return nil
    }

    /// The names of all files that are listed, or stay on disk.
    var names: Set<String> {
        Set((retired + segments).flatMap { [name($0.number), initializationName($0.initialization)] })
    }

    /// The file's text.
    func text(isEnded: Bool) -> String {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(targetSeconds)",
            "#EXT-X-MEDIA-SEQUENCE:\(segments.first?.number ?? 0)",
            "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)", "#EXT-X-INDEPENDENT-SEGMENTS",
            // A comment for players; a writer that continues the list also continues its time.
            Self.endTag + DecimalText.seconds(end, digits: 9),
        ]
        var initialization: Int?
        for segment in segments {
            if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.isDiscontinuous || segment.initialization != initialization {
                initialization = segment.initialization
                lines.append("#EXT-X-MAP:URI=\"\(Self.encoded(initializationName(segment.initialization)))\"")
            }
            lines.append("#EXTINF:\(DecimalText.fixed(segment.duration.seconds, digits: 6)),")
            lines.append(Self.encoded(name(segment.number)))
        }
        if isEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads what ``text(isEnded:)`` has written for this base; nil for anything else.
    init?(_ text: some StringProtocol, base: String) {
        self.init(base: base)
        var (initialization, duration, isDiscontinuous) = (Int?.none, Interval?.none, false)
        var first: Int?
        for line in text.split(separator: "\n") {
            if !line.hasPrefix("#") {
                guard let name = PercentCoding.decode(line, allowsControls: true), let number = number(in: name),
                    name == self.name(number),
                    let initialization, let duration, number == next ?? first, segments.count < Self.listed
                else { return nil }
                segments.append(
                    Segment(
                        number: number, duration: duration, initialization: initialization,
                        isDiscontinuous: isDiscontinuous))
                isDiscontinuous = false
            } else if line == "#EXT-X-DISCONTINUITY" {
                isDiscontinuous = true
            } else if let value = Self.value(of: "#EXT-X-MAP:URI=\"", in: line) {
                initialization = PercentCoding.decode(value.dropLast(), allowsControls: true).flatMap { number(in: $0) }
            } else if let value = Self.value(of: "#EXTINF:", in: line) {
                guard let seconds = Double(value.dropLast()), (0...86_400).contains(seconds) else { return nil }
                duration = .microseconds(Int64((seconds * 1_000_000).rounded()))
            } else if let value = Self.value(of: Self.endTag, in: line) {
                guard let seconds = Double(value), (0...1e8).contains(seconds) else { return nil }
                end = .microseconds(Int64((seconds * 1_000_000).rounded()))
            } else if let value = Self.value(of: "#EXT-X-MEDIA-SEQUENCE:", in: line) {
                first = Int(value)
            } else if let value = Self.value(of: "#EXT-X-DISCONTINUITY-SEQUENCE:", in: line) {
                guard let count = Int(value), (0..<Int(Int32.max)).contains(count) else { return nil }
                discontinuitySequence = count
            } else if let value = Self.value(of: "#EXT-X-TARGETDURATION:", in: line) {
                guard let seconds = Int(value), (1...86_400).contains(seconds) else { return nil }
                targetSeconds = max(targetSeconds, seconds)
            }
        }
        guard let next, next < 1 << 53 else { return nil }
    }

    private static let endTag = "# ends at "

    private static func value(of tag: String, in line: some StringProtocol) -> Substring? {
        line.hasPrefix(tag) ? Substring(line.dropFirst(tag.count)) : nil
    }

    /// A file's name as a relative URI (RFC 3986), in which a colon would end a scheme. Letters that URIs don't have
    /// stay: the list is UTF-8, and players that read files use names as they are.
    private static func encoded(_ name: String) -> String {
        name.unicodeScalars.map { scalar in
            let isPlain = scalar.value > 0x20 && !"%?#:\"\\".unicodeScalars.contains(scalar)
            return isPlain ? String(scalar) : PercentCoding.encode(String(scalar))
        }.joined()
    }
}
