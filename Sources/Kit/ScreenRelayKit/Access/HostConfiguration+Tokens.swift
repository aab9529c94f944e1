import Signalling

extension HostConfiguration {
    /// Reads the tokens that files keep again. A token whose file can't be used stays; the errors are returned.
    public mutating func readTokens() -> [TokenFileError] {
        var errors: [TokenFileError] = []
        func read(_ file: TokenFile?, _ token: inout String?) {
            do throws(TokenFileError) {
                if let file { token = try file.kept() }
            } catch {
                errors.append(error)
            }
        }
        read(tokenFile, &token)
        read(presentingTokenFile, &presentingToken)
        for index in furtherRooms.indices {
            read(furtherRooms[index].tokenFile, &furtherRooms[index].token)
            read(furtherRooms[index].presentingTokenFile, &furtherRooms[index].presentingToken)
        }
        if let old = administration, let path = old.tokenFile {
            var token: String? = old.token
            read(TokenFile(path: path), &token)
            administration = Administration(
                token: token ?? old.token, allowsNetwork: old.allowsNetwork, tokenFile: path)
        }
        return errors
    }
}
