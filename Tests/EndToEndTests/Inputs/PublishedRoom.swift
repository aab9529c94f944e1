import TestSupport

/// A host without a capture, into whose room programs publish.
final class PublishedRoom {
    let folder: TemporaryFolder
    let host: RunningProgram
    let link: String
    /// `http://HOST:PORT`, and the presenters' token.
    let address: String
    let token: String

    /// Starts the host with these options, inside `network` if there is one, where it has the media port
    /// ``LossyNetwork/mediaPort``; `isRecorded` says whether it records the room.
    init(_ options: [String] = [], isRecorded: Bool = false, inside network: LossyNetwork? = nil) throws {
        folder = try TemporaryFolder()
        let recording = isRecorded ? ["--record", folder.file("room.srr")] : []
        let port = network == nil ? 0 : LossyNetwork.mediaPort
        host = try RunningProgram(
            "screenrelay",
            ["host", "--link", "unix:" + folder.file("s.sock"), "--listen", "127.0.0.1:0", "--udp-port", "\(port)"]
                + ["--log", "debug", "--presenters"] + recording + options, prefix: network?.prefix ?? [])
        link = try host.printedLink()
        address = String(link.split(separator: "#", maxSplits: 1).first?.dropLast() ?? "")
        token = try host.presentersToken()
    }

    /// The recording's path.
    var recording: String { folder.file("room.srr") }
}
