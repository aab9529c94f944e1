import TestSupport

/// A host without a capture, into whose room programs publish.
final class PublishedRoom {
    let folder: TemporaryFolder
    let host: RunningProgram
    let link: String
    /// `http://HOST:PORT`, and the presenters' token.
    let address: String
    let token: String

    /// Starts the host with these options; `isRecorded` says whether it records the room.
    init(_ options: [String] = [], isRecorded: Bool = false) throws {
        folder = try TemporaryFolder()
        let recording = isRecorded ? ["--record", folder.file("room.srr")] : []
        host = try RunningProgram.host(
            "unix:" + folder.file("s.sock"), ["--log", "debug", "--presenters"] + recording + options)
        link = try host.printedLink()
        address = String(link.split(separator: "#", maxSplits: 1).first?.dropLast() ?? "")
        token = try host.presentersToken()
    }

    /// The recording's path.
    var recording: String { folder.file("room.srr") }
}
