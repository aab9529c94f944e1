import Synchronization

/// The text of `/metrics`, once the host is able to write it.
public final class MetricsText: Sendable {
    private let writer = Mutex<(@Sendable () -> String)?>(nil)

    public init() {}

    /// Makes `write` write the text from now on; with nil, there is none. It is called on the signalling thread and
    /// must not block. The text is of Prometheus's format 0.0.4, and has no name of a room or viewer and no address.
    public func use(_ write: (@Sendable () -> String)?) {
        writer.withLock { $0 = write }
    }

    /// The response to a request for it.
    func response(to exchange: HTTPExchange) -> HTTPResponse {
        guard exchange.method == "GET" || exchange.method == "HEAD" else {
            return .plain(405, HTTPResponse.wrongMethod("GET, HEAD"), [("Allow", "GET, HEAD")])
        }
        guard let write = writer.withLock({ $0 }) else { return .plain(404, "this host has no metrics") }
        return HTTPResponse(
            200, headers: HTTPResponse.commonHeaders + [("Cache-Control", "no-store")],
            contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(write().utf8))
    }
}
