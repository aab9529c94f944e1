import ByteCoding

/// Writes the values of a command (AMF0 section 2).
struct AMFWriter {
    private var writer = ByteWriter()

    /// The values as they are sent.
    static func bytes(of values: [AMFValue]) -> [UInt8] {
        var amf = AMFWriter()
        for value in values { amf.write(value) }
        return amf.writer.bytes
    }

    private mutating func write(_ value: AMFValue) {
        switch value {
        case .number(let number):
            writer.uint8(0)
            writer.uint64(number.bitPattern)
        case .boolean(let isTrue):
            writer.uint8(1)
            writer.uint8(isTrue ? 1 : 0)
        case .string(let text):
            writer.uint8(2)
            write(text)
        case .object(let properties):
            writer.uint8(3)
            for property in properties {
                write(property.name)
                write(property.value)
            }
            writer.uint24(9)
        case .array(let values):
            writer.uint8(10)
            writer.uint32(UInt32(clamping: values.count))
            for value in values { write(value) }
        case .null: writer.uint8(5)
        case .undefined: writer.uint8(6)
        }
    }

    /// A text with its length in two bytes. Ours are short.
    private mutating func write(_ text: String) {
        let bytes = text.utf8.prefix(Int(UInt16.max))
        writer.uint16(UInt16(clamping: bytes.count))
        writer.append(Array(bytes))
    }
}
