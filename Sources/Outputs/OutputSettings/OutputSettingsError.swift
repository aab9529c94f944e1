/// What is wrong with an output's settings; one line.
public struct OutputSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// An error with this description.
    public init(_ description: String) {
        self.description = description
    }
}
