/// A value of D-Bus, of the types that the messages here have. A variant is replaced by its content.
package enum BusValue: Equatable, Sendable {
    case boolean(Bool)
    case signed(Int32)
    case unsigned(UInt32)
    case string(String)
    /// The path of an object.
    case path(String)
    case structure([BusValue])
    case array([BusValue])
    /// An array of entries whose keys are strings.
    case dictionary([String: BusValue])
    /// A value of another type.
    case other

    /// The number; nil if it isn't one without a sign.
    package var number: UInt32? { if case .unsigned(let number) = self { number } else { nil } }

    /// The text of a string or a path; nil if it is neither.
    package var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    /// The entries; nil if it is no dictionary.
    package var entries: [String: BusValue]? { if case .dictionary(let entries) = self { entries } else { nil } }

    /// Two numbers with a sign; nil if it isn't a structure of these.
    package var pair: (Int, Int)? {
        guard case .structure(let parts) = self, parts.count == 2, case .signed(let first)? = parts.first,
            case .signed(let second)? = parts.last
        else { return nil }
        return (Int(first), Int(second))
    }
}
