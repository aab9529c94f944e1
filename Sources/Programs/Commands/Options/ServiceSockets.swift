import CommandLine
import LinkTransport
import Signalling

/// The sockets that the service manager passes to `screenrelay host`, by the `FileDescriptorName=` of their units. The
/// host uses them instead of binding the addresses of `--listen`, `--link` and `--rtsp`.
struct ServiceSockets {
    /// Where HTTP is served: the sockets called `http`. Empty if `--listen` decides.
    private(set) var http: [ListenAddress] = []
    /// Where the first track's capture connects: the socket called `link`. Nil if `--link` decides.
    private(set) var link: LinkAddress?
    /// Where RTSP is served: the socket called `rtsp`. Nil if `--rtsp` decides.
    private(set) var rtsp: ListenAddress?

    /// Takes the sockets, before the program opens anything.
    ///
    /// - Throws: ``UsageError`` for a socket of another name or kind, or for one whose option is given as well.
    init(_ options: ParsedOptions) throws(UsageError) {
        for socket in try InheritedSocket.take() {
            let label = "LISTEN_FDNAMES: \(printable(socket.name))"
            switch socket.name {
            case "http": http.append(try Self.address(of: socket, label))
            case "rtsp" where rtsp == nil: rtsp = try Self.address(of: socket, label)
            case "link" where link == nil:
                guard PassedListener(socket.descriptor) != nil else { throw Self.unusable(label, "a socket") }
                link = .descriptor(socket.descriptor)
            case "rtsp", "link": throw UsageError("\(label): two sockets have this name, and only one is used")
            default:
                throw UsageError("\(label): unknown socket; write FileDescriptorName=http, link or rtsp in its unit")
            }
        }
        try exclude("listen", isPassed: !http.isEmpty, options)
        try exclude("link", isPassed: link != nil, options)
        try exclude("rtsp", isPassed: rtsp != nil, options)
    }

    /// The warning that `--lan` doesn't open the page to other machines, if it doesn't.
    func warning(_ options: ParsedOptions) -> String? {
        guard options.has("lan"), !http.isEmpty, http.allSatisfy(\.isLoopback) else { return nil }
        return
            "--lan: only this machine can reach the socket http; for others, write ListenStream=PORT in its unit, or "
            + "run a reverse proxy"
    }

    private static func address(of socket: InheritedSocket, _ label: String) throws(UsageError) -> ListenAddress {
        guard let address = ListenAddress(passed: socket.descriptor) else { throw unusable(label, "a TCP socket") }
        return address
    }

    private static func unusable(_ label: String, _ kind: String) -> UsageError {
        UsageError("\(label): not \(kind) that listens; name it with ListenStream= in its unit, without Accept=yes")
    }

    private func exclude(_ option: String, isPassed: Bool, _ options: ParsedOptions) throws(UsageError) {
        guard isPassed, let value = options.values(option).last else { return }
        throw UsageError(
            "\(options.place(of: option) ?? "--\(option)") \(value): the service manager passes a socket for it; "
                + "leave the option out, and set the address in the socket's unit")
    }
}
