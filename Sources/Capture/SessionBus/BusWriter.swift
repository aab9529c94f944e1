import CSystemBus

/// Appends values to a message, in the order of the calls. After a failure it appends nothing more.
package struct BusWriter {
    private var result: Int32 = 0
    private let message: OpaquePointer?

    /// Has `write` append its values to `message`. Returns a negative errno if that fails.
    static func result(of write: (inout BusWriter) -> Void, on message: OpaquePointer?) -> Int32 {
        var writer = BusWriter(message: message)
        write(&writer)
        return writer.result
    }

    private init(message: OpaquePointer?) { self.message = message }

    private mutating func append(_ step: (OpaquePointer?) -> Int32) {
        if result >= 0 { result = step(message) }
    }

    package mutating func boolean(_ flag: Bool) {
        var number: Int32 = flag ? 1 : 0
        append { sd_bus_message_append_basic($0, BusMessage.type("b"), &number) }
    }

    package mutating func signed(_ number: Int32) {
        var number = number
        append { sd_bus_message_append_basic($0, BusMessage.type("i"), &number) }
    }

    package mutating func unsigned(_ number: UInt32) {
        var number = number
        append { sd_bus_message_append_basic($0, BusMessage.type("u"), &number) }
    }

    /// Appends a text. U+0000 and noncharacters aren't allowed on the bus.
    package mutating func string(_ text: String) {
        append { message in text.withCString { sd_bus_message_append_basic(message, BusMessage.type("s"), $0) } }
    }

    /// Appends the path of an object.
    package mutating func path(_ text: String) {
        append { message in text.withCString { sd_bus_message_append_basic(message, BusMessage.type("o"), $0) } }
    }

    /// Appends an array of bytes.
    package mutating func bytes(_ bytes: [UInt8]) {
        append { message in
            bytes.withUnsafeBytes {
                sd_bus_message_append_array(message, BusMessage.type("y"), $0.baseAddress, $0.count)
            }
        }
    }

    /// Appends an array whose elements have the type `element`, and which `write` appends.
    package mutating func array(of element: String, _ write: (inout BusWriter) -> Void = { _ in }) {
        container("a", element, write)
    }

    /// Appends a structure with members of these types.
    package mutating func structure(_ types: String, _ write: (inout BusWriter) -> Void) {
        container("r", types, write)
    }

    /// Appends a variant that holds a value of this type.
    package mutating func variant(_ type: String, _ write: (inout BusWriter) -> Void) {
        container("v", type, write)
    }

    /// Appends an entry of a dictionary from texts to variants.
    package mutating func entry(_ key: String, _ type: String, _ write: (inout BusWriter) -> Void) {
        container("e", "sv") {
            $0.string(key)
            $0.variant(type, write)
        }
    }

    private mutating func container(_ kind: Unicode.Scalar, _ contents: String, _ write: (inout BusWriter) -> Void) {
        append { sd_bus_message_open_container($0, BusMessage.type(kind), contents) }
        write(&self)
        append { sd_bus_message_close_container($0) }
    }
}
