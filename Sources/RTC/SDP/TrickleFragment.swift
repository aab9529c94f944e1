/// What we read of a `application/trickle-ice-sdpfrag`, the body of a WHIP or WHEP PATCH (RFC 8840, RFC 9725 section 4.3), or of
/// the offer before it: the ICE generation that it is about.
///
/// An ICE-lite side needs none of the candidates, as the peer's checks show where it is; new credentials mean an ICE restart.
public struct TrickleFragment: Sendable, Equatable {
    /// Of all its sections, as those that are not bundled have their own.
    public private(set) var iceUfrags: Set<String> = []
    public private(set) var icePasswords: Set<String> = []

    /// Reads `text`, under the same limits as a whole description.
    public init(parsing text: [UInt8]) throws(SDPError) {
        for line in try SDPLine.lines(of: text) where line.type == "a" {
            let (name, value) = line.attribute
            switch name {
            case "ice-ufrag": iceUfrags.insert(String(value))
            case "ice-pwd": icePasswords.insert(String(value))
            default: break
            }
        }
    }

    /// Whether it is about the generation that `offer` began: it names no other user name fragment or password.
    public func isTrickle(for offer: TrickleFragment) -> Bool {
        iceUfrags.isSubset(of: offer.iceUfrags) && icePasswords.isSubset(of: offer.icePasswords)
    }
}
