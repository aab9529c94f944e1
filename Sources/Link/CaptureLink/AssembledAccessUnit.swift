public import MediaTypes

/// An access unit as it was put together from messages.
public struct AssembledAccessUnit: Sendable {
    /// The access unit. Where it is an IDR picture it begins with SPS and PPS.
    public let accessUnit: AccessUnit
    /// The start of capture that it belongs to; 0 from a legacy sender. A new one is a new clock and a new stream.
    public let epoch: UInt64
    /// Its number and damaged area, where the sender told.
    public let notice: PictureNotice?

    /// An access unit with what is known of it.
    public init(accessUnit: AccessUnit, epoch: UInt64, notice: PictureNotice?) {
        self.accessUnit = accessUnit
        self.epoch = epoch
        self.notice = notice
    }
}
