import ByteCoding
import FoundationEssentials
import Glibc
import LinkTransport
import MediaTypes
import OutputLife
import OutputSettings
import SecureTransport
import Synchronization
import WebRTCPushing

/// A stream object: JSON in a file, or that a web server answers, which says where a push goes.
///
/// It is either an object with a `url`, or a description with the hub and title of a stream and the key to sign with,
/// as the API of Qiniu's live service Pili returns it. Users of that service need the second form.
struct StreamObject: Sendable, CustomStringConvertible {
    /// The most bytes that are read.
    static let maxByteCount = 64 << 10

    /// For people, without what may be secret.
    let description: String
    /// A path, or a URL of HTTP or HTTPS.
    private let place: String
    private let isFile: Bool
    /// How long a web server may take.
    private static let timeout = Interval.seconds(10)

    /// Reads a path, or a URL of HTTP or HTTPS.
    ///
    /// - Throws: ``OutputSettingsError`` that names what is wrong with it, without its secret part.
    init(_ text: String) throws(OutputSettingsError) {
        try PushAddress.check(text)
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else {
            guard !text.isEmpty, !text.contains("://") else {
                throw OutputSettingsError(
                    "its object must be a file or an http or https URL, for example object:live.json")
            }
            description = text
            place = text
            isFile = true
            return
        }
        // Else a part of a password would be taken for the host, and shown.
        guard !text.dropFirst(scheme.count + 3).drop(while: { !"/?#".contains($0) }).contains("@") else {
            throw OutputSettingsError(
                "the URL of its object has an @ after the host; write %40, and %2F for a / in a password")
        }
        guard let parts = URLComponents(string: text), let host = parts.percentEncodedHost, !host.isEmpty else {
            throw OutputSettingsError("the URL of its object names no host")
        }
        let port = parts.port.map { ":\($0)" } ?? ""
        let hasMore = !parts.percentEncodedPath.isEmpty || parts.percentEncodedQuery != nil
        description = "\(scheme)://\(host)\(port)" + (hasMore ? "/..." : "")
        place = scheme + text.dropFirst(scheme.count)
        isFile = false
    }

    /// Reads it. Blocks for ten seconds at most.
    func read() throws(OutputSettingsError) -> PushAddress {
        let (bytes, nearest): ([UInt8], Nearness?)
        do throws(OutputError) {
            if isFile {
                (bytes, nearest) = (try file(), nil)
            } else {
                let document = try WebDocument.read(place, limit: Self.maxByteCount, within: Self.timeout)
                (bytes, nearest) = (document.bytes, document.nearness)
            }
        } catch {
            throw OutputSettingsError("its stream object can't be read: \(error)")
        }
        var address = try Self.address(in: bytes, nonce: Self.nextNonce())
        address.nearest = nearest
        return address
    }

    private func file() throws(OutputError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SmallFileError) {
            let file = try SmallFile(place, limit: Self.maxByteCount + 1)
            bytes = file.bytes
        } catch {
            guard case .notReadable(let code) = error else { throw OutputError("it is no file") }
            throw OutputError(String(cString: strerror(code)))
        }
        guard bytes.count <= Self.maxByteCount else { throw OutputError("it has more than \(Self.maxByteCount) bytes") }
        return bytes
    }

    /// The last nonce of this process.
    private static let lastNonce = Mutex<Int64>(0)

    /// The time in milliseconds, or more: a service takes only a nonce that is larger than the last one.
    static func nextNonce() -> Int64 {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return lastNonce.withLock { last in
            last = max(last + 1, now)
            return last
        }
    }

    /// The address that the JSON text in `bytes` names.
    static func address(in bytes: [UInt8], nonce: Int64) throws(OutputSettingsError) -> PushAddress {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
            throw OutputSettingsError("its stream object isn't JSON of the known form")
        }
        let url = if let given = document.url { given } else { try document.signedURL(nonce: nonce) }
        guard url.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw OutputSettingsError("its stream object has a URL with other characters than ASCII's")
        }
        // The server must not choose what is written on this machine.
        guard !url.lowercased().hasPrefix("file:") else { throw OutputSettingsError("its stream object names a file") }
        // The reason may have a part of the URL.
        guard let address = try? PushAddress(url) else {
            throw OutputSettingsError("its stream object has a url that nothing can be pushed to")
        }
        guard !address.isListener else {
            throw OutputSettingsError("its stream object asks to wait for a receiver on this machine")
        }
        return address
    }

    private struct Document: Decodable {
        struct Hosts: Decodable {
            var publish: Publish?
        }

        struct Publish: Decodable {
            var rtmp: String?
        }

        var url: String?
        var hosts: Hosts?
        var hub: String?
        var title: String?
        /// `ZONE.HUB.TITLE`
        var id: String?
        var publishKey: String?
        var publishSecurity: String?

        func signedURL(nonce: Int64) throws(OutputSettingsError) -> String {
            let last = id?.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).last
            guard let host = hosts?.publish?.rtmp, let hub, let name = title ?? last.map(String.init),
                let key = publishKey
            else {
                throw OutputSettingsError(
                    "its stream object has no url, and not all of hosts.publish.rtmp, hub, title and publishKey")
            }
            for part in [host, hub, name] where part.isEmpty || part.contains(where: { "/?#&@".contains($0) }) {
                throw OutputSettingsError("its stream object has a host, hub or title that can't be a part of a URL")
            }
            let path = "/\(hub)/\(name)"
            switch publishSecurity {
            // Encoded: libavformat would take what follows a slash for the stream's name.
            case "static": return "rtmp://\(host)\(path)?key=\(PercentCoding.encode(key))"
            case "dynamic":
                let signed = "\(path)?nonce=\(nonce)"
                let code = Authentication.hmacSHA1(key: Array(key.utf8), data: Array(signed.utf8))
                return "rtmp://\(host)\(signed)&token=\(Self.token(code))"
            default: throw OutputSettingsError("its stream object's publishSecurity is neither static nor dynamic")
            }
        }

        /// Base64 with the alphabet for URLs (RFC 4648 section 5), with its padding.
        private static func token(_ code: [UInt8]) -> String {
            Data(code).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        }
    }
}
