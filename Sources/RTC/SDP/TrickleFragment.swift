/// What we read of a `application/trickle-ice-sdpfrag`, the body of a WHIP or WHEP PATCH (RFC 8840, RFC 9725 section 4.3), or of
/// the offer before it: the ICE generation that it is about.
///
/// An ICE-lite side needs none of the candidates, as the peer's checks show where it is; new credentials mean an ICE restart.
public struct TrickleFragment: Sendable, Equatable {
    /// What stands at session level, then each media section.
    private var parts: [Part] = [Part()]

    private struct Part: Sendable, Equatable {
        var mid: String?
        var iceUfrag: String?
        var icePassword: String?
    }

    /// Reads `text`, under the same limits as a whole description.
    public init(parsing text: [UInt8]) throws(SDPError) {
        for line in try SDPLine.lines(of: text) {
            if line.type == "m" {
                guard parts.count <= SessionDescription.maximumMediaSections else { throw .tooManyMediaSections }
                parts.append(Part())
            }
            guard line.type == "a" else { continue }
            let (name, value) = line.attribute
            let last = parts.count - 1
            switch name {
            case "mid": parts[last].mid = String(value)
            case "ice-ufrag": parts[last].iceUfrag = String(value)
            case "ice-pwd": parts[last].icePassword = String(value)
            default: break
            }
        }
    }

    /// Whether it is about the generation that `offer` began: it names no other user name fragment or password.
    public func isTrickle(for offer: TrickleFragment) -> Bool {
        iceUfrags.isSubset(of: offer.iceUfrags) && icePasswords.isSubset(of: offer.icePasswords)
    }

    /// The credentials that it gives for the media section `mid`: those of that section or of session level, or the only ones that
    /// it has, as a bundle's first section speaks for all of them.
    public func credentials(of mid: String?) throws(SDPError) -> ICECredentials {
        let section = mid.flatMap { mid in parts.first { $0.mid == mid } }
        func value(_ path: KeyPath<Part, String?>, _ all: Set<String>) -> String? {
            section?[keyPath: path] ?? parts.first?[keyPath: path] ?? (all.count == 1 ? all.first : nil)
        }
        guard let ufrag = value(\.iceUfrag, iceUfrags), let password = value(\.icePassword, icePasswords) else {
            throw .noICECredentials
        }
        return try ICECredentials(ufrag: ufrag, password: password)
    }

    /// Of all its sections, as those that are not bundled have their own.
    public var iceUfrags: Set<String> { Set(parts.compactMap(\.iceUfrag)) }
    public var icePasswords: Set<String> { Set(parts.compactMap(\.icePassword)) }
}

/// One side's user name fragment and password: an ICE generation (RFC 8445 section 5.3).
public struct ICECredentials: Sendable, Hashable {
    public let ufrag: String
    public let password: String

    /// Credentials of the lengths that are allowed (RFC 8839 section 5.4).
    public init(ufrag: String, password: String) throws(SDPError) {
        guard (4...256).contains(ufrag.utf8.count), (22...256).contains(password.utf8.count) else {
            throw .badICECredentials
        }
        self.ufrag = ufrag
        self.password = password
    }
}
