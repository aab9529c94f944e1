/// A command of a client (RTMP section 7.2): a name, a number that its answer repeats, and values.
struct RTMPCommand: Hashable, Sendable {
    var name: String
    /// 0 if no answer is expected.
    var transaction: Double
    /// The values after the number. The first one is the command object, which is null in most commands.
    var values: [AMFValue]

    init(name: String, transaction: Double, values: [AMFValue]) {
        self.name = name
        self.transaction = transaction
        self.values = values
    }

    /// Reads a message of a type that carries commands.
    init(_ message: RTMPMessage) throws(RTMPError) {
        let all = try AMFReader.values(of: message)
        guard let name = all.first?.text else { throw .malformed("a command without a name") }
        self.init(name: name, transaction: all.dropFirst().first?.double ?? 0, values: Array(all.dropFirst(2)))
    }

    /// A value after the command object, if it is a text.
    func text(at index: Int) -> String? {
        values.indices.contains(index) ? values[index].text : nil
    }

    /// The command as a message.
    func message(stream: UInt32 = 0) -> RTMPMessage {
        RTMPMessage(
            .command, stream: stream, AMFWriter.bytes(of: [.string(name), .number(transaction)] + values))
    }
}

extension AMFReader {
    /// The values of a command or of data.
    static func values(of message: RTMPMessage) throws(RTMPError) -> [AMFValue] {
        var bytes = message.payload[...]
        // The values of AMF3's envelope are in AMF0 too, after one byte that says so.
        if message.kind == .extendedCommand || message.kind == .extendedData {
            guard bytes.popFirst() == 0 else { throw .malformed("a command in AMF3") }
        }
        var reader = AMFReader(bytes)
        var values: [AMFValue] = []
        while let value = try reader.next() { values.append(value) }
        return values
    }
}
