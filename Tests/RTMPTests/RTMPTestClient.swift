import MediaTypes

@testable import RTMP

/// A conversation with its client, and what came of it.
struct RTMPTestClient {
    var conversation = RTMPConversation()
    /// What the server has sent since the handshake.
    var answers: [UInt8] = []
    var places: [RTMPPlace] = []
    var media: [RTMPMedia] = []
    var unpublishedCount = 0
    /// Why the server closes the connection.
    var closing: String?
    /// What the server says to a client that wants to publish; nil to accept it.
    var refusal: RTMPRefusal?

    init(refusal: RTMPRefusal? = nil, greets: Bool = true) throws(RTMPError) {
        self.refusal = refusal
        guard greets else { return }
        try send(greeting + secondGreeting)
        answers = []
    }

    /// A client that publishes.
    static func publishing() throws(RTMPError) -> RTMPTestClient {
        var client = try RTMPTestClient()
        try client.send(Written.connect + Written.createStream + Written.publish)
        client.answers = []
        return client
    }

    mutating func send(_ bytes: [UInt8], step: Int = 1 << 20) throws(RTMPError) {
        for start in stride(from: 0, to: bytes.count, by: step) {
            conversation.receive(bytes[start..<min(start + step, bytes.count)])
            while let next = try conversation.next() {
                switch next {
                case .send(let bytes): answers += bytes
                case .publish(let place):
                    places.append(place)
                    if let refusal {
                        answers += conversation.refuse(refusal)
                    } else {
                        answers += conversation.accept()
                    }
                case .media(let found): media.append(found)
                case .unpublish: unpublishedCount += 1
                case .close(let bytes, let reason):
                    answers += bytes
                    closing = reason
                }
            }
        }
    }

    /// The pictures, with when they are decoded and shown, in milliseconds.
    var pictures: [(frame: CodedFrame, decoded: Int64, shown: Int64)] {
        media.compactMap { item -> (frame: CodedFrame, decoded: Int64, shown: Int64)? in
            guard case .picture(let frame, let decoded, let shown) = item else { return nil }
            return (frame, decoded.milliseconds, shown.milliseconds)
        }
    }

    /// The frames of sound, with when they are heard, in milliseconds.
    var sound: [(bytes: [UInt8], heard: Int64)] {
        media.compactMap { item -> (bytes: [UInt8], heard: Int64)? in
            guard case .audio(let bytes, let heard) = item else { return nil }
            return (bytes, heard.milliseconds)
        }
    }
}

/// What FFmpeg 5.1 sends to publish `rtmp://127.0.0.1:19351/live/ROOM?token=TOKEN`, byte for byte.
enum Written {
    /// In two chunks, since they have 128 bytes at first.
    static let connect = bytes(
        """
        03 000000 00008C 14 00000000 02 0007 'connect' 00 3FF0000000000000
        03 0003 'app' 02 0004 'live' 0004 'type' 02 000A 'nonprivate'
        0008 'flashVer' 02 0024 'FMLE/3.0 (compatible; Lavf59.27.100)'
        0005 'tcUrl' 02 001B 'rtmp://127.0.0.1:1' C3 '9351/live' 000009
        """)
    static let chunkSize = bytes("02 000000 000004 01 00000000 00001000")
    static let releaseStream = bytes(
        "43 000000 00002D 14 02 000D 'releaseStream' 00 4000000000000000 05 02 0010 'ROOM?token=TOKEN'")
    static let fcPublish = bytes(
        "43 000000 000029 14 02 0009 'FCPublish' 00 4008000000000000 05 02 0010 'ROOM?token=TOKEN'")
    static let createStream = bytes("43 000000 000019 14 02 000C 'createStream' 00 4010000000000000 05")
    static let publish = bytes(
        """
        08 000000 00002E 14 01000000 02 0007 'publish' 00 4014000000000000 05 02 0010 'ROOM?token=TOKEN'
        02 0004 'live'
        """)
    static let description = bytes(
        """
        04 000000 00004E 12 01000000 02 000D '@setDataFrame' 02 000A 'onMetaData' 08 00000002
        0005 'width' 00 4066000000000000 0007 'encoder' 02 000D 'Lavf59.27.100' 000009
        """)
    static let soundConfiguration = bytes("04 000000 000007 08 01000000 AF00 120856E500")
    static let pictureConfiguration = message(9, on: 6, bytes("17 00 000000") + record)
    static let record = bytes(
        """
        01 64000B FF E1 0017 6764000BACB20589D80880000003008000001947 8A1524
        01 0006 68EBC3CB22C0 FDF8F800
        """)
}
