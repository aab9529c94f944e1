import ByteCoding
import CommandLine
import SRTServing
import ScreenRelayKit
import Signalling

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

    let place: ServerPlace
    let passphrase: String?

    init(_ options: ParsedOptions, _ configuration: HostConfiguration) throws(UsageError) {
        passphrase = try Self.passphrase(options)
        place = try Self.place(options, listen: configuration.listen)
    }

    /// Where publishers are accepted. HTTP is served at `listen`.
    static func place(_ options: ParsedOptions, listen: [ListenAddress]) throws(UsageError) -> ServerPlace {
        try ServerPlace("srt", example: 9000, options, listen: listen)
    }

    /// The passphrase of publishers, from `--srt-passphrase-file`; nil without the option.
    static func passphrase(_ options: ParsedOptions) throws(UsageError) -> String? {
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

    /// The lines for the sharer about publishing into the first room. `track` follows the name of the room.
    func lines(
        _ server: SRTServer?, _ host: ScreenRelayHost, _ configuration: HostConfiguration, track: String
    ) -> [String] {
        guard let server, let token = configuration.presentingToken else { return [] }
        let password = configuration.password == nil ? "" : ",ROOM-PASSWORD"
        let secret = passphrase == nil ? "" : "&passphrase=PASSPHRASE"
        let name = "\(PercentCoding.encode(host.room))\(track)"
        let identifier = "publish:\(name),\(PercentCoding.encode(token))\(password)"
        let place = host.printedAddress(of: server.address)
        return ["Publishers over SRT: srt://\(place)?streamid=\(identifier)\(secret)"]
    }
}
