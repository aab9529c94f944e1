extension TokenFile {
    /// The file for the token of `/api` of a host that is reached at these addresses, beside the rooms' files; nil where those
    /// have none.
    public init?(administrationOf listen: [String], environment: (String) -> String? = Self.variable) {
        // The file of a room has an "@" in its name, so that this is nobody's room.
        self.init(named: "api-", listen: listen, environment: environment)
    }
}
