extension TokenFile {
    /// The file for the `/api` token of a host at these addresses, next to the rooms' files. Nil if those have no file.
    public init?(administrationOf listen: [String], environment: (String) -> String? = Self.variable) {
        // A room's file has an "@" in its name, so no room can have this one.
        self.init(named: "api-", listen: listen, environment: environment)
    }
}
