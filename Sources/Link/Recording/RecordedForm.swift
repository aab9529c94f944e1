import H264

/// What a file that can be replayed is.
public enum RecordedForm: String, Hashable, Sendable, CaseIterable {
    /// A recording: messages with their times (Protocol/recording.md).
    case recording
    /// A raw dump: messages of the link and nothing else, in one of its three forms.
    case dump
    /// NAL units behind start codes (ITU-T H.264 Annex B).
    case annexB

    /// So many bytes tell always.
    public static let firstLook = 8

    /// What the file is that begins with `front`, its first eight bytes (fewer where it has no more).
    ///
    /// - Throws: `RecordingFault` where it is none of them.
    public init(front: some Collection<UInt8>) throws(RecordingFault) {
        let front = Array(front.prefix(Self.firstLook))
        guard let first = front.first else { throw .empty }
        let magic = RecordingHeader.magic
        if magic.starts(with: front) || front.starts(with: magic) {
            self = .recording
        } else if front.starts(with: magic.prefix(4)) {
            throw .damagedByTextMode
        } else if first == 0x26 {
            self = .dump
        } else if let code = front.first(where: { $0 != 0 }), code != 1 || !front.starts(with: [0, 0]) {
            throw .unrecognized(front: front)
        } else {
            self = .annexB
        }
    }
}
