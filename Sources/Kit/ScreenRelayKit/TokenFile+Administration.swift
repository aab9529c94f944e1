extension TokenFile {
    /// The file for the token of `/api` of a host that is reached at these addresses, beside the rooms' files; nil where those
    /// have none.
    public init?(administrationOf listen: [String], environment: (String) -> String? = Self.variable) {
        // A room's name never begins with a point, so that this is nobody's room.
        guard let file = TokenFile(room: ".api", listen: listen, environment: environment) else { return nil }
        self = file
    }
}
