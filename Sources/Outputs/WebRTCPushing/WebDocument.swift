public import MediaTypes
public import OutputLife
import Signalling

/// A small document of a web server, which is read as a whole.
public struct WebDocument: Sendable {
    /// The document's content.
    public let bytes: [UInt8]
    /// How near the server of its URL is, before redirects: it must not direct anything to nearer addresses.
    package let nearness: Nearness

    /// The most redirects in a row.
    private static let redirectLimit = 5

    /// Reads `url`, of HTTP or HTTPS. Blocks until the deadline at most. A redirect is followed, but never from HTTPS
    /// to HTTP, nor to an address nearer to this machine than that of `url`.
    ///
    /// - Throws: ``OutputError`` if the server can't be reached or doesn't answer in time, if it refuses or has
    ///   no such document, or if a redirect isn't followed.
    public static func read(_ url: String, limit: Int, within time: Interval) throws(OutputError) -> WebDocument {
        let context = CancellableContext()
        context.beginFarewell(within: time)
        var result = Result<WebDocument, OutputError>.failure(OutputError("it isn't read"))
        context.main.use {
            do throws(OutputError) {
                result = .success(try read(url, limit: limit, context))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    private static func read(
        _ url: String, limit: Int, _ context: CancellableContext
    ) throws(OutputError) -> WebDocument {
        let client = try WebClient(context)
        var url = url
        for _ in 0...redirectLimit {
            let answer = try client.request("GET", url, token: nil)
            switch answer.status {
            case 200...299:
                return WebDocument(
                    bytes: try client.body(of: answer, limit: limit), nearness: client.nearest ?? .global)
            case 301, 302, 303, 307, 308:
                guard let next = WHIPService.resolve(answer.location, at: url) else {
                    throw OutputError("it is redirected to an address that can't be used, or without TLS")
                }
                url = next
            default: throw OutputError("the server answers \(answer.status)")
            }
        }
        throw OutputError("it is redirected from one address to the next")
    }
}
