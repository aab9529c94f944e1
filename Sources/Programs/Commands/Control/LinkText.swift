import CommandLine
import FoundationEssentials
import ScreenRelayKit

extension LinksDocument {
    /// The links for people, with a QR code of the first one if it is wanted and still valid.
    func text(withCode: Bool) -> String {
        let isWanted = withCode && !hasExpired
        let code = isWanted ? links.first.map { CodeChoice.always.lines(for: $0) } ?? [] : []
        return (lines + code).map { $0 + "\n" }.joined()
    }

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
