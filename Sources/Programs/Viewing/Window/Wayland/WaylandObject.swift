import CWayland

/// An object of the compositor that this process has a name for. It is given up when it is released, which must be
/// before its connection ends. For the thread of the connection.
final class WaylandObject {
    /// An event of an object.
    struct Event {
        /// The object.
        let object: OpaquePointer
        /// Which of the interface's events it is, from 0 on.
        let number: UInt32
        fileprivate let arguments: UnsafeMutablePointer<wl_argument>

        /// An argument, by its place in the interface; the caller knows how many there are, and their types. It is
        /// valid until the handler returns.
        subscript(index: Int) -> wl_argument { arguments[index] }
    }

    typealias Handler = (Event) -> Void

    let pointer: OpaquePointer
    private let gone: (OpaquePointer) -> Void
    private let handler: Handler?

    /// Owns `pointer`, if there is one: `gone` gives it up, and `handler` is called with each of its events, which are
    /// otherwise ignored.
    init?(_ pointer: OpaquePointer?, gone: @escaping (OpaquePointer) -> Void, handler: Handler? = nil) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.gone = gone
        self.handler = handler
        guard handler != nil else { return }
        wl_proxy_add_dispatcher(
            pointer,
            { implementation, target, number, _, arguments in
                guard let implementation, let target, let arguments else { return 0 }
                // Retained during the call: a handler may release its object.
                let object = Unmanaged<WaylandObject>.fromOpaque(implementation).takeUnretainedValue()
                object.handler?(Event(object: OpaquePointer(target), number: number, arguments: arguments))
                return 0
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    deinit { gone(pointer) }
}
