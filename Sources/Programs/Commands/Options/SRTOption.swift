import ByteCoding
import CommandLine
import SRTServing
import ScreenRelayKit
import Signalling
import Threading

/// `--srt [ADDRESS:]PORT`: the address at which publishers over SRT are accepted.
struct SRTOption {
    static let option = Option(
        long: "srt", value: .required("[ADDR:]PORT"),
        help:
            "accept publishers over SRT (OBS, FFmpeg and others) with the stream identifier publish:ROOM,TOKEN, "
            + "which is printed with the presenters' token; 9000 is the usual port, 0 uses any free one",
        alsoSoughtAs: ["obs", "publish"])
    static let passphraseFile = Option(
        long: "srt-passphrase-file", value: .required("FILE"),
        help:
            "publishers over SRT must encrypt with this passphrase: the first line of this file, of 10 to 79 bytes, "
            + "which only this user can read")

    /// Nil if no publisher is accepted.
    private let address: ListenAddress?
    private let passphrase: String?
    private let label: String

    init(_ options: ParsedOptions, _ configuration: HostConfiguration) throws(UsageError) {
        passphrase = try Self.passphrase(options)
        guard let wanted = try options.value("srt", as: .listenAddress(example: 9000)) else {
            (address, label) = (nil, "")
            return
        }
        label = "--srt " + (options.value("srt") ?? "")
        address = ListenAddress(
            address: wanted.host ?? configuration.listen.first?.address ?? "127.0.0.1", port: wanted.port)
        guard configuration.isOpenToNetwork || wanted.host == nil || wanted.isLoopback else {
            throw UsageError("\(label): other machines can reach that address; add --lan if they may")
        }
    }

    private static func passphrase(_ options: ParsedOptions) throws(UsageError) -> String? {
        guard let file = try options.value("srt-passphrase-file", as: .text) else { return nil }
        let label = "\(options.place(of: "srt-passphrase-file") ?? "--srt-passphrase-file") \(file)"
        let text: String
        do throws(PasswordError) {
            text = try PasswordInput.read(file: file)
        } catch {
            throw UsageError("\(label): \(error)", exitCode: error.exitCode)
        }
        let lengths = SRTServer.passphraseLengths
        guard lengths.contains(text.utf8.count) else {
            throw UsageError(
                "\(label): a passphrase has \(lengths.lowerBound) to \(lengths.upperBound) bytes",
                exitCode: .badData)
        }
        guard options.has("srt") else { throw UsageError("\(label): add --srt, which uses it") }
        return text
    }

    /// Starts to accept publishers; nil if that wasn't requested.
    func start(_ host: ScreenRelayHost, log: EventLog) throws(ServerError) -> SRTServer? {
        guard let address else { return nil }
        return try SRTServer(host, at: address, passphrase: passphrase, log: log)
    }

    /// The line for an error of `start`.
    func text(for error: ServerError) -> String { "\(label): \(error)" }

    /// What to tell the sharer: how to publish into the first room.
    func lines(_ server: SRTServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration) -> [String] {
        guard let server, let token = configuration.presentingToken else { return [] }
        let isWildcard = ["::", "0.0.0.0"].contains(server.address.address)
        let name = isWildcard ? host.reachableAddresses.first ?? "127.0.0.1" : server.address.address
        let place = ListenAddress(address: name, port: server.address.port)
        let password = configuration.password == nil ? "" : ",ROOM-PASSWORD"
        let secret = passphrase == nil ? "" : "&passphrase=PASSPHRASE"
        let identifier = "publish:\(PercentCoding.encode(host.room)),\(PercentCoding.encode(token))\(password)"
        return ["Publishers over SRT: srt://\(place)?streamid=\(identifier)\(secret)"]
    }
}
