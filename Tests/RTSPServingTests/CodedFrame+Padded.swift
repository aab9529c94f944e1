import MediaTypes

extension CodedFrame {
    /// The same picture with another slice's worth of bytes: filler that goes out as a unit of user data.
    func padded(by count: Int) -> CodedFrame {
        let message = [0x06, 0x05] as [UInt8] + [UInt8](repeating: 0xFF, count: count / 255) + [0]
        let unit = message + [UInt8](repeating: 0x55, count: count / 255 * 255) + [0x80]
        let bytes = self.bytes + [0, 0, 0, 1] + unit
        return CodedFrame(
            bytes: bytes, units: units + [(bytes.count - unit.count)..<bytes.count], isRandomAccess: isRandomAccess,
            captureTime: captureTime, format: format)
    }
}
