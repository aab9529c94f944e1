import FoundationEssentials

/// Returns an unguessable identifier: 122 random bits as a UUID in lower case.
func newIdentifier() -> String { UUID().uuidString.lowercased() }
