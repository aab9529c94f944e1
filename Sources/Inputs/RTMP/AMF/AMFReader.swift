import ByteCoding

/// Reads the values of a command one after the other. It takes memory in proportion to the bytes that it reads.
struct AMFReader {
    /// The markers of types (AMF0 section 2.1).
    private enum Marker: UInt8 {
        case number = 0
        case boolean = 1
        case string = 2
        case object = 3
        case null = 5
        case undefined = 6
        case reference = 7
        case ecmaArray = 8
        case objectEnd = 9
        case strictArray = 10
        case date = 11
        case longString = 12
        case unsupported = 13
        case xmlDocument = 15
        case typedObject = 16
    }

    private static let cutOff = RTMPError.malformed("a command that ends within a value")

    private var reader: ByteReader

    init(_ bytes: ArraySlice<UInt8>) {
        reader = ByteReader(bytes)
    }

    /// The next value; nil at the end.
    ///
    /// - Throws: ``RTMPError`` if the value is cut off, unknown, nested too deep, or has too long a text.
    mutating func next() throws(RTMPError) -> AMFValue? {
        reader.isEmpty ? nil : try value(depth: 0)
    }

    private mutating func value(depth: Int) throws(RTMPError) -> AMFValue {
        guard depth <= RTMPLimits.depth else {
            throw .tooLarge("a command with more than \(RTMPLimits.depth) levels")
        }
        guard let byte = reader.uint8() else { throw Self.cutOff }
        guard let marker = Marker(rawValue: byte) else { throw .malformed("a value of AMF type \(byte)") }
        switch marker {
        case .number: return .number(Double(bitPattern: try read { $0.uint64() }))
        case .boolean: return .boolean(try read { $0.uint8() } != 0)
        case .string: return .string(try text(count: Int(try read { $0.uint16() })))
        case .longString, .xmlDocument: return .string(try text(count: Int(try read { $0.uint32() })))
        case .object: return .object(try properties(depth: depth))
        case .typedObject:
            _ = try text(count: Int(try read { $0.uint16() }))
            return .object(try properties(depth: depth))
        case .ecmaArray:
            // How many there are is only a hint: an end follows them, as in an object.
            _ = try read { $0.uint32() }
            return .object(try properties(depth: depth))
        case .strictArray:
            let count = Int(try read { $0.uint32() })
            guard count <= reader.count else { throw Self.cutOff }
            var values: [AMFValue] = []
            for _ in 0..<count { values.append(try value(depth: depth + 1)) }
            return .array(values)
        case .date:
            _ = try read { $0.bytes(10) }
            return .undefined
        case .reference:
            _ = try read { $0.uint16() }
            return .undefined
        case .null: return .null
        case .undefined, .unsupported: return .undefined
        case .objectEnd: throw .malformed("the end of an object outside one")
        }
    }

    private mutating func properties(depth: Int) throws(RTMPError) -> [AMFValue.Property] {
        var properties: [AMFValue.Property] = []
        while true {
            let name = try text(count: Int(try read { $0.uint16() }))
            if name.isEmpty, reader.rest.first == Marker.objectEnd.rawValue {
                _ = reader.uint8()
                return properties
            }
            properties.append(.init(name: name, value: try value(depth: depth + 1)))
        }
    }

    private mutating func text(count: Int) throws(RTMPError) -> String {
        guard count <= RTMPLimits.text else {
            throw .tooLarge("a text of \(count) bytes in a command; it may have \(RTMPLimits.text)")
        }
        return String(decoding: try read { $0.bytes(count) }, as: UTF8.self)
    }

    /// The next number or bytes, if they have not been cut off.
    private mutating func read<Value>(_ next: (inout ByteReader) -> Value?) throws(RTMPError) -> Value {
        guard let value = next(&reader) else { throw Self.cutOff }
        return value
    }
}
