import CommandLine
import ScreenRelayKit
import SecureTransport
import Threading

/// Reads the files of a running host again, at SIGHUP. Viewers stay. If a file can't be used, what was read from it
/// before stays in use, and one line says so.
struct HostReload: Sendable {
    let host: ScreenRelayHost
    let options: ParsedOptions
    /// The sources of a host that may have some.
    var sources: Sources?
    let log: EventLog

    /// Reads the certificate, the tokens, the password and the settings' sources.
    func run() {
        attempt("the certificate was", "the old one stays", readCertificate)
        readAccess()
        attempt("the sources were", "the old ones stay", readSources)
    }

    private func readCertificate() throws {
        guard host.configuration.certificate != nil, let certificate = try AccessOptions.keptCertificate(options) else {
            return
        }
        try host.use(certificate)
        log.info("the certificate was reloaded" + (certificate.fingerprint.map { ": SHA-256 \($0)" } ?? ""))
        AccessOptions.warn(of: certificate, log)
    }

    private func readAccess() {
        var configuration = host.configuration
        let tokens = configuration.readTokens()
        for error in tokens.errors {
            log.error("a token was not reloaded, and the old one stays in use: \(error)")
        }
        var readsPassword = false
        attempt("the password was", "the old one stays") {
            guard options.has("password-file") else { return }
            configuration.password = try AccessOptions.password(options)
            readsPassword = true
        }
        host.use(accessOf: configuration)
        if tokens.count > 0 { log.info("the tokens were reloaded") }
        if readsPassword { log.info("the password was reloaded") }
    }

    private func readSources() throws {
        guard let sources else { return }
        let settings = try SettingsLookup.complete(options.withoutSettings, of: HostCommand.command.name)
        sources.change(to: try SourceOption(settings))
    }

    private func attempt(_ what: String, _ consequence: String, _ work: () throws -> Void) {
        do { try work() } catch { log.error("\(what) not reloaded, and \(consequence) in use: \(error)") }
    }
}
