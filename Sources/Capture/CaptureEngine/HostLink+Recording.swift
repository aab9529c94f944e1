import ByteCoding
import CaptureLink
import MediaTypes
import X264Encoding

/// Recording of everything that is sent.
extension HostLink {
    /// Begins the recording in the same way as a connection to a host. The recording goes on while hosts come and go.
    func beginRecording(_ size: PictureSize) {
        guard let recorder else { return }
        recorder.begin()
        guard !isLegacy else { return }
        recorder.add(encoder.encode(hello), .extended)
        recorder.add(encoder.encode(.size(size)), .extended)
    }

    /// Records a picture as a host that has said hello receives it. Each message has to be one piece of memory, which
    /// the recording's thread keeps.
    func record(
        _ picture: PicturePipeline.Picture, _ notice: PictureNotice, _ sets: [[UInt8]]
    ) throws(CaptureError) {
        if !isLegacy { recorder?.add(encoder.encode(.picture(notice)), .extended) }
        do throws(LinkError) {
            for set in sets {
                var message = ByteWriter(capacity: set.count + 44)
                try encoder.appendStart(ofNALUnit: set.count, picture.captureTime, isLast: false, to: &message)
                message.append(set)
                recorder?.add(message.bytes, encoder.form)
            }
            for index in 0..<picture.encoded.count {
                let bytes = picture.encoded[index].bytes
                var message = ByteWriter(capacity: bytes.count + 44)
                let isLast = index == picture.encoded.count - 1
                try encoder.appendStart(ofNALUnit: bytes.count, picture.captureTime, isLast: isLast, to: &message)
                message.append(bytes)
                recorder?.add(message.bytes, encoder.form)
            }
        } catch {
            throw .message(error)
        }
    }
}
