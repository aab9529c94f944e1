/// Reads an option's text into a value, and explains to the user why a text can't be read.
public struct ValueFormat<Value>: Sendable {
    private let convert: @Sendable (String) throws(ValueError) -> Value

    /// A format whose text is converted by `convert`.
    public init(_ convert: @escaping @Sendable (String) throws(ValueError) -> Value) {
        self.convert = convert
    }

    /// A format whose text is converted by `convert`, or has this `problem` if that returns nil.
    public init(orProblem problem: String, _ convert: @escaping @Sendable (String) -> Value?) {
        self.convert = { (text) throws(ValueError) in
            guard let value = convert(text) else { throw ValueError(problem) }
            return value
        }
    }

    /// Reads `text`.
    ///
    /// - Throws: ``UsageError`` whose message begins with `option` and `text`, and says what would be right.
    public func read(_ text: String, option: String) throws(UsageError) -> Value {
        do {
            return try convert(text)
        } catch {
            throw UsageError("\(option) \(text.isEmpty ? "''" : printable(text)): \(error.description)")
        }
    }
}

/// A value that may not be exceeded, and one that may be given with it.
public struct ValueSpan<Bound: Comparable & Sendable>: Sendable {
    /// The lower bound; nil if only one value is given.
    public var least: Bound?
    /// The upper bound.
    public var most: Bound
}

extension ValueFormat {
    /// `MOST`, or `LEAST-MOST`.
    public static func span<Bound>(of bound: ValueFormat<Bound>) -> ValueFormat<Value> where Value == ValueSpan<Bound> {
        ValueFormat { (text) throws(ValueError) in
            let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { return ValueSpan(least: nil, most: try bound.convert(text)) }
            let (least, most) = (try bound.convert(parts[0]), try bound.convert(parts[1]))
            guard least <= most else { throw ValueError("the first value is the larger one") }
            return ValueSpan(least: least, most: most)
        }
    }
}

/// Why a text is not a valid value, and what would be one.
public struct ValueError: Error, Sendable, CustomStringConvertible {
    /// The problem, such as "not a bit rate; write it like 4M, 600k or 2500000".
    public let description: String

    /// A problem with this description.
    public init(_ description: String) {
        self.description = description
    }
}

extension ValueFormat where Value == String {
    /// Any text that isn't empty.
    public static var text: ValueFormat<String> {
        ValueFormat(orProblem: "must not be empty") { $0.isEmpty ? nil : $0 }
    }

    /// A room's name as it is used in links and file names: at most 64 letters, digits, `-`, `_` and `.`.
    public static var roomName: ValueFormat<String> { plainName("room name") }

    /// A name of the same form. `what` names it in the error, such as "room name".
    public static func plainName(_ what: String) -> ValueFormat<String> {
        ValueFormat(
            orProblem: "not a \(what); use up to 64 letters, digits, '-', '_' and '.', but no '.' at the start"
        ) { text in
            let allowed = text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
            return text.isEmpty || text.utf8.count > 64 || !allowed || text.hasPrefix(".") ? nil : text
        }
    }
}

extension ValueFormat where Value == Int {
    /// A whole number in `range`. `what` names it in the error, such as "frame rate".
    public static func integer(_ range: ClosedRange<Int>, what: String = "number") -> ValueFormat<Int> {
        ValueFormat(
            orProblem: "not a \(what); write a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { text in decimalInteger(text).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A frame rate in pictures a second, 1 to 120.
    public static var frameRate: ValueFormat<Int> { integer(1...120, what: "frame rate") }
}

extension ValueFormat where Value == UInt16 {
    /// A port, from 0 (any free port) to 65535.
    public static var port: ValueFormat<UInt16> {
        ValueFormat(orProblem: "not a port; write a number from 1 to 65535, or 0 for any that is free") {
            decimalInteger($0).flatMap(UInt16.init(exactly:))
        }
    }
}

/// One of a few words: the enum's raw values are what the user writes.
extension ValueFormat where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// Reads one of the raw values.
    public static var choice: ValueFormat<Value> {
        ValueFormat(orProblem: "choose one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") {
            Value(rawValue: $0)
        }
    }
}

/// Parses digits only: no sign, no spaces.
func decimalInteger(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
}

/// The text with control characters made visible, so that it can't move the cursor or start a line.
public func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}
