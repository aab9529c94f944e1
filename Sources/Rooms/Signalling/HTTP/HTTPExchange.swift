import ByteCoding
import CGLib

/// One request and its response: the parts of libsoup's message that the routes need. It belongs to the site's thread.
final class HTTPExchange {
    /// The message, kept for as long as the exchange exists.
    let message: OpaquePointer
    private let requestHeaders: OpaquePointer
    /// The client's address in text, without the port: as reported by a trusted proxy, or else the connection's
    /// address.
    let clientAddress: String
    /// The fault in a trusted proxy's headers, if any. The connection's own address is then used.
    let proxyFault: TrustedProxies.ForwardingError?
    /// The connection of the request, while it exists.
    private(set) weak var connection: ClientConnection?

    init(message: OpaquePointer, on connection: ClientConnection, proxies: TrustedProxies) {
        self.message = message
        self.connection = connection
        let headers: OpaquePointer = soup_server_message_get_request_headers(message)
        requestHeaders = headers
        func header(_ name: String) -> String? {
            soup_message_headers_get_list(headers, name).map { String(cString: $0) }
        }
        do throws(TrustedProxies.ForwardingError) {
            clientAddress =
                connection.isOfProxy
                ? try proxies.client(
                    of: connection.address, forwarded: header("Forwarded"), forwardedFor: header("X-Forwarded-For"))
                : connection.address
            proxyFault = nil
        } catch {
            clientAddress = connection.address
            proxyFault = error
        }
        g_object_ref(UnsafeMutableRawPointer(message))
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(message))
    }

    var method: String {
        soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
    }

    /// The segments of the path, percent-decoded: "/whep/my%20desk" has two. nil if one can't be decoded, or if it
    /// has `/api` or `/metrics` with other slashes, which a proxy in front might let through. Letters in
    /// percent-encoding have been decoded by libsoup before.
    var path: [String]? {
        let raw = soup_server_message_get_uri(message).flatMap { g_uri_get_path($0) }.map { String(cString: $0) } ?? ""
        var segments: [String] = []
        for segment in raw.split(separator: "/", omittingEmptySubsequences: true) {
            guard let decoded = PercentCoding.decode(segment), decoded != "..", decoded != "." else { return nil }
            segments.append(decoded)
        }
        guard let first = segments.first, ["api", "metrics"].contains(first) else { return segments }
        let isExact = segments.count == 1 ? raw == "/\(first)" : raw.hasPrefix("/\(first)/") && !raw.contains("//")
        return isExact ? segments : nil
    }

    /// The value of `name` in the query, percent-decoded.
    func query(_ name: String) -> String? {
        let raw = soup_server_message_get_uri(message).flatMap { g_uri_get_query($0) }.map { String(cString: $0) } ?? ""
        for pair in raw.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, PercentCoding.decode(parts[0]) == name { return PercentCoding.decode(parts[1]) }
        }
        return nil
    }

    /// The values of a request header, joined by commas if it appears several times.
    func header(_ name: String) -> String? {
        soup_message_headers_get_list(requestHeaders, name).map { String(cString: $0) }
    }

    /// Whether the client accepts a response in this content coding (RFC 9110 section 12.5.3).
    func accepts(encoding: String) -> Bool {
        (header("Accept-Encoding") ?? "").lowercased().split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map(\.trimmed)
            return parts.first == encoding && !parts.dropFirst().contains { Double($0.dropFirst(2)) == 0 }
        }
    }

    /// The media type of the request's body, in lower case and without parameters.
    var contentType: String {
        let value = header("Content-Type") ?? ""
        return value.prefix { $0 != ";" }.trimmed.lowercased()
    }

    /// The length of the body according to its header; 0 if the header is missing.
    var announcedLength: Int {
        soup_message_headers_get_content_length(requestHeaders)
    }

    /// The request's body.
    var body: [UInt8] {
        guard let body = soup_server_message_get_request_body(message), let bytes = soup_message_body_flatten(body)
        else {
            return []
        }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        guard let data = g_bytes_get_data(bytes, &count) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
    }

    /// The request's body as text, or nil if it isn't UTF-8.
    var bodyText: String? { String(validating: body, as: UTF8.self) }

    /// Whether the client has made its request with TLS, to us or, as the proxy reports, to a trusted proxy.
    var isSecured: Bool {
        guard let connection else { return false }
        return connection.isSecured || connection.isOfProxy && header("X-Forwarded-Proto")?.lowercased() == "https"
    }

    /// Whether the client no longer waits for a response.
    var clientIsGone: Bool { connection?.isClosedByPeer ?? true }

    /// Whether the browser reports that a page of another origin caused the request (Fetch Metadata). If it doesn't
    /// report that, the request may still come from one.
    var isFromOtherSite: Bool {
        switch header("Sec-Fetch-Site") {
        case nil, "same-origin", "none": false
        default: true
        }
    }

    /// Whether the client asks for a WebSocket.
    var wantsWebSocket: Bool {
        method == "GET"
            && (header("Upgrade") ?? "").lowercased().split(separator: ",").contains { $0.trimmed == "websocket" }
    }

    /// Removes a request header that libsoup would act on.
    func ignoreHeader(_ name: String) {
        soup_message_headers_remove(requestHeaders, name)
    }

    /// Sets the response. A paused exchange must be resumed afterwards.
    func answer(_ response: HTTPResponse) {
        let headers = soup_server_message_get_response_headers(message)
        for (name, value) in response.headers {
            // Each link has a header of its own, as some clients can't split a list.
            if name == "Link" {
                soup_message_headers_append(headers, name, value)
            } else {
                soup_message_headers_replace(headers, name, value)
            }
        }
        if connection?.isSecured == true {
            soup_message_headers_replace(headers, "Strict-Transport-Security", Self.transportSecurity)
        }
        let isLast = isLastOfConnection(answeredBy: response.status)
        connection?.isKept = !isLast
        if isLast { soup_message_headers_replace(headers, "Connection", "close") }
        soup_server_message_set_status(message, response.status, Self.reasons[response.status])
        if let snapshot = response.snapshot {
            soup_message_headers_replace(headers, "Content-Type", response.contentType)
            // The bytes aren't copied: they are released once the response has been read or dropped.
            let bytes = g_bytes_new_with_free_func(
                snapshot.file.start, gsize(snapshot.file.count),
                { data in
                    if let data { Unmanaged<UnreadSnapshot>.fromOpaque(data).release() }
                }, Unmanaged.passRetained(snapshot).toOpaque())
            soup_message_body_append_bytes(soup_server_message_get_response_body(message), bytes)
            g_bytes_unref(bytes)
        } else if let contentType = response.contentType {
            response.body.withUnsafeBytes { body in
                soup_server_message_set_response(
                    message, contentType, SOUP_MEMORY_COPY, body.baseAddress?.assumingMemoryBound(to: CChar.self),
                    gsize(body.count))
            }
        }
    }

    /// Whether the connection is closed after the response to this request (RFC 9112 section 9.3).
    ///
    /// After an error it always is, and wherever client and server might not agree where the next request begins: the
    /// client may still send a body that was refused or that it announced by `Expect`, and lengths in unusual forms are
    /// read differently by different programs (sections 6.3 and 11.2). A proxy's connections carry requests of many
    /// clients, and libsoup drops header lines that it can't read, so a proxy might see another end of one than we do.
    private func isLastOfConnection(answeredBy status: UInt32) -> Bool {
        guard let connection, !connection.isOfProxy, !connection.reachedRequestLimit, status < 400,
            soup_server_message_get_http_version(message) == SOUP_HTTP_1_1
        else { return true }
        let length = header("Content-Length")
        return soup_message_headers_header_contains(requestHeaders, "Connection", "close") != 0
            || header("Expect") != nil || header("Transfer-Encoding") != nil
            || length != nil && length != String(announcedLength)
    }

    /// The reason phrases that libsoup doesn't know (RFC 9110 section 15.5, RFC 6585 section 4).
    private static let reasons: [UInt32: String] = [
        421: "Misdirected Request", 426: "Upgrade Required", 429: "Too Many Requests",
    ]

    /// Makes browsers use HTTPS only for this name, without its subdomains (RFC 6797). Thirty days, so that a host that
    /// goes back to HTTP under the same name isn't unreachable for half a year.
    private static let transportSecurity = "max-age=2592000"

    /// Holds the response back until `resume`.
    func pause() {
        soup_server_message_pause(message)
    }

    func resume() {
        soup_server_message_unpause(message)
    }

    /// The credentials of the Authorization header (RFC 6750 section 2.1); nil without any.
    var bearer: String? {
        let parts = (header("Authorization") ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmed
    }
}
