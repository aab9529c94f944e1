import CaptureLink
import ColorConversion
import MediaTypes
import X11Capture
import X264Encoding

/// From the screen to NAL units: grab, convert, encode, for one size of the screen.
///
/// Another size takes another pipeline.
final class PicturePipeline {
    let encoder: X264Encoder
    private let screen: ScreenCapture
    private let canvas: I420Canvas
    private let format: ScreenToI420.PixelFormat
    private let start = MonotonicTime.now()
    private var isCanvasEmpty = true

    init(
        _ screen: ScreenCapture, framesPerSecond: Int, rate: RateSettings, preset: X264Preset,
        onWarning: @escaping @Sendable (String) -> Void
    ) throws(CaptureError) {
        self.screen = screen
        canvas = I420Canvas(screen.size)
        format =
            switch screen.pixelFormat {
            case .bgrx: .bgrx
            case .rgb565: .rgb565
            }
        do {
            let configuration = X264Configuration(
                size: screen.size, framesPerSecond: framesPerSecond, rate: rate, preset: preset)
            encoder = try X264Encoder(configuration, onWarning: onWarning)
        } catch {
            throw .encoder(error)
        }
    }

    /// A picture on its way to the host.
    struct Picture {
        /// Valid until the next picture.
        let encoded: EncodedPicture
        let captureTime: MonotonicTime
        let damage: PixelRectangle
    }

    /// Takes what changed and encodes it; nil where nothing changed and no picture is forced, or where the screen became
    /// another size meanwhile.
    func takePicture(
        isForced: Bool, forceIDR: Bool, statistics: inout CaptureStatistics
    ) throws(CaptureError) -> Picture? {
        let captureTime = MonotonicTime.now()
        let area: DamagedArea
        do {
            area = isCanvasEmpty ? try screen.takeEverything() : try screen.takeChanges()
            if area.isEmpty && !isForced { return nil }
            var converting = Interval.zero
            let destination = canvas.destination
            let isComplete = try screen.grab(area) { pixels in
                let begin = MonotonicTime.now()
                ScreenToI420.convert(
                    pixels.base, stride: pixels.stride, format: format, rectangle: pixels.rectangle, into: destination)
                converting = converting + (MonotonicTime.now() - begin)
            }
            if !isComplete { return nil }
            statistics.add(converting, to: \.convertNanoseconds)
            statistics.add(MonotonicTime.now() - captureTime - converting, to: \.grabNanoseconds)
        } catch {
            throw .screen(error)
        }
        isCanvasEmpty = false
        canvas.repeatEdges()
        let begin = MonotonicTime.now()
        let time = MediaTime(ticks: MediaTime.ticks(in: captureTime - start))
        do {
            let encoded = try encoder.encode(canvas.planes, forceIDR: forceIDR, time: time)
            statistics.add(MonotonicTime.now() - begin, to: \.encodeNanoseconds)
            statistics.pictures &+= 1
            if encoded.isIDR { statistics.idrPictures &+= 1 }
            return Picture(encoded: encoded, captureTime: captureTime, damage: area.bounds)
        } catch {
            throw .encoder(error)
        }
    }
}

extension CaptureStatistics {
    mutating func add(_ time: Interval, to field: WritableKeyPath<CaptureStatistics, UInt64>) {
        self[keyPath: field] &+= UInt64(max(0, time.nanoseconds))
    }
}
