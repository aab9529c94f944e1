/// The format of a file that can be replayed.
public enum RecordedForm: String, Hashable, Sendable, CaseIterable {
    /// A recording: messages with their times (Protocol/recording.md).
    case recording
    /// A raw dump: only messages of the link, in one of its three forms.
    case dump
    /// NAL units with start codes (ITU-T H.264 Annex B).
    case annexB

    /// The number of bytes that always suffice to recognize the format.
    public static let firstLook = 8

    /// Recognizes the format of a file by `front`, its first eight bytes (or fewer if the file is shorter).
    ///
    /// - Throws: `RecordingError` if the format isn't one of these.
    public init(front: some Collection<UInt8>) throws(RecordingError) {
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
