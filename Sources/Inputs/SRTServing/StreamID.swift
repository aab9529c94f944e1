import ByteCoding
import CSRT
import ScreenRelayKit

/// The stream identifier of a caller: where it wants to publish, and its proof that it may.
///
///     publish:ROOM,TOKEN                    publish:ROOM/TRACK,TOKEN,PASSWORD
///     #!::r=ROOM,m=publish,s=TOKEN          #!::r=ROOM/TRACK,m=publish,s=TOKEN,user_password=PASSWORD
///
/// The second form is that of SRT's access control guidelines. Each part may be percent-encoded.
enum StreamID {
    private static let simple = "publish:"
    private static let keyed = "#!::"

    /// Reads an identifier.
    ///
    /// - Throws: ``SRTRefusal`` if it names no place, or another purpose than publishing.
    static func place(in text: String) throws(SRTRefusal) -> ServedPublishers.Place {
        if text.hasPrefix(simple) {
            let parts = text.dropFirst(simple.count).split(
                separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
            return try place(
                parts.first ?? "", token: parts.count > 1 ? parts[1] : "", password: parts.count > 2 ? parts[2] : "")
        }
        guard text.hasPrefix(keyed) else { throw unreadable }
        var values: [Substring: Substring] = [:]
        for pair in text.dropFirst(keyed.count).split(separator: ",") {
            guard let sign = pair.firstIndex(of: "=") else { throw unreadable }
            values[pair[..<sign]] = pair[pair.index(after: sign)...]
        }
        // Without a mode, a caller requests a stream.
        guard values["m"] == "publish" else {
            throw SRTRefusal(SRT_REJX_BAD_MODE, "its stream identifier needs m=publish: nothing is played over SRT")
        }
        guard values["t"] ?? "stream" == "stream" else {
            throw SRTRefusal(SRT_REJX_NOTSUP_MEDIA, "its stream identifier has another type than t=stream")
        }
        return try place(
            values["r"] ?? "", token: values["s"] ?? "", password: values["user_password"] ?? "")
    }

    private static func place(
        _ names: Substring, token: Substring, password: Substring
    ) throws(SRTRefusal) -> ServedPublishers.Place {
        var decoded: [String] = []
        for name in names.split(separator: "/") {
            guard let name = PercentCoding.decode(name) else { throw unreadable }
            decoded.append(name)
        }
        guard decoded.count <= 2, let token = PercentCoding.decode(token),
            let password = PercentCoding.decode(password)
        else { throw unreadable }
        return ServedPublishers.Place(
            room: decoded.first, track: decoded.count > 1 ? decoded[1] : nil, token: token, password: password)
    }

    private static var unreadable: SRTRefusal {
        SRTRefusal(SRT_REJX_BAD_REQUEST, "its stream identifier isn't publish:ROOM,TOKEN")
    }
}
