import Signalling

extension HostConfiguration {
    /// Reads the tokens that files keep again. A token whose file can't be used stays.
    ///
    /// - Returns: how many tokens were read, and why the others could not be.
    public mutating func readTokens() -> (count: Int, errors: [TokenFileError]) {
        var count = 0
        var errors: [TokenFileError] = []
        func read(_ file: TokenFile?, _ token: inout String?) {
            do throws(TokenFileError) {
                guard let file else { return }
                token = try file.kept()
                count += 1
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
        return (count, errors)
    }
}
