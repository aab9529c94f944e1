import CommandLine
import Glibc
import STUN
import ScreenRelayKit
import SecureTransport
import Signalling
import Threading

/// The options of `share` and `host` for access control: tokens, passwords, expiry and certificates.
enum AccessOptions {
    static let options = [
        Option(
            long: "password",
            help: "also require a password, which is typed on the terminal, or read from the first line of "
                + "standard input"),
        Option(
            long: "password-file", value: .required("FILE"),
            help: "like --password, with the first line of this file, which only this user can read"),
        Option(
            long: "expires", value: .required("TIME"),
            help:
                "let the invite links expire after this time, 1s to 365d, for example 30m, 2h or 1d, and remove the "
                + "viewers who used them; without --token-file, they have a new token that isn't kept"),
        Option(long: "open", help: "require no token: anyone who can reach the port may watch"),
        Option(
            long: "waiting-room",
            help:
                "let viewers wait until they are let in, by 'screenrelay admit' or on a page that was opened with the "
                + "link for presenting. Players, and other clients that can't wait, need the presenters' token"),
        Option(long: "new-token", help: "create a new room token: existing invite links stop working"),
        Option(
            long: "token-file", value: .required("FILE"),
            help:
                "keep the room token in this file, which only this user can read, so that invite links are still "
                + "valid the next time; a missing file is created. Without the option, the token is kept in "
                + "$XDG_STATE_HOME/screenrelay or ~/.local/state/screenrelay, one for each room and address"),
        Option(
            long: "tls", value: .required("HOW"),
            help: "self-signed: serve https and wss with a self-signed certificate, which is kept in "
                + "$XDG_STATE_HOME/screenrelay or ~/.local/state/screenrelay. Browsers warn of it; its fingerprint, "
                + "which is printed with the invite link, proves that nobody intercepts the connection",
            choices: ["self-signed"]),
        Option(
            long: "tls-cert", value: .required("FILE"),
            help:
                "serve https and wss with this certificate: PEM, followed by any intermediate certificates; SIGHUP "
                + "reloads it"),
        Option(long: "tls-key", value: .required("FILE"), help: "the certificate's private key: PEM, not encrypted"),
        Option(
            long: "presenters",
            help:
                "also print a link with which people can share a screen or a camera from the page, and decide which "
                + "viewers may do so, and the presenters' token, with which programs such as OBS can publish into the "
                + "room over WHIP, or over RTSP with --rtsp; while a capture is connected, append /TRACK with a name "
                + "of your choice to the URL"
        ),
        Option(
            long: "present-token-file", value: .required("FILE"),
            help: "keep the presenters' token in this file, which only this user can read (default: next to the "
                + "room token)"),
        Option(
            long: "camera", value: .required("WIDTHxHEIGHT@FPS"),
            help:
                "the size and the frame rate that pages ask of cameras, for sharing and in meetings, 16 to 4096 pixels "
                + "and 1 to 60 fps; a camera without them uses the nearest it has",
            default: "\(CameraFormat())"),
    ]

    static let alternatives = [["password", "password-file"], ["tls", "tls-cert"], ["tls", "tls-key"]]

    /// The password from `--password` or `--password-file`, or nil if neither is given.
    static func password(_ options: ParsedOptions) throws(UsageError) -> String? {
        let file = try options.value("password-file", as: .text)
        guard options.has("password") || file != nil else { return nil }
        if options.has("password"), let file {
            throw UsageError("--password-file \(file) and --password can't go together: give one of them")
        }
        do throws(PasswordError) {
            if let file { return try PasswordInput.read(file: file) }
            return try PasswordInput.ask("Password for the room")
        } catch {
            throw UsageError(
                "\(file.map { "--password-file \($0)" } ?? "--password"): \(error)", exitCode: error.exitCode)
        }
    }

    private enum Making: String, CaseIterable {
        case selfSigned = "self-signed"
    }

    /// Whether `--tls self-signed` is given.
    static func makesCertificate(_ options: ParsedOptions) throws(UsageError) -> Bool {
        guard let how = try options.value("tls", as: ValueFormat<Making>.choice) else { return false }
        if let other = ["tls-cert", "tls-key"].first(where: { !options.values($0).isEmpty }) {
            throw UsageError(
                "--tls \(how.rawValue) and --\(other) can't go together: give a certificate, or let one be made")
        }
        return true
    }

    /// The certificate from `--tls-cert` and `--tls-key`, or from `--tls`, or nil if none of them is given.
    static func certificate(_ options: ParsedOptions) throws(UsageError) -> ServerCertificate? {
        if try makesCertificate(options) {
            return try selfSigned(for: AdvertiseOption.addresses(options).map(\.host))
        }
        switch (try options.value("tls-cert", as: .text), try options.value("tls-key", as: .text)) {
        case (nil, nil): return nil
        case (let certificate?, nil):
            throw UsageError("--tls-cert \(certificate): --tls-key is needed as well: the file of its private key")
        case (nil, let key?):
            throw UsageError("--tls-key \(key): --tls-cert is needed as well: the file of its certificate")
        case (let certificate?, let key?):
            do throws(ServerCertificateError) {
                return try ServerCertificate(certificateFile: certificate, keyFile: key)
            } catch {
                let line = error.description
                let (option, file) =
                    line.hasPrefix("\(key) ") ? ("--tls-key", key) : ("--tls-cert", certificate)
                throw UsageError(option, file: file, line, exitCode: error.exitCode)
            }
        }
    }

    /// The certificate that its files have now; nil if it has no files.
    ///
    /// - Throws: ``UsageError`` or ``CertificateFileError`` if a file can't be used. One for this run isn't made then:
    ///   it would have another fingerprint than the one in use.
    static func keptCertificate(_ options: ParsedOptions) throws -> ServerCertificate? {
        guard try makesCertificate(options) else { return try certificate(options) }
        return try CertificateFile()?.certificate(for: AdvertiseOption.addresses(options).map(\.host))
    }

    /// The certificate that is kept, or one for this run if that is impossible.
    private static func selfSigned(for addresses: [String]) throws(UsageError) -> ServerCertificate {
        do throws(CertificateFileError) {
            if let file = CertificateFile() { return try file.certificate(for: addresses) }
        } catch {
            StandardStreams.printError("\(error); the certificate is valid for this run only", program: Program.name)
        }
        do throws(CertificateFileError) {
            return try CertificateFile.unkept(for: addresses)
        } catch {
            throw UsageError("--tls self-signed: \(error)", exitCode: .system)
        }
    }

    /// The presenters' token of the first room: from the named file, or the one kept next to the room token, or a new
    /// one; and the file that keeps it.
    static func presentingToken(
        _ options: ParsedOptions, _ configuration: HostConfiguration
    ) throws(UsageError) -> (String?, TokenFile?) {
        if let named = try options.value("present-token-file", as: .text) {
            return try HostOptions.token(in: named, of: "--present-token-file", options)
        }
        let given = try options.value("token-file", as: .text).map { TokenFile(path: $0) }
        let roomFile = given ?? TokenFile(room: configuration.room, of: configuration)
        return presentingToken(beside: roomFile, options, configuration)
    }

    /// The presenters' token of a room, kept next to the room token, and the file that keeps it.
    static func presentingToken(
        beside roomFile: TokenFile?, _ options: ParsedOptions, _ configuration: HostConfiguration
    ) -> (String?, TokenFile?) {
        let file = roomFile.map { TokenFile(path: $0.path + ".present") }
        return HostOptions.keptToken(in: file, "the presenters' token is", options, configuration)
    }

    /// Logs that browsers won't accept a certificate.
    static func warn(of certificate: ServerCertificate?, _ log: EventLog) {
        if certificate?.isExpired == true { log.warning("the certificate has expired: browsers won't accept it") }
    }
}

extension ServerCertificateError {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .notReadable(_, EACCES), .notPrivate: .permission
        case .notReadable(_, ENOENT), .notReadable(_, ENOTDIR): .windowGone
        case .notReadable: .system
        case .notAFile: .usage
        case .tooLarge, .noCertificate, .noKey, .encryptedKey, .mismatch: .badData
        }
    }
}
