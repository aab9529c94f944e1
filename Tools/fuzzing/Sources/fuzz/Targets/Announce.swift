import MediaTypes
import RTP

@testable import RTSP

extension FuzzTarget {
    /// What a client announces that it will publish over RTSP, and the packets of AAC in the form that it describes.
    ///
    /// The input is a request, of which the body is read, or else only a description. The packets are the input itself.
    static let announce = FuzzTarget(
        name: "announce", maxInput: 8192,
        words: [
            "ANNOUNCE rtsp://h/live RTSP/1.0\r\n", "Content-Length: ", "v=0\r\n", "m=video 0 RTP/AVP ",
            "m=audio 0 RTP/AVP ", "a=rtpmap:", " H264/90000", " MPEG4-GENERIC/44100/2", " MP4A-LATM/44100",
            " opus/48000/2", " PCMA/8000", "a=fmtp:", "packetization-mode=", "sprop-parameter-sets=", "mode=AAC-hbr",
            "sizelength=", "indexlength=", "indexdeltalength=", "constantDuration=", "cpresent=0", "config=",
            "a=control:", "streamid=0", "trackID=1",
        ]
    ) { input in
        let whole = requests(input, pieceSize: input.count + 1)
        check(whole == requests(input, pieceSize: pieceSize(for: input)), "pieces give the same as the whole")
        check(whole.allSatisfy { $0.body.count <= RTSPReader.maxBody }, "bodies keep their limit")
        for description in whole.map(\.body) + [input] {
            guard let announcement = try? RTSPAnnouncement(parsing: description) else { continue }
            check((1...2).contains(announcement.streams.count), "one stream of each kind")
            check(Set(announcement.streams.map(\.isVideo)).count == announcement.streams.count, "of different kinds")
            _ = announcement.index(of: "rtsp://h/live/streamid=0")
            for stream in announcement.streams { unpack(input, stream) }
        }
    }
}

private func requests(_ input: [UInt8], pieceSize: Int) -> [RTSPRequest] {
    var reader = RTSPReader()
    var requests: [RTSPRequest] = []
    var rest = input[...]
    while !rest.isEmpty {
        reader.append(rest.prefix(pieceSize))
        rest = rest.dropFirst(pieceSize)
        do throws(RTSPError) {
            while let item = try reader.next() {
                if case .request(let request) = item { requests.append(request) }
            }
        } catch {
            return requests
        }
    }
    return requests
}

/// Takes frames of AAC out of packets of growing length.
private func unpack(_ input: [UInt8], _ stream: RTSPAnnouncement.Stream) {
    guard case .aac(let description, let packing, let ticks) = stream.coding else { return }
    check((1...8192).contains(ticks) && !description.headers.isEmpty, "a stream of AAC is described")
    var depacketizer = AACDepacketizer(packing)
    var (rest, length, bytesOut) = (input[...], 1, 0)
    while !rest.isEmpty {
        let frames = depacketizer.frames(in: rest.prefix(length), isLast: length % 3 != 0)
        check(frames.allSatisfy { !$0.isEmpty && $0.count <= 1 << 13 }, "a frame keeps its limit")
        bytesOut += frames.reduce(0) { $0 + $1.count }
        rest = rest.dropFirst(length)
        length += 1
    }
    check(bytesOut <= input.count, "frames are parts of their packets")
}
