public import MediaTypes

/// A frame that was assembled from messages.
public struct AssembledFrame: Sendable {
    /// The frame. A key frame begins with its headers.
    public let frame: CodedFrame
    /// Its codec.
    public let codec: TrackFormat.Codec
    /// The number of the start of the capture that it belongs to; 0 from a legacy sender. A new epoch has a new clock
    /// and a new stream.
    public let epoch: UInt64
    /// The picture's number and damaged area, if the sender told them.
    public let notice: PictureNotice?
}
