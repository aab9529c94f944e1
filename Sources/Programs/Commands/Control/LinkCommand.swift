import CommandLine
import FoundationEssentials
import ScreenRelayKit

/// `screenrelay link`: prints the links of a running host.
enum LinkCommand {
    /// Formats a host's answer about its links for people.
    static func text(of json: String, of process: Int32, withCode: Bool) throws(ControlError) -> String {
        guard let document = LinksDocument(json: json) else {
            let reason = "the answer can't be read; the host may be of another version"
            throw .refused(process: process, reason: reason)
        }
        let isWanted = withCode && !document.hasExpired
        let code = isWanted ? document.links.first.map { CodeChoice.always.lines(for: $0) } ?? [] : []
        return (document.lines + code).map { $0 + "\n" }.joined()
    }

    /// Formats when the links end, according to a host's answer about them. Empty if they last until the host ends.
    static func expiry(in json: String) -> String {
        LinksDocument(json: json)?.expiryText.map { "The \($0).\n" } ?? ""
    }
}

extension LinksDocument {
    /// The links for people, one a line. The one for this network comes first and alone, so that scripts can read it.
    var lines: [String] {
        guard let first = links.first else { return [] }
        let further = rooms.filter { $0.name != room }.flatMap { room in
            room.links.map { "The room \(room.name): \($0)" }
        }
        let presenting = rooms.compactMap(\.presenting).flatMap { presenting in
            [
                "Presenters: \(presenting.link)",
                "To publish: WHIP to \(presenting.url) with the bearer token \(presenting.token)",
            ]
        }
        return [first] + links.dropFirst().map { "From outside: \($0)" } + further + presenting
            + [expiryText].compactMap { $0.map { "The \($0)." } } + fingerprintLines
    }

    /// What to do about the warning of a browser, if this machine made the certificate.
    private var fingerprintLines: [String] {
        guard let fingerprint else { return [] }
        return [
            "Browsers will warn that the certificate isn't trusted. Continue only if its SHA-256 fingerprint is",
            fingerprint,
        ]
    }

    /// The expiry in words. Nil if links last until the host ends.
    var expiryText: String? { expires?.linkExpiry }

    fileprivate var hasExpired: Bool { expires?.hasPassed ?? false }
}

extension Date {
    /// The time when links expire, in words: "invite links end at 2026-11-21 14:30:00".
    var linkExpiry: String {
        let time = WallClock(unixTime: Int(timeIntervalSince1970)).dateAndTime
        return "invite links \(hasPassed ? "ended" : "end") at \(time)"
    }

    fileprivate var hasPassed: Bool { timeIntervalSinceNow <= 0 }
}
