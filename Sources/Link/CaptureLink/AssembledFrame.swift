public import MediaTypes

/// An access unit that was assembled from messages.
public struct AssembledFrame: Sendable {
    /// The access unit. If it is an IDR picture, it begins with SPS and PPS.
    public let frame: CodedFrame
    /// The number of the start of the capture that it belongs to; 0 from a legacy sender. A new epoch has a new clock
    /// and a new stream.
    public let epoch: UInt64
    /// The picture's number and damaged area, if the sender told them.
    public let notice: PictureNotice?

    /// Creates an access unit with what is known of it.
    public init(frame: CodedFrame, epoch: UInt64, notice: PictureNotice?) {
        self.frame = frame
        self.epoch = epoch
        self.notice = notice
    }
}
