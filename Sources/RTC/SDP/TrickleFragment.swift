/// The ICE credentials in an `application/trickle-ice-sdpfrag`, the body of a WHIP or WHEP PATCH request (RFC 8840, RFC
/// 9725 section 4.3), or in the offer before it. They identify an ICE generation.
///
/// Its candidates are read by ``Candidate/all(in:limit:)``. New credentials mean an ICE restart.
public struct TrickleFragment: Sendable, Equatable {
    /// The credentials at session level, then those of each media section.
    private var parts: [Part] = [Part()]

    private struct Part: Sendable, Equatable {
        var mid: String?
        var iceUfrag: String?
        var icePassword: String?
    }

    /// Parses `text`, with the same limits as a whole description. Throws ``SDPError`` if it is too long or has too
    /// many sections.
    public init(parsing text: [UInt8]) throws(SDPError) {
        for line in try SDPLine.lines(of: text) {
            if line.type == "m" {
                guard parts.count <= SessionDescription.maxMediaSections else { throw .tooManyMediaSections }
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

    /// Whether the fragment belongs to the generation that `offer` began, that is, has no other user name fragment or
    /// password.
    public func isTrickle(for offer: TrickleFragment) -> Bool {
        iceUfrags.isSubset(of: offer.iceUfrags) && icePasswords.isSubset(of: offer.icePasswords)
    }

    /// The credentials for the media section `mid`: those of that section, or those at session level, or the only ones
    /// in the fragment, because the first section of a bundle provides them for all its sections.
    ///
    /// - Throws: `noICECredentials` if there are none for it, or `badICECredentials` if they aren't as long as RFC 8839
    ///   requires.
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

    /// The user name fragments of all sections; sections that are not bundled have their own.
    public var iceUfrags: Set<String> { Set(parts.compactMap(\.iceUfrag)) }
    /// The passwords of all sections.
    public var icePasswords: Set<String> { Set(parts.compactMap(\.icePassword)) }
}

/// One agent's user name fragment and password, which identify an ICE generation (RFC 8445 section 5.3).
public struct ICECredentials: Sendable, Hashable {
    /// The user name fragment.
    public let ufrag: String
    /// The password.
    public let password: String

    /// Creates credentials; throws if a length is not allowed (RFC 8839 section 5.4).
    public init(ufrag: String, password: String) throws(SDPError) {
        guard (4...256).contains(ufrag.utf8.count), (22...256).contains(password.utf8.count) else {
            throw .badICECredentials
        }
        self.ufrag = ufrag
        self.password = password
    }
}
