import CLibAV

/// What libavformat asks while it opens and reads a source: whether to go on.
///
/// An RTSP server must not choose which other hosts are reached from this machine, so a redirect to another host ends
/// the attempt before a request is sent. Used on the reader's thread, and kept for as long as the context.
final class OpeningWatch {
    /// Whether the server has named another host.
    private(set) var hasMoved = false
    private let connection: MediaConnection
    private let host: Substring
    private let context: UnsafeMutablePointer<AVFormatContext>
    /// The text of the URL that was found to be of the same host.
    private var seen: UnsafeMutablePointer<CChar>?

    init(_ connection: MediaConnection, _ address: String, _ context: UnsafeMutablePointer<AVFormatContext>) {
        self.connection = connection
        self.context = context
        host = Self.host(of: address)
    }

    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { watch in
                guard let watch else { return 0 }
                return Unmanaged<OpeningWatch>.fromOpaque(watch).takeUnretainedValue().mayGoOn ? 0 : 1
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }

    private var mayGoOn: Bool {
        if let url = context.pointee.url, url != seen {
            // The library makes another text for another address.
            seen = url
            hasMoved = Self.host(of: String(cString: url)) != host
        }
        return !hasMoved && !connection.isAbandoned && !connection.isLate
    }

    /// The host in a URL, with the brackets of an IPv6 address.
    private static func host(of url: String) -> Substring {
        let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard place.hasPrefix("[") else { return place.prefix { $0 != ":" } }
        return place.prefix { $0 != "]" }
    }
}
