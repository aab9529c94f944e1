import CBuild
import MediaTypes

/// What `--version` prints after a program's name: the version, in packages with the commit that they were built from,
/// such as "0.1.0 (0123456789ab)".
public let programVersion: String = {
    let commit = String(cString: shim_commit())
    return commit.isEmpty ? screenRelayVersion : "\(screenRelayVersion) (\(commit))"
}()
